//! Operations that an instruction set supplies: eight 64-bit words handled together.

/// Number of words in a vector.
pub const WIDTH: usize = 8;

/// Arithmetic on 64-bit integers, one or several together. All arithmetic wraps.
///
/// A value of the implementing type witnesses that the processor has the instructions.
pub trait Integers: Copy {
    type V: Copy;

    fn splat(self, word: u64) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a`, or `b` where `a` is negative. Words are two's complement here; `b` is not negative, nor
    /// below an `a` that is not negative, and both are of no more bits than the multiplier reads.
    fn unless_negative(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts every word left; a count of 64 or more gives zero.
    fn shift_left(self, a: Self::V, count: u32) -> Self::V;
    /// Shifts every word right; a count of 64 or more gives zero.
    fn shift_right(self, a: Self::V, count: u32) -> Self::V;
    /// Subtracts q where x − q is not negative.
    #[inline(always)]
    fn subtract_once(self, x: Self::V, q: Self::V) -> Self::V {
        self.unless_negative(self.sub(x, q), x)
    }
}

/// Vectors of eight words.
pub trait Lanes: Integers {
    /// Number of levels of a transform whose words the vector registers hold.
    const LEVELS: u32;

    /// Positions in memory of the bytes of words of some length.
    type Pattern: Copy;

    fn load(self, words: &[u64; WIDTH]) -> Self::V;
    /// Returns the pattern of words that take 1 to 8 bytes each.
    fn pattern(self, width: usize) -> Self::Pattern;
    /// Expands eight words, packed one after the other, from the first bytes.
    fn expand(self, bytes: &[u8; 8 * WIDTH], pattern: Self::Pattern) -> Self::V;
    fn store(self, words: &mut [u64; WIDTH], v: Self::V);
    /// Returns the words of a vector in reversed order.
    #[inline(always)]
    fn reversed(self, v: Self::V) -> Self::V {
        // Compilers make shuffles of it.
        let mut words = [0; WIDTH];
        self.store(&mut words, v);
        words.reverse();
        self.load(&words)
    }
    /// Prefetches the words at this address. The address need not be valid.
    fn prefetch(self, address: *const u64);
    /// Transposes eight vectors: word `i` of vector `k` becomes word `k` of vector `i`.
    fn transpose(self, v: &mut [Self::V; WIDTH]);
}

/// Expands eight words one by one, for lanes that cannot move bytes.
#[inline(always)]
pub fn expanded(bytes: &[u8; 8 * WIDTH], width: usize) -> [u64; WIDTH] {
    let mask = u64::MAX >> (64 - 8 * width.clamp(1, 8));
    let mut words = [0; WIDTH];
    for (i, word) in words.iter_mut().enumerate() {
        let bytes = bytes.get(i * width..).and_then(|bytes| bytes.first_chunk());
        *word = bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes)) & mask;
    }
    words
}

/// Returns the sixteen bytes of a slice from byte `at` on.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "for vectors")
)]
#[inline(always)]
pub(crate) fn sixteen(bytes: &[u8; 8 * WIDTH], at: usize) -> &[u8; 16] {
    match bytes.get(at..) {
        Some(bytes) => bytes.first_chunk().unwrap_or(&[0; 16]),
        None => &[0; 16],
    }
}

/// Lanes that multiply the low 52 bits of their words.
pub trait Lanes52: Lanes {
    /// Adds to `acc` the low 52 bits of the 104-bit product a·b.
    fn multiply_add_low(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the part of a signed word above its low 52 bits.
    fn carry(self, a: Self::V) -> Self::V;
    /// Adds to `acc` the high 52 bits of the 104-bit product a·b.
    fn multiply_add_high(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
}

/// Registers of which the passes of a transform hold eight at a time: a whole vector, or as much of it as an
/// instruction set has registers for, of 8, 4 or 2 words.
pub trait Registers: Copy {
    type R: Copy;
    /// Number of words in a register.
    const WORDS: usize;
    /// Number of levels of a transform along rows all of whose words registers hold.
    const LEVELS: u32;

    /// Loads a register from the first words of a slice; zeros if there are too few.
    fn load(self, words: &[u64]) -> Self::R;
    /// Writes a register to the first words of a slice; nothing if there are too few.
    fn store(self, words: &mut [u64], r: Self::R);
    /// Returns a register with the word in every lane.
    fn splat(self, word: u64) -> Self::R;
    /// Returns the sums of words of two registers, as integers.
    fn add_words(self, a: Self::R, b: Self::R) -> Self::R;
    /// Transposes registers: word `i` of register `k` becomes word `k` of register `i`, in each group of
    /// `WORDS` registers.
    fn transpose(self, x: &mut [Self::R; WIDTH]);
    /// Prefetches the words at this address. The address need not be valid.
    fn prefetch(self, address: *const u64);
}

/// Integers that are multiplied as whole words.
pub(crate) trait Lanes64: Integers {
    /// Registers in which transforms hold the integers.
    type Registers: Registers<R = Self::V>;

    /// Whether there is a cheaper high product whose quotients may be up to 2 less.
    const ABOUT_IS_SHORT: bool = false;

    fn registers(self) -> Self::Registers;
    /// Returns the low 64 bits of the product a·b.
    fn multiply_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the high 64 bits of the product a·b.
    fn multiply_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the high 64 bits of the product a·b, or up to 2 less where
    /// [`ABOUT_IS_SHORT`](Self::ABOUT_IS_SHORT).
    #[inline(always)]
    fn multiply_high_about(self, a: Self::V, b: Self::V) -> Self::V {
        self.multiply_high(a, b)
    }
    /// Splits a factor for [`multiply_high_split`](Self::multiply_high_split).
    fn split(b: u64) -> [u64; 2] {
        [b, 0]
    }
    /// Computes [`multiply_high_about`](Self::multiply_high_about) with a factor that is split.
    #[inline(always)]
    fn multiply_high_split(self, a: Self::V, b: (Self::V, Self::V)) -> Self::V {
        self.multiply_high_about(a, b.0)
    }
    /// Adds the 128-bit numbers `hi:lo + other_hi:other_lo`; the result is (hi, lo).
    fn add_wide(self, sum: (Self::V, Self::V), other: (Self::V, Self::V)) -> (Self::V, Self::V);
}

/// A register that is a whole vector of lanes.
#[derive(Clone, Copy)]
pub struct Whole<L: Lanes>(pub(crate) L);

impl<L: Lanes> Registers for Whole<L> {
    type R = L::V;
    const WORDS: usize = WIDTH;
    const LEVELS: u32 = L::LEVELS;

    #[inline(always)]
    fn load(self, words: &[u64]) -> L::V {
        self.0.load(words.first_chunk().unwrap_or(&[0; WIDTH]))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], r: L::V) {
        if let Some(words) = words.first_chunk_mut() {
            self.0.store(words, r);
        }
    }
    #[inline(always)]
    fn splat(self, word: u64) -> L::V {
        self.0.splat(word)
    }
    #[inline(always)]
    fn add_words(self, a: L::V, b: L::V) -> L::V {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn transpose(self, x: &mut [L::V; WIDTH]) {
        self.0.transpose(x);
    }
    #[inline(always)]
    fn prefetch(self, address: *const u64) {
        self.0.prefetch(address);
    }
}

/// Copies words of one slice to another, as many as both have.
#[inline(always)]
pub(super) fn copy(out: &mut [u64], words: &[u64]) {
    for (to, from) in out.iter_mut().zip(words) {
        *to = *from;
    }
}
