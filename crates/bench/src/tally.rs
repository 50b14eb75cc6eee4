//! What a call computes, counted (feature `tally`).

use crate::BenchError;

/// Transforms, and products in base conversions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) transforms: u64,
    pub(crate) conversion_products: u64,
}

/// Counts one call on this thread.
#[cfg(feature = "tally")]
pub(crate) fn count(call: &dyn Fn() -> Result<(), BenchError>) -> Result<Option<Counts>, BenchError> {
    let before = sunzi_kernels::Tally::now();
    call()?;
    let tally = sunzi_kernels::Tally::now() - before;
    Ok(Some(Counts { transforms: tally.transforms(), conversion_products: tally.conversion_products }))
}

/// Without the feature there is nothing to count with.
#[cfg(not(feature = "tally"))]
pub(crate) fn count(_call: &dyn Fn() -> Result<(), BenchError>) -> Result<Option<Counts>, BenchError> {
    Ok(None)
}
