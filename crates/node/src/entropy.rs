//! The only randomness of the operating system.

use osier_core::NodeSecret;

use crate::error::NodeError;

/// Random bytes from the operating system.
///
/// # Errors
/// If it has none to give, which happens only on a machine that is still starting.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NodeError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| NodeError::Randomness(error.to_string()))?;
    Ok(bytes)
}

/// A new key for a node.
///
/// # Errors
/// As [`random_bytes`].
pub fn new_secret() -> Result<NodeSecret, NodeError> {
    Ok(NodeSecret::from_bytes(&random_bytes()?))
}
