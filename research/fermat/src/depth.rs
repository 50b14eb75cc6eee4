//! Number of bits of q = 2^g − 1 that a multiplicative depth takes.

use sunzi_ring::RingError;
use sunzi_ring::storage::{check_plaintext_modulus, check_radix};

use crate::FermatModulus;
use crate::modulus::{MOST_BITS, WORD};

/// Bound B_err on the errors of encryptions and keys.
const ERROR_BOUND: f64 = sunzi_ring::sampling::CENTERED_BINOMIAL_BOUND as f64;
/// Lower bound of log2 of the noise margin 1/2 − k/γ.
const MARGIN: f64 = -1.001;

/// Returns log2(2^a + 2^b), the sum of two numbers given by their log2.
fn sum(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2
}

impl FermatModulus {
    /// Returns the smallest 2^g − 1 that decrypts after `depth` products one after the other, of public-key encryptions in Z\[X\]/(X^n + 1) with plaintext
    /// modulus t, by the papers' worst case [BEHZ16, Prop. 1 and 3]: relinearised by whole digits, or by digits of `radix_bits`.
    ///
    /// The worst case of the depth exceeds the noise of random keys: contexts carry a bound that such a
    /// modulus often leaves half unused. The degree is the caller's: it decides security, which a context
    /// checks.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless n is a power of two up to 2^17, 2 ≤ t < 2^60 and the radix has 1 to 61 bits, and for a depth
    /// that takes more than 16384 bits; [`RingError::NotCoprime`] for t.
    ///
    /// ```
    /// use sunzi_fermat::FermatModulus;
    ///
    /// let [whole, radix] = [None, Some(60)].map(|radix| FermatModulus::for_depth(1 << 13, 786_433, 8, radix));
    /// assert_eq!((whole?.bits(), radix?.bits()), (1024, 512));
    /// # Ok::<(), sunzi_ring::RingError>(())
    /// ```
    pub fn for_depth(n: usize, t: u64, depth: usize, radix_bits: Option<u32>) -> Result<Self, RingError> {
        if !n.is_power_of_two() || n > 1 << 17 {
            return Err(RingError::out_of_range("degree", "a power of two up to 2^17", n));
        }
        check_plaintext_modulus(t, 60)?;
        radix_bits.map_or(Ok(()), check_radix)?;
        let doubled = |bits: &usize| Some(2 * bits).filter(|&bits| bits <= MOST_BITS);
        for bits in std::iter::successors(Some(WORD), doubled) {
            let modulus = Self::new(bits)?;
            if modulus.bits_left(n as f64, t as f64, depth, radix_bits) >= 0.0 {
                modulus.check_coprime(t)?;
                return Ok(modulus);
            }
        }
        Err(RingError::out_of_range("depth", format_args!("one that {MOST_BITS} bits allow"), depth))
    }

    /// Returns log2 of the largest noise that decrypts, over the noise after `depth` products.
    fn bits_left(&self, n: f64, t: f64, depth: usize, radix_bits: Option<u32>) -> f64 {
        let (k, log2_q) = (self.level() as f64, self.bits() as f64);
        // e·u + e_1 + e_2·s and a rounding.
        let mut noise = (ERROR_BOUND * (2.0 * n + 1.0) + 0.5).log2();
        // One product: δt(r∞ + 1/2)·2v + δt·v²/q + (1/2 + k)(1 + δ + δ²), and δ·B_err·Σ B_i.
        let r_infinity = (1.0 + k / 65_536.0) / 2.0 * (1.0 + n) + 1.0;
        let linear = (2.0 * n * t * (r_infinity + 0.5)).log2();
        let digits = self.components().iter().map(|component| match radix_bits {
            Some(radix) => {
                f64::from(radix) + ((component.bits() as f64 + 1.0) / f64::from(radix)).ceil().log2()
            }
            None => component.bits() as f64,
        });
        let switch = digits.fold(f64::NEG_INFINITY, sum) + (n * ERROR_BOUND).log2();
        let rounding = ((0.5 + k) * (1.0 + n + n * n)).log2();
        for _ in 0..depth {
            let square = 2.0 * noise + (n * t).log2() - log2_q;
            noise = sum(sum(noise + linear, square), sum(rounding, switch));
        }
        log2_q + MARGIN - t.log2() - noise
    }
}
