//! Packed polynomials: what a storage keeps of a polynomial that is read once.

use std::sync::Arc;

use zeroize::Zeroize;

use crate::opaque::{Content, Opaque};

/// A packed polynomial that is read once: of a key, for products with digits, or of a share, for sums; cheap to clone.
#[derive(Clone)]
pub struct PackedPoly(#[doc(hidden)] pub Arc<Opaque>);

impl PackedPoly {
    /// A packed polynomial as a storage packs it.
    #[must_use]
    pub fn new(content: impl Content) -> Self {
        Self(Arc::new(Opaque::new(content)))
    }

    /// Length of the packed polynomial in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.0.byte_len()
    }
}

impl Zeroize for PackedPoly {
    /// Erases the packed polynomial, unless other clones of it are in use.
    fn zeroize(&mut self) {
        Arc::get_mut(&mut self.0).into_iter().for_each(Zeroize::zeroize);
    }
}
