//! How a command reaches the node of a data directory: the running one over its local API, or, for
//! what needs no network, the same API served by this very process over the store.

use osier::{Home, Osier};
use osier_console::{Console, Settings};
use tokio::runtime::Runtime;

use crate::{
    api::Api,
    bridge::{self, Intake},
    config::Config,
    exit::Exit,
    failure::{Failure, Outcome},
    output::Output,
    store_failure,
};

/// A way to a node, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Reach {
    /// Its API.
    pub(crate) api: Api,
    here: Option<Here>,
}

/// A node without network in this process.
#[derive(Debug)]
struct Here {
    runtime: Runtime,
    osier: Osier,
    console: Console,
}

/// What to do when nothing was ever made in the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Say so.
    Refuse,
    /// Make key and store.
    Create,
}

impl Reach {
    /// The running node; or this process over the store.
    pub(crate) fn any(config: &Config, missing: Missing) -> Outcome<Self> {
        if let Some(api) = running(config) {
            return Ok(Self { api, here: None });
        }
        let home = Home::at(&config.data_dir);
        if missing == Missing::Refuse && !home.is_initialised() {
            return Err(nothing_here(config));
        }
        let here = Here::start(config, &home)?;
        let token = home
            .read_token()
            .map_err(|error| store_failure::from(&error))?;
        let api = Api::new(here.console.address(), &token);
        Ok(Self {
            api,
            here: Some(here),
        })
    }

    /// The running node, for what only it can do.
    pub(crate) fn running(config: &Config) -> Outcome<Self> {
        let api = running(config).ok_or_else(|| no_node(config))?;
        Ok(Self { api, here: None })
    }

    /// Whether the node runs in another process, with network.
    pub(crate) fn is_running(&self) -> bool {
        self.here.is_none()
    }
}

impl Drop for Reach {
    fn drop(&mut self) {
        if let Some(here) = self.here.take() {
            here.runtime.block_on(async {
                here.console.shutdown().await;
                here.osier.shutdown().await;
            });
        }
    }
}

impl Here {
    fn start(config: &Config, home: &Home) -> Outcome<Self> {
        let runtime = Runtime::new()
            .map_err(|error| Failure::other("cannot start worker threads").because(error))?;
        let (osier, console) = runtime.block_on(async {
            let bridge = bridge::prepare(config);
            let osier = Osier::builder()
                .data_dir(home.dir())
                .replay_entries(config.replay_entries)
                .projection(bridge.projection())
                .offline()
                .open()
                .await
                .map_err(|error| store_failure::from(&error))?;
            let out = Output::detect(true);
            let attached = bridge::attach(out, bridge, &osier)?;
            let token = osier
                .new_token()
                .map_err(|error| store_failure::from(&error))?;
            let listen = ([127, 0, 0, 1], 0).into();
            let mut settings = Settings::new(listen, token);
            settings.request_bytes_max = config.request_bytes_max;
            settings.nostr = Some(Intake::of(&attached));
            let console = Console::start(osier.clone(), settings)
                .await
                .map_err(|error| {
                    Failure::other("cannot serve the API to this command").because(error)
                })?;
            Ok((osier, console))
        })?;
        Ok(Self {
            runtime,
            osier,
            console,
        })
    }
}

/// The API of the node that runs on this data directory, if one does.
fn running(config: &Config) -> Option<Api> {
    let home = Home::at(&config.data_dir);
    let run = home.read_run()?;
    let api = Api::new(run.api?, &home.read_token().ok()?);
    // A node that was killed leaves its file behind, and another program may have its port.
    let told = api.get("/v1/node").ok()?;
    (told["node"] == serde_json::json!(run.node)).then_some(api)
}

fn start_hint(config: &Config) -> String {
    format!(
        "Start one with `osier run --data-dir {}`",
        config.data_dir.display()
    )
}

fn no_node(config: &Config) -> Failure {
    let what = format!("no node is running on {}", config.data_dir.display());
    Failure::new(Exit::NoNode, what).next(start_hint(config))
}

fn nothing_here(config: &Config) -> Failure {
    let what = format!("there is no node in {}", config.data_dir.display());
    let next = format!("{}, or name another directory", start_hint(config));
    Failure::new(Exit::NoNode, what).next(next)
}
