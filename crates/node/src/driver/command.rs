//! What handles ask of the driver.

use osier_core::TopicId;
use osier_engine::{CommandId, Input, Now, Reply, TopicState};

use super::Driver;
use crate::{
    arrival::{Answer, Command},
    error::NodeError,
    handle::unknown,
};

impl Driver {
    /// Carries a command out, or hands it to the engine and waits for its reply.
    pub(super) fn command(&mut self, command: Command, now: Now) {
        match command {
            Command::Open { setup, answer } => {
                self.input(Input::Open(setup));
                let _ = answer.send(Ok(()));
            }
            Command::Close { topic, answer } => {
                self.input(Input::Close { topic });
                self.watchers.remove(topic);
                self.listeners.remove(topic);
                let _ = answer.send(Ok(()));
            }
            Command::Publish {
                topic,
                kind,
                entries,
                answer,
            } => {
                let command = self.await_reply(answer);
                self.input(Input::Publish {
                    command,
                    topic,
                    kind,
                    entries,
                });
            }
            Command::PassOn {
                topic,
                kind,
                item,
                answer,
            } => {
                let command = self.await_reply(answer);
                self.input(Input::PassOn {
                    command,
                    topic,
                    kind,
                    item,
                });
            }
            Command::Listen { topic, answer } => {
                let known = self.known(topic, now);
                let _ = answer.send(known.map(|_| self.listeners.add(topic)));
            }
            Command::Trust {
                topic,
                node,
                entry,
                answer,
            } => {
                let command = self.await_reply(answer);
                self.input(Input::Trust {
                    command,
                    topic,
                    node,
                    entry,
                });
            }
            Command::SetRule {
                topic,
                rule,
                answer,
            } => {
                let known = self.known(topic, now);
                self.input(Input::SetRule { topic, rule });
                let _ = answer.send(known.map(|_| ()));
            }
            Command::State { topic, answer } => {
                let state = self.engine.state(topic, now).map(Box::new);
                let _ = answer.send(Ok(state));
            }
            Command::Topics { answer } => {
                let _ = answer.send(Ok(self.engine.topics().collect()));
            }
            Command::Watch { topic, answer } => {
                let state = self.known(topic, now);
                let events = state.and_then(|state| self.watchers.add(topic, state));
                let _ = answer.send(events);
            }
            Command::Stop { .. } => {}
        }
    }

    fn known(&self, topic: TopicId, now: Now) -> Result<TopicState, NodeError> {
        self.engine.state(topic, now).ok_or_else(|| unknown(topic))
    }

    fn await_reply(&mut self, answer: Answer<Reply>) -> CommandId {
        self.last_command += 1;
        let command = CommandId(self.last_command);
        self.replies.insert(command, answer);
        command
    }
}
