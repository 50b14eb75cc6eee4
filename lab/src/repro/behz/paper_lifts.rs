//! BFV in words whose products lift their operands as `[BEHZ16, Alg. 2 and 3]` does, nothing centred: for measurements of
//! noise, and slow.
//!
//! FastBconv takes |m̃·c|_q to [0, kq), and without m̃ that is the lift: its mean is k/2 times q, where Sunzi's
//! lifts have none. All other steps are Sunzi's.

use std::fmt;
use std::ops::RangeInclusive;

use num_bigint::BigUint;
use sunzi_ring::storage::{check_table, description_of};
use sunzi_ring::{
    Coefficient, Evaluation, Gadget, GadgetOptions, Poly, Ring, RingError, Scaler, ScalerBackend,
    ScalerOptions, ScalingBounds, Side, Storage, Tables,
};

use super::reference::{Setting, lift};

/// The tables of a ring in words with the lifts of `[BEHZ16]`.
#[derive(Debug)]
struct PaperLifts {
    words: Ring,
}

/// A ring over the residues of a ring in words of moduli below 2^32, whose products lift as `[BEHZ16]` does.
pub(super) fn over(words: &Ring) -> Ring {
    words.with_tables(PaperLifts { words: words.clone() })
}

impl Tables for PaperLifts {
    fn scaler(&self, _: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        Ok(Scaler::new(PaperScaler::new(&self.words, t, options)?))
    }

    fn gadget(&self, _: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        self.words.gadget(options)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        description_of(ring, Storage::Words)
    }
}

/// Sunzi's scaler with other lifts.
struct PaperScaler {
    ring: Ring,
    inner: Scaler,
    setting: Setting,
    bounds: ScalingBounds,
}

impl fmt::Debug for PaperScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaperScaler").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl PaperScaler {
    fn new(ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        let inner = ring.scaler(t, options)?;
        let wide = inner.wide(*inner.levels().end())?;
        let (q, all) = (ring.words()?.basis(), wide.words()?.basis());
        let b_sk = all.values().get(q.len()..).unwrap_or_default();
        let m_tilde = options.m_tilde.value().unwrap_or(1);
        // ρ = 2k − 1, or (2k + 1)/m̃ by eq. (8).
        let k = q.len() as u64;
        let (over, under) = if m_tilde == 1 { (2 * k - 1, 1) } else { (2 * k + 1, m_tilde) };
        check_room(ring, b_sk, t, (over, under))?;
        let failed = |error: crate::LabError| RingError::out_of_range("moduli", "below 2^32", error);
        let setting = Setting::new(ring.degree(), q.values(), b_sk, m_tilde, t).map_err(failed)?;
        let bounds = ScalingBounds { overflow: over as f64 / under as f64, ..*inner.bounds() };
        Ok(Self { ring: ring.clone(), inner, setting, bounds })
    }
}

/// Checks eq. (14) of `[BEHZ16]` for ρ = over/under: auxiliary bases are chosen for Sunzi's smaller lifts.
fn check_room(ring: &Ring, b_sk: &[u64], t: u64, (over, under): (u64, u64)) -> Result<(), RingError> {
    let Some((m_sk, b)) = b_sk.split_last() else { return check_table("auxiliary modulus", 1, 0) };
    let lambda = (m_sk / 2).saturating_sub(b.len() as u64);
    let room = b.iter().product::<BigUint>() * lambda * 2_u32 * under * under;
    let lift = over + under;
    let product = ring.modulus() * t * (ring.degree() as u64) * lift * lift;
    // 1/2 + k is less than the rounding of one bit.
    match room > product * 2_u32 {
        true => Ok(()),
        false => Err(RingError::out_of_range("auxiliary modulus", "one for the lifts of the paper", room)),
    }
}

impl ScalerBackend for PaperScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        self.inner.levels()
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        self.inner.wide(level)
    }

    fn extend(&self, a: &Poly<Evaluation>, _: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let low = self.ring.to_coefficient(a.clone())?;
        let limbs: Vec<Vec<u64>> =
            low.words().chunks_exact(self.ring.degree()).map(<[u64]>::to_vec).collect();
        let failed = |error| RingError::out_of_range("operand", "a polynomial of the scaler's ring", error);
        let high = lift(&self.setting, &limbs).map_err(failed)?.concat();
        let wide = self.wide(level)?;
        let mut extended: Poly<Coefficient> = wide.zero();
        check_table("residue of a lift", extended.words().len(), low.words().len() + high.len())?;
        let words = low.words().iter().chain(&high);
        extended.words_mut().iter_mut().zip(words).for_each(|(to, from)| *to = *from);
        wide.to_evaluation(extended)
    }

    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        self.inner.scale(a, level)
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.inner.decrypt(a)
    }

    fn product_capacity(&self) -> u64 {
        1
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_integer::Integer;
    use sunzi_math::primes_below;
    use sunzi_ring::{Auxiliary, MTilde, Multiplication};

    use super::*;

    fn options(m_tilde: MTilde) -> ScalerOptions {
        ScalerOptions {
            multiplication: Multiplication::Behz,
            m_tilde,
            auxiliary: Auxiliary::LikeModulus,
            ..ScalerOptions::default()
        }
    }

    /// Checks that a lift is the integer and that it lies where the paper says: in [0, kq), or in
    /// [−q/2, q/2 + kq/m̃).
    #[test]
    fn lifts_are_those_of_the_paper() {
        let (m, k) = (256, 5);
        let ring = over(&Ring::new(m, &primes_below(1 << 30, m, k).unwrap()).unwrap());
        let q = BigInt::from(ring.modulus().clone());
        let values: Vec<BigInt> = (0..128_i32).map(|i| &q * (i - 64) / 129 + i).collect();
        let a = ring.to_evaluation(ring.from_integers(&values).unwrap()).unwrap();
        for m_tilde in [MTilde::None, MTilde::Bits8, MTilde::Bits16] {
            let scaler = ring.scaler(2, &options(m_tilde)).unwrap();
            let lifted = scaler.extend(&a, Side::Left, k).unwrap();
            let wide = scaler.wide(k).unwrap();
            let lifted = wide.to_integers(&wide.to_coefficient(lifted).unwrap()).unwrap();
            let (low, high): (BigInt, BigInt) = match m_tilde.value() {
                None => (0.into(), &q * k * 2),
                Some(m_tilde) => (-&q, &q + &q * (2 * k) / m_tilde),
            };
            for (lifted, value) in lifted.iter().zip(&values) {
                assert_eq!(lifted.mod_floor(&q), value.mod_floor(&q));
                assert!(low <= lifted * 2 && lifted * 2 < high, "{m_tilde:?}: {lifted}");
            }
            let most = lifted.iter().max().unwrap();
            assert_eq!(*most > &q * 3 / 2, m_tilde == MTilde::None, "{m_tilde:?}");
        }
    }

    #[test]
    fn long_moduli_are_refused() {
        let ring = over(&Ring::new(256, &primes_below(1 << 48, 256, 2).unwrap()).unwrap());
        let error = ring.scaler(2, &options(MTilde::None)).unwrap_err().to_string();
        assert!(error.contains("below 2^32"), "{error}");
    }
}
