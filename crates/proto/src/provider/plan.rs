//! Which mode a session begins in (`SES-5`), decided from both summaries and the token.

use osier_core::{Head, SetSum, TopicId};

use crate::{
    heads,
    limit::{BATCH_BYTES_TARGET, HEAD_BYTES, HEADS_CHEAP_BYTES, HEADS_MAX, RESUME_SCAN_MAX},
    message::{Hello, Mode, Summary, Window},
    token::{ResumePoint, TokenSeal},
    view::{Lsn, View, ViewError},
    window,
};

/// How a session begins.
#[derive(Debug)]
pub(super) enum Plan {
    Equal,
    /// Stream the log after a place; `prefix` is what the client holds of it.
    Log {
        mode: Mode,
        after: Lsn,
        prefix: SetSum,
    },
    Heads(Vec<Head>),
    Ranges,
}

impl Plan {
    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Equal => Mode::Equal,
            Self::Log { mode, .. } => *mode,
            Self::Heads(_) => Mode::Heads,
            Self::Ranges => Mode::Ranges,
        }
    }
}

#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) plan: Plan,
    pub(super) window: Option<Window>,
    pub(super) token_unserviceable: bool,
}

/// Chooses, cheapest first.
pub(super) fn choose(
    view: &dyn View,
    hello: &Hello,
    seal: &TokenSeal,
    topic: TopicId,
) -> Result<Chosen, ViewError> {
    let (ours, theirs) = (view.summary(), hello.summary);
    let shown = hello.token.as_ref();
    let opened = shown.and_then(|token| seal.open(token));
    let mut point = opened.filter(|point| is_serviceable(point, view, topic));
    let mut chosen = Chosen {
        plan: Plan::Ranges,
        window: None,
        token_unserviceable: shown.is_some() && point.is_none(),
    };
    if let Some(opened) = &mut point {
        move_on(opened, view, &theirs.set)?;
    }
    if let Some(plan) = without_comparing(&ours, &theirs, point.as_ref()) {
        chosen.plan = plan;
        return Ok(chosen);
    }
    let floor = window::common_floor(&ours.coverage, &theirs.coverage);
    if let Some(floor) = floor {
        let set = window::set_above(view, &floor)?;
        chosen.window = Some(Window { floor, set });
    }
    // A ring's tips below its floor are no part of the window, so they are exchanged.
    if (floor.is_some() && ours.authors.max(theirs.authors) <= HEADS_MAX as u64)
        || heads_are_worth_it(&ours, &theirs)
    {
        chosen.plan = heads::all_heads(view)?.map_or(Plan::Ranges, Plan::Heads);
    }
    Ok(chosen)
}

/// Whether what the token says still holds in this store (`SES-6`).
fn is_serviceable(point: &ResumePoint, view: &dyn View, topic: TopicId) -> bool {
    let now = view.point();
    point.store == now.store
        && point.topic == topic
        && point.pruned == now.pruned
        && point.lsn <= now.last
}

/// A client that followed gossip after its token holds more of our log than the token says. Moves
/// the point to where the log counts as many entries as the client holds, if what lies between
/// accounts for them exactly; what it costs is bounded by [`RESUME_SCAN_MAX`].
fn move_on(point: &mut ResumePoint, view: &dyn View, theirs: &SetSum) -> Result<(), ViewError> {
    let Some(mut ahead) = theirs.count().checked_sub(point.prefix.count()) else {
        return Ok(());
    };
    if ahead > RESUME_SCAN_MAX {
        return Ok(());
    }
    let mut moved = *point;
    while ahead > 0 {
        let max = usize::try_from(ahead).unwrap_or(usize::MAX);
        let page = view.log(moved.lsn, max, BATCH_BYTES_TARGET)?;
        for (lsn, entry) in &page.entries {
            moved.lsn = *lsn;
            moved.prefix.insert(&entry.hash());
        }
        let seen = page.entries.len() as u64;
        assert!(seen <= ahead, "a page holds at most what was asked for");
        ahead -= seen;
        if page.done || seen == 0 {
            break;
        }
    }
    if moved.prefix == *theirs {
        *point = moved;
    }
    Ok(())
}

fn without_comparing(
    ours: &Summary,
    theirs: &Summary,
    point: Option<&ResumePoint>,
) -> Option<Plan> {
    if ours.set == theirs.set && ours.state == theirs.state {
        return Some(Plan::Equal);
    }
    if theirs.set.is_empty() {
        return Some(Plan::Log {
            mode: Mode::Empty,
            after: Lsn::START,
            prefix: SetSum::EMPTY,
        });
    }
    // What follows the point makes the client equal exactly when it holds what precedes it.
    point
        .filter(|point| point.prefix == theirs.set)
        .map(|point| Plan::Log {
            mode: Mode::Resume,
            after: point.lsn,
            prefix: point.prefix,
        })
}

/// Heads cost bytes by the author, ranges round trips by the logarithm of the set. With equal
/// tips heads would tell nothing.
fn heads_are_worth_it(ours: &Summary, theirs: &Summary) -> bool {
    let authors = ours.authors.max(theirs.authors);
    let bytes = authors.saturating_mul(HEAD_BYTES);
    let apart = ours.set.count().abs_diff(theirs.set.count());
    authors <= HEADS_MAX as u64
        && ours.state != theirs.state
        && (bytes <= HEADS_CHEAP_BYTES || apart.saturating_mul(64) > bytes)
}
