//! The proof that the policy reads: the session machine's evidence, and which provider it is of.

use osier_core::{Coverage, SessionId, StateHash};
use osier_policy::Proof;
use osier_proto::Evidence;

/// Evidence as the policy sees it. Only a session machine makes the evidence in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Drained(pub(crate) Evidence);

impl Proof for Drained {
    fn session(&self) -> SessionId {
        self.0.session()
    }

    fn coverage(&self) -> Coverage {
        self.0.coverage()
    }

    fn state(&self) -> StateHash {
        self.0.state()
    }

    fn entries(&self) -> u64 {
        self.0.entries()
    }
}
