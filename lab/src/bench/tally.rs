//! What a call computes, counted (feature `tally`).

use crate::Result;

/// Transforms of one limb, and products of words.
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

/// Counts one call on this thread.
#[cfg(feature = "tally")]
pub(crate) fn count(call: &dyn Fn() -> Result<()>) -> Result<Option<Counts>> {
    let before = sunzi_kernels::Tally::now();
    call()?;
    let sunzi_kernels::Tally { forward, inverse, conversion_products, products, .. } =
        sunzi_kernels::Tally::now() - before;
    Ok(Some(Counts { forward, inverse, conversion_products, products }))
}

/// Without the feature there is nothing to count with.
#[cfg(not(feature = "tally"))]
pub(crate) fn count(_call: &dyn Fn() -> Result<()>) -> Result<Option<Counts>> {
    Ok(None)
}
