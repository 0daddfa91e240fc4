//! Parameters of a run, drawn from its seed (swarm testing): most runs have few kinds of faults, so
//! that each kind is also met alone.

use crate::dice::{Dice, Purpose};

/// Honest nodes of the largest run.
const NODES_MAX: u64 = 40;

/// One run in so many has many nodes: it takes as long as some thirty others.
const CROWD_EVERY: u64 = 200;

macro_rules! knobs {
    ($($(#[$doc:meta])* $name:ident: $calm:literal,)*) => {
        /// Every parameter of a run, by name. All are plain numbers, so a failing run can be
        /// shrunk one number at a time and replayed with `--set name=value`.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Knobs {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Knobs {
            /// Names, in the order in which they are shrunk.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// Two nodes and nothing that goes wrong.
            pub const fn calm() -> Self {
                Self { $($name: $calm,)* }
            }

            /// The value of a parameter; none if there is none of this name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => Some(self.$name),)*
                    _ => None,
                }
            }

            /// Sets a parameter; false if there is none of this name.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

knobs! {
    /// Byzantine providers, after the honest nodes.
    liars: 0,
    /// Which lie the first of them tells; the next ones tell the next lies. See [`crate::Lie`].
    lie: 0,
    /// Crashes in all, each followed by a restart.
    crashes: 0,
    /// Of those, crashes that also lose the disk.
    wipes: 0,
    /// Orderly stops, each followed by a start.
    churns: 0,
    /// Cuts of a random half of the nodes from the rest.
    partitions: 0,
    /// Whether a cut works one way only.
    asymmetric: 0,
    /// Links that deliver nothing for a while and then everything.
    clogs: 0,
    /// Connections that break at once.
    breaks: 0,
    /// Times that gossip drops a node's messages and says so.
    lags: 0,
    /// Whether one node hears no gossip from before the last writes to the end, but for a lag
    /// notice.
    final_lag: 0,
    /// Writes of a disk that fail, a hundred thousandth of all.
    disk_fail_pcm: 0,
    /// Times that a disk is full for a while.
    disk_full: 0,
    /// Wall clocks that jump.
    wall_jumps: 0,
    /// Authors that sign two entries at one position.
    forkers: 0,
    /// Authors that sign badly but link well.
    bad_signers: 0,
    /// Authors that name entries that never existed.
    inventors: 0,
    /// Authors with a clock far in the future.
    futurists: 0,
    /// Gossip messages lost on each hop, a hundredth of all.
    gossip_loss_pct: 0,
    /// Gossip messages doubled on each hop, a hundredth of all.
    gossip_double_pct: 0,
    /// Greatest extra delay of a gossip hop in milliseconds: reorders.
    gossip_jitter_ms: 0,
    /// Nodes that start late.
    late: 0,
    /// Nodes that keep a ring.
    replays: 0,
    /// Entries that a ring keeps.
    ring: 30,
    /// Nodes with the role archive, the owner's among them.
    archives: 1,
    /// Topics.
    topics: 1,
    /// Honest nodes.
    nodes: 2,
    /// Publish commands in all.
    writes: 8,
    /// Most entries in one command.
    burst: 3,
    /// Entries held by the owner before anything starts.
    backlog: 0,
    /// Delay of a link in milliseconds, one way.
    delay_ms: 10,
    /// Greatest extra delay in milliseconds; streams keep their order.
    jitter_ms: 0,
    /// Bandwidth of a link in KiB a second; 0 is without bound.
    bandwidth_kib: 0,
    /// Stream window in KiB.
    window_kib: 256,
    /// Frames that arrive in pieces, a hundredth of all.
    split_pct: 0,
    /// Greatest time of a disk write in milliseconds.
    disk_ms: 1,
    /// Greatest time in milliseconds between a write being on disk and the engine knowing it.
    report_ms: 0,
    /// Time in milliseconds that a machine needs for a slice of comparing heads.
    work_ms: 0,
    /// Silence in seconds after which a connection is given up.
    idle_s: 10,
    /// Greatest drift of a monotonic clock in parts per million.
    drift_ppm: 0,
    /// Greatest error of a wall clock in seconds.
    wall_skew_s: 0,
    /// Length of the time of faults in seconds.
    fault_s: 10,
    /// Rule of completion: 0 storage first, 1 first trusted, 2 strict majority.
    rule: 0,
    /// Whether the archives trust the honest nodes, too.
    mutual: 0,
    /// Whether every node is a Nostr relay: entries carry events, and each disk their index.
    relays: 0,
    /// Whether the topics are granted: only the owner, and whom it grants, may write.
    granted: 0,
    /// Nodes that have the tickets of granted topics and no grant, and write, gossip and serve as
    /// if they had one; after the liars.
    outsiders: 0,
    /// A bug on purpose: sessions are told that entries are on disk before they are. Never drawn:
    /// a test sets it and expects it to be found.
    canary: 0,
}

impl Knobs {
    /// The parameters of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed, Purpose::Swarm);
        let mut knobs = Self::calm();
        draw_shape(&mut knobs, &mut dice);
        draw_network(&mut knobs, &mut dice);
        draw_faults(&mut knobs, &mut dice);
        draw_hostile(&mut knobs, &mut dice);
        draw_majority(&mut knobs, &mut dice);
        draw_crowd(&mut knobs, &mut dice);
        // Drawn last, so that seeds keep what they drew before there was an index.
        knobs.relays = u64::from(dice.chance(20));
        // Draws of its own: the other parameters of a seed stay as they were.
        let mut dice = Dice::new(seed, Purpose::Granting);
        if dice.chance(15) {
            knobs.granted = 1;
            knobs.outsiders = u64::from(dice.chance(60));
            // What an index should show is not told for entries that are taken out again.
            knobs.relays = 0;
        }
        knobs
    }
}

fn draw_shape(knobs: &mut Knobs, dice: &mut Dice) {
    knobs.nodes = *dice.pick(&[2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 6, 7, 12]);
    knobs.topics = if dice.chance(20) { 2 } else { 1 };
    knobs.archives = dice.range(0, 2).min(knobs.nodes);
    if knobs.nodes > 2 && dice.chance(35) {
        knobs.replays = dice.range(1, (knobs.nodes - 1).min(2));
        knobs.ring = dice.range(5, 40);
    }
    knobs.late = if dice.chance(60) {
        dice.range(1, knobs.nodes - 1)
    } else {
        0
    };
    knobs.writes = dice.range(1, 16);
    knobs.burst = *dice.pick(&[1, 1, 2, 5, 12]);
    knobs.backlog = *dice.pick(&[0, 0, 0, 10, 50, 120]);
    knobs.rule = u64::from(dice.chance(25));
    knobs.mutual = u64::from(dice.chance(40));
    knobs.fault_s = dice.range(5, 40);
}

fn draw_network(knobs: &mut Knobs, dice: &mut Dice) {
    knobs.delay_ms = *dice.pick(&[0, 1, 5, 20, 60, 150]);
    knobs.jitter_ms = *dice.pick(&[0, 0, 2, 20, 80]);
    knobs.bandwidth_kib = *dice.pick(&[0, 0, 0, 12, 64, 512]);
    knobs.window_kib = *dice.pick(&[1, 16, 256, 1024]);
    knobs.split_pct = *dice.pick(&[0, 0, 20, 100]);
    knobs.gossip_loss_pct = *dice.pick(&[0, 0, 0, 5, 30, 100]);
    knobs.gossip_double_pct = *dice.pick(&[0, 0, 10]);
    knobs.gossip_jitter_ms = *dice.pick(&[0, 0, 20, 300]);
    knobs.disk_ms = *dice.pick(&[0, 1, 1, 5, 30, 120]);
    knobs.report_ms = *dice.pick(&[0, 0, 1, 20]);
    knobs.work_ms = *dice.pick(&[0, 0, 0, 50, 400]);
    knobs.idle_s = *dice.pick(&[5, 10, 15]);
    knobs.drift_ppm = *dice.pick(&[0, 0, 100, 5_000]);
    knobs.wall_skew_s = *dice.pick(&[0, 0, 2, 600, 100_000]);
}

fn draw_faults(knobs: &mut Knobs, dice: &mut Dice) {
    let mut some = |percent, most| {
        if dice.chance(percent) {
            dice.range(1, most)
        } else {
            0
        }
    };
    knobs.crashes = some(40, 4);
    knobs.wipes = some(10, 1).min(knobs.crashes);
    knobs.churns = some(20, 3);
    knobs.partitions = some(35, 3);
    knobs.asymmetric = some(30, 1);
    knobs.clogs = some(35, 5);
    knobs.breaks = some(35, 6);
    knobs.lags = some(30, 4);
    knobs.final_lag = some(20, 1);
    knobs.disk_fail_pcm = if some(15, 1) == 1 {
        some(100, 4_000)
    } else {
        0
    };
    knobs.disk_full = some(10, 2);
    knobs.wall_jumps = some(25, 4);
}

fn draw_hostile(knobs: &mut Knobs, dice: &mut Dice) {
    if dice.chance(45) {
        knobs.liars = dice.range(1, (knobs.nodes / 3).max(2));
        knobs.lie = dice.below(crate::liar::DRAWN_LIES as u64);
    }
    let mut some = |percent| u64::from(dice.chance(percent));
    knobs.forkers = some(15);
    knobs.bad_signers = some(12);
    knobs.inventors = some(12);
    knobs.futurists = some(15);
}

/// A ring may hold other tips of a hostile author for good, so only where there is none must a
/// majority come to agree.
fn draw_majority(knobs: &mut Knobs, dice: &mut Dice) {
    if knobs.replays == 0 && dice.chance(8) {
        knobs.rule = 2;
    }
}

/// Many nodes, and as many faults.
fn draw_crowd(knobs: &mut Knobs, dice: &mut Dice) {
    if dice.below(CROWD_EVERY) > 0 {
        return;
    }
    knobs.nodes = dice.range(13, NODES_MAX);
    knobs.archives = dice.range(1, 4);
    knobs.liars = dice.range(0, knobs.archives.div_ceil(2));
    knobs.late = knobs.late.min(knobs.nodes / 3);
    // Everybody asks whom it trusts: all of all would be a matter of sessions alone.
    knobs.mutual = 0;
    knobs.crashes = knobs.crashes.min(1) * dice.range(2, 10);
    knobs.churns = knobs.churns.min(1) * dice.range(2, 8);
    knobs.breaks = knobs.breaks.min(1) * dice.range(4, 30);
    knobs.clogs = knobs.clogs.min(1) * dice.range(4, 20);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_is_reachable_by_name() {
        let mut knobs = Knobs::calm();
        for (value, name) in (100..).zip(Knobs::NAMES) {
            assert!(knobs.set(name, value));
            assert_eq!(knobs.get(name), Some(value));
        }
        assert!(!knobs.set("no such knob", 1));
    }

    #[test]
    fn seeds_differ_and_repeat() {
        assert_eq!(Knobs::draw(5), Knobs::draw(5));
        assert_ne!(Knobs::draw(5), Knobs::draw(6));
    }
}
