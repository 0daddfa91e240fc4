//! NIP-67, hints at `EOSE`: <https://github.com/nostr-protocol/nips/blob/master/67.md>.
//!
//! The merged text has `finish` and `more`; `auth` is the third that clients know.

use crate::escape;

/// What a relay says of the stored events that it has not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// Everything that matches, and that this client may see, has been sent.
    pub finish: bool,
    /// There is more that matches.
    pub more: bool,
    /// Another key might see more.
    pub auth: bool,
}

/// What is known when a scan ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five facts that do not depend on each other"
)]
pub struct ScanFacts {
    /// Every filter was read to its end: the look-ahead found nothing behind the page.
    pub drained: bool,
    /// The look-ahead found more than was sent.
    pub more: bool,
    /// Something that matches may have been withheld from this viewer.
    pub withheld: bool,
    /// A challenge is out, so that another key could be shown.
    pub challenged: bool,
    /// Every topic that could hold matches is complete, or nobody asks for that.
    pub synced: bool,
}

impl Hints {
    /// The words for what is known, and none where nothing is (`NOS-60`).
    pub const fn decide(facts: ScanFacts) -> Self {
        let auth = facts.withheld && facts.challenged;
        Self {
            finish: facts.drained && !facts.more && facts.synced && (!facts.withheld || auth),
            more: facts.more,
            auth,
        }
    }

    /// The third element of `EOSE`; none when there is nothing to say (`NOS-60`).
    pub fn to_json(self) -> Option<String> {
        let words = [
            ("finish", self.finish),
            ("more", self.more),
            ("auth", self.auth),
        ];
        let said: Vec<&str> = words
            .iter()
            .filter(|(_, said)| *said)
            .map(|(word, _)| *word)
            .collect();
        let mut out = String::new();
        escape::push_list(&mut out, said.iter().copied(), escape::push_string);
        (!said.is_empty()).then_some(out)
    }

    /// Takes in a hint of a relay; one that is not known is ignored (`NOS-61`).
    pub fn read(&mut self, hint: &str) {
        match hint {
            "finish" => self.finish = true,
            "more" => self.more = true,
            "auth" => self.auth = true,
            _ => {}
        }
    }

    /// Whether a client that got these has everything: only `finish` says so, and only if nothing
    /// else contradicts it (`NOS-61`).
    pub const fn is_complete(self) -> bool {
        self.finish && !self.more && !self.auth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NOS-60: the whole table.
    #[test]
    fn finish_is_said_only_when_everything_holds() {
        for bits in 0_u8..32 {
            let bit = |n: u8| bits & (1 << n) != 0;
            let facts = ScanFacts {
                drained: bit(0),
                more: bit(1),
                withheld: bit(2),
                challenged: bit(3),
                synced: bit(4),
            };
            let hints = Hints::decide(facts);
            let silent = facts.withheld && !facts.challenged;
            assert_eq!(
                hints.finish,
                bit(0) && !bit(1) && bit(4) && !silent,
                "{facts:?}"
            );
            assert_eq!(hints.more, facts.more);
            assert_eq!(hints.auth, facts.withheld && facts.challenged);
            assert!(!facts.withheld || !hints.is_complete(), "{facts:?}");
        }
    }

    #[test]
    fn an_empty_list_is_never_written() {
        assert_eq!(Hints::default().to_json(), None);
        let both = Hints {
            finish: true,
            auth: true,
            more: false,
        };
        assert_eq!(both.to_json().as_deref(), Some(r#"["finish","auth"]"#));
    }
}
