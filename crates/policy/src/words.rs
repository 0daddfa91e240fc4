//! What the owner's words add up to: a function of their set (`ENT-31`).

use std::collections::BTreeMap;

use osier_core::{Control, EntryHash, Manifest, NodeId, Seq};

use crate::{
    limit,
    trust::{Rank, Standing},
};

/// Where a word stands among the owner's: of two on one matter the later counts.
type Place = (Seq, EntryHash);

/// The words of a topic's owner, as far as they have an effect. Who makes one sees to it that only
/// the owner's words come in (`ENT-30`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnerWords {
    /// The last word on each node; `None` is a revocation.
    standings: BTreeMap<NodeId, (Place, Option<Standing>)>,
    manifest: Option<(Place, Manifest)>,
}

impl OwnerWords {
    /// What kept words add up to: of each the seq and hash of its entry and the entry's item. An
    /// item that this version cannot read says nothing.
    pub fn read<'a>(kept: impl IntoIterator<Item = (Seq, EntryHash, &'a [u8])>) -> Self {
        let mut words = Self::default();
        for (seq, hash, item) in kept {
            if let Ok(control) = Control::parse(item) {
                words.note(seq, hash, control);
            }
        }
        words
    }

    /// Takes in a word; whether it changes anything. In any order, also more than once.
    pub fn note(&mut self, seq: Seq, hash: EntryHash, control: Control) -> bool {
        let place = (seq, hash);
        match control {
            Control::Grant { node, rank, role } => {
                let rank = Rank::new(rank);
                self.stand(node, place, Some(Standing { rank, role }))
            }
            Control::Revoke { node, .. } => self.stand(node, place, None),
            Control::Space(manifest) => self.list(place, manifest),
        }
    }

    fn stand(&mut self, node: NodeId, place: Place, standing: Option<Standing>) -> bool {
        let before = self.standings.get(&node);
        if before.is_some_and(|(earlier, _)| *earlier >= place) {
            return false;
        }
        self.standings.insert(node, (place, standing));
        if self.standings.len() > limit::NODES_SPOKEN_OF_MAX {
            self.standings.pop_last();
        }
        true
    }

    fn list(&mut self, place: Place, manifest: Manifest) -> bool {
        let rank = |place: &Place, manifest: &Manifest| (manifest.version(), *place);
        let newer = self
            .manifest
            .as_ref()
            .is_none_or(|(at, before)| rank(at, before) < rank(&place, &manifest));
        if newer {
            self.manifest = Some((place, manifest));
        }
        newer
    }

    /// Whose marker the owner says counts, by node id (`ENT-32`).
    pub fn grants(&self) -> impl Iterator<Item = (NodeId, Standing)> + '_ {
        let standings = self.standings.iter();
        standings.filter_map(|(node, (_, standing))| Some((*node, (*standing)?)))
    }

    /// Whether the owner's last word on a node is a grant; none if the owner has never spoken of
    /// it. In a granted topic only a granted node, or the owner, may write (`ENT-41`).
    pub fn grant(&self, node: NodeId) -> Option<bool> {
        let (_, standing) = self.standings.get(&node)?;
        Some(standing.is_some())
    }

    /// The space's manifest, if the topic is the control topic of one.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref().map(|(_, manifest)| manifest)
    }
}

#[cfg(test)]
mod tests {
    use osier_core::{Role, Ticket, TopicSecret, testing::secret};

    use super::*;

    fn grant(node: u64, rank: u16) -> Control {
        Control::Grant {
            node: secret(node).node_id(),
            rank,
            role: Role::Archive,
        }
    }

    fn revoke(node: u64) -> Control {
        let node = secret(node).node_id();
        Control::Revoke { node, last: None }
    }

    fn space(version: u64, name: &str) -> Control {
        let secret = TopicSecret::from_bytes([1; 32]);
        let ticket = Ticket::new(osier_core::testing::secret(1).node_id(), secret, name).unwrap();
        Control::Space(Manifest::new(version, &[ticket]).unwrap())
    }

    fn words(said: &[(u64, u8, Control)]) -> OwnerWords {
        let mut words = OwnerWords::default();
        for (seq, hash, control) in said {
            let hash = EntryHash::from_bytes([*hash; 32]);
            words.note(Seq::new(*seq).unwrap(), hash, control.clone());
        }
        words
    }

    /// `ENT-31`: every order of the same words adds up to the same.
    #[test]
    fn words_add_up_in_any_order() {
        let said = vec![
            (1, 1, grant(5, 10)),
            (2, 2, revoke(5)),
            (3, 3, grant(5, 20)),
            (3, 4, revoke(5)),
            (4, 5, grant(6, 1)),
            (5, 6, space(2, "b")),
            (6, 7, space(1, "a")),
            (7, 8, space(2, "c")),
        ];
        let expected = words(&said);
        let grants: Vec<_> = expected.grants().collect();
        assert_eq!(
            grants.len(),
            1,
            "of a fork the greater hash counts: {grants:?}"
        );
        assert_eq!(expected.manifest().unwrap().topics()[0].name, "c");
        for turn in 0..said.len() {
            let mut other = said.clone();
            other.rotate_left(turn);
            assert_eq!(words(&other), expected);
            other.reverse();
            assert_eq!(words(&other), expected);
            other.extend(said.clone());
            assert_eq!(words(&other), expected);
        }
    }

    #[test]
    fn a_grant_after_a_revocation_counts_again() {
        let words = words(&[
            (1, 1, grant(5, 10)),
            (2, 2, revoke(5)),
            (3, 3, grant(5, 20)),
        ]);
        let (node, standing) = words.grants().next().unwrap();
        assert_eq!((node, standing.rank.get()), (secret(5).node_id(), 20));
        assert_eq!(words.grant(node), Some(true));
        assert_eq!(words.grant(secret(6).node_id()), None);
    }
}
