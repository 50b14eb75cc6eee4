//! The butterflies of 52-bit words at the ends of their ranges, step by step against integers: one bit
//! too many in a bound is wrong only for words that random transforms never meet.

#[cfg(target_arch = "x86_64")]
use sunzi_kernels::internals::Avx512Ifma;
use sunzi_kernels::internals::{
    Arithmetic, Butterflies, Constants, Integers, Lanes, Lanes52, Portable, WIDTH, Word52, shoup_quotient,
};

const WORD: u64 = 1 << 52;

/// The portable lanes with a 52-bit multiplier in plain Rust.
#[derive(Clone, Copy)]
pub(super) struct Plain(pub(super) Portable);

impl Integers for Plain {
    type V = [u64; WIDTH];
    fn splat(self, word: u64) -> Self::V {
        self.0.splat(word)
    }
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.add(a, b)
    }
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.sub(a, b)
    }
    fn unless_negative(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.unless_negative(a, b)
    }
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.and(a, b)
    }
    fn shift_left(self, a: Self::V, count: u32) -> Self::V {
        self.0.shift_left(a, count)
    }
    fn shift_right(self, a: Self::V, count: u32) -> Self::V {
        self.0.shift_right(a, count)
    }
}

impl Lanes for Plain {
    const LEVELS: u32 = Portable::LEVELS;
    type Pattern = usize;
    fn load(self, words: &[u64; WIDTH]) -> Self::V {
        self.0.load(words)
    }
    fn pattern(self, width: usize) -> usize {
        self.0.pattern(width)
    }
    fn expand(self, bytes: &[u8; 8 * WIDTH], width: usize) -> Self::V {
        self.0.expand(bytes, width)
    }
    fn store(self, words: &mut [u64; WIDTH], v: Self::V) {
        self.0.store(words, v);
    }
    fn prefetch(self, address: *const u64) {
        self.0.prefetch(address);
    }
    fn transpose(self, v: &mut [Self::V; WIDTH]) {
        self.0.transpose(v);
    }
}

impl Lanes52 for Plain {
    fn multiply_add_low(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| acc[i].wrapping_add(product(a[i], b[i]) as u64 % WORD))
    }
    fn multiply_add_high(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| acc[i].wrapping_add((product(a[i], b[i]) >> 52) as u64))
    }
    fn carry(self, a: Self::V) -> Self::V {
        a.map(|word| (word.cast_signed() >> 52).cast_unsigned())
    }
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a % WORD) * u128::from(b % WORD)
}

/// Runs one arithmetic on scalars.
struct Scalar<L: Lanes52, const PERIOD: usize> {
    l: L,
    a: Word52<L, PERIOD>,
    q: u64,
}

impl<L: Lanes52, const PERIOD: usize> Scalar<L, PERIOD> {
    fn new(l: L, q: u64) -> Self {
        Self { l, a: Word52::new(l, &Constants::new(q)), q }
    }

    fn put(&self, x: u64) -> L::V {
        self.l.splat(x)
    }

    fn get(&self, v: L::V) -> u64 {
        let mut words = [0; WIDTH];
        self.l.store(&mut words, v);
        assert!(words.iter().all(|word| *word == words[0]));
        words[0]
    }

    fn twiddle(&self, w: u64) -> (L::V, L::V) {
        (self.put(w), self.put(shoup_quotient(w, self.q, 52)))
    }

    /// Returns the lazy product as an integer.
    fn lazy(&self, y: u64, w: u64) -> u64 {
        let quotient = (product(shoup_quotient(w, self.q, 52), y) >> 52) as u64;
        let t = (product(w, y) - product(quotient, self.q)) as u64;
        assert!(t < 2 * self.q);
        t
    }

    /// Returns twiddles at the ends, and those whose quotients are cut the most and the least.
    fn twiddles(&self) -> Vec<u64> {
        let word_inverse =
            (1..=52).fold(1, |x: u64, _| if x.is_multiple_of(2) { x / 2 } else { x.midpoint(self.q) });
        let q = self.q;
        vec![0, 1, 2, q / 2, q - 2, q - 1, word_inverse, q - word_inverse]
    }

    /// Returns words at the ends, and for each twiddle the one near the top with the largest lazy product.
    fn words(&self) -> Vec<u64> {
        let q = self.q;
        let mut words = vec![0, 1, q - 1, q, 2 * q - 1, WORD / 2, WORD - q, WORD - 1];
        for w in self.twiddles() {
            words.extend((WORD - 2000..WORD).max_by_key(|&y| self.lazy(y, w)));
        }
        words
    }

    /// Runs `PERIOD` levels from both ends of what a renormalisation leaves, always on to the extreme.
    fn forward_levels(&self) {
        let bias = 2 * PERIOD as u64 * self.q;
        for (start, largest) in [(bias, false), (bias + 2 * self.q - 1, true)] {
            let mut x = start;
            let words = self.words();
            for _ in 0..PERIOD {
                let mut next = x;
                for w in self.twiddles() {
                    for &y in &words {
                        let t = self.lazy(y, w);
                        let (sum, difference) = self.a.butterfly(self.put(x), self.put(y), self.twiddle(w));
                        assert!(t <= x && x + t < WORD, "out of range at q = {}", self.q);
                        assert_eq!(self.get(sum) % WORD, x + t);
                        assert_eq!(self.get(difference) % WORD, x - t);
                        next = if largest { next.max(x + t) } else { next.min(x - t) };
                    }
                }
                x = next;
            }
        }
    }

    fn reductions(&self) {
        let (q, bias) = (self.q, 2 * PERIOD as u64 * self.q);
        for x in self.words().into_iter().chain((1..(WORD / q).min(40)).flat_map(|k| [k * q - 1, k * q])) {
            let renormalised = self.get(self.a.renormalise(self.put(x))) % WORD;
            assert!((bias..bias + 2 * q).contains(&renormalised) && renormalised % q == x % q);
            let reduced = self.get(self.a.reduce_lazy(self.put(x))) % WORD;
            assert!(reduced < 2 * q && reduced % q == x % q);
            for bound in [2, 4, 8, 16u32].into_iter().filter(|&bound| x < u64::from(bound) * q) {
                let halved = self.get(self.a.halve(self.put(x), bound));
                assert!(halved < u64::from(bound / 2) * q && halved % q == x % q);
            }
            if x < 2 * q {
                assert_eq!(self.get(self.a.enter(self.put(x))), x + bias);
                assert_eq!(self.get(self.a.canonical(self.put(x + WORD))), x % q);
            }
        }
    }

    fn last_levels(&self) {
        let q = self.q;
        let words = self.words();
        for w in self.twiddles() {
            for &y in &words {
                for &x in &words {
                    let (sum, difference) = self.a.last_butterfly(self.put(x), self.put(y), self.twiddle(w));
                    let t = (product(w, y) % u128::from(q)) as u64;
                    assert_eq!(self.get(sum), (x % q + t) % q);
                    assert_eq!(self.get(difference), (x % q + q - t) % q);
                }
            }
        }
    }

    /// Tests products, reductions of any word, and the longest sums of products that are reduced once.
    fn products(&self) {
        let q = self.q;
        for a in self.twiddles() {
            for b in self.twiddles() {
                let expected = (u128::from(a) * u128::from(b) % u128::from(q)) as u64;
                assert_eq!(self.get(self.a.multiply(self.put(a), self.put(b))), expected);
                assert_eq!(self.get(self.a.multiply_constant(self.put(b), self.twiddle(a))), expected);
                for terms in [1, <Word52<L, PERIOD> as Arithmetic>::MAX_TERMS] {
                    let mut sum = self.a.sum_start();
                    for _ in 0..terms {
                        sum = self.a.sum_add(sum, self.put(a), self.put(b));
                    }
                    let expected = (u128::from(a) * u128::from(b) * terms as u128 % u128::from(q)) as u64;
                    assert_eq!(
                        self.get(self.a.sum_reduce(sum)),
                        expected,
                        "{terms} times {a}·{b} modulo {q}"
                    );
                }
            }
        }
        for word in self.words().into_iter().chain([u64::MAX, u64::MAX - 1, u64::MAX / q * q - 1, 1 << 63]) {
            assert_eq!(self.get(self.a.reduce(self.put(word))), word % q);
        }
    }

    fn inverse_levels(&self) {
        let q = self.q;
        let limit = <Word52<L, PERIOD> as Butterflies>::INVERSE_LIMIT;
        for bound in [1, 2, 4, 8].into_iter().filter(|&bound| bound <= limit) {
            let ends = [0, 1, u64::from(bound) * q - 1];
            for (x, y) in ends.into_iter().flat_map(|x| ends.map(|y| (x, y))) {
                for w in self.twiddles() {
                    let twiddle = self.twiddle(w);
                    let (sum, product) = self.a.inverse_butterfly(self.put(x), self.put(y), twiddle, bound);
                    let expected = i128::from(w) * (i128::from(x) - i128::from(y));
                    let expected = expected.rem_euclid(i128::from(q)) as u64;
                    assert_eq!(self.get(sum) % WORD, x + y);
                    let product = self.get(product) % WORD;
                    assert!(product < 2 * q && product % q == expected);
                    let both = (twiddle, twiddle);
                    let last = self.a.inverse_last_butterfly(self.put(x), self.put(y), both.0, both.1, bound);
                    let scaled = u128::from(w) * u128::from(x + y) % u128::from(q);
                    assert_eq!((u128::from(self.get(last.0)), self.get(last.1)), (scaled, expected));
                }
            }
        }
    }
}

fn check<L: Lanes52, const PERIOD: usize>(l: L) {
    let widest = <Word52<L, PERIOD> as Arithmetic>::WIDEST;
    for q in [widest - (1 - widest % 2), (widest / 2) | 1, 250_199_979_040_769, 65_537, 3] {
        let scalar = Scalar::<L, PERIOD>::new(l, q.min(widest - (1 - widest % 2)));
        scalar.forward_levels();
        scalar.reductions();
        scalar.last_levels();
        scalar.inverse_levels();
        scalar.products();
    }
}

#[test]
fn bounds_hold_at_the_ends() {
    check::<_, 4>(Plain(Portable));
    check::<_, 2>(Plain(Portable));
    check::<_, 1>(Plain(Portable));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_hold_at_the_ends() {
    if let Some(lanes) = Avx512Ifma::detect() {
        check::<_, 4>(lanes);
        check::<_, 2>(lanes);
        check::<_, 1>(lanes);
    }
}
