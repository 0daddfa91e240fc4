//! A path as text: one line a step.

use std::fmt::Write as _;

use osier_engine::SyncEvent;

use super::{Broken, Cast, End, Place, Scene, Setup, Step, name_of};
use crate::clock::{MS, Time};

/// What happened in the last step.
#[derive(Debug, Default)]
pub(super) struct Note {
    from: Time,
    till: Time,
    words: String,
    told: Vec<String>,
    broken: Option<String>,
}

impl Note {
    pub(super) fn begin(&mut self, now: Time, words: String) {
        *self = Self {
            from: now,
            till: now,
            words,
            ..Self::default()
        };
    }

    pub(super) fn until(&mut self, now: Time) {
        self.till = now;
    }

    pub(super) fn told(&mut self, event: &SyncEvent) {
        let text = format!("{event:?}");
        let name = text.split(|c: char| !c.is_ascii_alphanumeric()).next();
        self.told.push(name.unwrap_or_default().to_owned());
    }

    pub(super) fn broken(&mut self, broken: &Broken) {
        self.broken.get_or_insert(broken.to_string());
    }

    fn line(&self, number: usize) -> String {
        let mut line = format!("{number:>2}  {:>6} ms  {}", self.from / MS, self.words);
        if self.till > self.from {
            write!(line, " ({} ms)", (self.till - self.from) / MS).expect("a string takes all");
        }
        if !self.told.is_empty() {
            write!(line, " -> {}", self.told.join(", ")).expect("a string takes all");
        }
        if let Some(broken) = &self.broken {
            write!(line, "\n    {broken}").expect("a string takes all");
        }
        line
    }
}

impl Scene {
    /// A step in words, before it is taken.
    pub(super) fn words(&self, step: Step) -> String {
        let place = |place: Place| (self.item(place), self.way(place), place.at);
        match step {
            Step::Deliver(at) => match place(at) {
                (what, way, 0) => format!("{what} {way} arrives"),
                (what, way, before) => format!("{what} {way} arrives before {before} others"),
            },
            Step::Lose(at) => format!("{} {} is lost", self.item(at), self.way(at)),
            Step::Double(at) => format!("{} {} is doubled", self.item(at), self.way(at)),
            Step::Store => "the client's disk has written".to_owned(),
            Step::FailStore => "the client's disk fails to write".to_owned(),
            Step::Crash(server) => format!("{} dies", name_of(server)),
            Step::Restart(server) => format!("{} is there again", name_of(server)),
            Step::Write(server) => format!("{} gets an entry", name_of(server)),
            Step::Wait => "time passes".to_owned(),
        }
    }

    fn way(&self, place: Place) -> String {
        let server = name_of(self.server_at(place.line));
        match place.to {
            End::Client => format!("from {server}"),
            End::Server => format!("to {server}"),
        }
    }
}

/// Tells a path: one line a step, and what is broken at its end.
pub fn tell(setup: &Setup, cast: &std::sync::Arc<Cast>, path: &[Step]) -> String {
    let mut scene = Scene::new(setup, cast);
    scene.note.begin(0, "the client opens the topic".to_owned());
    let mut lines = vec![scene.note.line(0)];
    for (number, step) in path.iter().enumerate() {
        scene.take(*step);
        lines.push(scene.note.line(number + 1));
    }
    lines.join("\n")
}
