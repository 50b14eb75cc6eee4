//! How BFV operations change the two noise bounds of a ciphertext.
//!
//! The noise of a BFV ciphertext is the real-valued v with c(s) = (q/t)·m + v (mod q). Encryption rounds (q/t)·m
//! instead of scaling by ⌊q/t⌋, so the terms with |q|_t of `[BEHZ16, Proposition 1]` do not appear; otherwise the
//! worst case follows the paper term by term:
//!
//! | term of the worst case | from | variants |
//! |---|---|---|
//! | ‖v‖ ≤ (1/2 − k/γ)·q/t decrypts | Lemmas 1 and 2, Theorem 1 | k/γ with γ = 2^j: Lemma 3; the error of the quotients instead: 3.5 |
//! | (q/q_1⋯q_ℓ)·(1 + δB_key)/2 added to each ‖v_i‖ by a modulus switch | [KPZ21, eq. (11), 3.2] | 0 for BEHZ and HPS, and on the right at the top; k times as much if approximate |
//! | ρ in r∞ = (1 + ρ)/2·(1 + δB_key) + 1 | Lemma 4, eq. (8) | smaller for a larger m̃; k − 1 without one (centred digits; 2k − 1 in the paper) |
//! | δt(r∞ + 1/2)(‖v_1‖ + ‖v_2‖) | Proposition 1 | by ρ |
//! | δt·‖v_1‖‖v_2‖/q | Proposition 1, where (δ/2)·min‖v_i‖ bounds it | none |
//! | (1/2 + k)(1 + δB_key(1 + δB_key)) | rounding in Proposition 1, b of Lemma 5 in Proposition 3 | none |
//! | no wrap in B_sk | Lemma 6, Proposition 2 | `Auxiliary`: room for one product or for 256 |
//! | δB_err·Σ_i B_i for digits below B_i | Lemmas 7 and 8, Proposition 3 | radix: B.1; times q_I for keys with fewer limbs: B.2 |
//! | δ²B_key²·‖what is dropped‖ | B.2, eq. (22) | multi-precision digits only |
//!
//! Digits of relinearisation are centred, B_i = q_i/2: half of Lemma 8's q_i. They are those of the integer that
//! scaling returns, its error b included, so the second half of the last term of Proposition 3, which the paper pays
//! for the digits of b, does not arise either. The key switch itself is in [`sunzi_rlwe::noise`].

use sunzi_ring::{Expansion, ScalingBounds, Side};
use sunzi_rlwe::noise::{NoiseModel, Tail};
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm, SecretDistribution};

/// Figures on which the noise of a BFV product modulo q′ = q_1⋯q_ℓ depends, seen modulo q: times q/q′.
#[derive(Clone, Copy, Debug)]
pub struct ProductModel {
    /// Ring of the ciphertexts: its degree n, and the growth of coefficients in products.
    pub ring: Expansion,
    /// Distribution of secrets: uniform ternary ones, or joint ones of several parties.
    pub secrets: SecretDistribution,
    /// Plaintext modulus t.
    pub plain_modulus: f64,
    /// Size log2 q of the ciphertext modulus.
    pub log2_modulus: f64,
    /// Size log2 of q/q′: 0 at the highest level.
    pub log2_dropped: f64,
    /// Errors of extension, switching and scaling.
    pub bounds: ScalingBounds,
}

/// Adds to a noise bound the rounding of a plaintext that is added or subtracted.
#[must_use]
pub fn plain_sum(noise: &NoiseBound) -> NoiseBound {
    noise.plus(NoiseTerm::rounding())
}

/// Noise model of BFV products at a level: of the product and of relinearisation, both seen modulo q.
#[derive(Clone, Copy, Debug)]
pub struct LevelModel {
    /// Model of the noise of a product at the level.
    pub product: ProductModel,
    /// Noise that the relinearisation of a product adds at the level.
    pub relinearization: NoiseTerm,
}

impl ProductModel {
    /// The factor 1 + 2^-cushion by which a product at a lower level may be noisier than at the highest one.
    #[must_use]
    pub fn level_growth(cushion_bits: u32) -> Log2 {
        Log2::from_bits((-f64::from(cushion_bits)).exp2().ln_1p() / std::f64::consts::LN_2)
    }

    /// The noise of a product of two BFV ciphertexts before relinearisation.
    #[must_use]
    pub fn product(&self, a: &NoiseBound, b: &NoiseBound) -> NoiseBound {
        self.tensor(&self.operand(a, Side::Left), &self.operand(b, Side::Right)).plus(self.rounding())
    }

    /// The noise of a BFV operand that is extended for a side: with the rounding b_0 + b_1·s of its modulus switch,
    /// times q/q′ or q/P `[KPZ21, eq. (11), 3.2]`.
    #[must_use]
    pub fn operand(&self, noise: &NoiseBound, side: Side) -> NoiseBound {
        let weight = match (self.bounds.switching, side) {
            (Some(switching), Side::Left) => switching.left_weight,
            (Some(_), Side::Right) if self.log2_dropped > 0.0 => 1.0,
            _ => return *noise,
        };
        noise.plus(self.switch().scaled(Log2::of(weight)))
    }

    /// The rounding of one modulus switch to q′: uniform and of variance 1/12, or k/12, in every coefficient.
    fn switch(&self) -> NoiseTerm {
        let Some(switching) = self.bounds.switching else { return NoiseTerm::none() };
        let exact = self.secret().mod_switch(2);
        let spread = (12.0 * switching.variance).sqrt();
        let term = NoiseTerm {
            worst: exact.worst * (2.0 * switching.error),
            deviation: exact.deviation * spread,
            peak: exact.peak * spread,
        };
        term.scaled(Log2::from_bits(self.log2_dropped))
    }

    /// The noise that scaling adds to a product or to a sum of products, by rounding and the error b of `[BEHZ16, eq.
    /// (18)]`.
    #[must_use]
    pub fn rounding(&self) -> NoiseTerm {
        let (n, error) = (self.degree(), 0.5 + self.bounds.scale_error);
        let (worst, variance) = (self.secret().secret_norm(), self.secret().secret_variance());
        let peak = Tail::new(self.ring).rounding_peak(variance);
        // The second moment of s², rounded up, and n at least.
        let square = n * (variance * 1.5).max(1.0);
        let term = NoiseTerm {
            worst: Log2::of(error * (1.0 + worst * (1.0 + worst))),
            deviation: Log2::of(error * (1.0 + (n * variance).sqrt() + square)),
            peak: Log2::of(error * peak),
        };
        term.scaled(Log2::from_bits(self.log2_dropped))
    }

    fn secret(&self) -> NoiseModel {
        NoiseModel::new(self.ring, self.secrets)
    }

    fn degree(&self) -> f64 {
        self.ring.degree() as f64
    }

    /// The noise of a product of two extended operands, before it is rounded.
    #[must_use]
    pub fn tensor(&self, a: &NoiseBound, b: &NoiseBound) -> NoiseBound {
        let secret_degree = a.secret_degree.max(b.secret_degree).saturating_add(1);
        let noise = NoiseTerm {
            worst: self.worst(a.worst, b.worst),
            deviation: self.deviation(a, b, secret_degree),
            peak: self.peak(a, b, secret_degree),
        };
        NoiseBound::dependent(noise, secret_degree)
    }

    /// The worst-case noise of a BFV product by `[BEHZ16, Proposition 1]` without its |q|_t terms, in redundant norms.
    fn worst(&self, a: Log2, b: Log2) -> Log2 {
        let (redundant, t) = (self.ring.redundant_degree() as f64, self.plain_modulus);
        let r_infinity = (1.0 + self.bounds.overflow) / 2.0 * (1.0 + self.secret().secret_norm()) + 1.0;
        let linear = (a + b) * (redundant * t) * (r_infinity + 0.5);
        let square = a * b * (redundant * t) * Log2::from_bits(-self.log2_modulus);
        linear + square
    }

    /// The deviation of (t/q)(v_1·w_2 + v_2·w_1 − v_1·v_2), where w_i is the integer polynomial c_i(s) of the lifted
    /// parts: the messages are inside it. Modulo q′ and P, with (P/q)v_1 + … and P for v_1 and q on one side and q′ on
    /// the other, t/P in front and q/q′ behind, it is the same.
    ///
    /// The parts c_0, c_1 of a ciphertext are uniform, so the coefficients of w/q are uncorrelated, of variance
    /// (1 + n·σ_s²)/12, σ_s² the variance of secrets; the noise may hold the same c and s up to a power d, and E|s(ζ)|^{2d} = d!·E|s(ζ)|². Only a
    /// ciphertext without noise (x·0 + m) has w = (q/t)·m instead, charged by its 1-norm.
    fn deviation(&self, a: &NoiseBound, b: &NoiseBound, secret_degree: u32) -> Log2 {
        let (n, t) = (self.degree(), self.plain_modulus);
        let d = f64::from(secret_degree);
        let gain = (self.spread() * (d * (d + 1.0)).sqrt()).max(self.norm_gain());
        let square = a.deviation * b.bound(self.ring) * (n * t);
        (a.deviation + b.deviation) * gain + square * Log2::from_bits(-self.log2_modulus)
    }

    /// The bound on the noise of a BFV product at the root of unity where all factors are largest together.
    fn peak(&self, a: &NoiseBound, b: &NoiseBound, secret_degree: u32) -> Log2 {
        let (n, t) = (self.degree(), self.plain_modulus);
        let tail = Tail::new(self.ring);
        let gain = (self.spread() * tail.chain_gain(secret_degree)).max(self.norm_gain());
        let square = a.peak * b.peak * (n * t / 2.0);
        (a.peak + b.peak) * gain + square * Log2::from_bits(-self.log2_modulus)
    }

    /// The factor t/q times the 1-norm of a lifted ciphertext part.
    fn norm_gain(&self) -> f64 {
        self.degree() * self.plain_modulus * (1.0 + self.bounds.overflow) / 2.0
    }

    /// The factor (t/q)·√n times the deviation of a coefficient of the lifted polynomial w = c(s).
    fn spread(&self) -> f64 {
        let n = self.degree();
        let lift = (1.0 + self.bounds.overflow).powi(2) / 12.0;
        self.plain_modulus * (n * lift * (1.0 + n * self.secret().secret_variance())).sqrt()
    }
}
