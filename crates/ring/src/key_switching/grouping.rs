//! Groups of consecutive moduli, each of which makes a digit of key switching with special moduli.

use std::ops::Range;

use num_bigint::BigUint;

use crate::RingError;

/// The moduli of every digit: ⌈k/d_num⌉ each for a number d_num of digits, else as many as have a product of at most
/// P.
///
/// Moduli of equal length are then cut into digits of equal length, as long as all can be. Moduli of different
/// lengths each go to the digit before as long as there is room: short ones make digits of more moduli.
///
/// # Errors
/// [`RingError::OutOfRange`] for no digits, or for more digits than moduli.
pub fn group_moduli(
    moduli: &[BigUint],
    special: &BigUint,
    digits: Option<usize>,
) -> Result<Vec<Range<usize>>, RingError> {
    let k = moduli.len();
    let chunks = |limbs: usize| (0..k).step_by(limbs).map(|at| at..k.min(at + limbs)).collect();
    let equal = moduli.windows(2).all(|pair| matches!(pair, [a, b] if a.bits() == b.bits()));
    match digits {
        Some(digits) if (1..=k).contains(&digits) => Ok(chunks(k.div_ceil(digits))),
        Some(digits) => Err(RingError::out_of_range("digits", format_args!("1 to {k}"), digits)),
        None if equal => {
            let fits = |limbs: &usize| {
                moduli.chunks(*limbs).all(|digit| digit.iter().product::<BigUint>() <= *special)
            };
            Ok(chunks((1..=k).rev().find(fits).unwrap_or(1)))
        }
        None => Ok(with_room(moduli, special)),
    }
}

/// Fills one digit after the other, each with as many moduli as P has room for.
fn with_room(moduli: &[BigUint], special: &BigUint) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut product = BigUint::ZERO;
    for (i, q) in moduli.iter().enumerate() {
        product *= q;
        match ranges.last_mut() {
            Some(last) if product <= *special => last.end = i + 1,
            _ => {
                ranges.push(i..i + 1);
                product.clone_from(q);
            }
        }
    }
    ranges
}
