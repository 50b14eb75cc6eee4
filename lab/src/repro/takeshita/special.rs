//! An auxiliary basis of special form `[TSKJ20, 6.2]`: B_sk of 2^g + 1 and one prime in place of word-size primes alone.
//!
//! q·(2^g + 1) = 2^(2g) − 1, so 2^g + 1 is coprime to q = 2^g − 1 and FastBconv to it is shifts and sums alone. Products
//! modulo 2^g + 1 go through word-size primes again. 2^g + 1 alone is too small for B_sk by some forty bits, which one prime m_sk adds.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use sunzi_fermat::{Component, FermatRing, FermatScaler, InverseCofactor, Workspace};
use sunzi_kernels::Modulus;
use sunzi_kernels::NttPlan;
use sunzi_ring::{Backend, Coefficient, Poly, Ring};
use sunzi_rlwe::randomness;

use super::Options;
use super::shifts::integer;
use super::subject::PLAIN;
use crate::repro::{LabError, Result, Row, Series, Table, Timed, alternate_timed, timed};

/// Conversions from q in a multiplication: four extensions and three floors.
const CONVERSIONS: f64 = 7.0;
/// Products that may be summed before they are scaled, as in `sunzi-fermat`.
const SUMMED: f64 = 256.0;
/// Products of two polynomials in a multiplication by their transforms, three each: four there and three back.
const PRODUCTS: f64 = 7.0 / 3.0;

/// Operands of the conversions and products at one size.
struct Sample {
    ring: FermatRing,
    scaler: sunzi_ring::Scaler,
    poly: Poly<Coefficient>,
    /// The ring modulo 2^(2g) − 1, whose largest component is 2^g + 1.
    double: FermatRing,
    plans: Vec<NttPlan>,
    /// Residues modulo 2^g + 1, the results of a conversion.
    residues: Vec<u64>,
}

impl Sample {
    fn new(degree: usize, bits: usize) -> Result<Self> {
        let index = 2 * degree as u64;
        let ring = FermatRing::new(index, bits)?;
        let scaler = Ring::of(ring.clone()).scaler(PLAIN, &Default::default())?;
        let poly = ring.to_coefficient(ring.uniform(&mut randomness::from_os()?))?;
        let moduli = scaler.tables().map_or(&[][..], FermatScaler::auxiliary_moduli);
        let plan = |&p: &u64| -> Result<NttPlan> { Ok(NttPlan::new(Modulus::new(p)?, degree)?) };
        let plans = moduli.iter().map(plan).collect::<Result<_>>()?;
        let double = FermatRing::new(index, 2 * bits)?;
        let mut sample = Self { ring, scaler, poly, double, plans, residues: Vec::new() };
        sample.residues = sample.convert()?;
        Ok(sample)
    }

    /// log2 of (2^g + 1)·⌊m_sk/2⌋ over the bound of `[BEHZ16, eq. (14)]` for the sum of products: what B_sk has left over.
    fn bits_to_spare(&self) -> Result<f64> {
        let prime = self.plans.last().map_or(f64::NAN, |plan| plan.modulus().value() as f64);
        // λM > s·δt(q/2)(1 + ρ)² with ρ below 2^-8; q and M are equally long.
        let needed = SUMMED * self.ring.degree() as f64 * PLAIN as f64 / 2.0 * (1.0 + 1.0 / 128.0);
        let spare = (prime / 2.0 / needed).log2();
        LabError::unless(spare > 0.0, "B_sk", "2^g + 1 and one prime", self.ring.degree())?;
        Ok(spare)
    }

    fn target(&self) -> Option<Component> {
        self.double.fermat_modulus().components().last().copied()
    }

    /// Residues of coefficient c, one for each component of q.
    fn coefficient<'a>(&'a self, parts: &[&'a [u64]], c: usize) -> Vec<&'a [u64]> {
        let components = self.ring.fermat_modulus().components().iter().zip(parts);
        components.filter_map(|(component, part)| part.chunks_exact(component.len()).nth(c)).collect()
    }

    fn parts(&self) -> Result<Vec<&[u64]>> {
        let parts = (0..self.ring.level()).map(|i| Ok(self.ring.component_residues(&self.poly, i)?));
        parts.collect()
    }

    /// FastBconv to 2^g + 1 by shifts and sums.
    fn convert(&self) -> Result<Vec<u64>> {
        let parts = self.parts()?;
        let Some(target) = self.target() else { return Ok(Vec::new()) };
        let mut out = vec![0; self.ring.degree() * target.len()];
        let mut workspace = Workspace::default();
        for (c, out) in out.chunks_exact_mut(target.len()).enumerate() {
            let sum = combine(self.ring.cofactors(), &self.coefficient(&parts, c), &mut workspace);
            target.reduce(out, &sum.to_u64_digits());
        }
        Ok(out)
    }

    /// Checks a few coefficients of the conversion against its definition.
    fn check(&self) -> Result<()> {
        let (parts, q) = (self.parts()?, self.ring.fermat_modulus().value());
        let value = (BigUint::from(1_u32) << self.ring.fermat_modulus().bits()) + 1_u32;
        let length = self.target().map_or(1, Component::len);
        let right = self.residues.chunks_exact(length).enumerate().take(8).all(|(c, converted)| {
            let terms = self.ring.fermat_modulus().components().iter().zip(self.coefficient(&parts, c));
            let term = |(component, x): (&Component, &[u64])| {
                let (q_i, quotient) = (component.value(), &q / component.value());
                let inverse = (&quotient % &q_i).modinv(&q_i).unwrap_or_default();
                integer(x) * inverse % q_i * quotient
            };
            integer(converted) == terms.map(term).sum::<BigUint>() % &value
        });
        LabError::unless(right, "FastBconv", "2^g + 1", self.ring.degree())
    }

    /// A product of two polynomials modulo every prime of B_sk.
    fn word_product(&self) -> Result<Duration> {
        let n = self.ring.degree();
        let random = |seed: u64, p: u64| (0..n as u64).map(|i| (i * seed + 1) % p).collect::<Vec<_>>();
        let operands = |plan: &NttPlan| [7919, 104_729].map(|seed| random(seed, plan.modulus().value()));
        let mut operands: Vec<_> = self.plans.iter().map(operands).collect();
        let begin = Instant::now();
        for (plan, [a, b]) in self.plans.iter().zip(&mut operands) {
            plan.forward(a)?;
            plan.forward(b)?;
            plan.modulus().mul_assign(a, b)?;
            plan.inverse(a)?;
        }
        Ok(begin.elapsed())
    }

    /// Times of the conversion to B_sk and to 2^g + 1, of a product modulo B_sk and modulo 2^g + 1.
    fn times(&self, options: &Options) -> Result<Vec<Series>> {
        let position = self.double.level() - 1;
        let tables: &FermatScaler = self.scaler.tables().ok_or(sunzi_ring::RingError::OtherStorage)?;
        let product = || self.double.component_product(position, &self.residues, &self.residues);
        let mut contenders: [Timed<'_>; 4] = [
            Box::new(|| Ok(timed(|| tables.convert_to_auxiliary(&self.poly))?.0)),
            Box::new(|| Ok(timed(|| self.convert())?.0)),
            Box::new(|| self.word_product()),
            Box::new(|| Ok(timed(product)?.0)),
        ];
        alternate_timed(
            options.budget_at(2 * self.ring.degree() * self.ring.fermat_modulus().bits()),
            &mut contenders,
        )
    }
}

/// Computes Σ y_i·(q/q_i), from the smallest component up: Q·(2^h + 1) is the modulus of one more, where Q = 2^h − 1.
fn combine(cofactors: &[InverseCofactor], residues: &[&[u64]], workspace: &mut Workspace) -> BigUint {
    let mut sum = BigUint::ZERO;
    for (cofactor, x) in cofactors.iter().zip(residues) {
        let component = cofactor.component();
        let mut y = vec![0; component.len()];
        cofactor.apply(&mut y, x, workspace);
        let y = integer(&y);
        sum = if component.is_fermat() { ((&sum + &y) << component.bits()) + sum - y } else { y };
    }
    sum
}

/// Makes the table, at the smallest degree.
pub(super) fn compute(options: &Options) -> Result<Table> {
    let degree = 1 << options.least_log2_degree;
    let most = options.most_bits.clamp(256, 16_384).ilog2() - 1;
    let mut rows = Vec::new();
    for bits in (7..=most).map(|log2| 1_usize << log2) {
        let sample = Sample::new(degree, bits)?;
        sample.check()?;
        let times = sample.times(options)?;
        let [words, shifts, word_product, product] =
            [0, 1, 2, 3].map(|i| times.get(i).map_or(f64::NAN, Series::median_ms));
        // One of the primes of B_sk stands beside 2^g + 1.
        let one = 1.0 / sample.plans.len().max(1) as f64;
        let row = Row::default().key("n", degree).key("bit(q)", bits);
        let row = row
            .ours("primes of B_sk", sample.plans.len())
            .ours("bits to spare", (sample.bits_to_spare()?, 1))
            .ours("to B_sk ms", (words, 3))
            .ours("to 2^g + 1 ms", (shifts, 3))
            .ours("product B_sk ms", (word_product, 3))
            .ours("product 2^g + 1 ms", (product, 3));
        let [of_words, of_shifts] =
            [(words, word_product), (shifts + one * words, product + one * word_product)]
                .map(|(convert, product)| CONVERSIONS * convert + PRODUCTS * product);
        let row = row.ours("B_sk / special, in a multiplication", (of_words / of_shifts, 2));
        rows.push(row.because(Some("the paper leaves special forms of B_sk to future work")));
    }
    let title = "2^g + 1 and one prime in place of B_sk: conversions, products of polynomials, and seven and 7/3 of them together";
    Ok(Table::new("Special", title, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_to_the_special_form_are_checked() {
        for bits in [128, 512] {
            let mut sample = Sample::new(128, bits).unwrap();
            sample.check().unwrap();
            sample.residues[0] ^= 1;
            sample.check().unwrap_err();
        }
    }
}
