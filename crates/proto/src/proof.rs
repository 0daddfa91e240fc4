//! Proof of holding a topic's secret (`SES-2`).

use osier_core::{NodeId, TopicId, TopicKeys};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::message::Hello;

/// The topic that a `Hello` asks for; none when its sender holds the secret of none of these.
///
/// Every topic is tried, whatever fits, so that the time taken tells nothing. `binding` is what
/// both ends export from the connection's TLS session.
pub fn find_topic<'a>(
    hello: &Hello,
    client: NodeId,
    me: NodeId,
    binding: &[u8; 32],
    topics: impl IntoIterator<Item = &'a TopicKeys>,
) -> Option<TopicId> {
    let mut found = Choice::from(0);
    let mut topic = [0; TopicId::BYTES];
    for keys in topics {
        let expected = keys.proof(client, me, binding, hello.request);
        let fits = expected.ct_eq(&hello.proof);
        for (kept, byte) in topic.iter_mut().zip(keys.topic().as_bytes()) {
            kept.conditional_assign(byte, fits);
        }
        found |= fits;
    }
    bool::from(found).then(|| TopicId::from_bytes(topic))
}

/// Whether a proof is `prover`'s to `verifier`; takes the same time either way.
pub(crate) fn holds(
    keys: &TopicKeys,
    prover: NodeId,
    verifier: NodeId,
    binding: &[u8; 32],
    request: osier_core::RequestId,
    proof: &[u8; 32],
) -> bool {
    let expected = keys.proof(prover, verifier, binding, request);
    expected.ct_eq(proof).into()
}

#[cfg(test)]
mod tests {
    use osier_core::{RequestId, Role, TopicSecret, testing::secret};

    use super::*;
    use crate::message::Summary;

    fn keys(name: &str) -> TopicKeys {
        TopicKeys::derive(secret(1).node_id(), &TopicSecret::from_bytes([3; 32]), name)
    }

    /// SES-2: the proof names the topic only to who holds its secret, on this connection.
    #[test]
    fn a_topic_is_found_by_its_secret_only() {
        let (client, me) = (secret(5).node_id(), secret(6).node_id());
        let request = RequestId::from_bytes([1; 16]);
        let all = [keys("a"), keys("b"), keys("c")];
        let hello = Hello {
            versions: vec![1],
            request,
            proof: all[1].proof(client, me, &[4; 32], request),
            role: Role::Peer,
            summary: Summary::empty(),
            token: None,
        };
        let find = |binding, topics: &[TopicKeys]| find_topic(&hello, client, me, binding, topics);
        assert_eq!(find(&[4; 32], &all), Some(all[1].topic()));
        assert_eq!(find(&[5; 32], &all), None, "another connection");
        assert_eq!(find(&[4; 32], &all[2..]), None, "not a member");
        assert_eq!(find_topic(&hello, me, client, &[4; 32], &all), None);
    }
}
