//! Functions that the tests of keys and ciphertexts share.

use sunzi_rlwe::Scheme;

/// A scheme without metadata, for tests of ciphertexts of no scheme in particular.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare;

impl Scheme for Bare {
    type Metadata = ();
    const NAME: &'static str = "bare RLWE";
}
