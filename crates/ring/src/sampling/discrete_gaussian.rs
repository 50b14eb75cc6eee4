//! Exact sampling of Gaussians of any width on the integers.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::check_count;
use crate::RingError;

/// Largest width of a Gaussian, as log2 σ.
pub const LARGEST_LOG2_WIDTH: u32 = 110;

/// Makes n independent draws of the discrete Gaussian with σ = 2^`log2_width`: P(x) ∝ exp(−x²/(2σ²)).
///
/// Draws are exact, by rejection from a discrete Laplace distribution of equal width `[CKS20, Alg. 1 to 3]`; no
/// number is rounded, whatever σ is. The time depends on what is drawn, so this is for noise that hides something
/// else, not for keys.
///
/// # Errors
/// [`RingError::OutOfRange`] for n above 2^24 or a width above [`LARGEST_LOG2_WIDTH`].
pub fn discrete_gaussian<G: CryptoRng + ?Sized>(
    n: usize,
    log2_width: u32,
    rng: &mut G,
) -> Result<Zeroizing<Vec<i128>>, RingError> {
    check_count(n)?;
    if log2_width > LARGEST_LOG2_WIDTH {
        let expected = format_args!("at most {LARGEST_LOG2_WIDTH}");
        return Err(RingError::out_of_range("log2 of the width of a Gaussian", expected, log2_width));
    }
    let mut out = Zeroizing::new(Vec::with_capacity(n));
    out.extend(std::iter::repeat_with(|| gaussian(log2_width, rng)).take(n));
    Ok(out)
}

/// Makes one draw of the Gaussian with σ = 2^k. With t = σ the density is that of the Laplace distribution
/// times exp(−(|y| − 2^k)²/2^(2k+1)), and a constant.
fn gaussian<G: CryptoRng + ?Sized>(k: u32, rng: &mut G) -> i128 {
    loop {
        let y = laplace(k, rng);
        if exp_minus_square(y.unsigned_abs().abs_diff(1 << k), k, rng) {
            return y;
        }
    }
}

/// Draws a bit that is true with probability exp(−d²/2^(2k+1)).
///
/// The exponent splits with d = a·2^k + b: d²/2^(2k+1) = a²/2 + a·b/2^k + b²/2^(2k+1), and the exponential of a sum
/// is a product.
fn exp_minus_square<G: CryptoRng + ?Sized>(d: u128, k: u32, rng: &mut G) -> bool {
    let (a, b) = (d >> k, d & low_bits(k));
    let half = Fraction { numerator: 1, bits: 1, other: None };
    let step = Fraction { numerator: b, bits: k, other: None };
    let square = Fraction { numerator: b, bits: k, other: Some((b, k + 1)) };
    (0..a.saturating_mul(a)).all(|_| exp_minus(&half, rng))
        && (0..a).all(|_| exp_minus(&step, rng))
        && exp_minus(&square, rng)
}

/// Makes one draw of the discrete Laplace distribution P(x) ∝ exp(−|x|/2^k) `[CKS20, Alg. 2]`.
fn laplace<G: CryptoRng + ?Sized>(k: u32, rng: &mut G) -> i128 {
    let one = Fraction { numerator: 1, bits: 0, other: None };
    loop {
        let u = uniform_bits(k, rng);
        if !exp_minus(&Fraction { numerator: u, bits: k, other: None }, rng) {
            continue;
        }
        // A run of 2^12 has a probability of 2^-5909: the product below is far from overflowing.
        let v = (0..1 << 12).take_while(|_| exp_minus(&one, rng)).count() as u128;
        let (magnitude, negative) = ((u | v << k) as i128, rng.next_u64() >> 63 == 1);
        if !(negative && magnitude == 0) {
            return if negative { -magnitude } else { magnitude };
        }
    }
}

/// A probability (numerator/2^bits)·(numerator/2^bits of `other`), at most 1.
struct Fraction {
    numerator: u128,
    bits: u32,
    other: Option<(u128, u32)>,
}

impl Fraction {
    /// Draws a bit that is true with the probability of the fraction.
    fn bernoulli<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> bool {
        let below = |numerator: u128, bits: u32, rng: &mut G| uniform_bits(bits, rng) < numerator;
        below(self.numerator, self.bits, rng)
            && self.other.is_none_or(|(numerator, bits)| below(numerator, bits, rng))
    }
}

/// Draws a bit that is true with probability exp(−γ), for 0 ≤ γ ≤ 1 `[CKS20, Alg. 1]`: the parity of the
/// first k for which a coin of γ/k fails.
fn exp_minus<G: CryptoRng + ?Sized>(gamma: &Fraction, rng: &mut G) -> bool {
    let mut k = 1_u64;
    while gamma.bernoulli(rng) && below(k, rng) == 0 {
        k += 1;
    }
    k % 2 == 1
}

/// Draws a uniform integer in [0, k).
fn below<G: CryptoRng + ?Sized>(k: u64, rng: &mut G) -> u64 {
    let mask = u64::MAX >> k.wrapping_sub(1).leading_zeros().min(63);
    loop {
        let candidate = rng.next_u64() & mask;
        if candidate < k {
            return candidate;
        }
    }
}

fn uniform_bits<G: CryptoRng + ?Sized>(bits: u32, rng: &mut G) -> u128 {
    let high = if bits > 64 { u128::from(rng.next_u64()) << 64 } else { 0 };
    let low = if bits > 0 { u128::from(rng.next_u64()) } else { 0 };
    (high | low) & low_bits(bits)
}

fn low_bits(bits: u32) -> u128 {
    (1 << bits) - 1
}
