//! Precedence, origins and errors of settings.

use super::{key::KEYS, *};

fn nothing(_: &str) -> Option<String> {
    None
}

fn flags(values: &[(&'static str, &str)]) -> Flags {
    Flags {
        file: None,
        values: values
            .iter()
            .map(|(key, value)| (*key, (*value).to_owned()))
            .collect(),
    }
}

fn file(text: &str) -> (String, PathBuf) {
    (text.to_owned(), "osier.toml".into())
}

#[test]
fn flag_beats_environment_beats_file_beats_default() {
    let env = |name: &str| match name {
        "OSIER_LISTEN_API" => Some("127.0.0.1:2".to_owned()),
        "OSIER_ROLE" => Some("replay".to_owned()),
        _ => None,
    };
    let text = "listen_api = \"127.0.0.1:3\"\nrole = \"archive\"\nlog = \"info\"\n";
    let flags = flags(&[("listen_api", "127.0.0.1:1")]);
    let layers = Layers::merge(&flags, env, Some(file(text))).unwrap();
    let config = Config::from_layers(&layers).unwrap();
    assert_eq!(config.listen_api, "127.0.0.1:1".parse().unwrap());
    assert_eq!(
        (config.role.as_str(), config.log.as_str()),
        ("replay", "info")
    );
    assert!(config.mdns.is_none() && !config.listen_api_is_default);
    let origins: Vec<String> = ["listen_api", "role", "log", "discovery.mdns"]
        .map(|key| layers.origin(key).to_string())
        .into();
    let expected = [
        "flag",
        "environment, OSIER_ROLE",
        "file, osier.toml",
        "default",
    ];
    assert_eq!(origins, expected);
}

#[test]
fn text_layers_take_the_type_of_the_default() {
    let env = |name: &str| match name {
        "OSIER_DISCOVERY_MDNS" => Some("off".to_owned()),
        "OSIER_DISCOVERY_DNS" => Some("true".to_owned()),
        "OSIER_DISCOVERY_RELAYS" => Some("https://a.example, https://b.example".to_owned()),
        "OSIER_LIMITS_REPLAY_ENTRIES" => Some("50".to_owned()),
        _ => None,
    };
    let layers = Layers::merge(&Flags::default(), env, None).unwrap();
    let config = Config::from_layers(&layers).unwrap();
    assert_eq!((config.mdns, config.dns), (Some(false), true));
    assert_eq!(config.relays, ["https://a.example", "https://b.example"]);
    assert_eq!(config.replay_entries, 50);
}

fn error_of(text: &str) -> String {
    let layers = Layers::merge(&Flags::default(), nothing, Some(file(text)));
    let config = layers.and_then(|layers| Config::from_layers(&layers));
    let failure = config.unwrap_err();
    assert_eq!(failure.exit, crate::exit::Exit::Usage);
    failure.to_string()
}

#[test]
fn errors_say_what_where_and_what_else() {
    insta::assert_snapshot!(
        [
            error_of("[discovery]\nmdsn = true\n"),
            error_of("quux_and_more = 1\n"),
            error_of("listen_api = \"localhost\"\n"),
            error_of("listen_api = \"0.0.0.0:7780\"\n"),
            error_of("role = \"boss\"\n"),
            error_of("[discovery]\nmdns = true\n"),
            error_of("[limits]\nreplay_entries = 0\n"),
            error_of("[[relay.route]]\ntopic = \"a\"\n"),
            error_of("[[relay.route]]\ntopic = \"a\"\nfilter = '{\"kind\":[1]}'\n"),
        ]
        .join("\n")
    );
}

#[test]
fn a_word_in_the_environment_that_is_no_number() {
    let env = |name: &str| (name == "OSIER_LIMITS_STREAMS_MAX").then(|| "many".to_owned());
    let failure = Layers::merge(&Flags::default(), env, None).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "limits.streams_max (environment, OSIER_LIMITS_STREAMS_MAX) is \"many\": \
         expected a whole number."
    );
}

#[test]
fn the_data_directory_follows_xdg() {
    let both = |name: &str| match name {
        "XDG_DATA_HOME" => Some("/x".to_owned()),
        "HOME" => Some("/h".to_owned()),
        _ => None,
    };
    let home = |name: &str| (name == "HOME").then(|| "/h".to_owned());
    assert_eq!(default_data_dir(both), "/x/osier");
    assert_eq!(default_data_dir(home), "/h/.local/share/osier");
    assert_eq!(default_data_dir(nothing), "osier-data");
}

/// NOS-71: the example of routes is one, from a file and from the environment.
#[test]
fn routes_are_read_in_order() {
    let text = include_str!("../../../../docs/reference/osier-routes.toml");
    let layers = Layers::merge(&Flags::default(), nothing, Some(file(text))).unwrap();
    let routes = Config::from_layers(&layers).unwrap().relay.routes;
    let topics: Vec<&str> = routes.iter().map(|route| route.topic.as_str()).collect();
    assert_eq!(topics, ["private", "articles"]);
    let kinds = osier_relay::Filter::parse(r#"{"kinds":[30023,30024]}"#).unwrap();
    assert_eq!(routes[1].filter, kinds);
    let env = |name: &str| {
        let text = r#"[{ topic = "a", filter = '{"kinds":[1,2]}' }]"#;
        (name == "OSIER_RELAY_ROUTE").then(|| text.to_owned())
    };
    let layers = Layers::merge(&Flags::default(), env, Some(file(text))).unwrap();
    let routes = Config::from_layers(&layers).unwrap().relay.routes;
    assert_eq!((routes.len(), routes[0].topic.as_str()), (1, "a"));
}

/// The example file names every key, and what it says is the default.
#[test]
fn the_reference_file_is_the_defaults() {
    let text = include_str!("../../../../docs/reference/osier.toml");
    let layers = Layers::merge(&Flags::default(), nothing, Some(file(text))).unwrap();
    let defaults = Layers::merge(&Flags::default(), nothing, None).unwrap();
    for ((key, shown, origin), (_, default, _)) in layers.all().zip(defaults.all()) {
        assert!(matches!(origin, Origin::File(_)), "osier.toml lacks {key}");
        if key != "data_dir" {
            assert_eq!(shown, default, "{key}");
        }
    }
    for key in KEYS {
        assert!(
            text.contains(key.env),
            "osier.toml does not name {}",
            key.env
        );
    }
}
