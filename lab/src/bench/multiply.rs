//! The four multiplications of BFV at growing depth, and three ways of computing an inner product.

use std::ops::RangeInclusive;

use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Parameters};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::inner_product::{Laziness, inner_product};
use sunzi_encoding::{BatchEncoder, Encoder};
use sunzi_math::{mul_mod, primes_with_bits};
use sunzi_ring::{Multiplication, ScalerOptions};
use sunzi_rlwe::{SecretKey, Security, randomness};

use crate::alternate;
use crate::bench::tally::Counts;
use crate::bench::{
    LabError, Options, PLAIN_MODULUS, Result, Row, Series, check, conversion, on_threads, tally,
};

/// log2 of the ring degrees at which an inner product is timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 13..=13;
/// Multiplicative depth that the parameters are made for.
const DEPTH: usize = 20;
/// Numbers of multiplications before the timed one.
const DEPTHS: [usize; 5] = [0, 5, 10, 15, DEPTH - 1];
/// Bar on leveled multiplication: the share it is to reach of the speed-up that its counts predict, at the
/// depth of [`MIDDLE`].
const SHARE_OF_PREDICTED: f64 = 0.85;
const MIDDLE: usize = 10;
/// Bar on the time of leveled / HPS multiplication at the last depth.
const LAST_BAR: f64 = 0.4;
/// Terms of an inner product, bits and number of its moduli ([KPZ21, Table 8] has 33, for which noise bounds leave no
/// room), and the bar on lazy scaling / none.
const TERMS: usize = 128;
const INNER_MODULI: (u32, usize) = (35, 2);
const LAZY_BAR: f64 = 0.5;

/// Multiplication that all others are compared with.
const BASELINE: (&str, Multiplication) = ("HPS", Multiplication::Hps);
const OTHERS: [(&str, Multiplication); 3] = [
    ("BEHZ", Multiplication::Behz),
    ("HPS over Q", Multiplication::HpsOverQ),
    ("HPS over Q, leveled", Multiplication::HpsOverQLeveled),
];
const LEVELED: usize = OTHERS.len();

/// Times every multiplication of BFV at every depth, then inner products, on one thread.
///
/// # Errors
/// An operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.validate()?;
    on_threads(1, || {
        let mut rows = depths(DEPTH, &DEPTHS, options.rounds)?;
        for log_n in options.log_degrees(LOG_DEGREES) {
            rows.extend(inner_products(log_n, TERMS, options.rounds)?);
        }
        Ok(rows)
    })
}

/// One secret key, and the context and keys of its parameter set.
struct Party {
    context: Context,
    algorithms: Algorithms,
    secret: SecretKey,
    keys: EvaluationKeys,
    encoder: BatchEncoder,
    rng: Box<dyn rand_core::CryptoRng>,
}

impl Party {
    fn new(parameters: &Parameters) -> Result<Self> {
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let context = Context::new(parameters)?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let keys = EvaluationKeys::generate(context.rlwe(), &secret, [], &mut rng)?;
        let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
        let algorithms = parameters.algorithms().clone();
        Ok(Self { context, algorithms, secret, keys, encoder, rng })
    }

    fn encrypt(&mut self, values: &[u64]) -> Result<Ciphertext> {
        Ok(self.context.encrypt_secret(&self.encoder.encode(values)?, &self.secret, &mut *self.rng)?)
    }

    fn opens_to(&self, ciphertext: &Ciphertext, values: &[u64]) -> Result<bool> {
        Ok(self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret)?)? == values)
    }

    /// An evaluator of this party's keys with another multiplication.
    fn evaluator(&self, multiplication: Multiplication) -> Result<Evaluator> {
        let scaling = ScalerOptions { multiplication, ..self.algorithms.scaling };
        let algorithms = Algorithms { scaling, ..self.algorithms.clone() };
        let (ring, t) = (self.context.ring().clone(), self.context.plain_modulus());
        let context = Context::with_algorithms(ring, t, self.context.rlwe().security(), &algorithms)?;
        Ok(Evaluator::new(&context))
    }

    fn multiply(&self, evaluator: &Evaluator, [a, b]: [&Ciphertext; 2]) -> Result<Ciphertext> {
        let key =
            self.keys.relinearization.as_ref().ok_or_else(|| LabError::request("a relinearisation key"))?;
        Ok(evaluator.multiply(a, b, key)?)
    }

    fn row(&self, name: String, correct: bool, rounds: usize) -> Result<Row> {
        let (n, log_q) = (self.context.degree(), self.context.rlwe().log2_modulus());
        let isa = Some(sunzi_kernels::active_isa()?.to_string());
        Ok(Row { name, n, log_q, isa, correct, rounds, ..Row::default() })
    }
}

/// Times products of two ciphertexts that were squared `depths` times before.
fn depths(deepest: usize, depths: &[usize], rounds: usize) -> Result<Vec<Row>> {
    let parameters = Parameters::builder().depth(deepest).plain_bits(17).build()?;
    let t = parameters.plain_modulus();
    let mut party = Party::new(&parameters)?;
    let evaluators = [BASELINE].iter().chain(&OTHERS).map(|(_, each)| party.evaluator(*each));
    let evaluators = evaluators.collect::<Result<Vec<_>, _>>()?;
    let Some(leveled) = evaluators.get(LEVELED) else { return Ok(Vec::new()) };
    let mut values = [1, 2].map(|seed| check::residues(parameters.degree(), t, seed));
    let [a, b] = &values;
    let mut operands = [party.encrypt(a)?, party.encrypt(b)?];
    let mut rows = Vec::new();
    for depth in 0..deepest {
        let [a, b] = &operands;
        if depths.contains(&depth) {
            let [x, y] = &values;
            let product: Vec<u64> = x.iter().zip(y).map(|(x, y)| mul_mod(*x, *y, t)).collect();
            rows.extend(products(&party, &evaluators, [a, b], &product, depth, rounds)?);
        }
        operands = [party.multiply(leveled, [a, a])?, party.multiply(leveled, [b, b])?];
        values = values.map(|all| all.iter().map(|x| mul_mod(*x, *x, t)).collect());
    }
    Ok(rows)
}

/// Times every multiplication of BFV on the same two operands.
fn products(
    party: &Party,
    evaluators: &[Evaluator],
    operands: [&Ciphertext; 2],
    product: &[u64],
    depth: usize,
    rounds: usize,
) -> Result<Vec<Row>> {
    let [a, b] = operands;
    let calls = evaluators.iter().map(|evaluator| || party.multiply(evaluator, operands));
    let all = timed(&mut calls.collect::<Vec<_>>(), party.context.degree(), rounds)?;
    let Some(baseline) = all.first() else { return Ok(Vec::new()) };
    let names = [BASELINE].into_iter().chain(OTHERS).map(|(name, _)| name);
    let mut rows = Vec::new();
    for (at, ((name, evaluator), timed)) in names.zip(evaluators).zip(&all).enumerate() {
        let correct = party.opens_to(&party.multiply(evaluator, operands)?, product)?;
        let level = evaluator.product_level(a, b);
        let name = format!("multiply, {name}, depth {depth}, level {level}");
        let row = timed.fill(party.row(name, correct, rounds)?, BASELINE.0, baseline);
        let bar = match (at, depth) {
            (LEVELED, MIDDLE) => row.predicted_ratio.map(|predicted| predicted / SHARE_OF_PREDICTED),
            (LEVELED, last) if last + 1 == DEPTH => Some(LAST_BAR),
            _ => None,
        };
        rows.push(Row { bar, ..row }.judged());
    }
    Ok(rows)
}

/// Times of a call, the counts of its work, and the time that the counted work alone would take at the prices
/// of the same rounds.
struct Timed {
    time: Series,
    counts: Counts,
    cost: Series,
}

/// Times calls that take turns, and counts their transforms and products.
fn timed<T>(calls: &mut [impl Fn() -> Result<T>], n: usize, rounds: usize) -> Result<Vec<Timed>> {
    let counts =
        calls.iter().map(|call| tally::count(&|| call().map(drop))).collect::<Result<Vec<_>, _>>()?;
    let mut prices = conversion::Prices::new(n)?;
    let (mut transform, mut convert) = prices.contenders();
    let mut contenders: Vec<&mut dyn alternate::Contender> = vec![&mut transform, &mut convert];
    for call in calls {
        contenders.push(call);
    }
    let mut series = alternate::alternate(rounds, &mut contenders)?.into_iter();
    let (Some(transform), Some(convert)) = (series.next(), series.next()) else { return Ok(Vec::new()) };
    let timed = |(time, counts): (Series, Counts)| {
        let cost = conversion::price(counts, n, &transform, &convert);
        Timed { time, counts, cost }
    };
    Ok(series.zip(counts).map(timed).collect())
}

impl Timed {
    /// The row with this call's time, its counts and both ratios to a baseline.
    fn fill(&self, row: Row, name: &str, baseline: &Self) -> Row {
        Row {
            transforms: Some(self.counts.transforms()),
            conversion_products: Some(self.counts.conversion_products),
            predicted_ratio: Some(self.cost.over(&baseline.cost).median),
            ..row
        }
        .against(&self.time, name.to_owned(), &baseline.time)
    }
}

/// Times an inner product with eager relinearisation, with one relinearisation, and with one scaling.
fn inner_products(log_n: u32, terms: usize, rounds: usize) -> Result<Vec<Row>> {
    let (bits, count) = INNER_MODULI;
    let moduli = primes_with_bits(bits, 2 << log_n, count)?;
    let mut party = Party::new(&Parameters::new(log_n, moduli, PLAIN_MODULUS, Security::Bits128))?;
    let evaluator = Evaluator::new(&party.context);
    let mut operands = [Vec::new(), Vec::new()];
    let mut sum = vec![0; party.context.degree()];
    for term in 0..terms as u64 {
        let values = [2 * term, 2 * term + 1].map(|seed| check::residues(sum.len(), PLAIN_MODULUS, seed));
        let [x, y] = &values;
        for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
            *sum = (*sum + mul_mod(*x, *y, PLAIN_MODULUS)) % PLAIN_MODULUS;
        }
        for (operands, values) in operands.iter_mut().zip(&values) {
            operands.push(party.encrypt(values)?);
        }
    }
    let [x, y] = &operands;
    let forms = [
        ("scaled and relinearised each", Laziness::RelinearizeEach),
        ("relinearised once", Laziness::RelinearizeOnce),
        ("scaled once", Laziness::ScaleOnce),
    ];
    let compute = |laziness| inner_product(&evaluator, x, y, laziness, &party.keys);
    let calls = forms.iter().map(|(_, laziness)| || Ok(compute(*laziness)?));
    let all = timed(&mut calls.collect::<Vec<_>>(), party.context.degree(), rounds)?;
    let Some(eager) = all.first() else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for ((name, laziness), timed) in forms.iter().zip(&all) {
        let correct = party.opens_to(&compute(*laziness)?, &sum)?;
        let row = party.row(format!("inner product of {terms}, {name}"), correct, rounds)?;
        let bar = (*laziness == Laziness::ScaleOnce).then_some(LAZY_BAR);
        rows.push(timed.fill(Row { bar, ..row }, "eager", eager).judged());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_multiplication_is_timed_and_right() {
        let rows = depths(2, &[0, 1], 1).unwrap();
        assert_eq!(rows.len(), 2 * (1 + OTHERS.len()));
        assert!(rows.iter().all(|row| row.correct && row.ratio.is_some()), "{rows:?}");
    }

    #[test]
    fn every_laziness_is_timed_and_right() {
        let rows = inner_products(13, 3, 1).unwrap();
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|row| row.correct && row.ratio.is_some()), "{rows:?}");
    }
}
