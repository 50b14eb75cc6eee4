//! Functions that the tests of keys and ciphertexts share.

use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive};
use sunzi_rlwe::Scheme;

/// A scheme without metadata, for tests of ciphertexts of no scheme in particular.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare;

impl Scheme for Bare {
    type Metadata = ();
    const NAME: &'static str = "bare RLWE";
}

/// Returns log2 of the largest difference modulo q of two vectors of coefficients.
pub(crate) fn distance(a: &[BigInt], b: &[BigInt], q: &BigUint) -> f64 {
    let q = BigInt::from(q.clone());
    let largest = a.iter().zip(b).map(|(x, y)| {
        let d: BigInt = (((x - y) % &q) + &q) % &q;
        if &d * 2 > q { (&q - d).abs() } else { d }
    });
    largest.max().unwrap().to_f64().unwrap().log2()
}
