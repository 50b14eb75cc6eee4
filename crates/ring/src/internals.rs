//! Parts that the tests of this crate try by themselves, because nothing of the interface shows them.
//!
//! Nothing but these tests may use them: they change without notice.

pub use crate::gadget::digits::digits_of;
pub use crate::gadget::grouping::group_moduli;
pub use crate::integers::{NARROW, horner, horner_of_doubles};
pub use crate::masking::{by_limbs, by_polynomials};
pub use crate::multi_precision::conversion::Ratio;
pub use crate::multi_precision::rounding::Rounding;
pub use crate::parallel::{BLOCK, GROUP, groups};
pub use crate::reduction::cyclic::{CyclicPlan, CyclicScale, SHORTEST as SHORTEST_CYCLE};
pub use crate::rns::decryption::{Decryptor, Form};
pub use crate::rns::digit_decryption::{DigitDecryption, split};
pub use crate::rns::exact_extension::ExactExtension;
pub use crate::rns::extension::{Extension, Overflow};
pub use crate::rns::fast_base_conversion::{column, row_factors};
pub use crate::rns::matrix_product;
pub use crate::rns::rns_floor::column as floor_column;
pub use crate::rns::rounded_division::RoundedDivision;
pub use crate::rns::shenoy_kumaresan::{ShenoyKumaresan, row_factors as sk_row_factors};
pub use crate::sampling::fixed_weight::sort;
pub use crate::sampling::{DRAWN, map_words};
pub use crate::scratch::{SHORTEST, Scratch, Store};

use crate::sampling::SeededRng;
use crate::{Evaluation, Poly, Ring, RingError, RnsMultiplier};

/// Big integers as words of sixty bits.
pub mod words {
    pub use crate::multi_precision::words::{
        BITS, Column, MASK, TERMS, bits, columns, integer, interleave, length, words,
    };
}

/// The stream of the cipher under this key and nonce.
pub fn stream(key: &[u8; 32], nonce: u64) -> SeededRng {
    SeededRng::of_nonce(key, nonce)
}

/// A block of a limb of a multiplier, in `out` unless it stands elsewhere.
pub fn block_of_multiplier<'a>(
    a: &'a RnsMultiplier,
    limb: usize,
    start: usize,
    out: &'a mut [u64],
) -> &'a [u64] {
    a.block(limb, start, out)
}

/// Sums of pairs of polynomials times multipliers, whose limbs stand at `limbs`.
///
/// # Errors
/// [`RingError::OutOfRange`] for a list that names a pair that is not there.
pub fn sums_by_blocks(
    ring: &Ring,
    pairs: &[[&Poly<Evaluation>; 2]],
    lists: &[Vec<(usize, &RnsMultiplier)>],
    limbs: &[usize],
) -> Result<Vec<[Poly<Evaluation>; 2]>, RingError> {
    ring.sums_by_blocks(&pairs, lists, limbs)
}
