//! Product of many ciphertexts at the least depth.

use rayon::prelude::*;

use crate::arithmetic::check_keys;
use crate::{Arithmetic, CircuitError, Outcome};

/// Computes the product Π x_i of any number of ciphertexts, slot by slot in both rows.
///
/// Factors are multiplied in pairs, then the products in pairs, and so on; one without a partner waits for the
/// next round. k factors cost k − 1 products, the fewest possible, at depth ⌈log2 k⌉, the least possible; no
/// rotations. The products of a round run in parallel.
///
/// ```
/// use sunzi_circuits::product_tree;
/// # use sunzi_circuits::{Clear, ClearKeys};
/// # let arithmetic = Clear::new(4, 65537);
/// # let keys = ClearKeys::all();
/// # let factors: Vec<_> = [2, 3, 5].map(|x| arithmetic.encrypt(&[x])).into();
/// let product = product_tree::product(&arithmetic, &factors, &keys)?;
/// # assert_eq!(product.slots()[0], 30);
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// [`CircuitError::Empty`]; [`CircuitError::MissingRelinearizationKey`]; [`CircuitError::Scheme`].
pub fn product<A: Arithmetic>(
    arithmetic: &A,
    factors: &[A::Ciphertext],
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    let (first, rest) = factors.split_first().ok_or(CircuitError::Empty { what: "a product" })?;
    check_keys(arithmetic, keys, !rest.is_empty(), [])?;
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let mut layer = round(arithmetic, factors, keys)?;
    while layer.len() > 1 {
        layer = round(arithmetic, &layer, keys)?;
    }
    layer.pop().ok_or(CircuitError::Empty { what: "a product" })
}

/// Returns the depth of a product of `count` factors: ⌈log2 count⌉.
#[must_use]
pub fn depth(count: usize) -> usize {
    count.max(1).next_power_of_two().ilog2() as usize
}

/// Multiplies neighbouring factors; all but the last product are multiplied again.
fn round<A: Arithmetic>(
    arithmetic: &A,
    factors: &[A::Ciphertext],
    keys: &A::Keys,
) -> Outcome<A, Vec<A::Ciphertext>> {
    let last = factors.len() <= 2;
    let pair = |pair: &[A::Ciphertext]| match pair {
        [a, b] if !last => arithmetic.multiply_towards_product(a, b, keys),
        [a, b] => arithmetic.multiply(a, b, keys),
        [single] => Ok(single.clone()),
        _ => Err(CircuitError::Empty { what: "a product" }),
    };
    factors.par_chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clear, ClearKeys};

    #[test]
    fn any_number_of_factors_meets_both_minima() {
        for count in 1..=40_usize {
            let clear = Clear::new(2, 1_000_003);
            let factors: Vec<_> = (0..count as u64).map(|i| clear.encrypt(&[i + 2, 0, 1, 7 * i])).collect();
            let product = product(&clear, &factors, &ClearKeys::all()).unwrap();
            let expected = |slot: usize| factors.iter().fold(1, |acc, x| acc * x.slots()[slot] % 1_000_003);
            assert_eq!(product.slots(), [0, 1, 2, 3].map(expected));
            assert_eq!(product.depth(), depth(count));
            assert_eq!(depth(count) as f64, (count as f64).log2().ceil());
            let counts = clear.counts();
            assert_eq!((counts.products, counts.relinearizations), (count - 1, count - 1));
        }
    }

    #[test]
    fn nothing_and_missing_keys_are_refused_before_any_work() {
        let clear = Clear::new(2, 17);
        let keys = ClearKeys { relinearization: false, rotations: None };
        assert!(matches!(product(&clear, &[], &keys), Err(CircuitError::Empty { .. })));
        let x = clear.encrypt(&[3]);
        assert_eq!(product(&clear, std::slice::from_ref(&x), &keys).unwrap(), x);
        let error = product(&clear, &[x.clone(), x], &keys).unwrap_err();
        assert!(matches!(error, CircuitError::MissingRelinearizationKey), "{error}");
        assert_eq!(clear.counts(), crate::clear::Counts::default());
    }
}
