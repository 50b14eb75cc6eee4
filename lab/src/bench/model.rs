//! The cost model: what an operation computes and moves, counted while it runs, at the prices of the same rounds.
//!
//! The least time of an operation is that of its transforms, of its base conversions and products, each as
//! long as one alone whose data stays in the cache, and of one reading of its keys, operands and result. What
//! is above it is everything else: additions, rounding, permutations, memory read more than once.

use std::ops::RangeInclusive;

use serde::Serialize;
use sunzi_kernels::{Buffer, KernelError, Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};

use crate::bench::conversion::Prices;
use crate::bench::job::ROTATE_HOISTED;
use crate::bench::{
    HOISTED, Job, LabError, Method, Options, Result, Series, Shape, Stream, check, expected,
    hoisted_exponents, on_threads, side_by_side, tally,
};

/// log2 of the ring degrees at which operations are modelled unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 14..=16;
/// Bar on the measured / modelled time of a product and of a rotation.
const BAR: f64 = 1.4;
/// Digits of key switching, or as near as the modulus allows.
const DIGITS: usize = 3;
/// Plaintext modulus 3·2^18 + 1, which gives slots at every degree timed.
const PLAIN_MODULUS: u64 = 786_433;
/// Operations of BFV that are modelled.
const OPERATIONS: [&str; 6] =
    ["multiply_relinearize", "relinearize", "rotate", ROTATE_HOISTED, "multiply_plain", "add"];
/// Modelled operations whose ratio of measured to modelled time has a bar.
const BARRED: [&str; 2] = ["multiply_relinearize", "rotate"];

/// One modelled operation of BFV: times in microseconds for one call on one thread.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Modelled {
    /// Name of the modelled operation.
    pub name: &'static str,
    /// Ring degree n of the modelled operation.
    pub n: usize,
    /// Numbers of ciphertext moduli, special moduli and digits, as text.
    pub shape: String,
    /// log2 of the ciphertext modulus of the modelled operation.
    pub log_q: f64,
    /// Number of forward transforms of one limb in the modelled operation.
    pub forward: u64,
    /// Number of inverse transforms of one limb in the modelled operation.
    pub inverse: u64,
    /// Number of word products with constants of base conversions in the modelled operation.
    pub conversion_products: u64,
    /// Number of other word products in the modelled operation.
    pub products: u64,
    /// Bytes of keys, operands and result of the modelled operation, each once.
    pub bytes: u64,
    /// Modelled times in microseconds of transforms, base conversions, products and memory.
    pub shares_us: [f64; 4],
    /// Modelled time in microseconds: the sum of the shares.
    pub modelled_us: f64,
    /// Median measured time of a call in microseconds.
    pub measured_us: f64,
    /// Measured / modelled time: median over rounds.
    pub ratio: f64,
    /// Distance between the quartiles of the measured / modelled time.
    pub spread: f64,
    /// Bar on the measured / modelled time, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// Whether the bar on the measured / modelled time is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// Whether the modelled operation's result was checked and right.
    pub correct: bool,
    /// Number of rounds that the medians are taken over.
    pub rounds: usize,
}

/// Counts and times every modelled operation at every degree asked for, on one thread.
///
/// # Errors
/// A degree without parameters; an operation that fails.
pub fn run(options: &Options, progress: &mut (dyn FnMut(usize, &str) + Send)) -> Result<Vec<Modelled>> {
    options.validate()?;
    on_threads(1, || {
        let mut rows = Vec::new();
        for log_n in options.log_degrees(LOG_DEGREES) {
            progress(rows.len(), &format!("n = {}: keys", 1 << log_n));
            let subject = Subject::new(log_n)?;
            for name in OPERATIONS {
                progress(rows.len(), &format!("n = {}: {name}", 1 << log_n));
                rows.push(subject.row(name, options.rounds)?);
            }
        }
        Ok(rows)
    })
}

/// Number of operations that [`run`] models.
pub fn count(options: &Options) -> usize {
    options.log_degrees(LOG_DEGREES).count() * OPERATIONS.len()
}

/// Keys and data of the modelled operations at one degree.
struct Subject {
    shape: Shape,
    values: [Vec<u64>; 2],
    job: Job,
}

impl Subject {
    fn new(log_n: u32) -> Result<Self> {
        let shapes = Shape::all(log_n);
        let special = shapes.iter().filter(|shape| shape.method() != Method::Bv);
        let shape = special.min_by_key(|shape| shape.digits().abs_diff(DIGITS)).or(shapes.first());
        let shape = *shape.ok_or_else(|| LabError::request("a degree without moduli"))?;
        let n = shape.degree();
        let values = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
        let job = Job::new(&shape.parameters(PLAIN_MODULUS)?, values.clone(), hoisted_exponents(n))?;
        Ok(Self { shape, values, job })
    }

    /// Bytes of keys, operands and result of the named operation.
    fn bytes(&self, name: &str) -> Result<usize> {
        let polynomial = size_of::<u64>() * self.shape.degree() * self.shape.limbs;
        let rotations = HOISTED.count();
        let (keys, polynomials) = match name {
            "multiply_relinearize" => (self.job.relinearization_key_bytes(), 6),
            "relinearize" => (self.job.relinearization_key_bytes(), 5),
            "rotate" => (self.job.rotation_key_bytes()?, 4),
            ROTATE_HOISTED => (rotations * self.job.rotation_key_bytes()?, 2 + 2 * rotations),
            "multiply_plain" => (0, 5),
            _ => (0, 6),
        };
        Ok(keys + polynomials * polynomial)
    }

    fn row(&self, name: &'static str, rounds: usize) -> Result<Modelled> {
        let n = self.shape.degree();
        let call = self.job.contender(name);
        let counts = tally::count(&call)?;
        let stream = Stream::new(self.bytes(name)?);
        let mut units = Units::new(n)?;
        let (mut conversions, [there, back]) = (Prices::new(n)?, &mut units.transformed);
        let (_, mut convert) = conversions.contenders();
        let (plan, products) = (&units.plan, &mut units.products);
        let mut units = (|| plan.forward(there), || plan.inverse(back), || products.compute(plan.modulus()));
        let [ours, forward, inverse, convert, multiply, read] = side_by_side(
            rounds,
            [&mut || call(), &mut units.0, &mut units.1, &mut convert, &mut units.2, &mut || stream.read()],
        )?;
        let transforms = forward.scaled(counts.forward as f64).plus(&inverse.scaled(counts.inverse as f64));
        let conversions = convert.scaled(counts.conversion_products as f64 / Prices::products(n) as f64);
        let products = multiply.scaled(counts.products as f64 / Products::COUNT as f64);
        let modelled = transforms.plus(&conversions).plus(&products).plus(&read);
        let ratio = ours.over(&modelled);
        let bar = BARRED.contains(&name).then_some(BAR);
        let [left, right] = &self.values;
        Ok(Modelled {
            name,
            n,
            shape: self.shape.to_string(),
            log_q: self.job.log_q(),
            forward: counts.forward,
            inverse: counts.inverse,
            conversion_products: counts.conversion_products,
            products: counts.products,
            bytes: stream.bytes(),
            shares_us: [&transforms, &conversions, &products, &read].map(Series::median),
            modelled_us: modelled.median(),
            measured_us: ours.median(),
            ratio: ratio.median,
            spread: ratio.spread,
            bar,
            met: bar.map(|bar| ratio.median <= bar),
            correct: self.job.outcome(name)? == expected(name, left, right, PLAIN_MODULUS),
            rounds,
        })
    }
}

/// The units of work whose prices are timed: a transform, and products of words.
struct Units {
    plan: NttPlan,
    transformed: [Buffer; 2],
    products: Products,
}

impl Units {
    fn new(n: usize) -> Result<Self> {
        let primes = primes_below(DEFAULT_PRIME_BOUND, 2 * n as u64, 1)?;
        let q = primes.first().copied().unwrap_or_default();
        let modulus = Modulus::new(q)?;
        let plan = NttPlan::new(modulus, n)?;
        let words = Buffer::from_slice(&check::residues(n, q, 3));
        Ok(Self { plan, transformed: [words.clone(), words], products: Products::new(modulus)? })
    }
}

/// Sums of word products as key switching takes them: of some digits with both halves of a key.
struct Products {
    digits: [Buffer; DIGITS],
    halves: [[Vec<u8>; DIGITS]; 2],
    out: [Buffer; 2],
}

impl Products {
    /// Words of a block, which stay in the first cache.
    const WORDS: usize = 256;
    /// Number of word products of one call.
    const COUNT: usize = 2 * DIGITS * Self::WORDS;

    fn new(modulus: Modulus) -> Result<Self> {
        let words = |seed: usize| check::residues(Self::WORDS, modulus.value(), seed as u64);
        let packed = |seed: usize| -> Result<Vec<u8>> {
            let mut bytes = vec![0; modulus.packed_residues_len(Self::WORDS)];
            modulus.pack_residues(&mut bytes, &words(seed))?;
            Ok(bytes)
        };
        let mut halves: [[Vec<u8>; DIGITS]; 2] = Default::default();
        for (seed, part) in halves.iter_mut().flatten().enumerate() {
            *part = packed(DIGITS + seed)?;
        }
        let digits = std::array::from_fn(|seed| Buffer::from_slice(&words(seed)));
        Ok(Self { digits, halves, out: std::array::from_fn(|_| Buffer::zeroed(Self::WORDS)) })
    }

    fn compute(&mut self, modulus: Modulus) -> Result<(), KernelError> {
        let digits = self.digits.each_ref().map(|buffer| &**buffer);
        let [first, second] = self.halves.each_ref().map(|half| half.each_ref().map(Vec::as_slice));
        let [a, b] = &mut self.out;
        modulus.packed_inner_products([a, b], &digits, [&first, &second])
    }
}

/// The rows of the cost model as a table for people: counts, then microseconds.
pub fn table(rows: &[Modelled]) -> Vec<Vec<String>> {
    let header = cells(&Modelled::default()).map(|(heading, _)| heading.to_owned()).to_vec();
    let line = |row| cells(row).map(|(_, cell)| cell).to_vec();
    std::iter::once(header).chain(rows.iter().map(line)).collect()
}

/// Heading and text of every column of a row of the cost model.
fn cells(row: &Modelled) -> [(&'static str, String); 18] {
    let yes_no = |value: bool| if value { "yes" } else { "NO" }.to_owned();
    let millions = |count: u64| format!("{:.2}", count as f64 / 1e6);
    let micros = |us: f64| format!("{us:.1}");
    let [transforms, conversions, products, memory] = row.shares_us.map(micros);
    [
        ("operation", row.name.to_owned()),
        ("n", row.n.to_string()),
        ("key switching", row.shape.clone()),
        ("transforms", format!("{} + {}", row.forward, row.inverse)),
        ("conversions M", millions(row.conversion_products)),
        ("products M", millions(row.products)),
        ("MB", millions(row.bytes)),
        ("transforms µs", transforms),
        ("conversions µs", conversions),
        ("products µs", products),
        ("memory µs", memory),
        ("modelled µs", micros(row.modelled_us)),
        ("measured µs", micros(row.measured_us)),
        ("ratio", format!("{:.2}", row.ratio)),
        ("spread", format!("{:.2}", row.spread)),
        ("bar", row.bar.map_or_else(String::new, |bar| format!("{bar:.1}"))),
        ("met", row.met.map_or_else(String::new, yes_no)),
        ("right", yes_no(row.correct)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_counted_and_right() {
        let options = Options { rounds: 1, log_n: vec![13], ..Options::default() };
        let mut steps = 0;
        let rows = run(&options, &mut |_, _| steps += 1).unwrap();
        assert_eq!((rows.len(), steps), (count(&options), count(&options) + 1));
        for row in &rows {
            let sum: f64 = row.shares_us.iter().sum();
            assert!(row.correct && row.ratio > 0.0 && (sum - row.modelled_us).abs() < 1e-6 * sum, "{row:?}");
        }
        let of = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
        // A product has all that its relinearisation has; additions only move words.
        assert!(of("multiply_relinearize").forward > of("relinearize").forward);
        assert_eq!((of("add").forward, of("add").products), (0, 0));
        assert_eq!(table(&rows).len(), rows.len() + 1);
    }
}
