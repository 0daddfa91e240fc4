//! Signatures that some verifiers take and ours must not (`ENT-8`).

use curve25519_dalek::{
    EdwardsPoint, Scalar,
    constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION},
    traits::IsIdentity,
};
use ed25519_dalek::{Signer, Verifier, VerifyingKey};
use serde_json::Value;
use sha2::{Digest, Sha512};

use crate::{
    entry::{header, held, key, signed_message, vector, with_signature},
    support::Fields,
};

/// The form of each entry is good; it is not authentic by itself.
pub(crate) fn vectors() -> Vec<Value> {
    vec![
        vector("signature with a point of order 8 in R", &torsion()),
        vector("signature s not reduced", &long_s()),
        vector("author of small order", &small_order()),
    ]
}

/// The author adds a point of order 8 to R. The equation multiplied by 8 holds, so a verifier that
/// multiplies by the cofactor takes it always, and one that adds equations up with random factors
/// takes it one time in eight.
fn torsion() -> Fields {
    let header = header(&[b"x"]);
    let author = key().verifying_key();
    let message = signed_message(&header.bytes());
    let nonce = Scalar::from(7_u64);
    let r = ED25519_BASEPOINT_POINT * nonce + EIGHT_TORSION[1];
    let k = challenge(&r, author.as_bytes(), &message);
    let s = nonce + k * key().to_scalar();
    let left = ED25519_BASEPOINT_POINT * s - author.to_edwards() * k - r;
    assert!(!left.is_identity() && left.mul_by_cofactor().is_identity());
    let signature = [r.compress().to_bytes(), s.to_bytes()].concat();
    let signature = signature.try_into().expect("64 bytes");
    with_signature(&header, &signature, &held(&[b"x"]))
}

/// The order of the base point, added to s, changes nothing in the equation.
fn long_s() -> Fields {
    let header = header(&[b"x"]);
    let mut signature = key().sign(&signed_message(&header.bytes())).to_bytes();
    let order_less_one = (-Scalar::ONE).to_bytes();
    let mut carry = 1_u16;
    for (byte, more) in signature[32..].iter_mut().zip(order_less_one) {
        carry += u16::from(*byte) + u16::from(more);
        *byte = carry.to_le_bytes()[0];
        carry >>= 8;
    }
    with_signature(&header, &signature, &held(&[b"x"]))
}

/// Under the neutral point as key, one signature is good for every message.
fn small_order() -> Fields {
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let header = header(&[b"x"]).with("author", neutral);
    let signature: [u8; 64] = [neutral, [0; 32]].concat().try_into().expect("64 bytes");
    let key = VerifyingKey::from_bytes(&neutral).expect("on the curve");
    let lenient = key.verify(&signed_message(&header.bytes()), &signature.into());
    assert!(lenient.is_ok(), "the lenient predicate takes it");
    with_signature(&header, &signature, &held(&[b"x"]))
}

fn challenge(r: &EdwardsPoint, author: &[u8; 32], message: &[u8]) -> Scalar {
    let hash = Sha512::new()
        .chain_update(r.compress().as_bytes())
        .chain_update(author)
        .chain_update(message);
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}
