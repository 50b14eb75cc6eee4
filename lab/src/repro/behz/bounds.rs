//! The bounds of `[BEHZ16, 5.1]`: noise of a multiplicative tree, and the γ, m̃ and m_sk that suffice.
//!
//! The bounds of `[BEHZ16]` are computed exactly: integers and quotients of any size, no floating point.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::Ratio;
use num_traits::{One, Pow, ToPrimitive, Zero};

use super::Width;
use crate::repro::{LabError, Result};

/// An exact quotient of two integers.
pub type Rational = Ratio<BigInt>;

/// Bound B_key = 1 on the coefficients of a secret key: ‖s‖ ≤ 1, ternary secrets.
const KEY_BOUND: u64 = 1;

/// Inverse of the smallest ρ tried, 1/2^12: smaller ones change less than a thousandth of the noise.
const LEAST_RHO: u64 = 1 << 12;

/// The moduli m̃, m_sk and γ that suffice for a depth and a ρ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sufficient {
    /// The modulus m̃ that suffices to reduce q-overflows, unless none is needed.
    pub m_tilde: Option<u64>,
    /// Bits ⌈log2 m_sk⌉ of the modulus m_sk that suffices for a conversion back to q.
    pub log2_m_sk: u64,
    /// The modulus γ that suffices for decryption at a depth.
    pub gamma: u64,
}

/// One line of the tables of `[BEHZ16]`: everything the bounds depend on but ρ and γ.
#[derive(Clone, Debug)]
pub struct Setting {
    log2_degree: u32,
    width: Width,
    count: usize,
    plain_modulus: u64,
    error_bound: u64,
    q: BigInt,
    auxiliary: BigInt,
}

impl Setting {
    /// The setting with n = 2^`log2_degree`, q of the `count` greatest moduli of `width`, B of as many that
    /// follow, plaintext modulus t and errors of at most `error_bound` = B_err.
    ///
    /// # Errors
    /// [`LabError::Failed`] for more moduli than there are.
    pub fn new(
        log2_degree: u32,
        width: Width,
        count: usize,
        plain_modulus: u64,
        error_bound: u64,
    ) -> Result<Self> {
        let moduli = width.moduli(2 * count)?;
        let product = |part: &[u64]| part.iter().map(|&modulus| BigInt::from(modulus)).product();
        let (first, second) = moduli.split_at(count);
        Ok(Self {
            log2_degree,
            width,
            count,
            plain_modulus,
            error_bound,
            q: product(first),
            auxiliary: product(second),
        })
    }

    /// The ring's expansion factor δ = n.
    fn delta(&self) -> Rational {
        whole(1_u64 << self.log2_degree)
    }

    /// |q|_t: 1 for all of NFLlib's moduli, t being a power of two below 2^16.
    fn q_mod_t(&self) -> Rational {
        self.q.mod_floor(&self.plain_modulus.into()).into()
    }

    /// The noise growth factors C_RNS,1 and C_RNS,2 of `[BEHZ16, 5.1]`.
    fn growth(&self, rho: &Rational) -> [Rational; 2] {
        let [delta, key, t, k] =
            [self.delta(), whole(KEY_BOUND), whole(self.plain_modulus), whole(self.count as u64)];
        let half = half();
        let lift = (rho + one()) * &half;
        let spread = one() + &delta * &key;
        let q_t = self.q_mod_t();
        let word = whole(1_u64 << (self.width.bits() + 1));
        let first =
            whole(2) * &delta * &delta * &t * &lift * &key + &delta * &t * (rho + whole(4)) + &delta * &half;
        let second = spread * (&delta * &t * &q_t * &lift + &delta * &key * (&k + &half))
            + whole(2) * &delta * &t * &q_t
            + &k * (&delta * whole(self.error_bound) * word + one())
            + &half * (whole(3) + &q_t);
        [first, second]
    }

    /// Noise of a fresh ciphertext: V = B_err·(1 + 2δ·B_key).
    pub fn fresh_noise(&self) -> Rational {
        whole(self.error_bound) * (one() + whole(2) * self.delta() * whole(KEY_BOUND))
    }

    /// Noise after a multiplicative tree of depth L: C_1^L·V + L·C_1^(L−1)·C_2.
    pub fn noise(&self, depth: u32, rho: &Rational) -> Rational {
        self.tree(depth, &self.growth(rho))
    }

    fn tree(&self, depth: u32, [first, second]: &[Rational; 2]) -> Rational {
        let fresh = self.fresh_noise();
        let Some(below) = depth.checked_sub(1) else {
            return fresh;
        };
        let power: Rational = Pow::pow(first, below);
        power * (first * fresh + second * whole(depth.into()))
    }

    /// Largest noise that decrypts with this γ: (q/t)·(1/2 − k/γ) − |q|_t/2 `[BEHZ16, Theorem 1]`.
    pub fn capacity(&self, gamma: u64) -> Rational {
        let margin = half() - Rational::new(self.count.into(), gamma.max(1).into());
        Rational::new(self.q.clone(), self.plain_modulus.into()) * margin - self.q_mod_t() * half()
    }

    /// Whether a ciphertext of this depth decrypts with some γ below 2^ν.
    pub fn reaches(&self, depth: u32, rho: &Rational) -> bool {
        self.noise(depth, rho) <= self.capacity((1 << self.width.bits()) - 1)
    }

    /// The depth L_RNS, the greatest one at which some γ below 2^ν decrypts. `None` if not even a fresh
    /// ciphertext does.
    pub fn depth(&self, rho: &Rational) -> Option<u32> {
        greatest_depth(|depth| self.reaches(depth, rho))
    }

    /// The largest ρ that reaches this depth, of 2k − 1, …, 2, 1, 1/2, 1/3, …: the values that `[BEHZ16]` tries.
    pub fn largest_rho(&self, depth: u32) -> Option<Rational> {
        let integers = (1..2 * self.count as u64).rev().map(whole);
        let fractions = (2..=LEAST_RHO).map(|divisor| one() / whole(divisor));
        integers.chain(fractions).find(|rho| self.reaches(depth, rho))
    }

    /// The depth L_std of FV in multi-precision with digits of radix ω = 2^ν `[LN14, Section 3.5]`: growth
    /// C_1 = (1 + 4/(δ·B_key))·δ²·t·B_key and C_2 = δ²·B_key·(B_key + t²) + δ·ω·ℓ·B_err with
    /// ℓ = ⌊log_ω q⌋ + 1, and decryption as long as the noise is at most (⌊q/t⌋ − |q|_t)/2.
    pub fn standard_depth(&self) -> Option<u32> {
        let [delta, key, t] = [self.delta(), whole(KEY_BOUND), whole(self.plain_modulus)];
        let square = &delta * &delta * &key;
        let digits = whole(self.q.bits().saturating_sub(1) / u64::from(self.width.bits()) + 1);
        let radix = whole(1_u64 << self.width.bits());
        let growth = [
            (one() + whole(4) / (&delta * &key)) * &square * &t,
            &square * (&key + &t * &t) + &delta * radix * digits * whole(self.error_bound),
        ];
        let delta_q = Rational::from(self.q.div_floor(&self.plain_modulus.into()));
        let capacity = (delta_q - self.q_mod_t()) * half();
        greatest_depth(|depth| self.tree(depth, &growth) <= capacity)
    }

    /// The smallest γ with which this depth decrypts: ⌈k/(1/2 − (t/q)·(noise + |q|_t/2))⌉. It need not be
    /// coprime to t `[BEHZ16, 3.5]`.
    ///
    /// # Errors
    /// [`LabError::Failed`] where the noise alone is too large to decrypt with any γ.
    pub fn smallest_gamma(&self, depth: u32, rho: &Rational) -> Result<u64> {
        let noise = self.noise(depth, rho) + self.q_mod_t() * half();
        let margin = half() - noise * Rational::new(self.plain_modulus.into(), self.q.clone());
        let nothing = || {
            let Self { log2_degree, count, .. } = self;
            LabError::Failed(format!(
                "no γ makes depth {depth} decrypt at n = 2^{log2_degree}, k = {count}: ask for a smaller depth"
            ))
        };
        if margin <= Rational::zero() {
            return Err(nothing());
        }
        (whole(self.count as u64) / margin).ceil().to_integer().to_u64().ok_or_else(nothing)
    }

    /// The smallest m̃, m_sk and γ for this depth and ρ.
    ///
    /// # Errors
    /// The errors of [`smallest_gamma`](Self::smallest_gamma).
    pub fn sufficient(&self, depth: u32, rho: &Rational) -> Result<Sufficient> {
        let gamma = self.smallest_gamma(depth, rho)?;
        Ok(Sufficient { m_tilde: self.smallest_m_tilde(rho), log2_m_sk: self.log2_m_sk(rho), gamma })
    }

    /// The smallest m̃ that reduces to ρ: ⌈(2k + 1)/ρ⌉ `[BEHZ16, eq. (8)]` with τ = k. `None` where ρ = 2k −
    /// 1: that much a conversion leaves anyway.
    pub fn smallest_m_tilde(&self, rho: &Rational) -> Option<u64> {
        if *rho >= whole(2 * self.count as u64 - 1) {
            return None;
        }
        (whole(2 * self.count as u64 + 1) / rho).ceil().to_integer().to_u64()
    }

    /// Bits ⌈log2 m_sk⌉ for |B| = k: m_sk = 2(k + ⌈λ⌉), λ·M > δ·t·(q/2)·(1 + ρ)² + 1/2 + k `[BEHZ16, eq. (14)]`.
    pub fn log2_m_sk(&self, rho: &Rational) -> u64 {
        let lift = rho + one();
        let k = whole(self.count as u64);
        let largest =
            self.delta() * whole(self.plain_modulus) * &self.q * half() * &lift * &lift + half() + k;
        // The least integer that is greater.
        let lambda = (largest / &self.auxiliary).floor().to_integer() + 1_u32;
        let m_sk = (lambda + self.count) * 2_u32;
        (m_sk - 1_u32).bits()
    }
}

/// The greatest depth for which `fine` holds, tried one after the other.
fn greatest_depth(fine: impl Fn(u32) -> bool) -> Option<u32> {
    (0..).take_while(|&depth| fine(depth)).last()
}

fn one() -> Rational {
    Rational::one()
}

fn whole(value: u64) -> Rational {
    BigInt::from(value).into()
}

fn half() -> Rational {
    Rational::new(1.into(), 2.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(log2_degree: u32, count: usize, t: u64) -> Setting {
        Setting::new(log2_degree, Width::Bits30, count, t, 48).unwrap()
    }

    /// Checks the noise bounds against the formulas computed term by term in floating point.
    #[test]
    fn noise_agrees_with_the_formulas_in_floating_point() {
        let (n, k, t) = (8192.0_f64, 13.0, 1024.0);
        for rho in [0.0, 0.5, 13.0] {
            let first = 2.0 * n * n * t * (1.0 + rho) / 2.0 + n * t * (4.0 + rho) + n / 2.0;
            let second = (1.0 + n) * (n * t * (1.0 + rho) / 2.0 + n * (k + 0.5))
                + 2.0 * n * t
                + k * (n * 48.0 * 2_f64.powi(31) + 1.0)
                + 2.0;
            let fresh = 48.0 * (1.0 + 2.0 * n);
            let exact = setting(13, 13, 1024);
            let rational = Rational::new(((rho * 2.0) as u64).into(), 2.into());
            for depth in [1, 2, 9] {
                let expected = first.powi(depth) * fresh + f64::from(depth) * first.powi(depth - 1) * second;
                let got = exact.noise(depth as u32, &rational).to_integer().to_f64().unwrap();
                assert!((got / expected - 1.0).abs() < 1e-9, "{depth} {rho}: {got} {expected}");
            }
        }
    }

    #[test]
    fn gamma_is_the_smallest() {
        let one = setting(12, 6, 1024);
        let rho = whole(10);
        let gamma = one.smallest_gamma(4, &rho).unwrap();
        assert_eq!(gamma, 54);
        assert!(one.noise(4, &rho) <= one.capacity(gamma));
        assert!(one.noise(4, &rho) > one.capacity(gamma - 1));
        let error = one.smallest_gamma(5, &rho).unwrap_err().to_string();
        assert!(error.starts_with("no γ makes depth 5 decrypt"), "{error}");
    }

    #[test]
    fn m_tilde_is_the_smallest() {
        for (count, rho, m_tilde) in
            [(13, (1, 3), 81), (26, (1, 2), 106), (53, (1, 20), 2140), (6, (10, 1), 2)]
        {
            let rho = Rational::new(rho.0.into(), rho.1.into());
            assert_eq!(setting(13, count, 2).smallest_m_tilde(&rho), Some(m_tilde), "{count}");
        }
        assert_eq!(setting(11, 3, 2).smallest_m_tilde(&whole(5)), None);
    }

    /// Checks `[BEHZ16, Appendix C]`: depth 11 without reduction, 13 with m̃ = 2^8.
    #[test]
    fn reduction_gains_two_levels() {
        let one = setting(13, 13, 2);
        assert_eq!(one.depth(&whole(25)), Some(11));
        assert_eq!(one.depth(&Rational::new(27.into(), 256.into())), Some(13));
    }

    #[test]
    fn a_plain_modulus_near_q_leaves_no_depth() {
        let none = Setting::new(11, Width::Bits30, 1, 1 << 20, 48).unwrap();
        assert_eq!(none.depth(&whole(1)), None);
        assert_eq!(none.standard_depth(), None);
    }
}
