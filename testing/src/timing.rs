//! Timing test of secrets: Welch's t-test over two classes of inputs in random order, as in dudect `[RBV17]`.

use std::convert::Infallible;
use std::time::Instant;

use rand::{Rng, RngExt};
use rand_core::{TryCryptoRng, TryRng};

/// Fractions of the fastest runs of a timing test, each tested by itself: an interruption makes a run slow,
/// whatever its class.
const CROPS: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// Length of about one processor cycle in nanoseconds. Closer means come from the placement of code and data:
/// they change sign from process to process, while a dependence on a secret costs a cycle at least.
const CYCLE: f64 = 0.25;

/// Mean and variance of timings, updated value by value (Welford).
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn push(&mut self, value: f64) {
        self.count += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.count;
        self.squares += delta * (value - self.mean);
    }

    /// Returns the variance of the mean of the timings.
    fn error(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

/// Returns the largest |t| of the timing test of `runs` runs over several croppings, for a difference of more
/// than a cycle; a tenth of them are run before to warm up. `prepare` makes an input of the first class or of
/// the second, so that it lies in memory as one of the other class would; `run` is timed.
pub fn largest_t<G: Rng, I>(
    runs: usize,
    rng: &mut G,
    mut prepare: impl FnMut(bool) -> I,
    mut run: impl FnMut(I),
) -> f64 {
    let mut times = Vec::with_capacity(runs);
    for index in 0..runs + runs / 10 {
        let class: bool = rng.random();
        let input = prepare(class);
        let begin = Instant::now();
        run(input);
        let nanoseconds = begin.elapsed().as_nanos() as f64;
        if index >= runs / 10 {
            times.push((class, nanoseconds));
        }
    }
    let mut sorted: Vec<f64> = times.iter().map(|&(_, time)| time).collect();
    sorted.sort_by(f64::total_cmp);
    let t = |crop: f64| {
        let limit = sorted.get((sorted.len() as f64 * crop) as usize).copied().unwrap_or(f64::INFINITY);
        let mut classes = [Moments::default(); 2];
        for &(class, time) in times.iter().filter(|(_, time)| *time <= limit) {
            classes.iter_mut().skip(usize::from(class)).take(1).for_each(|moments| moments.push(time));
        }
        let [a, b] = classes;
        let error = (a.error() + b.error()).sqrt();
        if error > 0.0 { ((a.mean - b.mean).abs() - CYCLE).max(0.0) / error } else { 0.0 }
    };
    CROPS.into_iter().map(t).fold(0.0, f64::max)
}

/// A random generator that repeats given words: two classes of randomness that take equal time to draw.
#[derive(Clone, Debug)]
pub struct Replay {
    words: Vec<u64>,
    at: usize,
}

impl Replay {
    /// Makes a repeating generator of these words, at least one.
    #[must_use]
    pub fn new(words: Vec<u64>) -> Self {
        Self { words: if words.is_empty() { vec![0] } else { words }, at: 0 }
    }

    /// Restarts the repeating generator from the first word, with other words.
    pub fn restart(&mut self, words: impl Iterator<Item = u64>) {
        self.at = 0;
        self.words.clear();
        self.words.extend(words);
    }

    fn next(&mut self) -> u64 {
        let word = self.words.get(self.at).copied().unwrap_or(0);
        self.at = if self.at + 1 < self.words.len() { self.at + 1 } else { 0 };
        word
    }
}

impl TryRng for Replay {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.iter_mut().zip(word).for_each(|(byte, value)| *byte = value);
        }
        Ok(())
    }
}

/// Marks the repeating generator as cryptographic for tests alone: it may make no real secrets.
impl TryCryptoRng for Replay {}
