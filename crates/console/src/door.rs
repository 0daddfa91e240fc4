//! One-time links to the dashboard: a code in the link is changed once for the token.
//!
//! The code follows `#`, so a browser sends it to nobody by itself. The page sends it, keeps the
//! token for its tab, and takes the code out of the address bar. A cookie would be sent to every
//! other port of this machine, too.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use osier::Osier;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::limit;

/// The links that were made and not used.
#[derive(Clone)]
pub(crate) struct Doors {
    address: SocketAddr,
    token: Arc<str>,
    codes: Arc<Mutex<VecDeque<Code>>>,
}

struct Code {
    text: String,
    until: Instant,
}

impl std::fmt::Debug for Doors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Doors({})", self.address)
    }
}

impl Doors {
    pub(crate) fn new(address: SocketAddr, token: &str) -> Self {
        Self {
            address,
            token: token.into(),
            codes: Arc::default(),
        }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// A new link. At the bound the oldest is not good any more.
    pub(crate) fn link(&self) -> osier::Result<String> {
        let text = Osier::random_text()?;
        let link = format!("http://{}/#{text}", self.address);
        let until = Instant::now() + Duration::from_secs(limit::LINK_LIFETIME_S);
        let mut codes = self.lock();
        if codes.len() >= limit::LINKS_MAX {
            codes.pop_front();
        }
        codes.push_back(Code { text, until });
        Ok(link)
    }

    /// Whether this is the code of a link that can be used; from now on it cannot.
    pub(crate) fn redeem(&self, given: &str) -> bool {
        let now = Instant::now();
        let mut codes = self.lock();
        codes.retain(|code| now < code.until);
        let before = codes.len();
        codes.retain(|code| !bool::from(code.text.as_bytes().ct_eq(given.as_bytes())));
        codes.len() < before
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Code>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors() -> Doors {
        Doors::new("127.0.0.1:1".parse().unwrap(), "secret")
    }

    fn code(link: &str) -> &str {
        link.split_once("/#").unwrap().1
    }

    #[test]
    fn a_code_opens_once() {
        let doors = doors();
        let link = doors.link().unwrap();
        assert!(!doors.redeem("") && !doors.redeem("0"));
        assert!(doors.redeem(code(&link)));
        assert!(!doors.redeem(code(&link)));
        assert!(!format!("{doors:?}").contains("secret"));
    }

    #[test]
    fn old_codes_and_the_oldest_of_too_many_are_not_good() {
        let doors = doors();
        let first = doors.link().unwrap();
        for _ in 0..limit::LINKS_MAX {
            doors.link().unwrap();
        }
        assert!(!doors.redeem(code(&first)));
        let link = doors.link().unwrap();
        doors.lock().back_mut().unwrap().until = Instant::now();
        assert!(!doors.redeem(code(&link)));
    }
}
