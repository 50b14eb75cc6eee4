//! Decryption: division by q and rounding modulo t with γ-correction [BEHZ16, Alg. 1].

use sunzi_kernels::{Conversion, Modulus};
use sunzi_math::{DEFAULT_PRIME_BOUND, gcd, is_prime, mod_inv};
use sunzi_ring::{Backend, RingError};
use zeroize::{Zeroize, Zeroizing};

use crate::FermatRing;
use crate::blocks::for_each_block;
use crate::combination::BLOCK;
use crate::digits::{Digits, Factor, Rows};
use crate::residues::FermatResidues;

/// Tables of decryption by `[BEHZ16, Alg. 1]`.
pub(crate) struct Decryptor {
    k: usize,
    degree: usize,
    t: Modulus,
    gamma: Modulus,
    digits: Digits,
    /// Conversion FastBconv to {t, γ}.
    conversion: Conversion,
    /// Inverses −q^-1 modulo t and γ, and γ^-1 modulo t.
    negated_inverses: [u64; 2],
    gamma_inverse: u64,
}

impl std::fmt::Debug for Decryptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decryptor").field("t", &self.t).field("gamma", &self.gamma).finish_non_exhaustive()
    }
}

impl Decryptor {
    pub(crate) fn new(ring: &FermatRing, t: u64, gamma: Option<u64>) -> Result<Self, RingError> {
        let q = ring.fermat_modulus();
        let gamma = match gamma {
            Some(gamma) => check_gamma(ring, t, gamma)?,
            None => (2..DEFAULT_PRIME_BOUND)
                .rev()
                .find(|&p| is_prime(p) && !t.is_multiple_of(p) && q.check_coprime(p).is_ok())
                .ok_or_else(|| {
                    RingError::out_of_range("plaintext modulus", "one coprime to some prime", t)
                })?,
        };
        let targets = [Modulus::new(t)?, Modulus::new(gamma)?];
        let digits = Digits::new(ring);
        let columns = [digits.column(t, 1)?, digits.column(gamma, 1)?];
        let entry =
            |i: usize, j: usize| columns.get(j).and_then(|column| column.get(i)).copied().unwrap_or(0);
        let conversion = Conversion::new(&digits.sources()?, &targets, entry)?;
        let negated = |p: &Modulus| Ok::<_, RingError>(p.neg(mod_inv(q.remainder(p.value()), p.value())?));
        let [plain, correction] = targets;
        Ok(Self {
            k: q.level(),
            degree: ring.degree(),
            t: plain,
            gamma: correction,
            digits,
            conversion,
            negated_inverses: [negated(&plain)?, negated(&correction)?],
            gamma_inverse: mod_inv(gamma % t, t)?,
        })
    }

    /// Noise margin 1/2 − k/γ of decryption `[BEHZ16, Theorem 1]`.
    pub(crate) fn margin(&self) -> f64 {
        0.5 - self.k as f64 / self.gamma.value() as f64 - f64::EPSILON
    }

    /// Computes FastBconv(a, q, {t, γ}), the first step of decryption.
    pub(crate) fn convert(&self, a: &FermatResidues) -> Result<[Vec<u64>; 2], RingError> {
        self.convert_multiple(a, &[])
    }

    fn convert_multiple(&self, a: &FermatResidues, factors: &[u64]) -> Result<[Vec<u64>; 2], RingError> {
        let mut out = [vec![0; self.degree], vec![0; self.degree]];
        // These digits belong to a decryption.
        let limbs = out.iter_mut().map(|limb| (limb.as_mut_slice(), 1));
        for_each_block(limbs, |rows: &mut Zeroizing<Rows>, block, out| {
            self.digits.cut(a, block, Factor::Words(factors), rows);
            let inputs: Vec<&[u64]> = rows.rows.chunks_exact(BLOCK).collect();
            Ok(self.conversion.apply(&inputs, out)?)
        })?;
        Ok(out)
    }

    pub(crate) fn decrypt(&self, a: &FermatResidues) -> Result<Vec<u64>, RingError> {
        let (t, gamma) = (&self.t, &self.gamma);
        // Lines 1 and 2.
        let [mut message, mut correction] = self.convert_multiple(a, &[t.value(), gamma.value()])?;
        let [for_plain, for_correction] = self.negated_inverses;
        for (m, c) in message.iter_mut().zip(&correction) {
            // Line 4: the centred remainder modulo γ; line 5.
            let c = gamma.mul(*c, for_correction);
            let centred =
                if c > gamma.value() / 2 { t.neg(t.reduce(gamma.value() - c)) } else { t.reduce(c) };
            *m = t.mul(t.sub(t.mul(*m, for_plain), centred), self.gamma_inverse);
        }
        correction.zeroize();
        Ok(message)
    }
}

/// Checks that the γ of decryption is below 2^62, coprime to q and t, and above 2k.
fn check_gamma(ring: &FermatRing, t: u64, gamma: u64) -> Result<u64, RingError> {
    let least = 2 * ring.level() as u64;
    if gamma <= least || gamma >> 62 != 0 {
        return Err(RingError::out_of_range("gamma", format_args!("{least} = 2k < gamma < 2^62"), gamma));
    }
    if gcd(gamma, t) != 1 {
        return Err(RingError::NotCoprime { left: gamma, right: t });
    }
    ring.fermat_modulus().check_coprime(gamma)?;
    Ok(gamma)
}
