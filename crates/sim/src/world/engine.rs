//! Engines: told, drained, woken.

use osier_engine::Input;

use super::{Work, World, carry};
use crate::event::{Event, NodeIndex};

impl World {
    /// Gives an engine its input and carries out what it wants.
    pub(super) fn tell(&mut self, index: NodeIndex, input: Input) {
        let node = &mut self.nodes[index];
        let Some(up) = node.up.as_mut() else {
            return;
        };
        let now = node.clock.read(self.now);
        self.trace
            .note(self.now, index, format_args!("<- {}", carry::Brief(&input)));
        up.engine.handle(now, input);
        let mut outputs = Vec::new();
        while let Some(output) = up.engine.poll() {
            outputs.push(output);
        }
        for output in outputs {
            self.carry_out(index, output);
        }
        self.plan_wake(index);
    }

    /// Puts the engine's next deadline into the queue, unless an earlier call is there already.
    fn plan_wake(&mut self, index: NodeIndex) {
        let node = &mut self.nodes[index];
        let (clock, life) = (node.clock, node.life);
        let Some(up) = node.up.as_mut() else {
            return;
        };
        let Some(at) = up.engine.deadline() else {
            return;
        };
        let at = clock.when(at).max(self.now + 1);
        if up
            .wake
            .is_none_or(|planned| at < planned || planned <= self.now)
        {
            up.wake = Some(at);
            self.queue.put(at, Event::Wake { node: index, life });
        }
    }

    pub(super) fn wake(&mut self, index: NodeIndex, life: u64) {
        let node = &mut self.nodes[index];
        let Some(up) = node.up.as_mut().filter(|_| node.life == life) else {
            return;
        };
        if up.wake == Some(self.now) {
            up.wake = None;
            self.work
                .push_back(Work::Tell(index, Box::new(Input::Tick)));
        }
    }
}
