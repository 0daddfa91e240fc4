//! The driver: one select, one engine, one closed enum of what can arrive.
//!
//! It carries out what the engine asks and never waits for anything but arrivals: writes go to the
//! disk thread, sessions and swarms have tasks of their own. Local work is answered before new
//! work is taken from peers.

mod command;

use std::{collections::BTreeMap, sync::Arc};

use osier_core::TopicId;
use osier_engine::{
    AskId, CommandId, Engine, GrantSession, Input, OpenSession, Output, Reply, SessionEvent,
    SessionKey,
};
use osier_proto::{FailureReason, ProviderEnd};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::sleep_until,
};

use crate::{
    arrival::{Answer, Arrival, Command, DiskAnswer, SwarmNews},
    clock::Clock,
    disk::Disk,
    ephemeral::Listeners,
    error::NodeError,
    gossip::Swarms,
    limit::SESSION_ORDERS_MAX,
    metric::SharedCounters,
    net::{Ask, Connections, Decision, Order, blocking, open_session},
    watch::Watchers,
};

/// What arrives, by where it comes from: so that the disk and the handle go before peers.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// From the disk thread.
    pub(crate) disk: mpsc::Receiver<Arrival>,
    /// From handles.
    pub(crate) commands: mpsc::Receiver<Command>,
    /// From sessions and connections.
    pub(crate) network: mpsc::Receiver<Arrival>,
    /// From swarms.
    pub(crate) gossip: mpsc::Receiver<Arrival>,
    /// From watchers that were too slow.
    pub(crate) watchers: Arc<Notify>,
}

/// The engine and everything that it drives.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) engine: Engine,
    pub(crate) clock: Clock,
    pub(crate) disk: Disk,
    pub(crate) swarms: Swarms,
    pub(crate) connections: Arc<Connections>,
    pub(crate) watchers: Watchers,
    pub(crate) listeners: Listeners,
    pub(crate) counters: SharedCounters,
    pub(crate) sessions: BTreeMap<SessionKey, mpsc::Sender<Order>>,
    pub(crate) asks: BTreeMap<AskId, oneshot::Sender<Decision>>,
    pub(crate) replies: BTreeMap<CommandId, Answer<Reply>>,
    pub(crate) last_command: u64,
}

impl Driver {
    /// Runs until told to stop; gives whom to tell that it has.
    pub(crate) async fn run(&mut self, arrivals: &mut Arrivals) -> Option<oneshot::Sender<()>> {
        loop {
            match self.next(arrivals).await {
                Arrival::Command(Command::Stop { answer }) => return Some(answer),
                Arrival::Abandoned => return None,
                arrival if signs(&arrival) => blocking(|| self.take(arrival)),
                arrival => self.take(arrival),
            }
        }
    }

    /// What the disk and open sessions still say; commands are taken no more.
    pub(crate) async fn next_of_peers(&self, arrivals: &mut Arrivals) -> Arrival {
        tokio::select! {
            biased;
            Some(arrival) = arrivals.disk.recv() => arrival,
            Some(arrival) = arrivals.network.recv() => arrival,
            else => Arrival::Abandoned,
        }
    }

    async fn next(&self, arrivals: &mut Arrivals) -> Arrival {
        let wake = self.engine.deadline().map(|at| self.clock.wake_at(at));
        let room = !self.disk.is_behind();
        let due = wake.unwrap_or_else(tokio::time::Instant::now);
        tokio::select! {
            biased;
            Some(arrival) = arrivals.disk.recv() => arrival,
            () = sleep_until(due), if wake.is_some() => Arrival::Due,
            command = arrivals.commands.recv() => {
                command.map_or(Arrival::Abandoned, Arrival::Command)
            }
            () = arrivals.watchers.notified() => Arrival::WatcherReady,
            Some(arrival) = arrivals.network.recv(), if room => arrival,
            Some(arrival) = arrivals.gossip.recv(), if room => arrival,
        }
    }

    /// Hands an arrival to the engine and carries out what it asks.
    pub(crate) fn take(&mut self, arrival: Arrival) {
        let now = self.clock.now();
        match arrival {
            Arrival::Disk(DiskAnswer { batch, result }) => {
                self.disk.answered();
                self.input(Input::Durable { batch, result });
            }
            Arrival::Command(command) => self.command(command, now),
            Arrival::Asked(ask) => self.asked(ask),
            Arrival::Session { key, event } => self.session(key, event),
            Arrival::PeerLost { peer } => self.input(Input::PeerLost { peer }),
            Arrival::Swarm { topic, news } => self.input(swarm_input(topic, news)),
            Arrival::WatcherReady => {
                let engine = &self.engine;
                self.watchers.catch_up(|topic| engine.state(topic, now));
            }
            Arrival::Due => self.input(Input::Tick),
            Arrival::Abandoned => {}
        }
    }

    pub(crate) fn input(&mut self, input: Input) {
        self.engine.handle(self.clock.now(), input);
        while let Some(output) = self.engine.poll() {
            self.carry_out(output);
        }
    }

    fn asked(&mut self, ask: Ask) {
        let Ask {
            id: ask,
            peer,
            binding,
            hello,
            decide,
        } = ask;
        self.asks.insert(ask, decide);
        self.input(Input::SessionAsked {
            ask,
            peer,
            binding,
            hello,
        });
        assert!(
            !self.asks.contains_key(&ask),
            "every ask is decided at once"
        );
    }

    fn session(&mut self, key: SessionKey, event: SessionEvent) {
        let ends = matches!(
            event,
            SessionEvent::ClientEnded(_)
                | SessionEvent::ProviderEnded(_)
                | SessionEvent::Unreachable { .. }
        );
        if ends {
            self.sessions.remove(&key);
        }
        self.input(Input::Session { key, event });
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Commit(commit) => self.disk.push(commit),
            Output::OpenSession(open) => self.open(Box::new(open)),
            Output::GrantSession(grant) => self.grant(Box::new(grant)),
            Output::RefuseSession { ask, refuse } => {
                self.counters.sessions_refused.one();
                if let Some(decide) = self.asks.remove(&ask) {
                    let _ = decide.send(Decision::Refuse(refuse));
                }
            }
            Output::SessionDurable {
                key,
                batch,
                ok,
                withheld,
            } => {
                let order = Order::Durable {
                    batch,
                    ok,
                    withheld,
                };
                self.order(key, order);
            }
            Output::CancelSession { key, reason } => self.order(key, Order::Cancel(reason)),
            Output::JoinGossip {
                topic,
                swarm,
                bootstrap,
            } => self.swarms.join(topic, swarm, bootstrap),
            Output::JoinPeers { topic, peers } => self.swarms.join_peers(topic, peers),
            Output::LeaveGossip { topic } => self.swarms.leave(topic),
            Output::Broadcast { topic, bytes } => self.swarms.broadcast(topic, bytes),
            Output::Ephemeral { topic, kind, item } => self.listeners.tell(topic, kind, item),
            Output::Emit { topic, upto, event } => self.watchers.tell(topic, upto, &event),
            Output::Reply { command, result } => {
                if let Some(answer) = self.replies.remove(&command) {
                    let _ = answer.send(result.map_err(NodeError::from));
                }
            }
        }
    }

    fn open(&mut self, open: Box<OpenSession>) {
        let (orders, taken) = mpsc::channel(SESSION_ORDERS_MAX);
        self.sessions.insert(open.key, orders);
        let task = open_session(Arc::clone(&self.connections), open, taken);
        self.connections.net().sessions.spawn(task);
    }

    fn grant(&mut self, grant: Box<GrantSession>) {
        let (orders, taken) = mpsc::channel(SESSION_ORDERS_MAX);
        let (ask, key) = (grant.ask, grant.key);
        let decision = Decision::Grant {
            grant,
            orders: taken,
        };
        let decide = self.asks.remove(&ask);
        if decide.is_some_and(|decide| decide.send(decision).is_ok()) {
            self.sessions.insert(key, orders);
        } else {
            // The stream's task is gone, which else would tell of the end.
            let event = SessionEvent::ProviderEnded(ProviderEnd::Lost);
            let now = self.clock.now();
            self.engine.handle(now, Input::Session { key, event });
        }
    }

    /// Tells a session. One that does not take its orders is not what the engine thinks it is:
    /// without orders to come it is cut off.
    fn order(&mut self, key: SessionKey, order: Order) {
        let Some(orders) = self.sessions.get(&key) else {
            return;
        };
        if orders.try_send(order).is_err() {
            self.sessions.remove(&key);
        }
    }

    /// Ends every session as restarting.
    pub(crate) fn cancel_sessions(&mut self) {
        let keys: Vec<SessionKey> = self.sessions.keys().copied().collect();
        for key in keys {
            self.order(key, Order::Cancel(FailureReason::Restarting));
        }
    }
}

/// Whether the engine may sign thousands of entries for it: own writes that come, or that waited
/// for the disk. Other tasks go on meanwhile.
fn signs(arrival: &Arrival) -> bool {
    matches!(
        arrival,
        Arrival::Disk(_) | Arrival::Command(Command::Publish { .. })
    )
}

fn swarm_input(topic: TopicId, news: SwarmNews) -> Input {
    match news {
        SwarmNews::Neighbor { peer, up } => Input::Neighbor { topic, peer, up },
        SwarmNews::Message(bytes) => Input::Gossip { topic, bytes },
        SwarmNews::Lagged => Input::GossipLagged { topic },
    }
}
