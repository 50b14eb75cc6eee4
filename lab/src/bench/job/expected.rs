//! The slots that operations on two vectors decrypt to, in any library.

use num_complex::Complex64;
use sunzi_math::{add_mod, mul_mod};

use super::many::{FACTORS, INNER_PRODUCT, MATRIX, MATRIX_VECTOR, PAIRS, PRODUCT_TREE, entry};
use super::{HOISTED, ROTATE_HOISTED, STEPS};

/// The arithmetic of clear slots, which stand in `rows` rows.
struct Slots<T> {
    rows: usize,
    add: Box<dyn Fn(T, T) -> T>,
    multiply: Box<dyn Fn(T, T) -> T>,
}

/// The slots modulo t that the named operation on two vectors should decrypt to.
pub(crate) fn expected(name: &str, left: &[u64], right: &[u64], t: u64) -> Vec<u64> {
    let add = Box::new(move |x, y| add_mod(x, y, t));
    Slots { rows: 2, add, multiply: Box::new(move |x, y| mul_mod(x, y, t)) }.outcome(name, left, right)
}

/// The complex slots that the named operation should decrypt to; vectors and result are real and imaginary
/// parts in turn.
pub(crate) fn expected_complex(name: &str, left: &[f64], right: &[f64]) -> Vec<f64> {
    let slots = Slots { rows: 1, add: Box::new(|x, y| x + y), multiply: Box::new(|x, y| x * y) };
    parts(&slots.outcome(name, &complex(left), &complex(right)))
}

/// Complex numbers from their real and imaginary parts in turn.
pub(crate) fn complex(parts: &[f64]) -> Vec<Complex64> {
    parts.as_chunks::<2>().0.iter().map(|[re, im]| Complex64::new(*re, *im)).collect()
}

/// Real and imaginary parts in turn of complex numbers.
pub(crate) fn parts(slots: &[Complex64]) -> Vec<f64> {
    slots.iter().flat_map(|slot| [slot.re, slot.im]).collect()
}

impl<T: Copy + Default> Slots<T> {
    fn outcome(&self, name: &str, left: &[T], right: &[T]) -> Vec<T> {
        let Self { add, multiply, .. } = self;
        let pairs = || left.iter().zip(right).map(|(x, y)| multiply(*x, *y));
        let sum = |values: &mut dyn Iterator<Item = T>| values.fold(T::default(), add);
        match name {
            "encode_encrypt" | "encrypt_public" | "encrypt_secret" => right.to_vec(),
            "add" | "add_plain" => left.iter().zip(right).map(|(x, y)| add(*x, *y)).collect(),
            "relinearize" | "mod_switch" | "rescale" => pairs().collect(),
            "share_relinearization" | "add_relinearization" => pairs().collect(),
            _ if name.starts_with("multiply") => pairs().collect(),
            "square_relinearize" => left.iter().map(|x| multiply(*x, *x)).collect(),
            "rotate" | "share_galois" | "add_galois" => self.rotated(left, STEPS),
            ROTATE_HOISTED => HOISTED.flat_map(|steps| self.rotated(left, steps)).collect(),
            "swap_rows" => {
                let mut swapped = left.to_vec();
                swapped.rotate_left(left.len() / 2);
                swapped
            }
            "sum_slots" => vec![sum(&mut left.iter().copied()); left.len()],
            INNER_PRODUCT => pairs().map(|product| sum(&mut std::iter::repeat_n(product, PAIRS))).collect(),
            PRODUCT_TREE => {
                // Half of the factors are left ones.
                let squares = (FACTORS / 2).ilog2();
                pairs().map(|x| (0..squares).fold(x, |power, _| multiply(power, power))).collect()
            }
            MATRIX_VECTOR => self.each_row(left).flat_map(|row| self.by_matrix(row, right)).collect(),
            _ => left.to_vec(),
        }
    }

    fn each_row<'a>(&self, slots: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        slots.chunks((slots.len() / self.rows).max(1))
    }

    /// All rows of slots rotated to the left by `steps` steps.
    fn rotated(&self, slots: &[T], steps: i64) -> Vec<T> {
        let rotated = self.each_row(slots).map(|row| {
            let (first, rest) = row.split_at(steps.unsigned_abs() as usize % row.len().max(1));
            [rest, first].concat()
        });
        rotated.collect::<Vec<_>>().concat()
    }

    /// The product of the test matrix and a vector: slot i is the sum over d of entry (i, i + d), both modulo
    /// [`MATRIX`], times slot i + d.
    fn by_matrix(&self, vector: &[T], right: &[T]) -> Vec<T> {
        let slot = |i: usize| {
            (i..i + MATRIX).fold(T::default(), |sum, at| {
                let x = vector.get(at % vector.len().max(1)).copied().unwrap_or_default();
                (self.add)(sum, (self.multiply)(entry(right, i % MATRIX, at % MATRIX), x))
            })
        };
        (0..vector.len()).map(slot).collect()
    }
}
