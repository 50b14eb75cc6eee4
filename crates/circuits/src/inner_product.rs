//! Sums of products: over lists of ciphertexts, and over the slots of two ciphertexts.

use sunzi_encoding::{check_segment, doubling_steps};

use crate::arithmetic::check_keys;
use crate::{Arithmetic, CircuitError, Outcome, Rotation};

/// Laziness of a sum of products: the parts done once instead of for each product `[KPZ21, app. F and G.3]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Laziness {
    /// Scales and relinearises every product of the sum.
    RelinearizeEach,
    /// Scales every product and relinearises their sum.
    RelinearizeOnce,
    /// Scales and relinearises the sum alone: the fastest, with the least noise.
    #[default]
    ScaleOnce,
}

/// Computes Σ x_i·y_i of two lists, slot by slot in both rows: k products at depth 1, and k or 1 relinearisations.
///
/// ```
/// use sunzi_circuits::inner_product::{Laziness, inner_product};
/// # use sunzi_circuits::{Clear, ClearKeys};
/// # let arithmetic = Clear::new(4, 65537);
/// # let keys = ClearKeys::all();
/// # let (x, y) = ([1, 2, 3].map(|x| arithmetic.encrypt(&[x])), [4, 5, 6].map(|y| arithmetic.encrypt(&[y])));
/// let sum = inner_product(&arithmetic, &x, &y, Laziness::ScaleOnce, &keys)?;
/// # assert_eq!(sum.slots()[0], 32);
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// [`CircuitError::LengthsDiffer`]; [`CircuitError::Empty`]; [`CircuitError::MissingRelinearizationKey`];
/// [`CircuitError::Scheme`].
pub fn inner_product<A: Arithmetic>(
    arithmetic: &A,
    x: &[A::Ciphertext],
    y: &[A::Ciphertext],
    laziness: Laziness,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    if x.len() != y.len() {
        return Err(CircuitError::LengthsDiffer { left: x.len(), right: y.len() });
    }
    check_keys(arithmetic, keys, true, [])?;
    let terms: Vec<_> = x.iter().zip(y).collect();
    match laziness {
        Laziness::RelinearizeEach => sum(arithmetic, &terms, |a, b| arithmetic.multiply(a, b, keys)),
        Laziness::RelinearizeOnce => {
            let products = sum(arithmetic, &terms, |a, b| arithmetic.multiply_unrelinearized(a, b))?;
            arithmetic.relinearize(&products, keys)
        }
        Laziness::ScaleOnce => arithmetic.sum_of_products(&terms, keys),
    }
}

/// Computes the sum Σ f(x, y) over pairs of ciphertexts.
fn sum<A: Arithmetic>(
    arithmetic: &A,
    terms: &[(&A::Ciphertext, &A::Ciphertext)],
    f: impl Fn(&A::Ciphertext, &A::Ciphertext) -> Outcome<A, A::Ciphertext>,
) -> Outcome<A, A::Ciphertext> {
    let ((x, y), rest) = terms.split_first().ok_or(CircuitError::Empty { what: "an inner product" })?;
    rest.iter().try_fold(f(x, y)?, |sum, (x, y)| arithmetic.add(&sum, &f(x, y)?))
}

/// Lists the rotations that [`sum_segments`] and [`inner_product_of_slots`] need for segments of `length` slots: the
/// powers of two below it, and the swap of rows for all 2·`row_length` slots.
#[must_use]
pub fn required_rotations(length: usize, row_length: usize) -> Vec<Rotation> {
    let rows = doubling_steps(1, length.min(row_length)).map(|step| Rotation::Rows(step as i64));
    rows.chain((length > row_length).then_some(Rotation::Columns)).collect()
}

/// Computes sums of consecutive slots: slot i becomes the sum of slots i, …, i + length − 1 of its row, cyclically, so that
/// slot j·length holds the sum of segment j. With `length` = n every slot holds the sum of all slots of both rows.
///
/// The cost is log2 `length` rotations and additions.
///
/// # Errors
/// [`CircuitError::Segment`] unless `length` is a power of two, at most n; [`CircuitError::MissingRotation`]
/// without the keys of [`required_rotations`]; [`CircuitError::Scheme`].
pub fn sum_segments<A: Arithmetic>(
    arithmetic: &A,
    a: &A::Ciphertext,
    length: usize,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    let rotations = rotations(arithmetic, length)?;
    check_keys(arithmetic, keys, false, rotations.iter().copied())?;
    rotations.into_iter().try_fold(a.clone(), |sum, rotation| {
        let rotated = arithmetic.rotate(&sum, rotation, keys)?;
        arithmetic.add(&sum, &rotated)
    })
}

/// Computes inner products of segments of slots: one product, then [`sum_segments`]. Slot j·length holds that of segment
/// j of x and y; with `length` = n every slot holds the inner product of all slots of both rows.
///
/// Vectors shorter than a segment are padded with zeros. The depth is 1, the cost log2 `length` rotations.
///
/// ```
/// use sunzi_circuits::inner_product::{inner_product_of_slots, required_rotations};
/// # use sunzi_circuits::{Clear, ClearKeys};
/// # let arithmetic = Clear::new(8, 65537);
/// # let keys = ClearKeys::for_rotations(required_rotations(4, 8), 8);
/// # let (x, y) = (arithmetic.encrypt(&[1, 2, 3, 0, 7]), arithmetic.encrypt(&[4, 5, 6, 0, 8]));
/// // Segments of 4 slots: (1, 2, 3, 0)·(4, 5, 6, 0) and (7, 0, 0, 0)·(8, 0, 0, 0).
/// let sums = inner_product_of_slots(&arithmetic, &x, &y, 4, &keys)?;
/// # assert_eq!((sums.slots()[0], sums.slots()[4]), (32, 56));
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// Every error of [`sum_segments`]; [`CircuitError::MissingRelinearizationKey`].
pub fn inner_product_of_slots<A: Arithmetic>(
    arithmetic: &A,
    x: &A::Ciphertext,
    y: &A::Ciphertext,
    length: usize,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    check_keys(arithmetic, keys, true, rotations(arithmetic, length)?)?;
    sum_segments(arithmetic, &arithmetic.multiply(x, y, keys)?, length, keys)
}

fn rotations<A: Arithmetic>(arithmetic: &A, length: usize) -> Outcome<A, Vec<Rotation>> {
    let row = arithmetic.row_length();
    check_segment(length, 2 * row).map_err(CircuitError::Segment)?;
    Ok(required_rotations(length, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clear, ClearKeys};
    use sunzi_encoding::EncodingError;

    #[test]
    fn every_laziness_gives_the_sum_at_its_own_cost() {
        for k in 1..12_usize {
            let levels = [
                (Laziness::RelinearizeEach, k, k),
                (Laziness::RelinearizeOnce, k, 1),
                (Laziness::ScaleOnce, 1, 1),
            ];
            for (laziness, scalings, relinearizations) in levels {
                let clear = Clear::new(2, 101);
                let list =
                    |a: u64| -> Vec<_> { (0..k as u64).map(|i| clear.encrypt(&[i + a, a, i])).collect() };
                let (x, y) = (list(3), list(90));
                let sum = inner_product(&clear, &x, &y, laziness, &ClearKeys::all()).unwrap();
                let expected = |slot: usize| {
                    x.iter().zip(&y).map(|(x, y)| x.slots()[slot] * y.slots()[slot]).sum::<u64>() % 101
                };
                assert_eq!(sum.slots(), [0, 1, 2, 3].map(expected));
                let counts = clear.counts();
                assert_eq!((counts.products, sum.depth()), (k, 1));
                assert_eq!((counts.scalings, counts.relinearizations), (scalings, relinearizations));
            }
        }
    }

    #[test]
    fn slots_sum_over_segments_and_over_both_rows() {
        let row = 8_usize;
        for log in 0..=4 {
            let length = 1 << log;
            let clear = Clear::new(row, 10_007);
            let keys = ClearKeys::for_rotations(required_rotations(length, row), row);
            let (x, y): (Vec<u64>, Vec<u64>) =
                ((0..16).map(|i| i * i + 1).collect(), (0..16).map(|i| 50 + i).collect());
            let (cx, cy) = (clear.encrypt(&x), clear.encrypt(&y));
            let sums = inner_product_of_slots(&clear, &cx, &cy, length, &keys).unwrap();
            for i in 0..16 {
                let (base, column) = (i / row * row, i % row);
                let slot = |j: usize| if length > row { j } else { base + (column + j) % row };
                let expected: u64 = (0..length).map(|j| x[slot(j)] * y[slot(j)]).sum();
                assert_eq!(sums.slots()[i], expected % 10_007, "length {length}, slot {i}");
            }
            let counts = clear.counts();
            assert_eq!((counts.rotations, counts.relinearizations), (log, 1));
            assert_eq!(Some(counts.rotated_by), keys.rotations);
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        let clear = Clear::new(8, 17);
        let x = [clear.encrypt(&[1]), clear.encrypt(&[2])];
        let keys = ClearKeys::all();
        let inner = |x: &[_], y: &[_]| inner_product(&clear, x, y, Laziness::ScaleOnce, &keys);
        assert!(matches!(inner(&x, &x[1..]), Err(CircuitError::LengthsDiffer { left: 2, right: 1 })));
        assert!(matches!(inner(&[], &[]), Err(CircuitError::Empty { .. })));
        for length in [0, 3, 32, usize::MAX] {
            let error = sum_segments(&clear, &x[0], length, &keys).unwrap_err();
            assert!(
                matches!(error, CircuitError::Segment(EncodingError::SegmentLength { longest: 16, .. })),
                "{error}"
            );
        }
        let few = ClearKeys::for_rotations(required_rotations(4, 8), 8);
        let error = inner_product_of_slots(&clear, &x[0], &x[1], 8, &few).unwrap_err();
        assert!(matches!(error, CircuitError::MissingRotation { rotation: Rotation::Rows(4) }), "{error}");
        assert_eq!(clear.counts(), crate::clear::Counts::default());
    }
}
