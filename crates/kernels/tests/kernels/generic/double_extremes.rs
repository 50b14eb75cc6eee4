//! Residues as doubles at the ends of their ranges, step by step against integers.

#[cfg(target_arch = "x86_64")]
use sunzi_kernels::internals::Avx2;
#[cfg(target_arch = "aarch64")]
use sunzi_kernels::internals::Neon;
use sunzi_kernels::internals::{
    Arithmetic, Butterflies, Constants, Double, Doubles, ENDLESS, MAX_LEVELS, Registers, WIDTH, expanded,
};

/// Largest word.
const TOP: i128 = 1 << 52;

/// Doubles computed one after the other, in plain Rust.
#[derive(Clone, Copy)]
struct Plain;

impl Registers for Plain {
    type R = [u64; 4];
    const WORDS: usize = 4;
    const LEVELS: u32 = 4;

    fn load(self, words: &[u64]) -> [u64; 4] {
        words[..4].try_into().unwrap()
    }
    fn store(self, words: &mut [u64], r: [u64; 4]) {
        words[..4].copy_from_slice(&r);
    }
    fn splat(self, word: u64) -> [u64; 4] {
        [word; 4]
    }
    fn add_words(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, u64::wrapping_add)
    }
    fn transpose(self, x: &mut [[u64; 4]; WIDTH]) {
        for square in x.chunks_exact_mut(4) {
            let from = [square[0], square[1], square[2], square[3]];
            square.iter_mut().enumerate().for_each(|(i, row)| *row = from.map(|row| row[i]));
        }
    }
    fn prefetch(self, _: *const u64) {}
}

fn doubles(a: [u64; 4], b: [u64; 4], f: impl Fn(f64, f64) -> f64) -> [u64; 4] {
    std::array::from_fn(|i| f(f64::from_bits(a[i]), f64::from_bits(b[i])).to_bits())
}

fn words(a: [u64; 4], b: [u64; 4], f: impl Fn(u64, u64) -> u64) -> [u64; 4] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

fn fused(a: [u64; 4], b: [u64; 4], c: [u64; 4], signs: (f64, f64)) -> [u64; 4] {
    let number = f64::from_bits;
    std::array::from_fn(|i| (signs.0 * number(a[i])).mul_add(number(b[i]), signs.1 * number(c[i])).to_bits())
}

impl Doubles for Plain {
    fn add(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        doubles(a, b, |x, y| x + y)
    }
    fn sub(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        doubles(a, b, |x, y| x - y)
    }
    fn multiply(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        doubles(a, b, |x, y| x * y)
    }
    fn multiply_add(self, a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> [u64; 4] {
        fused(a, b, c, (1.0, 1.0))
    }
    fn multiply_subtract(self, a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> [u64; 4] {
        fused(a, b, c, (1.0, -1.0))
    }
    fn subtract_product(self, a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> [u64; 4] {
        fused(a, b, c, (-1.0, 1.0))
    }
    fn sub_words(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, u64::wrapping_sub)
    }
    fn multiply_words(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, u64::wrapping_mul)
    }
    fn and(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, |x, y| x & y)
    }
    fn or(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, |x, y| x | y)
    }
    fn shift_left(self, a: [u64; 4], count: u32) -> [u64; 4] {
        words(a, a, |x, _| x.checked_shl(count).unwrap_or(0))
    }
    fn shift_right(self, a: [u64; 4], count: u32) -> [u64; 4] {
        words(a, a, |x, _| x.checked_shr(count).unwrap_or(0))
    }
    fn unless_negative(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        words(a, b, |x, y| if x.cast_signed() < 0 { y } else { x })
    }

    type Pattern = usize;

    fn pattern(self, width: usize) -> usize {
        width
    }
    fn expand(self, bytes: &[u8; 8 * WIDTH], at: usize, width: usize) -> [u64; 4] {
        let words = expanded(bytes, width);
        std::array::from_fn(|i| words[at / width + i])
    }
}

/// Runs one arithmetic on scalars.
struct Scalar<D: Doubles, const N: usize, const PERIOD: usize> {
    d: D,
    a: Double<D, N, PERIOD>,
    q: i128,
}

impl<D: Doubles, const N: usize, const PERIOD: usize> Scalar<D, N, PERIOD> {
    fn new(d: D, q: u64) -> Self {
        Self { d, a: Double::new(d, &Constants::new(q)), q: q.into() }
    }

    fn put(&self, x: i128) -> D::R {
        self.d.splat((x as f64).to_bits())
    }

    fn word(&self, r: D::R) -> u64 {
        let mut words = [0; WIDTH];
        self.d.store(&mut words, r);
        assert!(words[..D::WORDS].iter().all(|word| *word == words[0]));
        words[0]
    }

    /// Reads an integer, checked to be no larger than a double or the multiplier takes.
    fn get(&self, r: D::R) -> i128 {
        let x = f64::from_bits(self.word(r));
        assert!(x.fract() == 0.0 && x.abs() <= TOP as f64, "{x} at q = {}", self.q);
        x as i128
    }

    fn factor(&self, w: i128) -> (D::R, D::R) {
        let [w, quotient] = Double::<D, N, PERIOD>::factor(w as u64, self.q as u64);
        (self.d.splat(w), self.d.splat(quotient))
    }

    fn equal(&self, x: i128, y: i128) {
        assert_eq!((x - y).rem_euclid(self.q), 0, "{x} and {y} modulo {}", self.q);
    }

    fn factors(&self) -> Vec<i128> {
        let q = self.q;
        let mut factors = vec![0, 1, 2 % q, q / 3, q / 2, (q + 1) / 2, q / 2 + 1, q - q / 3, q - 2, q - 1];
        factors.retain(|w| (0..q).contains(w));
        factors
    }

    /// Returns the ends of the range, and for each factor the words near them with the largest products.
    fn words(&self, top: i128) -> Vec<i128> {
        let mut words = vec![0, 1, self.q / 2, self.q - 1, self.q, top - self.q, top - 1, top];
        for w in self.factors() {
            let size = |&y: &i128| self.get(self.a.lazy_product(self.put(y), self.factor(w))).abs();
            words.extend((top - 300..=top).filter(|y| *y >= 0).max_by_key(size));
        }
        words.iter().flat_map(|&word| [word, -word]).filter(|word| word.abs() <= top).collect()
    }

    fn products(&self) {
        for w in self.factors() {
            for y in self.words(TOP) {
                let t = self.get(self.a.lazy_product(self.put(y), self.factor(w)));
                self.equal(t, w * y);
                assert!(8 * t.abs() <= 5 * self.q + 8, "{w}·{y} gives {t} modulo {}", self.q);
            }
        }
    }

    /// Runs `levels` levels from the ends of a range, always on to the extreme.
    fn forward_levels(&self, start: i128, mut other: i128, levels: usize) -> i128 {
        let mut x = start;
        for _ in 0..levels {
            let mut next = x;
            for w in self.factors() {
                for y in self.words(other.max(x)) {
                    let pair = self.a.butterfly(self.put(x), self.put(y), self.factor(w));
                    let (sum, difference) = (self.get(pair.0), self.get(pair.1));
                    assert_eq!(sum + difference, 2 * x);
                    self.equal(sum, x + w * y);
                    let negated = self.a.butterfly(self.put(-x), self.put(-y), self.factor(w));
                    assert_eq!((self.get(negated.0), self.get(negated.1)), (-sum, -difference));
                    next = next.max(sum).max(difference);
                }
            }
            (x, other) = (next, 0);
        }
        x
    }

    fn forward(&self) {
        if PERIOD == ENDLESS {
            self.forward_levels(self.q, 0, MAX_LEVELS);
        } else {
            let first = self.forward_levels(self.q, 0, PERIOD);
            let after = self.forward_levels(self.q / 2 + 1, first, PERIOD);
            assert!(after <= first);
        }
    }

    fn ends(&self) {
        let q = self.q;
        for x in self.words(TOP) {
            for result in [self.a.renormalise(self.put(x)), self.a.reduce_lazy(self.put(x))] {
                self.equal(self.get(result), x);
                assert!(2 * self.get(result).abs() <= q + 1);
            }
        }
        for x in [0, 1, q - 1, q, 2 * q - 1] {
            assert_eq!(self.get(self.a.forward_input(self.d.splat(x as u64))), x - q);
            assert_eq!(self.get(self.a.inverse_input(self.d.splat(x as u64))), x);
        }
    }

    fn last_levels(&self) {
        let (q, limit) = (self.q, i128::from(Double::<D, N, PERIOD>::INVERSE_LIMIT));
        for (w, y) in
            self.factors().into_iter().flat_map(|w| self.words(limit * q).into_iter().map(move |y| (w, y)))
        {
            for x in [0, 1, -1, q, -q, limit * q, -limit * q] {
                let (px, py, pw) = (self.put(x), self.put(y), self.factor(w));
                let last = self.a.last_butterfly(px, py, pw);
                let expected = [x + w * y, x - w * y].map(|x| x.rem_euclid(q) as u64);
                assert_eq!([self.word(last.0), self.word(last.1)], expected);
                let pair = self.a.inverse_butterfly(px, py, pw, limit as u32);
                assert_eq!(self.get(pair.0), x + y);
                self.equal(self.get(pair.1), w * (x - y));
                assert!(self.get(pair.1).abs() <= q);
                let last = self.a.inverse_last_butterfly(px, py, pw, pw, limit as u32);
                let expected = [w * (x + y), w * (x - y)].map(|x| x.rem_euclid(q) as u64);
                assert_eq!([self.word(last.0), self.word(last.1)], expected);
            }
        }
    }
}

fn check<D: Doubles, const N: usize, const PERIOD: usize>(d: D) {
    let widest = Double::<D, N, PERIOD>::WIDEST;
    for q in [2, 3, 4, 97, 65_537, 250_199_979_040_769, widest / 2 + 1, widest - 1, widest] {
        let scalar = Scalar::<D, N, PERIOD>::new(d, q);
        scalar.products();
        scalar.forward();
        scalar.ends();
        scalar.last_levels();
    }
}

#[test]
fn bounds_hold_at_the_ends() {
    check::<_, 2, ENDLESS>(Plain);
    check::<_, 2, 3>(Plain);
}

#[test]
fn registers_hold_at_the_ends() {
    #[cfg(target_arch = "x86_64")]
    if let Some(d) = Avx2::detect() {
        check::<_, 2, ENDLESS>(d);
        check::<_, 2, 3>(d);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(d) = Neon::detect() {
        check::<_, 4, ENDLESS>(d);
        check::<_, 4, 3>(d);
    }
}
