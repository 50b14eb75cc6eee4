//! Parts of the crate that its tests check directly, because no public function shows them.
//!
//! Only the tests of this crate may use these functions: they change without notice.

pub use crate::backend::by_polynomials;
pub use crate::key_switching::{digits_of, group_moduli};
pub use crate::parallel::{BLOCK, GROUP, groups};
pub use crate::rns::decryption::Decryptor;
pub use crate::rns::digit_decryption::{DigitDecryption, split};
pub use crate::rns::exact_extension::ExactExtension;
pub use crate::rns::extension::Extension;
pub use crate::rns::fast_base_conversion::{Overflow, column, row_factors};
pub use crate::rns::rns_floor::column as floor_column;
pub use crate::rns::rounded_division::RoundedDivision;
pub use crate::rns::shenoy_kumaresan::{ShenoyKumaresan, row_factors as sk_row_factors};
pub use crate::rns::{DecryptionForm, matrix_product};
pub use crate::sampling::fixed_weight::sort;
pub use crate::sampling::{DRAWN, map_words};
pub use crate::scratch::{SHORTEST, Scratch, Store, up_to_twice};
pub use crate::words::integers::{NARROW, horner, horner_of_doubles};
pub use crate::words::masking::by_limbs;

use std::ops::Range;

use crate::opaque::Opaque;
use crate::sampling::SeededRng;
use crate::words::division::{Division, DivisionPath, Factor};
use crate::{
    Backend, Digits, Evaluation, Multiplier, Poly, Ring, RingError, RnsDecomposition, RnsMultiplier,
};

/// The stream of the cipher under the given key and nonce.
pub fn stream(key: &[u8; 32], nonce: u64) -> SeededRng {
    SeededRng::of_nonce(key, nonce)
}

/// Returns a block of a limb of a multiplier, in `out` unless it is stored elsewhere.
///
/// # Errors
/// [`RingError::MissingTable`] for a limb that is not there; [`RingError::OtherStorage`].
pub fn block_of_multiplier<'a>(
    a: &'a Multiplier,
    limb: usize,
    start: usize,
    out: &'a mut [u64],
) -> Result<&'a [u64], RingError> {
    a.0.get::<RnsMultiplier>()?.block(limb, start, out)
}

/// Returns sums of pairs of polynomials times multipliers, whose limbs stand at the places `limbs`.
///
/// # Errors
/// [`RingError::OutOfRange`] for a list that names a missing pair; [`RingError::OtherStorage`] for values of another
/// storage.
pub fn sums_by_blocks(
    ring: &Ring,
    pairs: &[[&Poly<Evaluation>; 2]],
    lists: &[Vec<(usize, &Multiplier)>],
    limbs: &[usize],
) -> Result<Vec<[Poly<Evaluation>; 2]>, RingError> {
    fn of_words<'a>(list: &[(usize, &'a Multiplier)]) -> Result<Vec<(usize, &'a RnsMultiplier)>, RingError> {
        list.iter().map(|&(pair, factor)| Ok((pair, factor.0.get()?))).collect()
    }
    let lists = lists.iter().map(|list| of_words(list)).collect::<Result<Vec<_>, _>>()?;
    ring.words()?.sums_by_blocks(&pairs, &lists, limbs)
}

/// Returns a ring that lacks the transform of its last modulus.
///
/// # Errors
/// [`RingError::OtherStorage`] for a value of another storage.
pub fn without_last_transform(ring: &Ring) -> Result<Ring, RingError> {
    Ok(ring.words()?.without_last_transform().into())
}

/// Returns digits that lack their last word.
///
/// # Errors
/// [`RingError::OtherStorage`] for a value of another storage.
pub fn without_last_word(digits: &Digits) -> Result<Digits, RingError> {
    Ok(Digits(Opaque::new(digits.0.get::<RnsDecomposition>()?.clone().without_last_word())))
}

/// Changes a polynomial to coefficients by inverse transforms that multiply by the given constants, as many as there
/// are.
///
/// # Errors
/// [`RingError::MissingTable`] for fewer constants than moduli; [`RingError::OtherStorage`].
pub fn inverse_scaled(ring: &Ring, a: &mut Poly<Evaluation>, constants: &[u64]) -> Result<(), RingError> {
    let ring = ring.words()?;
    let scales: Result<Vec<_>, _> =
        ring.plans().iter().zip(constants).map(|(plan, &c)| plan.scale(c)).collect();
    ring.transform().inverse_scaled(a.words_mut(), &scales?)
}

/// Returns the number of factors of inverse transforms that are made of the given constants.
///
/// # Errors
/// [`RingError::MissingTable`] unless there are as many as moduli; [`RingError::OtherStorage`].
pub fn scales(ring: &Ring, constants: &[u64]) -> Result<usize, RingError> {
    ring.words()?.transform().scales(constants).map(|scales| scales.len())
}

/// Divides words by the moduli above a level, by groups of targets.
///
/// # Errors
/// [`RingError::MissingTable`] for groups that leave a target out, and for fewer words than limbs on either side;
/// [`RingError::OtherStorage`] for a value of another storage.
pub fn divide(
    ring: &Ring,
    level: usize,
    groups: Vec<Range<usize>>,
    out: &mut [u64],
    a: &[u64],
) -> Result<(), RingError> {
    let ring = ring.words()?;
    let (ladder, targets) = (ring.ladder(), ring.ladder().plans(level));
    let path = DivisionPath::new(ladder.limbs(level), ladder.limbs(ring.level()));
    let (isa, parallelism) = (ring.isa(), ring.parallelism());
    Division::new(ring.plans(), &targets, path, groups, isa, Factor::One, parallelism)?.divide(out, a, None)
}
