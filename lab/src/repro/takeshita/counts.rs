//! Counts of what BFV's operations over 2^g − 1 take: products with matrices, products and transforms modulo
//! word-size primes, and the word products of general arithmetic that the shortcuts save.

use sunzi_fermat::{FermatRing, FermatScaler};
use sunzi_kernels::counts::{count_forward, count_inverse};
use sunzi_kernels::{Isa, Modulus, NttPlan, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::Backend;

use super::subject::Operation;
use crate::Result;

/// Bits of the digits of residues and of constants.
const DIGIT_BITS: usize = 48;
const FACTOR_BITS: usize = 51;
/// Multiply-adds of eight lanes for a product with a matrix, of which pairs share one multiplication of two halves.
const MATRIX: f64 = 1.0 / 8.0;
/// Multiply-adds of eight lanes for a product of two transformed words: both halves.
const POINTWISE: f64 = 2.0 / 8.0;

/// Counts of an operation for one coefficient, all digits and lifted keys included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Number of word products with the constants of matrices.
    pub(super) matrix: u64,
    /// Number of products of transformed words.
    pub(super) pointwise: u64,
    /// Number of forward transforms of one limb.
    pub(super) forward: u64,
    pub(super) inverse: u64,
    /// Number of polynomials that are multiplied by (q/q_i)^-1 `[TSKJ20, 4.1 and 4.3]`.
    pub(super) cofactors: u64,
}

/// Sizes of a ring over 2^g − 1 that operation counts follow from.
struct Sizes {
    /// Sizes of every component: words and digits of a residue, digits of a constant, primes of a product.
    components: Vec<[u64; 4]>,
    /// Number of primes of the auxiliary basis B_sk.
    auxiliary: u64,
}

impl Sizes {
    fn new(ring: &FermatRing, scaler: &FermatScaler) -> Result<Self> {
        let of = |(component, primes): (&sunzi_fermat::Component, usize)| {
            let digits = (component.bits() + usize::from(component.is_fermat())).div_ceil(DIGIT_BITS);
            let columns = (component.bits() + 1).div_ceil(FACTOR_BITS);
            [component.len(), digits, columns, primes].map(|count| count as u64)
        };
        let components = ring.fermat_modulus().components();
        let components = components.iter().zip(ring.product_primes()?).map(of).collect();
        Ok(Self { components, auxiliary: scaler.auxiliary_moduli().len() as u64 })
    }

    fn sum(&self, of: impl Fn([u64; 4]) -> u64) -> u64 {
        self.components.iter().map(|&sizes| of(sizes)).sum()
    }

    /// Number of matrix products to lift all digits of a key switch, and of the transforms of the lifted
    /// rows: each once to the primes of the largest component, and again modulo each smaller than its own.
    fn digits(&self) -> [u64; 2] {
        let most = self.components.last().map_or(0, |sizes| sizes[3]);
        let smaller = |i: usize| self.components.iter().take(i);
        let lifts = self.components.iter().enumerate().map(|(i, [_, digits, ..])| {
            [
                digits * most + smaller(i).map(|[_, digits, _, primes]| digits * primes).sum::<u64>(),
                most + smaller(i).map(|sizes| sizes[3]).sum::<u64>(),
            ]
        });
        lifts.fold([0; 2], |[products, rows], lift| [products + lift[0], rows + lift[1]])
    }

    fn counts(&self, operation: Operation) -> Counts {
        let (digits, auxiliary) = (self.sum(|[_, digits, ..]| digits), self.auxiliary);
        let (columns, primes) = (self.sum(|[_, _, columns, _]| columns), self.sum(|sizes| sizes[3]));
        let lift = self.sum(|[_, digits, _, primes]| digits * primes);
        let recovery = self.sum(|[_, _, columns, primes]| columns * (primes + 1));
        let none = Counts { matrix: 0, pointwise: 0, forward: 0, inverse: 0, cofactors: 1 };
        match operation {
            Operation::Decomposition => none,
            Operation::ToPlain => Counts { matrix: 2 * digits, ..none },
            Operation::ToAuxiliary => Counts { matrix: auxiliary * digits, ..none },
            Operation::Decryption => Counts {
                matrix: lift + recovery + 2 * digits,
                pointwise: primes,
                forward: primes,
                inverse: primes,
                ..none
            },
            Operation::Multiplication => {
                let extension = auxiliary * (digits + 2);
                let floor = auxiliary * digits + (auxiliary + 1) * (1 + columns);
                let [lifts, rows] = self.digits();
                let keys = 2 * self.components.len() as u64;
                Counts {
                    matrix: 4 * extension + 3 * floor + 4 * lift + lifts + 5 * recovery,
                    pointwise: 4 * (auxiliary + primes) + keys * primes,
                    forward: 4 * (auxiliary + primes) + rows,
                    inverse: 3 * auxiliary + 5 * primes,
                    cofactors: 8,
                }
            }
        }
    }

    /// Number of word products of a general product with (q/q_i)^-1, and of its division by q_i: quotient
    /// words, each of them estimated by two.
    fn general(&self) -> u64 {
        self.sum(|[words, ..]| words * words + (words + 1) * (words + 2))
    }
}

impl Counts {
    /// Predicted speed-up by both shortcuts: multiplications without them over those with both, of a word or
    /// of a vector of them; none where the second are none or the kernels have others than 52-bit lanes.
    pub(super) fn speed_up(
        ring: &FermatRing,
        scaler: &FermatScaler,
        operation: Operation,
    ) -> Result<Option<f64>> {
        if active_isa()? != Isa::Avx512Ifma {
            return Ok(None);
        }
        let n = ring.degree();
        let prime = primes_below(DEFAULT_PRIME_BOUND, ring.index(), 1)?.first().copied().unwrap_or(3);
        let plan = NttPlan::new(Modulus::new(prime)?, n)?;
        let transforms = [count_forward(&plan), count_inverse(&plan)]
            .map(|count| count.map_or(0.0, |count| count.multiplies as f64 / n as f64));
        let sizes = Sizes::new(ring, scaler)?;
        let counts = sizes.counts(operation);
        let own = counts.matrix as f64 * MATRIX
            + counts.pointwise as f64 * POINTWISE
            + counts.forward as f64 * transforms[0]
            + counts.inverse as f64 * transforms[1];
        let saved = (counts.cofactors * sizes.general()) as f64;
        Ok((own > 0.0).then(|| (own + saved) / own))
    }
}

#[cfg(test)]
mod tests {
    use sunzi_kernels::Tally;
    use sunzi_ring::Ring;

    use super::*;
    use crate::repro::takeshita::subject::Subject;
    use crate::threads::on_threads;

    /// Checks that the kernels' counts while they run are those of the formulas.
    #[test]
    fn counts_are_those_of_a_run() {
        for bits in [128, 256, 512, 2048] {
            let subject = Subject::new(128, bits, false).unwrap();
            let (ring, scaler) = subject.parts().unwrap();
            let sizes = Sizes::new(ring, scaler).unwrap();
            for operation in [
                Operation::ToPlain,
                Operation::ToAuxiliary,
                Operation::Decomposition,
                Operation::Decryption,
                Operation::Multiplication,
            ] {
                let counted = on_threads(1, || {
                    // Keys are lifted at first use.
                    subject.time(operation, 3)?;
                    let (done, tally) = Tally::of(|| subject.time(operation, 3));
                    done.map(|_| tally)
                })
                .unwrap();
                let Counts { matrix, pointwise, forward, inverse, .. } = sizes.counts(operation);
                let expected = [128 * matrix, 128 * pointwise, forward, inverse];
                let run = [counted.conversion_products, counted.products, counted.forward, counted.inverse];
                assert_eq!(run, expected, "{operation:?}, {bits} bits");
            }
        }
    }

    #[test]
    fn general_products_of_the_largest_modulus() {
        let ring = FermatRing::new(128, 16_384).unwrap();
        let scaler = Ring::of(ring.clone()).scaler(786_433, &Default::default()).unwrap();
        let sizes = Sizes::new(&ring, scaler.tables().unwrap()).unwrap();
        let products = sizes.sum(|[words, ..]| words * words);
        assert_eq!((products, sizes.general()), (22_364, 22_364 + 22_364 + 3 * 264 + 2 * 9));
    }
}
