//! Parameters of BGV: plain, serialisable data.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sunzi_encoding::{check_degree, check_plain_modulus_beside, is_batchable};
use sunzi_math::log2_product;
use sunzi_ring::{GadgetOptions, Ring, RnsDigits};
use sunzi_rlwe::chains::limbs_of_level;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, memory, moduli, security};

use crate::budget::Budget;
use crate::error::BgvError;

/// A BGV parameter set: ring, chain of moduli, plaintext modulus, security, declared computation.
///
/// The BGV chain is q_0, q_1, …, q_L, q_(L+1) in this order. Level l, with l multiplications left, has the modulus Q_l
/// = q_0⋯q_l; fresh ciphertexts have q_(L+1) besides, if it is there: encryption modulo Qp leaves so little noise that
/// operations before the first multiplication alone need it. Each q_i may be a product of several moduli.
///
/// A BGV parameter set is plain data that anybody may have written: [`validate`](Self::validate) checks it, and
/// building a context from it does so too.
///
/// ```
/// use sunzi_bgv::Parameters;
///
/// let parameters = Parameters::builder().depth(3).plain_bits(17).build()?;
/// assert_eq!(parameters.depth(), 3);
/// assert_eq!(parameters.plain_modulus(), 65537);
/// # Ok::<(), sunzi_bgv::BgvError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Parameters {
    #[serde(flatten)]
    ring: RingShape,
    moduli: Vec<u64>,
    /// Moduli of every level of the ring, by their indices; empty where level l has the first l.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rungs: Vec<Vec<usize>>,
    /// Levels of the ring for Q_0, Q_1, …, Q_L.
    levels: Vec<usize>,
    /// Factor of the last modulus of each Q_i that belongs to it, 0 for all; empty where no modulus is shared.
    #[serde(default)]
    shares: Vec<u64>,
    plain_modulus: u64,
    security: Security,
    #[serde(default)]
    key_switching: GadgetOptions,
    #[serde(default)]
    budget: Budget,
    #[serde(default, skip_serializing_if = "SecretDistribution::is_ternary")]
    secrets: SecretDistribution,
}

impl Parameters {
    /// Makes a BGV parameter set of its numbers, a bare number for the ring being log2 n, one modulus to a level, the
    /// last one q_(L+1); nothing is checked.
    #[must_use]
    pub fn new(ring: impl Into<RingShape>, moduli: Vec<u64>, plain_modulus: u64, security: Security) -> Self {
        let levels = (1..moduli.len()).collect();
        let key_switching = GadgetOptions::default();
        Self {
            ring: ring.into(),
            moduli,
            rungs: Vec::new(),
            levels,
            shares: Vec::new(),
            plain_modulus,
            security,
            key_switching,
            budget: Budget::UNLIMITED,
            secrets: SecretDistribution::default(),
        }
    }

    /// Returns the BGV parameters with several moduli to a level: `levels` holds how many Q_0, Q_1, …, Q_L are made
    /// of.
    #[must_use]
    pub fn with_levels(self, levels: Vec<usize>) -> Self {
        Self { levels, ..self }
    }

    /// Returns the BGV parameters with moduli that are products of small primes, one for each of several levels
    /// `[KPZ21, Remark 5.1]`: `levels` are numbers of moduli as for [`with_levels`](Self::with_levels), and `shares`
    /// the factor of the last of its moduli that belongs to each Q_i, 0 for all of it.
    #[must_use]
    pub fn with_shared_moduli(self, levels: Vec<usize>, shares: Vec<u64>) -> Self {
        Self { levels, shares, ..self }
    }

    /// Returns the BGV parameters with levels of the ring that are any sets of the moduli, given by ascending indices:
    /// `rungs[levels[l] − 1]` makes Q_l. Products ascend, and the last set has all moduli. Sets that no level has are
    /// for keys. No modulus is shared then.
    #[must_use]
    pub fn with_rungs(self, rungs: Vec<Vec<usize>>) -> Self {
        Self { rungs, ..self }
    }

    /// Returns the BGV parameters with another choice of digits and special moduli for key switching.
    #[must_use]
    pub fn with_key_switching(self, key_switching: GadgetOptions) -> Self {
        Self { key_switching, ..self }
    }

    /// Returns the BGV parameters with a declaration of the computation: what goes beyond it is refused. Without a
    /// declaration noise bounds alone decide.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Returns the BGV parameters for secrets of another distribution than the uniform ternary one: joint secrets of several parties.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretDistribution) -> Self {
        Self { secrets, ..self }
    }

    /// Returns the BGV parameters with another plaintext modulus; ring and keys do not change.
    #[must_use]
    pub fn with_plain_modulus(self, plain_modulus: u64) -> Self {
        Self { plain_modulus, ..self }
    }

    /// The ring of a BGV parameter set.
    #[must_use]
    pub fn ring(&self) -> RingShape {
        self.ring
    }

    /// log2 of the ring degree n, rounded down where n is no power of two.
    #[must_use]
    pub fn log2_degree(&self) -> u32 {
        self.ring.log2_degree()
    }

    /// The ring degree n = φ(m); 0 for a ring that does not exist.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.ring.degree()
    }

    /// The ciphertext moduli of a BGV parameter set, those of q_0 first.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// The levels of the ring for Q_0, Q_1, …, Q_L: how many moduli they are made of, without [`rungs`](Self::rungs).
    #[must_use]
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// The indices of the moduli of every level of the ring; none where level l has the first l.
    #[must_use]
    pub fn rungs(&self) -> &[Vec<usize>] {
        &self.rungs
    }

    /// The indices of the moduli of Q_l, ascending; none for a level that does not exist.
    #[must_use]
    pub fn limbs(&self, level: usize) -> Vec<usize> {
        self.levels.get(level).map_or_else(Vec::new, |&level| self.ring_limbs(level))
    }

    fn ring_limbs(&self, level: usize) -> Vec<usize> {
        limbs_of_level(&self.rungs, self.moduli.len(), level)
    }

    /// The level of the ring that fresh BGV ciphertexts have, which has all moduli.
    #[must_use]
    pub fn ring_level(&self) -> usize {
        if self.rungs.is_empty() { self.moduli.len() } else { self.rungs.len() }
    }

    /// Makes the ring R modulo Q_(L+1), with the levels of a BGV parameter set.
    ///
    /// # Errors
    /// [`BgvError::Ring`] for numbers that are no parameters.
    pub fn poly_ring(&self) -> Result<Ring, BgvError> {
        let index = self.ring.index();
        Ok(match self.rungs.as_slice() {
            [] => Ring::new(index, &self.moduli)?,
            rungs => Ring::with_rungs(index, &self.moduli, rungs)?,
        })
    }

    /// The factor of the last modulus of each Q_i that belongs to it, 0 for all of it; empty where no modulus is
    /// shared.
    #[must_use]
    pub fn shares(&self) -> &[u64] {
        &self.shares
    }

    /// The depth L of a BGV parameter set: multiplications in a row.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The modulus Q_(L+1) of fresh BGV ciphertexts.
    #[must_use]
    pub fn modulus(&self) -> BigUint {
        self.moduli.iter().product()
    }

    /// The size log2 Q_(L+1) of the modulus of fresh BGV ciphertexts.
    #[must_use]
    pub fn log2_modulus(&self) -> f64 {
        log2_product(&self.moduli)
    }

    /// The size log2 of the modulus of keys, special moduli included, which security is judged by.
    #[must_use]
    pub fn log2_key_modulus(&self) -> f64 {
        self.log2_modulus() + log2_product(&self.key_switching.special_moduli)
    }

    /// The plaintext modulus t of a BGV parameter set.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// The security that a BGV parameter set must reach.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }

    /// The digits and special moduli of key switching under BGV parameters.
    #[must_use]
    pub fn key_switching(&self) -> &GadgetOptions {
        &self.key_switching
    }

    /// The distribution of secrets under BGV parameters.
    #[must_use]
    pub fn secrets(&self) -> SecretDistribution {
        self.secrets
    }

    /// The operations that a BGV parameter set declares.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Whether [`BatchEncoder`](sunzi_encoding::BatchEncoder) can pack n numbers into one plaintext: m = 2n a power of
    /// two, t prime, t ≡ 1 (mod 2n).
    #[must_use]
    pub fn supports_batching(&self) -> bool {
        matches!(self.ring, RingShape::Log2Degree(_)) && is_batchable(self.degree(), self.plain_modulus)
    }

    /// Estimates the bytes of memory that the tables of a BGV context take: transforms, the rings of all levels, and
    /// how keys switch there.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let mut levels = self.levels.clone();
        // Fresh ciphertexts have the level of the ring; shares of one modulus have one level of it.
        levels.push(self.ring_level());
        levels.sort_unstable();
        levels.dedup();
        let limbs: Vec<Vec<usize>> = levels.into_iter().map(|level| self.ring_limbs(level)).collect();
        memory::table_bytes(self.ring, &self.moduli, &self.key_switching, &limbs, &limbs)
    }

    /// Checks that the numbers of a BGV parameter set make one: ring, moduli, levels, plaintext modulus, digits,
    /// security.
    ///
    /// # Errors
    /// [`BgvError::Encoding`] or [`BgvError::Ring`] for the ring and sets of moduli that are no levels, [`BgvError::Encoding`] for t out of range, or t a multiple of a modulus; [`BgvError::Moduli`] for
    /// the moduli, special ones included; [`BgvError::LevelsUnusable`]; [`BgvError::KeySwitching`]; [`BgvError::Rlwe`]
    /// above the security limit.
    pub fn validate(&self) -> Result<(), BgvError> {
        match self.ring {
            RingShape::Log2Degree(_) => check_degree(self.degree())?,
            _ => self.ring.check()?,
        }
        let special = &self.key_switching.special_moduli;
        moduli::check_count(self.moduli.len(), special.len())?;
        let highest = self.check_rungs()?;
        check_levels(&self.levels, &self.shares, highest)?;
        let primes = self.primes()?;
        moduli::check(self.ring.root_order(), &primes, special)?;
        check_plain_modulus_beside(self.plain_modulus, primes.iter().chain(special))?;
        if self.budget.is_dynamic() {
            self.check_dynamic()?;
        }
        RnsDigits::new(&self.key_switching, &self.moduli).map_err(BgvError::KeySwitching)?;
        self.secrets.check_dense(self.degree())?;
        Ok(security::check_of(self.secrets, self.degree(), self.log2_key_modulus(), self.security)?)
    }

    /// Checks that any moduli may be dropped without a change of factor: they are 1 modulo t, and none is shared.
    fn check_dynamic(&self) -> Result<(), BgvError> {
        if self.shares.iter().any(|&share| share > 0) {
            let levels = self.levels.iter().copied().take(moduli::MAX_MODULI).collect();
            return Err(BgvError::LevelsUnusable { levels, moduli: self.moduli.len() });
        }
        check_dynamic(self.moduli.iter().map(|&q| q.into()), self.plain_modulus)
    }

    /// Checks the levels of the ring; returns how many there are.
    fn check_rungs(&self) -> Result<usize, BgvError> {
        if self.rungs.is_empty() {
            return Ok(self.moduli.len());
        }
        let unusable = self.rungs.len() > moduli::MAX_RUNGS || self.shares.iter().any(|&share| share > 0);
        if unusable {
            let levels = self.levels.iter().copied().take(moduli::MAX_MODULI).collect();
            return Err(BgvError::LevelsUnusable { levels, moduli: self.rungs.len() });
        }
        sunzi_ring::check_rungs(&self.moduli, &self.rungs).map_err(BgvError::Ring)?;
        Ok(self.rungs.len())
    }

    /// The primes that the moduli of a BGV parameter set are made of, by the shares of the levels.
    fn primes(&self) -> Result<Vec<u64>, BgvError> {
        let mut primes = Vec::with_capacity(self.moduli.len());
        for (i, &modulus) in self.moduli.iter().enumerate() {
            let mut done = 1;
            let shares =
                self.levels.iter().zip(&self.shares).filter(|&(&limbs, &share)| limbs == i + 1 && share > 0);
            for (_, &share) in shares {
                if share <= done || !share.is_multiple_of(done) || !modulus.is_multiple_of(share) {
                    return Err(BgvError::LevelsUnusable {
                        levels: self.levels.clone(),
                        moduli: self.moduli.len(),
                    });
                }
                primes.push(share / done);
                done = share;
            }
            primes.push(modulus / done);
        }
        Ok(primes)
    }
}

/// Checks that moduli are 1 modulo t, so that any of them may be dropped without a change of factor: that of a product
/// is −1 at every place.
pub(crate) fn check_dynamic(
    moduli: impl IntoIterator<Item = BigUint>,
    plain_modulus: u64,
) -> Result<(), BgvError> {
    for modulus in moduli {
        let residue = (&modulus % plain_modulus).to_u64().unwrap_or(0);
        if residue != 1 {
            return Err(BgvError::NotDynamic { modulus: modulus.to_string(), residue, plain_modulus });
        }
    }
    Ok(())
}

/// Checks that levels have ascending numbers of moduli, at most as many as there are, or equal ones with ascending
/// shares of the last; never a share of the first.
pub(crate) fn check_levels(levels: &[usize], shares: &[u64], moduli: usize) -> Result<(), BgvError> {
    let share = |i: usize| shares.get(i).copied().unwrap_or(0);
    // All of a modulus is more than any share of it.
    let position = |(i, &limbs): (usize, &usize)| (limbs, share(i).wrapping_sub(1));
    let positions: Vec<(usize, u64)> = levels.iter().enumerate().map(position).collect();
    // A word is entered from one that is whole, and left as a whole.
    let follows = |pair: &[(usize, u64)]| match *pair {
        [low, high] => {
            low < high
                && (low.0 == high.0 || low.1 == u64::MAX)
                && (high.1 == u64::MAX || high.0 <= low.0 + 1)
        }
        _ => false,
    };
    let starts = positions.first().is_some_and(|&(limbs, share)| limbs > 0 && share == u64::MAX);
    let ends = positions.last().is_some_and(|&(limbs, _)| limbs <= moduli);
    let counts = shares.is_empty() || shares.len() == levels.len();
    if positions.windows(2).all(follows) && starts && ends && counts {
        Ok(())
    } else {
        // Parameters read from a file have at most as many levels as moduli are of use in a message.
        let levels = levels.iter().copied().take(moduli::MAX_MODULI).collect();
        Err(BgvError::LevelsUnusable { levels, moduli })
    }
}
