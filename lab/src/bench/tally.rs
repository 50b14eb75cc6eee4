//! Counts of the transforms and products of a call (feature `tally`).

use crate::Result;

/// Counts of transforms of one limb, and of products of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) forward: u64,
    pub(crate) inverse: u64,
    pub(crate) conversion_products: u64,
    pub(crate) products: u64,
}

impl Counts {
    pub(crate) fn transforms(self) -> u64 {
        self.forward + self.inverse
    }
}

/// Counts the transforms and products of one call on this thread.
#[cfg(feature = "tally")]
pub(crate) fn count(call: &dyn Fn() -> Result<()>) -> Result<Option<Counts>> {
    let before = sunzi_kernels::Tally::now();
    call()?;
    let sunzi_kernels::Tally { forward, inverse, conversion_products, products, .. } =
        sunzi_kernels::Tally::now() - before;
    Ok(Some(Counts { forward, inverse, conversion_products, products }))
}

/// Returns no counts, in a build without the feature `tally`.
#[cfg(not(feature = "tally"))]
pub(crate) fn count(_call: &dyn Fn() -> Result<()>) -> Result<Option<Counts>> {
    Ok(None)
}
