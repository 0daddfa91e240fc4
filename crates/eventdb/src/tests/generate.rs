//! Random events and filters, with few values everywhere, so that they meet.

use osier_nostr::{Event, Filter, Page};
use proptest::{prelude::*, sample::Index};

use super::support::{author, event};

pub(super) const TIMES: u64 = 8;

const KINDS: [u16; 11] = [0, 1, 3, 4, 5, 6, 7, 1059, 1111, 10_002, 30_000];

/// What an event is made of; references are to others of the same history.
#[derive(Debug, Clone)]
struct Draft {
    signer: u8,
    at: u64,
    kind: u16,
    content: u8,
    p: Vec<u8>,
    e: Vec<Index>,
    t: Vec<u8>,
    d: Vec<u8>,
    expires: Option<u64>,
    form: u8,
}

fn few<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(of, 0..3)
}

fn draft() -> impl Strategy<Value = Draft> {
    let who = (
        0_u8..4,
        0..TIMES,
        prop::sample::select(KINDS.to_vec()),
        0_u8..3,
    );
    let tags = (
        few(0_u8..4),
        few(any::<Index>()),
        few(0_u8..3),
        few(0_u8..2),
    );
    let expires = prop::option::weighted(0.15, 5_u64..20);
    (who, tags, expires, 0_u8..16).prop_map(|(who, tags, expires, form)| {
        let (signer, at, kind, content) = who;
        let (p, e, t, d) = tags;
        Draft {
            signer,
            at,
            kind,
            content,
            p,
            e,
            t,
            d,
            expires,
            form,
        }
    })
}

/// Events that reply to, replace, delete and make vanish each other, each once.
pub(super) fn history(most: usize) -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(draft(), 1..most).prop_map(|drafts| {
        let mut events: Vec<Event> = Vec::new();
        for draft in drafts {
            let event = build(&draft, &events);
            if events.iter().all(|other| other.id() != event.id()) {
                events.push(event);
            }
        }
        events
    })
}

fn build(draft: &Draft, before: &[Event]) -> Event {
    let mut tags: Vec<[String; 2]> = Vec::new();
    let mut add = |name: &str, value: String| tags.push([name.to_owned(), value]);
    draft
        .p
        .iter()
        .for_each(|n| add("p", author(*n).to_string()));
    draft.t.iter().for_each(|n| add("t", n.to_string()));
    draft.d.iter().for_each(|n| add("d", n.to_string()));
    let mut signer = draft.signer;
    let mut kind = draft.kind;
    for index in draft.e.iter().filter(|_| !before.is_empty()) {
        let target = index.get(before);
        add("e", target.id().to_string());
        add("E", target.id().to_string());
        if kind == 5
            && let Some(address) = target.address()
        {
            add(
                "a",
                format!("{}:{}:{}", address.kind.get(), address.pubkey, address.d),
            );
        }
        // Most deletions are by who may.
        if kind == 5 && draft.form > 2 {
            signer = target.pubkey().as_bytes()[0];
        }
    }
    if let Some(at) = draft.expires {
        add("expiration", at.to_string());
    }
    if draft.form == 0 {
        kind = 62;
        add("relay", "ALL_RELAYS".to_owned());
    }
    let tags: Vec<[&str; 2]> = tags.iter().map(|tag| [&*tag[0], &*tag[1]]).collect();
    let tags: Vec<&[&str]> = tags.iter().map(|tag| &tag[..]).collect();
    event(signer, draft.at, kind, &tags, &draft.content.to_string())
}

/// A filter; ids and references are of this history.
#[derive(Debug, Clone)]
pub(super) struct FilterDraft {
    ids: Option<Vec<Index>>,
    authors: Option<Vec<u8>>,
    kinds: Option<Vec<u16>>,
    p: Option<Vec<u8>>,
    e: Option<Vec<Index>>,
    t: Option<Vec<u8>>,
    since: Option<u64>,
    until: Option<u64>,
    limit: Option<u64>,
}

pub(super) fn filter_draft() -> impl Strategy<Value = FilterDraft> {
    let list = |most| prop::option::weighted(0.35, prop::collection::vec(0_u8..5, 0..most));
    let kinds = prop::collection::vec(prop::sample::select(KINDS.to_vec()), 0..4);
    let (kinds, ids) = (
        prop::option::weighted(0.45, kinds),
        prop::option::weighted(0.1, prop::collection::vec(any::<Index>(), 0..4)),
    );
    let e = prop::option::weighted(0.2, prop::collection::vec(any::<Index>(), 0..3));
    let time = || prop::option::weighted(0.25, 0..TIMES + 1);
    let limit = prop::option::weighted(0.4, 0_u64..8);
    (
        ids,
        list(3),
        kinds,
        list(3),
        e,
        list(3),
        time(),
        time(),
        limit,
    )
        .prop_map(
            |(ids, authors, kinds, p, e, t, since, until, limit)| FilterDraft {
                ids,
                authors,
                kinds,
                p,
                e,
                t,
                since,
                until,
                limit,
            },
        )
}

impl FilterDraft {
    pub(super) fn build(&self, events: &[Event]) -> Filter {
        let id = |index: &Index| index.get(events).id().to_string();
        let ids = |list: &Option<Vec<Index>>| {
            list.as_ref()
                .map(|list| list.iter().map(id).collect::<Vec<_>>())
        };
        let keys = |list: &Option<Vec<u8>>| {
            let key = |n: &u8| author(*n).to_string();
            list.as_ref()
                .map(|list| list.iter().map(key).collect::<Vec<_>>())
        };
        let texts = self
            .t
            .as_ref()
            .map(|t| t.iter().map(u8::to_string).collect::<Vec<_>>());
        let value = serde_json::json!({
            "ids": ids(&self.ids), "authors": keys(&self.authors), "kinds": self.kinds,
            "#p": keys(&self.p), "#e": ids(&self.e), "#t": texts,
            "since": self.since, "until": self.until, "limit": self.limit,
        });
        let serde_json::Value::Object(fields) = value else {
            unreachable!()
        };
        let named = fields.into_iter().filter(|(_, value)| !value.is_null());
        let kept: serde_json::Map<_, _> = named.collect();
        Filter::parse(&serde_json::Value::Object(kept).to_string()).unwrap()
    }
}

/// A page of a filter, as a connection makes them.
pub(super) fn page(filter: &Filter, cap: u64) -> Page {
    let asked = filter.limit().unwrap_or(u64::MAX);
    Page {
        filter: filter.clone(),
        events_max: cap.min(asked),
        whole_second: cap < asked,
    }
}

/// How a history comes in: its order, and how it is cut into entries. Some events come twice.
pub(super) fn arrival(most: usize) -> impl Strategy<Value = (Vec<Index>, Vec<usize>)> {
    let order = prop::collection::vec(any::<Index>(), most..most + 4);
    (order, prop::collection::vec(1_usize..8, most))
}

/// The events in that order, cut that way: all of them, some twice.
pub(super) fn arrange(
    events: &[Event],
    (order, cuts): &(Vec<Index>, Vec<usize>),
) -> Vec<Vec<Event>> {
    let mut left: Vec<Event> = events.to_vec();
    let mut arranged = Vec::new();
    for index in order {
        if left.is_empty() {
            arranged.push(index.get(events).clone());
        } else {
            arranged.push(left.swap_remove(index.index(left.len())));
        }
    }
    arranged.extend(left);
    let mut entries = Vec::new();
    let mut rest = &arranged[..];
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (entry, later) = rest.split_at((*cut).min(rest.len()));
        entries.push(entry.to_vec());
        rest = later;
    }
    entries
}
