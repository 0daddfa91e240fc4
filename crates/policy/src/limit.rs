//! Every bound of the policy: unit, reason, and what happens when it is reached.

use osier_core::Duration;

/// Marks in a node's own trust list of one topic. The list is written by hand.
/// Over it: the edit is refused.
pub const TRUST_OWN_MAX: usize = 1024;

/// Grants of one topic that count for trust. Each is a provider that would be asked and shown.
/// Over it: the best ranked are kept, ties by node id, and the caller is told how many were left.
pub const TRUST_GRANTS_MAX: usize = 4096;

/// Nodes that an owner grants or revokes by name. Each costs some 100 bytes at every member.
/// Over it: those with the greatest ids are left out, the same ones everywhere.
pub const NODES_SPOKEN_OF_MAX: usize = 65_536;

/// The first wait after a failure. Short enough that a provider which restarts is met again while
/// its user still watches. Wild guess.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);

/// The longest wait that we choose ourselves: a provider that comes back is found within it.
/// Reached after eight failures in a row; later ones wait no longer.
pub const BACKOFF_MAX: Duration = Duration::from_secs(60);

/// How long a link must have been up before a failure counts as the first one again. Shorter, and
/// a provider that fails soon after each start would be hammered.
pub const BACKOFF_STABLE: Duration = Duration::from_secs(60);

/// The longest `retry_after_ms` that is honoured (ten minutes): a provider that names a later time
/// is asked again then, so that no answer keeps us away for good.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(600);

/// The widest jitter of the sessions after a start: unnoticed by one user, and it spreads a
/// thousand clients that restart together over 250 ms. What is left is paced by the provider's
/// `retry_after_ms`.
pub const START_JITTER_MAX: Duration = Duration::from_millis(250);

/// Untrusted providers asked at one time: a node may need them to learn the grants, and they must
/// not take the place of trusted ones. Over it: they wait.
pub const STRANGERS_MAX: usize = 1;

const _: () = assert!(TRUST_GRANTS_MAX <= NODES_SPOKEN_OF_MAX);
const _: () = assert!(BACKOFF_FIRST.as_nanos() > 0);
const _: () = assert!(BACKOFF_FIRST.as_nanos() <= BACKOFF_MAX.as_nanos());
const _: () = assert!(BACKOFF_MAX.as_nanos() <= RETRY_AFTER_MAX.as_nanos());
