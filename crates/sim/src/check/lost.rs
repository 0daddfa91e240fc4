//! What a disk that was lost, or a liar that has left, excuses where there are rings: what only it
//! held is nowhere else, or its author began anew.

use osier_core::{EntryHash, NodeId};
use osier_proto::{Source, View};

use crate::{event::NodeIndex, world::World};

/// Whether an author is a node that has lost its disk, of whom one of two nodes holds two entries
/// at one place: it has written before it learnt what it had written before, and a ring that has
/// dropped the one cannot tell that the other is a fork (`STO-13`).
pub(super) fn has_forked(
    world: &World,
    nodes: [NodeIndex; 2],
    topic: usize,
    author: &NodeId,
) -> bool {
    let index = world.index_of(*author);
    index.is_some_and(|index| world.checks.has_lost_disk(index))
        && nodes.into_iter().any(|node| {
            let chain = view(world, node, topic).chain(author, None, usize::MAX);
            let chain = chain.expect("memory is read");
            chain.windows(2).any(|pair| pair[0].0 == pair[1].0)
        })
}

/// Whether some disk was lost or some liar has left, and an entry of an author is gone for good:
/// one that keeps everything names it, and nobody holds it.
pub(super) fn is_gone(world: &World, members: &[NodeIndex], topic: usize, author: &NodeId) -> bool {
    let is_held = |hash: &EntryHash| {
        let mut views = members.iter().map(|node| view(world, *node, topic));
        views.any(|view| view.holds(hash).expect("memory is read"))
    };
    let id = world.topic(topic);
    let mut whole = members
        .iter()
        .filter(|node| world.checks.floor(**node, id).is_none());
    let mut all = 0..world.node_count();
    all.any(|node| world.checks.has_lost_disk(node) || world.checks.is_liar(node))
        && whole.any(|node| {
            let view = view(world, *node, topic);
            let holes = view.holes(None, usize::MAX).expect("memory is read");
            let mut own = holes.into_iter().filter(|hole| {
                let links = view.links(author, hole);
                links.expect("memory is read")
            });
            own.any(|hole| !is_held(&hole))
        })
}

fn view(world: &World, node: NodeIndex, topic: usize) -> Box<dyn View> {
    let view = world.nodes[node].vault.store.view(world.topic(topic));
    view.expect("memory is read")
}
