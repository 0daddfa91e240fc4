//! How the owner's words are written. Append only: the place of a variant is the wire, and one that
//! a version does not know says nothing to it.

use serde::{Deserialize, Serialize};

use super::{Control, Manifest, SpaceTopic};
use crate::{
    coverage::Role,
    entry::Seq,
    id::{EntryHash, NodeId},
    ticket::TopicSecret,
    writing::Writing,
};

/// A word as it is written. A word has one form (`ENT-35`): the later variants are for what the
/// earlier cannot say, so that what an older version wrote, and reads, stays as it was.
#[derive(Serialize, Deserialize)]
pub(super) enum Word {
    Grant {
        node: NodeId,
        rank: u16,
        role: Role,
    },
    Revoke {
        node: NodeId,
    },
    /// All of whose topics are open.
    Space(List<OpenTopic>),
    RevokeAfter {
        node: NodeId,
        after_seq: u64,
        head: EntryHash,
    },
    /// One of whose topics at least is granted.
    SpaceOfAny(List<SpaceTopic>),
}

#[derive(Serialize, Deserialize)]
pub(super) struct List<T> {
    version: u64,
    topics: Vec<T>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OpenTopic {
    owner: NodeId,
    secret: TopicSecret,
    name: String,
}

impl From<Control> for Word {
    fn from(control: Control) -> Self {
        match control {
            Control::Grant { node, rank, role } => Self::Grant { node, rank, role },
            Control::Revoke { node, last: None } => Self::Revoke { node },
            Control::Revoke {
                node,
                last: Some((seq, head)),
            } => Self::RevokeAfter {
                node,
                after_seq: seq.get(),
                head,
            },
            Control::Space(Manifest { version, topics }) => {
                let all_open = topics.iter().all(|topic| topic.writing == Writing::Open);
                if !all_open {
                    return Self::SpaceOfAny(List { version, topics });
                }
                let open = |topic: SpaceTopic| OpenTopic {
                    owner: topic.owner,
                    secret: topic.secret,
                    name: topic.name,
                };
                let topics = topics.into_iter().map(open).collect();
                Self::Space(List { version, topics })
            }
        }
    }
}

impl TryFrom<Word> for Control {
    type Error = &'static str;

    fn try_from(word: Word) -> Result<Self, Self::Error> {
        Ok(match word {
            Word::Grant { node, rank, role } => Self::Grant { node, rank, role },
            Word::Revoke { node } => Self::Revoke { node, last: None },
            Word::RevokeAfter {
                node,
                after_seq,
                head,
            } => {
                let seq = Seq::new(after_seq).ok_or("a chain starts at 1")?;
                let last = Some((seq, head));
                Self::Revoke { node, last }
            }
            Word::Space(List { version, topics }) => {
                let any = |topic: OpenTopic| SpaceTopic {
                    owner: topic.owner,
                    secret: topic.secret,
                    name: topic.name,
                    writing: Writing::Open,
                };
                let topics = topics.into_iter().map(any).collect();
                Self::Space(Manifest { version, topics })
            }
            Word::SpaceOfAny(List { version, topics }) => Self::Space(Manifest { version, topics }),
        })
    }
}
