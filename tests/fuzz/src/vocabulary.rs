//! Decoders of `osier-core`.

use osier_core::{
    Control, KeyCache, SignedEntry, Ticket, WireEntry, authenticate, decode_canonical,
    encode_canonical, limit,
};

/// An entry as it travels (ENT-1 to ENT-10).
pub fn entry(bytes: &[u8]) {
    let wire = decode_canonical::<WireEntry>("entry", bytes, limit::ENTRY_WIRE_BYTES_MAX);
    let Ok(entry) = wire.and_then(SignedEntry::parse) else {
        return;
    };
    let hash = entry.hash();
    let judged = authenticate(vec![entry.clone()], &mut KeyCache::new(), &|_, _| false);
    let verified = entry.clone().verify(&mut KeyCache::new()).is_ok();
    assert_eq!(
        judged.verified.len(),
        usize::from(verified),
        "alone, only its signature counts"
    );
    let author = entry.claimed_author();
    let linked = authenticate(vec![entry.clone()], &mut KeyCache::new(), &|_, by| {
        *by == author
    });
    assert_eq!(linked.verified.len(), 1, "linked, it needs none");
    let entry = entry.trust_stored();
    assert_eq!(entry.hash(), hash);
    assert_eq!(
        encode_canonical(&entry.to_wire()),
        bytes,
        "comes back equal"
    );
    assert!(entry.header().deps().len() <= limit::ENTRY_DEPS_MAX);
    assert!((1..=limit::ENTRY_ITEMS_MAX).contains(&entry.items().len()));
}

/// A ticket as it is pasted (ENT-22).
pub fn ticket(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(ticket) = text.parse::<Ticket>() {
        let again = ticket.to_string();
        assert_eq!(again, text.trim().to_ascii_lowercase(), "comes back equal");
        assert_eq!(
            again.parse::<Ticket>().expect("own text").topic(),
            ticket.topic()
        );
        assert!(ticket.bootstrap().count() <= limit::TICKET_ADDRESSES_MAX);
    }
}

/// What an owner says in a control entry (ENT-30 to ENT-34).
pub fn control(bytes: &[u8]) {
    if let Ok(control) = Control::parse(bytes) {
        assert_eq!(control.to_bytes(), bytes, "comes back equal");
        if let Control::Space(manifest) = control {
            assert!(manifest.topics().len() <= limit::SPACE_TOPICS_MAX);
            for topic in manifest.topics() {
                topic.ticket().expect("what was read can be joined");
            }
        }
    }
}
