//! Growth of operations' costs with the degree, the modulus, the depth, threads and the size of a batch.

mod picture;

use std::ops::RangeInclusive;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sunzi_bfv::{Ciphertext, Parameters};
use sunzi_rlwe::words::counted;

use crate::bench::{Job, LabError, Options, Result, Series, Shape, check, expected, on_threads, take_turns};
use crate::report::Curve;
use crate::threads::pool;

pub use picture::picture;

/// log2 of the ring degrees over which costs grow unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 12..=16;
/// log2 of the ring degree at which the modulus and the number of threads grow.
const LOG_DEGREE: u32 = 15;
/// log2 of the ring degree at which the batch size grows.
const LOG_DEGREE_OF_BATCHES: u32 = 14;
/// Largest batch, in ciphertexts.
const BATCH: usize = 64;
/// Digits of key switching, or as near as the modulus allows.
const DIGITS: usize = 3;
/// Multiplicative depths that parameters are made for.
const DEPTHS: [usize; 7] = [1, 2, 4, 8, 12, 16, 20];
/// Plaintext modulus 3·2^18 + 1, which gives slots at every degree timed.
const PLAIN_MODULUS: u64 = 786_433;
/// Operations whose cost over the degree and the modulus is timed.
const OPERATIONS: [&str; 4] = ["multiply_relinearize", "rotate", "encrypt_public", "add"];
/// Operations shared among threads; beside them a batch is shared as a whole.
const SHARED: [&str; 2] = ["multiply_relinearize", "rotate"];
/// Bars on the gain of two threads over one: of a product, and of a batch.
const BARS: [f64; 2] = [1.8, 1.9];

/// One operation's line of a growth plot: times or gains.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Line {
    /// Name of the line's operation and its points (x, y).
    #[serde(flatten)]
    pub curve: Curve,
    /// Distances between the quartiles of the line's values, point by point.
    pub spreads: Vec<f64>,
}

/// A panel of the growth picture: lines over one axis.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Panel {
    /// Title of the panel: what grows, and in which ring.
    pub title: String,
    /// Label of the horizontal axis of the growth panel.
    pub x: String,
    /// Label of the panel's vertical axis: milliseconds, or gain over one thread.
    pub y: String,
    /// Lines of the growth panel, one for each operation.
    pub lines: Vec<Line>,
}

/// A gain of two threads over one that has a bar.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Gain {
    /// Name of the operation shared between two threads.
    pub name: String,
    /// Gain of two threads: time on one over time on two, median over rounds.
    pub gain: f64,
    /// Distance between the quartiles of the gain of two threads.
    pub spread: f64,
    /// Bar on the gain of two threads, the least it should be.
    pub bar: f64,
}

/// Results of the growth benchmark: all panels, and the gains of two threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Growth {
    /// Panels of the growth benchmark.
    pub panels: Vec<Panel>,
    /// Gains of two threads in the growth benchmark.
    pub gains: Vec<Gain>,
    /// Whether every timed operation of the growth benchmark was right.
    pub correct: bool,
}

/// Measures the growth of costs, on at most as many threads as the options say.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Growth> {
    options.validate()?;
    let mut all = Growth { panels: Vec::new(), gains: Vec::new(), correct: true };
    progress("degrees");
    let shapes = options.log_degrees(LOG_DEGREES).map(shape).collect::<Result<Vec<_>, _>>()?;
    let title = format!("degree, most moduli that 128 bits of security allow, {DIGITS} digits");
    let of_shape = |shape: Shape| Ok((f64::from(shape.log_n), shape.parameters(PLAIN_MODULUS)?));
    let subjects = shapes.into_iter().map(of_shape).collect::<Result<Vec<_>>>()?;
    all.costs(title, "log2 n", &OPERATIONS, subjects, options.rounds)?;
    progress("moduli");
    let most = shape(LOG_DEGREE)?;
    // From the least that a product has room in.
    let of_limbs = |limbs: usize| {
        let shape = Shape { limbs, special: limbs.div_ceil(DIGITS), ..most };
        Ok((log_q(&shape.parameters(PLAIN_MODULUS)?), shape.parameters(PLAIN_MODULUS)?))
    };
    let subjects = (3..=most.limbs).step_by(2).map(of_limbs).collect::<Result<Vec<_>>>()?;
    all.costs(format!("modulus, n = {}", most.degree()), "log2 Q", &OPERATIONS, subjects, options.rounds)?;
    progress("depths");
    let of_depth = |depth: usize| {
        let parameters = Parameters::builder().depth(depth).plain_bits(20).build()?;
        Ok((depth as f64, parameters))
    };
    let subjects = DEPTHS.into_iter().map(of_depth).collect::<Result<Vec<_>>>()?;
    let title = "depth, parameters that the builder chooses, t of 20 bits".to_owned();
    all.costs(title, "multiplications in a row", &OPERATIONS[..2], subjects, options.rounds)?;
    progress("threads");
    all.threads(options)?;
    progress("batches");
    all.batches(options)?;
    Ok(all)
}

/// The moduli at a ring degree whose key switching has [`DIGITS`] digits, or as near as there is.
fn shape(log_n: u32) -> Result<Shape> {
    let nearest = Shape::all(log_n).into_iter().min_by_key(|shape| shape.digits().abs_diff(DIGITS));
    nearest.ok_or_else(|| LabError::request("a degree without moduli"))
}

fn log_q(parameters: &Parameters) -> f64 {
    parameters.moduli().iter().map(|&q| (q as f64).log2()).sum()
}

fn job(parameters: &Parameters) -> Result<Job> {
    let n = 1 << parameters.log2_degree();
    Job::new(parameters, [1, 2].map(|seed| check::residues(n, parameters.plain_modulus(), seed)), Vec::new())
}

impl Growth {
    /// Reads the results that growth.json holds.
    ///
    /// # Errors
    /// Text that is not such JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut all: Self = serde_json::from_str(text)?;
        for panel in &mut all.panels {
            panel
                .lines
                .iter_mut()
                .zip(COLOURS.into_iter().cycle())
                .for_each(|(line, own)| line.curve.colour = own);
        }
        Ok(all)
    }

    /// Times operations at several parameter sets, on one thread.
    fn costs(
        &mut self,
        title: String,
        x: &'static str,
        names: &[&str],
        subjects: Vec<(f64, Parameters)>,
        rounds: usize,
    ) -> Result<()> {
        let mut lines = lines(names);
        for (at, parameters) in subjects {
            let (series, correct) = on_threads(1, || {
                let job = job(&parameters)?;
                let mut calls = names.iter().map(|name| job.contender(name)).collect::<Vec<_>>();
                let series = take_turns(rounds, &mut calls)?;
                Ok((series, right(&job, names)?))
            })?;
            self.correct &= correct;
            lines.iter_mut().zip(&series).for_each(|(line, series)| line.push(at, &series.scaled(1e-3)));
        }
        self.panels.push(Panel { title, x: x.to_owned(), y: "ms".to_owned(), lines });
        Ok(())
    }

    /// Times the gain of operations by more threads.
    fn threads(&mut self, options: &Options) -> Result<()> {
        let job = job(&shape(LOG_DEGREE)?.parameters(PLAIN_MODULUS)?)?;
        self.correct &= right(&job, &SHARED)?;
        let (evaluator, key, galois, [a, b]) = job.operands();
        let multiply = on_pools(options, || Ok(evaluator.multiply(a, b, key)?))?;
        let rotate = on_pools(options, || Ok(evaluator.rotate_rows(a, 1, galois)?))?;
        let mut lines = lines(&SHARED);
        for (line, (series, bar)) in lines.iter_mut().zip([(multiply, BARS.first()), (rotate, None)]) {
            let name = format!("{}, n = {}", line.curve.name, job.n());
            self.gain_lines(line, name, &series, bar.copied());
        }
        let title = format!("threads, n = {}", job.n());
        let (x, y) = ("threads".to_owned(), "times as fast as one".to_owned());
        self.panels.push(Panel { title, x, y, lines });
        Ok(())
    }

    /// Adds one line of gains to the panel, and the gain that has a bar.
    fn gain_lines(&mut self, line: &mut Line, name: String, series: &[Series], bar: Option<f64>) {
        let Some(one) = series.first() else { return };
        for (i, series) in series.iter().enumerate() {
            let gain = one.over(series);
            line.curve.points.push((i as f64 + 1.0, gain.median));
            line.spreads.push(gain.spread);
        }
        if let (Some(bar), Some(two)) = (bar, series.get(1)) {
            let gain = one.over(two);
            self.gains.push(Gain { name, gain: gain.median, spread: gain.spread, bar });
        }
    }

    /// Times products of batches on one thread and on all, for each ciphertext of a batch.
    fn batches(&mut self, options: &Options) -> Result<()> {
        let job = job(&shape(LOG_DEGREE_OF_BATCHES)?.parameters(PLAIN_MODULUS)?)?;
        let (evaluator, key, _, [a, b]) = job.operands();
        let pairs: Vec<_> = (0..BATCH).map(|_| (a.clone(), b.clone())).collect();
        let batch = |size: usize| {
            let products = pairs.par_iter().take(size).map(|(a, b)| evaluator.multiply(a, b, key));
            products.collect::<Result<Vec<Ciphertext>, _>>()
        };
        // Bit for bit the product that is right.
        self.correct &= right(&job, &SHARED[..1])?;
        let (one, all) = (evaluator.multiply(a, b, key)?, on_threads(options.threads, || Ok(batch(BATCH)?))?);
        let same = |product: &Ciphertext| {
            one.parts().iter().zip(product.parts()).all(|(one, other)| one.words() == other.words())
        };
        self.correct &= all.iter().all(same);
        let names = [1, options.threads].map(|threads| counted(threads, "thread", "threads"));
        let mut lines = lines(&names);
        for size in (0..=BATCH.ilog2()).map(|log| 1_usize << log) {
            let series = on_pools(options, || Ok(batch(size)?))?;
            for (line, series) in lines.iter_mut().zip([series.first(), series.last()]) {
                series.iter().for_each(|series| line.push(size as f64, &series.scaled(1e-3 / size as f64)));
            }
            if let (BATCH, [one, two, ..], [_, bar]) = (size, series.as_slice(), BARS) {
                let gain = one.over(two);
                let name = format!("batch of {size} products, n = {}", job.n());
                self.gains.push(Gain { name, gain: gain.median, spread: gain.spread, bar });
            }
        }
        let title = format!("batch of products with relinearisation, n = {}", job.n());
        let (x, y) = ("ciphertexts".to_owned(), "ms a ciphertext".to_owned());
        self.panels.push(Panel { title, x, y, lines });
        Ok(())
    }
}

/// Times one call on 1, 2, … threads by turns.
fn on_pools<T: Send>(options: &Options, call: impl Fn() -> Result<T> + Sync) -> Result<Vec<Series>> {
    let pools = (1..=options.threads).map(pool).collect::<Result<Vec<_>>>()?;
    let call = &call;
    take_turns(options.rounds, &mut pools.iter().map(|pool| move || pool.install(call)).collect::<Vec<_>>())
}

/// Colours of the growth picture's lines; only the first line of a paper's plot has another order.
const COLOURS: [usize; 4] = [1, 2, 3, 0];

fn lines(names: &[impl ToString]) -> Vec<Line> {
    let line = |(name, colour): (&_, usize)| {
        let curve = Curve { name: ToString::to_string(name), colour, dashed: false, points: Vec::new() };
        Line { curve, spreads: Vec::new() }
    };
    names.iter().zip(COLOURS.into_iter().cycle()).map(line).collect()
}

impl Line {
    fn push(&mut self, x: f64, series: &Series) {
        self.curve.points.push((x, series.median()));
        self.spreads.push(series.spread());
    }
}

/// Whether the results of the named operations decrypt to what they should.
fn right(job: &Job, names: &[&str]) -> Result<bool> {
    let t = job.plain_modulus();
    let [left, right] = [1, 2].map(|seed| check::residues(job.n(), t, seed));
    let mut all = true;
    for name in names {
        all &= job.outcome(name)? == expected(name, &left, &right, t);
    }
    Ok(all)
}
