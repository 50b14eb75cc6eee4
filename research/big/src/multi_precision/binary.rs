//! Polynomials modulo X^n + 1 with coefficients modulo a power of two, and their products by way of residues.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use rand_core::Rng;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::storage::{BLOCK, Scale, Scratch, Work, block_of, check_length};
use sunzi_ring::{Backend, Parallelism, RingError, WordRing};

use super::groups::{Group, for_each_coefficient, group};
use super::lift::{Lift, half};
use super::remainders::Remainders;
use super::words::{self as integers, BITS, MASK};

/// Polynomial of n coefficients modulo 2^bits, each in words of sixty bits: no residues, as HEAAN stores ciphertexts before `[AS19]`.
///
/// ```
/// use num_bigint::BigInt;
/// use sunzi_big::Binary;
///
/// let a = Binary::from_integers(&[BigInt::from(-3), BigInt::from(5)], 100);
/// assert_eq!(a.add(&a)?.to_integers(), [BigInt::from(-6), BigInt::from(10)]);
/// // −3/4 and 5/4 are rounded, modulo 2^98.
/// assert_eq!(a.shift_right(2).to_integers(), [BigInt::from(-1), BigInt::from(1)]);
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Words of all coefficients, one coefficient after the other.
    words: Vec<u64>,
    /// Number of bits of the modulus.
    bits: u64,
    degree: usize,
}

impl Binary {
    fn zero(degree: usize, bits: u64) -> Self {
        Self { words: vec![0; degree * length(bits)], bits, degree }
    }

    /// Makes the polynomial of these coefficients modulo 2^`bits`.
    #[must_use]
    pub fn from_integers(coefficients: &[BigInt], bits: u64) -> Self {
        let modulus = BigInt::from(1) << bits;
        let residue = |c: &BigInt| c.mod_floor(&modulus).magnitude().clone();
        let words = coefficients.iter().flat_map(|c| integers::words(&residue(c), length(bits))).collect();
        Self { words, bits, degree: coefficients.len() }
    }

    /// Makes a polynomial of uniform coefficients modulo 2^`bits`.
    #[must_use]
    pub fn uniform<G: Rng + ?Sized>(degree: usize, bits: u64, rng: &mut G) -> Self {
        let mut uniform = Self::zero(degree, bits);
        uniform.words.iter_mut().for_each(|word| *word = rng.next_u64() & MASK);
        uniform.map(bits, |from, to| to.copy_from_slice(from))
    }

    /// Coefficients in [−2^(bits−1), 2^(bits−1)).
    #[must_use]
    pub fn to_integers(&self) -> Vec<BigInt> {
        let (modulus, half) = (BigInt::from(1) << self.bits, BigInt::from(1) << (self.bits - 1));
        let centred = |words: &[u64]| {
            let c = BigInt::from(integers::integer(words));
            if c < half { c } else { c - &modulus }
        };
        self.words.chunks_exact(length(self.bits)).map(centred).collect()
    }

    /// Number of coefficients.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of bits of the modulus.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Computes `f(coefficient of self, coefficient of the result)` everywhere; the result is reduced modulo 2^`bits`.
    fn map(&self, bits: u64, f: impl Fn(&[u64], &mut [u64]) + Send + Sync) -> Self {
        let (from, to) = (length(self.bits), length(bits));
        let mut result = Self::zero(self.degree, bits);
        let block = BLOCK.min(self.degree);
        // Blocks divide the degree, a power of two: no error is possible.
        let done = Parallelism::Collapsed.for_each_limb(
            Work::Elementwise,
            &mut result.words,
            block * to,
            |b, words| {
                let start = b * block * from;
                let source = self.words.get(start..start + block * from).unwrap_or_default();
                for (x, out) in source.chunks_exact(from).zip(words.chunks_exact_mut(to)) {
                    f(x, out);
                    mask(out, bits);
                }
                Ok(())
            },
        );
        debug_assert!(done.is_ok());
        result
    }

    /// The sum of two polynomials.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for polynomials of other degree or modulus.
    pub fn add(&self, other: &Self) -> Result<Self, RingError> {
        check_length("bits of a modulus", self.bits as usize, other.bits as usize)?;
        check_length("words of coefficients", self.words.len(), other.words.len())?;
        let (mut sum, length) = (self.clone(), length(self.bits));
        let block = BLOCK.min(self.degree) * length;
        Parallelism::Collapsed.for_each_limb(Work::Elementwise, &mut sum.words, block, |b, words| {
            let others = other.words.chunks_exact(block).nth(b).unwrap_or_default();
            for (x, y) in words.chunks_exact_mut(length).zip(others.chunks_exact(length)) {
                add_assign(x, y);
                mask(x, self.bits);
            }
            Ok(())
        })?;
        Ok(sum)
    }

    /// The negated polynomial.
    #[must_use]
    pub fn negated(&self) -> Self {
        self.map(self.bits, |x, out| {
            out.copy_from_slice(x);
            negate(out);
        })
    }

    /// The product with a constant below 2^60.
    #[must_use]
    pub fn times(&self, constant: u64) -> Self {
        self.map(self.bits, |x, out| {
            let mut carry = 0;
            for (x, out) in x.iter().zip(out) {
                let sum = u128::from(*x) * u128::from(constant & MASK) + carry;
                (*out, carry) = (sum as u64 & MASK, sum >> BITS);
            }
        })
    }

    /// The quotient by 2^`count`, a half rounding up, modulo 2^(bits − `count`).
    #[must_use]
    pub fn shift_right(&self, count: u64) -> Self {
        self.map(self.bits.saturating_sub(count).max(1), |x, out| {
            // The highest bit that is dropped rounds.
            let mut carry = count.checked_sub(1).map_or(0, |at| integers::bits(x, at, 1));
            for (i, out) in out.iter_mut().enumerate() {
                let sum = integers::bits(x, count + i as u64 * BITS, BITS as u32) + carry;
                (*out, carry) = (sum & MASK, sum >> BITS);
            }
        })
    }

    /// The image under X ↦ X^k of the polynomial modulo X^n + 1, for odd k.
    #[must_use]
    pub fn automorphism(&self, k: usize) -> Self {
        let (n, length) = (self.degree, length(self.bits));
        let mut image = Self::zero(n, self.bits);
        for (i, x) in self.words.chunks_exact(length).enumerate() {
            let at = i * k % (2 * n);
            let Some(out) = image.words.chunks_exact_mut(length).nth(at % n) else { continue };
            out.copy_from_slice(x);
            if at >= n {
                negate(out);
                mask(out, self.bits);
            }
        }
        image
    }
}

/// Number of words of a coefficient modulo 2^`bits`.
fn length(bits: u64) -> usize {
    bits.div_ceil(BITS).max(1) as usize
}

fn mask(x: &mut [u64], bits: u64) {
    if let Some(last) = x.last_mut().filter(|_| !bits.is_multiple_of(BITS)) {
        *last &= (1 << (bits % BITS)) - 1;
    }
}

fn add_assign(x: &mut [u64], y: &[u64]) {
    let mut carry = 0;
    for (x, y) in x.iter_mut().zip(y) {
        let sum = *x + y + carry;
        (*x, carry) = (sum & MASK, sum >> BITS);
    }
}

fn negate(x: &mut [u64]) {
    let mut carry = 1;
    for x in x {
        let sum = (*x ^ MASK) + carry;
        (*x, carry) = (sum & MASK, sum >> BITS);
    }
}

/// Products of polynomials modulo X^n + 1 over the integers, by way of residues modulo enough primes, from coefficients modulo a power of two
/// and back to such: each coefficient is one big integer there, so that there and back cost as much as the transforms or more.
///
/// ```
/// use num_bigint::BigInt;
/// use sunzi_big::{Binary, BinaryProducts};
///
/// let x: Vec<BigInt> = (0..64).map(|i| BigInt::from(i32::from(i == 63))).collect();
/// let x = Binary::from_integers(&x, 80);
/// let products = BinaryProducts::new(128, 80, 170)?;
/// let mut values = products.values(&x)?;
/// products.multiply(&mut values, &products.values(&x)?)?;
/// // X^126 = −X^62.
/// let square = products.integers(values, 80)?.to_integers();
/// assert_eq!(square[62], BigInt::from(-1));
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Debug)]
pub struct BinaryProducts {
    ring: WordRing,
    groups: Vec<Group>,
    lift: Lift,
    scales: Vec<Scale>,
    remainders: Remainders,
    /// Number of bits of the operands' modulus.
    bits: u64,
}

/// Values of a polynomial modulo every prime of a [`BinaryProducts`].
pub type BinaryValues = Scratch;

impl BinaryProducts {
    /// Makes the tables of index m, a power of two, for operands modulo 2^`bits` and sums of products below 2^`product_bits` in absolute value.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an index that is no power of two, or operands of no bits; every error of [`Ring::new`](sunzi_ring::Ring::new).
    pub fn new(m: u64, bits: u64, product_bits: u64) -> Result<Self, RingError> {
        if !m.is_power_of_two() || bits == 0 {
            return Err(RingError::out_of_range(
                "ring index",
                "a power of two, for operands of at least one bit",
                m,
            ));
        }
        // Primes as long as those of the residues that are compared with.
        let width = u64::from(DEFAULT_PRIME_BOUND.ilog2()) - 1;
        let count = (product_bits + 2).div_ceil(width) as usize;
        let ring = WordRing::new(m, &primes_below(DEFAULT_PRIME_BOUND, m, count)?)?;
        let basis = ring.basis();
        let groups = group(basis.moduli())?;
        let lift = Lift::new(basis, &groups);
        let scales: Vec<Scale> = ring
            .plans()
            .iter()
            .zip(basis.quotient_inverses())
            .map(|(plan, &inverse)| plan.scale(inverse))
            .collect::<Result<_, _>>()?;
        let offset = BigUint::from(1_u32) << (bits - 1);
        let remainders = Remainders::new(basis.moduli(), length(bits), &offset)?;
        Ok(Self { ring, groups, lift, scales, remainders, bits })
    }

    /// Number of primes.
    #[must_use]
    pub fn primes(&self) -> usize {
        self.scales.len()
    }

    /// The values of a polynomial, whose coefficients are taken from [−2^(bits−1), 2^(bits−1)).
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for a polynomial of other degree or modulus.
    pub fn values(&self, a: &Binary) -> Result<BinaryValues, RingError> {
        let n = self.ring.degree();
        check_length("coefficients", n, a.degree)?;
        check_length("bits of a modulus", self.bits as usize, a.bits as usize)?;
        let (length, top) = (length(self.bits), self.bits - 1);
        let mut values = Scratch::new(n * self.primes());
        Parallelism::Collapsed.for_each_block(&mut values, n, |range, rows| {
            let mut shifted = vec![0; length];
            let words = a.words.get(range.start * length..range.end * length).unwrap_or_default();
            for (i, x) in words.chunks_exact(length).enumerate() {
                shifted.copy_from_slice(x);
                // x + 2^(bits−1) modulo 2^bits.
                shifted.iter_mut().skip((top / BITS) as usize).for_each(|word| *word ^= 1 << (top % BITS));
                self.remainders.apply(&shifted, rows, i);
            }
            Ok(())
        })?;
        self.ring.transform().forward(&mut values)?;
        Ok(values)
    }

    fn limbs(
        &self,
        a: &mut [u64],
        b: &[u64],
        f: impl Fn(sunzi_kernels::Modulus, &mut [u64], &[u64]) -> Result<(), sunzi_kernels::KernelError>
        + Send
        + Sync,
    ) -> Result<(), RingError> {
        let n = self.ring.degree();
        check_length("values", n * self.primes(), a.len())?;
        check_length("values", a.len(), b.len())?;
        Parallelism::Collapsed.for_each_limb(Work::Elementwise, a, n, |i, a| {
            let b = b.chunks_exact(n).nth(i).unwrap_or_default();
            Ok(f(self.ring.basis().own(i)?, a, b)?)
        })
    }

    /// Multiplies values point by point, a ← a·b.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for values of other tables.
    pub fn multiply(&self, a: &mut BinaryValues, b: &BinaryValues) -> Result<(), RingError> {
        self.limbs(a, b, |modulus, a, b| modulus.mul_assign(a, b))
    }

    /// Adds values point by point, a ← a + b.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for values of other tables.
    pub fn add(&self, a: &mut BinaryValues, b: &BinaryValues) -> Result<(), RingError> {
        self.limbs(a, b, |modulus, a, b| modulus.add_assign(a, b))
    }

    /// The polynomial of these values modulo 2^`bits`.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for values of other tables, or for more bits than the primes hold.
    pub fn integers(&self, mut values: BinaryValues, bits: u64) -> Result<Binary, RingError> {
        let (n, length) = (self.ring.degree(), length(bits));
        check_length("values", n * self.primes(), values.len())?;
        if length > self.lift.length() {
            return Err(RingError::out_of_range("bits of a modulus", "at most those of the primes", bits));
        }
        self.ring.transform().inverse_scaled(&mut values, &self.scales)?;
        let modulus = BigUint::from(1_u32) << bits;
        let negated = &modulus - half(self.ring.basis().product()) % &modulus;
        let negated = integers::words(&negated, length);
        let mut result = Binary::zero(n, bits);
        let block = BLOCK.min(n);
        let words = &mut result.words;
        Parallelism::Collapsed.for_each_limb(Work::Transform, words, block * length, |b, words| {
            let range = b * block..(b + 1) * block;
            let rows = block_of(values.chunks_exact(n), &range);
            let mut lifted = vec![0; self.lift.length()];
            let mut outs = words.chunks_exact_mut(length);
            for_each_coefficient(&self.groups, &rows, block, |_, residues| {
                self.lift.apply(residues, &mut lifted);
                let (Some(out), Some(low)) = (outs.next(), lifted.get(..length)) else { return };
                out.copy_from_slice(low);
                add_assign(out, &negated);
                mask(out, bits);
            });
            Ok(())
        })?;
        Ok(result)
    }
}
