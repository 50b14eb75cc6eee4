//! The BGV moduli of `[KPZ21, section 4]`, formula by formula: to reproduce the paper.
//!
//! The paper `[KPZ21]` takes δ = 2√n for the expansion factor and B_err = 6σ with σ = 3.2, which is what products of
//! random polynomials show and no proof. [`NoiseModel::Paper`](crate::NoiseModel::Paper) builds parameters from it.

/// Bound on the errors of `[KPZ21]`: six times its σ = 3.2.
const ERROR_BOUND: f64 = 6.0 * 3.2;

/// Figures on which eqs. (13) and (14) of `[KPZ21]` depend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperRequest {
    /// Ring degree N.
    pub degree: usize,
    /// Plaintext modulus t.
    pub plain_modulus: f64,
    /// Depth L: multiplications in a row.
    pub depth: usize,
    /// Additions and key switches before the first multiplication: n_add and n_ks.
    pub fresh: [f64; 2],
    /// Additions and key switches of every level: n′_add and n′_ks.
    pub per_level: [f64; 2],
    /// Number of digits d_num of key switching.
    pub digits: usize,
}

/// Moduli and noise by eqs. (13) and (14) of `[KPZ21]`, in bits where the name says log2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperModuli {
    /// Size log2 q_0 by eq. (13).
    pub log2_first: f64,
    /// Size log2 q_i by eq. (14).
    pub log2_level: f64,
    /// Size log2 q_(L+1) by eq. (14).
    pub log2_last: f64,
    /// Ratio c of appendix C.1: the constant noise over that of a modulus switch.
    pub ratio: f64,
    /// Constant noise ‖v_c‖ of a level.
    pub constant_noise: f64,
    /// Noise ‖v_ks‖ of a key switch.
    pub key_switch: f64,
}

impl PaperRequest {
    /// Computes the moduli of `[KPZ21]` for a request.
    ///
    /// With v_ms = (1 + δB_key)/2 and v_c = c·v_ms the condition of section 4 reads
    /// q_i > ((n′_add + 1)·(δt/2)(2v_c² + 2v_c + 1) + (n′_ks + 1)·v_ks)/(v_c − v_ms): (14) for c = 2, and least at the
    /// c of appendix C.1.
    #[must_use]
    pub fn moduli(&self) -> PaperModuli {
        let delta = 2.0 * (self.degree as f64).sqrt();
        let switch = (1.0 + delta) / 2.0;
        let key_switch = self.key_switch(delta);
        let fresh = ERROR_BOUND * (2.0 * delta + 1.0);
        let ([fresh_additions, fresh_switches], [additions, switches]) = (self.fresh, self.per_level);
        let (a, b) = (delta * self.plain_modulus * (additions + 1.0), switches + 1.0);
        let ratio = 1.0 + (1.0 + b * key_switch / (a * switch * switch)).sqrt();
        let constant = ratio * switch;
        let gain = constant - switch;
        let product = a / 2.0 * (2.0 * constant * constant + 2.0 * constant + 1.0);
        let level = (product + b * key_switch) / gain;
        let last = ((fresh_additions + 1.0) * fresh + fresh_switches * key_switch) / gain;
        PaperModuli {
            log2_first: (self.plain_modulus * (2.0 * constant - 1.0)).log2(),
            log2_level: level.log2(),
            log2_last: last.log2(),
            ratio,
            constant_noise: constant,
            key_switch,
        }
    }

    /// The noise ‖v_ks‖ of hybrid key switching (appendix B.2.3), with P as large as a digit and as many special
    /// moduli as a digit has moduli.
    fn key_switch(&self, delta: f64) -> f64 {
        let moduli = self.depth + 2;
        let digits = self.digits.clamp(1, moduli);
        let limbs = moduli.div_ceil(digits) as f64;
        limbs * digits as f64 * delta * ERROR_BOUND / 2.0 + limbs * (1.0 + delta) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the values log q_i and log Q_L of Table 2: binary trees, t = 2^16 + 1, no additions, no rotations.
    #[test]
    fn the_moduli_of_the_tables_come_out_within_a_bit() {
        let rows = [(13, 1, 33, 58), (13, 2, 33, 91), (13, 4, 33, 157), (14, 5, 34, 196), (14, 7, 34, 264)];
        for (log2_degree, depth, level, total) in rows {
            let request = PaperRequest {
                degree: 1 << log2_degree,
                plain_modulus: 65537.0,
                depth,
                fresh: [0.0, 0.0],
                per_level: [0.0, 0.0],
                digits: 3,
            };
            let moduli = request.moduli();
            let (first, own) = (moduli.log2_first.ceil(), moduli.log2_level.ceil());
            assert!((own - f64::from(level)).abs() <= 1.0, "{moduli:?}");
            assert!((first + own * depth as f64 - f64::from(total)).abs() <= 1.0, "{moduli:?}");
            assert!((moduli.ratio - 2.0).abs() < 1e-2, "{moduli:?}");
        }
    }

    /// Tests t = 2, for which key switching counts (appendix C.2), and the best c is above 2: no other c gives smaller
    /// moduli.
    #[test]
    fn the_constant_noise_is_the_best_one() {
        let request = PaperRequest {
            degree: 1 << 13,
            plain_modulus: 2.0,
            depth: 6,
            fresh: [0.0, 0.0],
            per_level: [0.0, 40.0],
            digits: 3,
        };
        let moduli = request.moduli();
        let delta = 2.0 * 8192_f64.sqrt();
        let switch = (1.0 + delta) / 2.0;
        let size = |c: f64| {
            let v = c * switch;
            (delta * (2.0 * v * v + 2.0 * v + 1.0) + 41.0 * moduli.key_switch) / (v - switch)
        };
        assert!(moduli.ratio > 2.05, "{moduli:?}");
        assert!((size(moduli.ratio).log2() - moduli.log2_level).abs() < 1e-9);
        // C.1 drops terms linear in v_c: the printed c is the best to a thousandth of a bit.
        for c in [1.5, 1.9, 2.0, 2.5, 3.0, 4.0] {
            assert!(size(c) > size(moduli.ratio) * 0.9995, "{c}");
        }
    }
}
