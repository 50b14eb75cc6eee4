//! Multi-precision BFV at 800 bits, beside the same steps by GMP (feature `gmp`).

use std::hint::black_box;
use std::ops::RangeInclusive;

use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::primes_with_bits;
use sunzi_ring::{
    Coefficient, Evaluation, Multiplication, Poly, Ring, RingError, Scaler, ScalerOptions, Side,
};

use crate::bench::{LabError, Options, Result, Row, check, take_turns};

/// log2 of the ring degrees at which multi-precision steps are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 13..=13;
/// Bits and number of moduli in each list, whose products have 806, 816 and 810 bits.
const MODULI: [(u32, usize); 3] = [(62, 13), (48, 17), (30, 27)];
const PLAIN_MODULUS: u64 = 1 << 10;
/// Bar on the time of Sunzi's multi-precision words / GMP's.
const RATIO_BAR: f64 = 1.2;

/// Times multi-precision decryption, extension and scaling at every degree asked for, on one thread.
///
/// # Errors
/// A degree without enough primes; an operation that fails; a thread that does not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| {
        let rows = MODULI.map(|(bits, count)| Job::new(2 << log_n, bits, count)?.time(options.rounds));
        Ok(rows.into_iter().collect::<Result<Vec<_>>>()?.concat())
    })
}

type Operation<'a> = Box<dyn Fn(&Scaler) -> Result<(), RingError> + 'a>;

/// Tables and data of one list of moduli for the multi-precision steps.
struct Job {
    bits: u32,
    ring: Ring,
    ours: Scaler,
    gmp: Option<Scaler>,
    message: Vec<u64>,
    encoded: Poly<Coefficient>,
    a: Poly<Evaluation>,
    /// The square of the polynomial a in the extended ring.
    product: Poly<Evaluation>,
}

impl Job {
    fn new(m: u64, bits: u32, count: usize) -> Result<Self> {
        let ring = MultiPrecision::ring(m, &primes_with_bits(bits, m, count)?)?;
        let options = ScalerOptions::default();
        let ours = ring.scaler(PLAIN_MODULUS, &options)?;
        #[cfg(feature = "gmp")]
        let gmp = Some(MultiPrecision::over_with_gmp(&ring).scaler(PLAIN_MODULUS, &options)?);
        #[cfg(not(feature = "gmp"))]
        let gmp = None;
        let n = ring.degree();
        let message = check::residues(n, PLAIN_MODULUS, 1);
        let words = ring.words()?.basis().values().iter().zip(2..);
        let words: Vec<u64> = words.flat_map(|(q, seed)| check::residues(n, *q, seed)).collect();
        let a = ring.words()?.poly_from_residues(&words)?;
        let top = *ours.levels().end();
        let mut product = ours.extend(&a, Side::Left, top)?;
        ours.wide(top)?.mul_assign(&mut product, &ours.extend(&a, Side::Right, top)?)?;
        let encoded = ring.scale_plaintext(&message, PLAIN_MODULUS)?;
        Ok(Self { bits, ours, gmp, message, encoded, a, product, ring })
    }

    fn time(&self, rounds: usize) -> Result<Vec<Row>> {
        let correct = self.holds(&self.ours)? && self.gmp.as_ref().map_or(Ok(true), |gmp| self.holds(gmp))?;
        let top = *self.ours.levels().end();
        let operations: [(&str, Operation<'_>); 3] = [
            ("decrypt", Box::new(|tables| tables.decrypt(&self.encoded).map(|m| drop(black_box(m))))),
            (
                "extend",
                Box::new(|tables| tables.extend(&self.a, Side::Left, top).map(|a| drop(black_box(a)))),
            ),
            ("scale", Box::new(|tables| tables.scale(self.product.clone(), top).map(|a| drop(black_box(a))))),
        ];
        let all = operations.iter();
        all.map(|(name, operation)| self.row(name, operation, Row { correct, rounds, ..Row::default() }))
            .collect()
    }

    fn row(&self, name: &str, operation: &Operation<'_>, row: Row) -> Result<Row> {
        let tables = std::iter::once(&self.ours).chain(&self.gmp);
        let series =
            take_turns(row.rounds, &mut tables.map(|tables| || operation(tables)).collect::<Vec<_>>())?;
        let ours = series.first().ok_or_else(LabError::no_rounds)?;
        let row = Row {
            name: format!("{name}, {}-bit moduli", self.bits),
            n: self.ring.degree(),
            log_q: self.ring.modulus().bits() as f64,
            ours_us: ours.median(),
            ..row
        };
        Ok(match series.get(1) {
            Some(gmp) => Row { bar: Some(RATIO_BAR), ..row }.against(ours, "GMP".to_owned(), gmp).judged(),
            None => row,
        })
    }

    /// Whether decryption, extension and scaling agree with the big-integer ring.
    fn holds(&self, tables: &Scaler) -> Result<bool> {
        let top = *tables.levels().end();
        let (ring, wide) = (&self.ring, tables.wide(top)?);
        let big = BigRing::new(ring.index(), ring.modulus())?;
        // The baseline multiplies integers, whatever the options ask for; the oracle does what they say.
        let options = ScalerOptions { multiplication: Multiplication::Hps, ..ScalerOptions::default() };
        let oracle = big.scaler(PLAIN_MODULUS, &options)?;
        let extended =
            wide.to_integers(&wide.to_coefficient(tables.extend(&self.a, Side::Left, top)?)?)?;
        let product = wide.to_integers(&wide.to_coefficient(self.product.clone())?)?;
        let level = *oracle.levels().end();
        let big_wide = oracle.wide(level)?;
        let product = big_wide.to_evaluation(big_wide.from_integers(&product)?)?;
        let scaled = ring.to_integers(&tables.scale(self.product.clone(), top)?)?;
        Ok(tables.decrypt(&self.encoded)? == self.message
            && extended == ring.to_integers(&ring.to_coefficient(self.a.clone())?)?
            && scaled == big.to_integers(&oracle.scale(product, level)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_gives_the_oracle_s_integers() {
        for (bits, count) in MODULI {
            let job = Job::new(2 << 6, bits, count).unwrap();
            assert!(job.holds(&job.ours).unwrap(), "{bits} bits");
        }
    }
}
