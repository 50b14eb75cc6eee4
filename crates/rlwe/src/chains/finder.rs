//! Search for primes ≡ 1 modulo a step next to a size.

use sunzi_math::is_prime;

/// Number of first primes of a product that are tried, each with the best second prime.
const TRIED: usize = 24;
/// Largest ratio of a prime that is found to the wanted size.
const REACH: f64 = 4.0;

/// A finder of primes p ≡ 1 modulo a step that finds no prime twice.
#[derive(Clone, Debug)]
pub struct PrimeFinder {
    step: u64,
    taken: Vec<u64>,
}

impl PrimeFinder {
    /// Makes a finder of primes ≡ 1 (mod `step`) other than the primes `taken`.
    #[must_use]
    pub fn new(step: u64, taken: &[u64]) -> Self {
        Self { step, taken: taken.to_vec() }
    }

    /// Returns `parts` primes whose product is as near to `wanted` as may be; `None` where too few primes are free.
    ///
    /// ```
    /// use sunzi_rlwe::chains::PrimeFinder;
    ///
    /// let mut finder = PrimeFinder::new(1 << 14, &[]);
    /// let primes = finder.product(90_f64.exp2(), 2).unwrap_or_default();
    /// let bits: f64 = primes.iter().map(|&p| (p as f64).log2()).sum();
    /// assert!(primes.len() == 2 && (bits - 90.0).abs() < 1e-4);
    /// ```
    pub fn product(&mut self, wanted: f64, parts: usize) -> Option<Vec<u64>> {
        let each = wanted.powf((parts.max(1) as f64).recip());
        let mut primes = Vec::with_capacity(parts);
        let mut rest = wanted;
        // Primes except the last two get the size that all have, then the pair is chosen that meets the rest best.
        for _ in 2..parts {
            let prime = self.nearest(each).next()?;
            rest /= prime as f64;
            self.taken.push(prime);
            primes.push(prime);
        }
        let last = if parts < 2 {
            self.nearest(rest).next().map(|prime| vec![prime])
        } else {
            let pairs = self.nearest(rest.sqrt()).take(TRIED).filter_map(|first| {
                let second = self.nearest(rest / first as f64).find(|&second| second != first)?;
                Some(((first as f64 * second as f64 / rest).ln().abs(), vec![first, second]))
            });
            pairs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, pair)| pair)
        };
        let last = last?;
        self.taken.extend(&last);
        primes.extend(last);
        Some(primes)
    }

    /// Returns the first `count` free primes of at least `bits` bits each; `None` where fewer are below 2^62.
    ///
    /// ```
    /// use sunzi_rlwe::chains::PrimeFinder;
    ///
    /// let mut finder = PrimeFinder::new(1 << 14, &[]);
    /// assert_eq!(finder.at_least(30.0, 2), Some(vec![1_073_872_897, 1_073_971_201]));
    /// ```
    pub fn at_least(&mut self, bits: f64, count: usize) -> Option<Vec<u64>> {
        // The casts saturate: then nothing is found.
        let least = bits.exp2().ceil() as u64;
        let primes = sunzi_math::primes_from(least, self.step, count, 1 << 62, &self.taken)?;
        self.taken.extend(&primes);
        Some(primes)
    }

    /// Yields free primes, the nearest to `wanted` first.
    pub fn nearest(&self, wanted: f64) -> impl Iterator<Item = u64> + '_ {
        let step = self.step.max(1);
        let limit = (wanted * REACH).min((62_f64).exp2()) as u64;
        let middle = (wanted as u64 / step).max(1);
        let up = (middle..).map(move |k| k.saturating_mul(step).saturating_add(1));
        let mut up = up.take_while(move |&p| p < limit).peekable();
        let mut down = (1..middle).rev().map(move |k| k * step + 1).peekable();
        let merged = std::iter::from_fn(move || {
            let distance = |p: Option<&u64>| p.map_or(f64::INFINITY, |&p| (p as f64 - wanted).abs());
            if distance(up.peek()) <= distance(down.peek()) { up.next() } else { down.next() }
        });
        merged.filter(|p| !self.taken.contains(p) && is_prime(*p))
    }
}
