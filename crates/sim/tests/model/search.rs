//! The search: `stateright` over scenes.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

use osier_sim::model::{Broken, Cast, Facts, Scene, Setup, Step, tell};
use stateright::{Checker, Model, Property};

/// A state: the path to it, with the key that says when two paths lead to the same.
#[derive(Debug)]
pub(crate) struct State {
    path: Vec<Step>,
    key: [u8; 32],
    facts: Facts,
    steps: Vec<Step>,
    /// The scene that the path led to, for the first that goes on from it; the others make it anew.
    live: Mutex<Option<Box<Scene>>>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            key: self.key,
            facts: self.facts.clone(),
            steps: self.steps.clone(),
            live: Mutex::new(None),
        }
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// What is searched.
pub(crate) struct World {
    setup: Setup,
    cast: Arc<Cast>,
}

impl World {
    fn replay(&self, state: &State) -> Box<Scene> {
        let live = state.live.lock().expect("nobody panics with it").take();
        live.unwrap_or_else(|| {
            let mut scene = Box::new(Scene::new(&self.setup, &self.cast));
            state.path.iter().for_each(|step| scene.take(*step));
            assert_eq!(scene.key(), state.key, "the same path leads to the same");
            scene
        })
    }
}

fn state(scene: Box<Scene>, path: Vec<Step>) -> State {
    State {
        path,
        key: scene.key(),
        facts: scene.facts().clone(),
        steps: scene.steps(),
        live: Mutex::new(Some(scene)),
    }
}

impl Model for World {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let scene = Scene::new(&self.setup, &self.cast);
        vec![state(Box::new(scene), Vec::new())]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        actions.extend(&state.steps);
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut scene = self.replay(last);
        scene.take(step);
        let mut path = last.path.clone();
        path.push(step);
        Some(state(scene, path))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("complete is true", |_, state: &State| {
                !matches!(state.facts.broken, Some(Broken::FalseComplete(_)))
            }),
            Property::always("nobody waits without a word", |_, state: &State| {
                !matches!(state.facts.broken, Some(Broken::Overdue(_)))
            }),
            Property::always("each start has one end", |_, state: &State| {
                !matches!(state.facts.broken, Some(Broken::Ends(_)))
            }),
            Property::sometimes("complete is reached", |_, state: &State| state.facts.synced),
        ]
    }
}

/// What a search found.
pub(crate) struct Found {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) synced: bool,
    /// What is broken first, and the path to it.
    pub(crate) broken: Option<(Broken, Vec<Step>)>,
    setup: Setup,
    cast: Arc<Cast>,
}

impl Found {
    /// The path to what is broken, one line a step.
    pub(crate) fn trace(&self) -> String {
        let path = self.broken.as_ref().map_or(&[][..], |(_, path)| path);
        tell(&self.setup, &self.cast, path)
    }
}

/// Tries every path.
pub(crate) fn search(setup: Setup) -> Found {
    let cast = Arc::new(Cast::new());
    let world = World {
        setup: setup.clone(),
        cast: Arc::clone(&cast),
    };
    // Which of several paths is found first depends on the threads: a bug on purpose has one.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if setup.canary.is_some() { 1 } else { cores };
    let done = world.checker().threads(threads).spawn_bfs().join();
    let mut found = done.discoveries();
    let synced = found.remove("complete is reached").is_some();
    let broken = found.into_values().map(|path| path.last_state().clone());
    let broken = broken.min_by_key(|state| state.path.len());
    let broken = broken.map(|state| {
        let broken = state.facts.broken.expect("what is found is broken");
        (broken, state.path)
    });
    Found {
        states: done.unique_state_count(),
        steps: done.state_count(),
        synced,
        broken,
        setup,
        cast,
    }
}
