//! Counts of the transforms and products of a call.

use sunzi_kernels::Tally;

use crate::Result;

/// Counts of transforms of one limb, and of products of words.
pub(crate) type Counts = Tally;

/// Counts the transforms and products of one call on this thread.
pub(crate) fn count(call: &dyn Fn() -> Result<()>) -> Result<Counts> {
    let (done, counts) = Tally::of(call);
    done.map(|()| counts)
}
