//! Parameters of BFV: plain, serialisable data.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use sunzi_encoding::{
    EncodingError, check_degree, check_pairwise_coprime, check_plain_modulus_beside, is_batchable,
};
use sunzi_math::log2_product;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, moduli, security};

use crate::algorithms::Algorithms;
use crate::error::BfvError;

/// A BFV parameter set for one plaintext modulus or several: ring, ciphertext moduli, plaintext moduli, security.
///
/// A BFV parameter set is plain data that anybody may have written: [`validate`](Self::validate) checks it, and
/// building a context from it does so too.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct ParameterSet<T> {
    #[serde(flatten)]
    ring: RingShape,
    moduli: Vec<u64>,
    #[serde(flatten)]
    plain: T,
    security: Security,
    #[serde(default)]
    algorithms: Algorithms,
    #[serde(default, skip_serializing_if = "SecretDistribution::is_ternary")]
    secrets: SecretDistribution,
}

/// A BFV parameter set for one plaintext modulus: ring, ciphertext moduli, plaintext modulus, security.
///
/// ```
/// use sunzi_bfv::Parameters;
///
/// let parameters = Parameters::builder().depth(2).plain_bits(17).build()?;
/// assert_eq!(parameters.degree(), 4096);
/// assert_eq!(parameters.plain_modulus(), 65537);
/// # Ok::<(), sunzi_bfv::BfvError>(())
/// ```
pub type Parameters = ParameterSet<OnePlainModulus>;

/// A BFV parameter set with several plaintext moduli t_i, for integers wider than one of them.
///
/// Ring, ciphertext moduli and keys are shared by all plaintext moduli, since keys do not depend on t; each t_i has
/// its own context and its own ciphertexts. [`CrtEncoder`](crate::CrtEncoder) spreads the integers.
///
/// ```
/// use sunzi_bfv::{CrtParameters, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Integers of 40 bits, spread over plaintext moduli for which products are cheaper.
/// let parameters: CrtParameters = Parameters::builder().depth(1).plain_range(1_u64 << 40).build_crt()?;
/// let product: f64 = parameters.plain_moduli().iter().map(|&t| t as f64).product();
/// assert!(product > 2.0 * (1_u64 << 40) as f64);
/// # Ok(())
/// # }
/// ```
pub type CrtParameters = ParameterSet<SeveralPlainModuli>;

/// The plaintext modulus of BFV [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnePlainModulus {
    pub(crate) plain_modulus: u64,
}

/// The plaintext moduli of BFV [`CrtParameters`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeveralPlainModuli {
    pub(crate) plain_moduli: Vec<u64>,
}

impl AsRef<[u64]> for OnePlainModulus {
    fn as_ref(&self) -> &[u64] {
        std::slice::from_ref(&self.plain_modulus)
    }
}

impl AsRef<[u64]> for SeveralPlainModuli {
    fn as_ref(&self) -> &[u64] {
        &self.plain_moduli
    }
}

impl<T: AsRef<[u64]>> ParameterSet<T> {
    pub(crate) fn of(ring: RingShape, moduli: Vec<u64>, plain: T, security: Security) -> Self {
        let (algorithms, secrets) = <(Algorithms, SecretDistribution)>::default();
        Self { ring, moduli, plain, security, algorithms, secrets }
    }

    /// Returns the BFV parameters with another choice of algorithms.
    #[must_use]
    pub fn with_algorithms(self, algorithms: Algorithms) -> Self {
        Self { algorithms, ..self }
    }

    /// Returns the BFV parameters for secrets of another distribution than the uniform ternary one: joint secrets of several parties.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretDistribution) -> Self {
        Self { secrets, ..self }
    }

    /// The distribution of secrets under a BFV parameter set.
    #[must_use]
    pub fn secrets(&self) -> SecretDistribution {
        self.secrets
    }

    /// The algorithms that a BFV parameter set uses.
    #[must_use]
    pub fn algorithms(&self) -> &Algorithms {
        &self.algorithms
    }

    /// The ring of a BFV parameter set.
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

    /// The ciphertext moduli q_i of a BFV parameter set.
    #[must_use]
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// The ciphertext modulus q = Π q_i of a BFV parameter set.
    #[must_use]
    pub fn modulus(&self) -> BigUint {
        self.moduli.iter().product()
    }

    /// The size log2 q of the ciphertext modulus of a BFV parameter set.
    #[must_use]
    pub fn log2_modulus(&self) -> f64 {
        log2_product(&self.moduli)
    }

    /// The special moduli p_i of key switching; none for BV key switching.
    #[must_use]
    pub fn special_moduli(&self) -> &[u64] {
        &self.algorithms.key_switching.special_moduli
    }

    /// The size log2 qP of the modulus of keys, special moduli included, which security is judged by.
    #[must_use]
    pub fn log2_key_modulus(&self) -> f64 {
        self.log2_modulus() + log2_product(self.special_moduli())
    }

    /// The security that a BFV parameter set must reach.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }

    /// The plaintext modulus of a BFV parameter set, or all of several.
    pub(crate) fn plain(&self) -> &T {
        &self.plain
    }

    /// Checks that the numbers of a BFV parameter set make one: ring, moduli, plaintext moduli, algorithms, security.
    ///
    /// # Errors
    /// [`EncodingError::DegreeOutOfRange`] or [`BfvError::Ring`] for the ring; [`BfvError::Moduli`] for the q_i and special p_i;
    /// [`EncodingError::PlainModulusOutOfRange`] and [`EncodingError::PlainModulusNotCoprime`] for each t;
    /// [`EncodingError::NoPlainModuli`] and [`EncodingError::PlainModuliNotCoprime`] for all of them;
    /// [`BfvError::Algorithms`] for algorithms these numbers do not allow; [`BfvError::Rlwe`] above the security limit.
    pub fn validate(&self) -> Result<(), BfvError> {
        match self.ring {
            RingShape::Log2Degree(_) => check_degree(self.degree())?,
            _ => self.ring.check()?,
        }
        let plain = self.plain.as_ref();
        moduli::check(self.ring.root_order(), &self.moduli, self.special_moduli())?;
        if plain.is_empty() {
            return Err(EncodingError::NoPlainModuli.into());
        }
        moduli::check_count(plain.len(), 0)?;
        for &t in plain {
            check_plain_modulus_beside(t, self.moduli.iter().chain(self.special_moduli()))?;
        }
        check_pairwise_coprime(plain)?;
        self.algorithms.check(&self.moduli, plain)?;
        self.secrets.check_dense(self.degree())?;
        Ok(security::check_of(self.secrets, self.degree(), self.log2_key_modulus(), self.security)?)
    }
}

impl Parameters {
    /// Makes a BFV parameter set of its numbers, a bare number for the ring being log2 n; nothing is checked.
    #[must_use]
    pub fn new(ring: impl Into<RingShape>, moduli: Vec<u64>, plain_modulus: u64, security: Security) -> Self {
        Self::of(ring.into(), moduli, OnePlainModulus { plain_modulus }, security)
    }

    /// The plaintext modulus t of a BFV parameter set.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.plain.plain_modulus
    }

    /// Whether [`BatchEncoder`](crate::BatchEncoder) can pack n numbers into one plaintext: m = 2n a power of two, t
    /// prime, t ≡ 1 (mod 2n).
    #[must_use]
    pub fn supports_batching(&self) -> bool {
        matches!(self.ring, RingShape::Log2Degree(_)) && is_batchable(self.degree(), self.plain_modulus())
    }
}

impl CrtParameters {
    /// Makes a BFV parameter set with several plaintext moduli, a bare number for the ring being log2 n; nothing is
    /// checked.
    #[must_use]
    pub fn new(
        ring: impl Into<RingShape>,
        moduli: Vec<u64>,
        plain_moduli: Vec<u64>,
        security: Security,
    ) -> Self {
        Self::of(ring.into(), moduli, SeveralPlainModuli { plain_moduli }, security)
    }

    /// The parameter set of each plaintext modulus t_i.
    #[must_use]
    pub fn parts(&self) -> Vec<Parameters> {
        let part = |&t: &u64| {
            Parameters::new(self.ring, self.moduli.clone(), t, self.security)
                .with_algorithms(self.algorithms.clone())
                .with_secrets(self.secrets)
        };
        self.plain_moduli().iter().map(part).collect()
    }

    /// The plaintext moduli t_i of a BFV parameter set.
    #[must_use]
    pub fn plain_moduli(&self) -> &[u64] {
        &self.plain.plain_moduli
    }

    /// The number T = Π t_i of different integers that one slot can hold.
    #[must_use]
    pub fn plain_range(&self) -> BigUint {
        self.plain_moduli().iter().product()
    }
}

impl From<Parameters> for CrtParameters {
    fn from(one: Parameters) -> Self {
        let t = one.plain_modulus();
        Self::new(one.ring, one.moduli, vec![t], one.security)
            .with_algorithms(one.algorithms)
            .with_secrets(one.secrets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::primes_below;
    use sunzi_ring::{Decryption, GadgetOptions, ScalerOptions};
    use sunzi_rlwe::{ModuliError, RlweError};

    fn valid() -> Parameters {
        Parameters::new(12, primes_below(1 << 35, 8192, 3).unwrap(), 65537, Security::Bits128)
    }

    #[test]
    fn one_bit_above_the_table_is_refused() {
        assert!(valid().validate().is_ok());
        let [a, b, _] = primes_below(1 << 36, 8192, 3).unwrap()[..] else { panic!("three primes") };
        let smaller = primes_below(1 << 34, 8192, 1).unwrap()[0];
        let at_limit = Parameters::new(12, vec![a, b, smaller], 65537, Security::Bits128);
        assert!(at_limit.log2_modulus() <= 106.0 && at_limit.validate().is_ok());
        let above = primes_below(1 << 35, 8192, 1).unwrap()[0];
        let over = Parameters::new(12, vec![a, b, above], 65537, Security::Bits128);
        assert!(matches!(over.validate(), Err(BfvError::Rlwe(RlweError::Insecure { .. }))));
        let opted_out = Parameters::new(12, vec![a, b, above], 65537, Security::InsecureForResearchOnly);
        assert!(opted_out.validate().is_ok());
    }

    #[test]
    fn every_bad_number_is_named() {
        let refuse = |log2_degree: u32, moduli: &[u64], t| {
            Parameters::new(log2_degree, moduli.to_vec(), t, Security::InsecureForResearchOnly)
                .validate()
                .unwrap_err()
        };
        let q = valid().moduli()[0];
        for log2_degree in [0, 5, 18, 63, 64, u32::MAX] {
            assert!(matches!(
                refuse(log2_degree, &[q], 65537),
                BfvError::Encoding(EncodingError::DegreeOutOfRange { .. })
            ));
        }
        assert!(matches!(refuse(12, &[], 65537), BfvError::Moduli(ModuliError::Empty)));
        for bad in [0, 1, 4, q - 8192, q - 1, (1 << 62) + 1, u64::MAX] {
            assert!(
                matches!(refuse(12, &[q, bad], 65537), BfvError::Moduli(ModuliError::Unusable { modulus, .. }) if modulus == bad)
            );
        }
        assert!(matches!(refuse(12, &[q, q], 65537), BfvError::Moduli(ModuliError::Repeated { .. })));
        for t in [0, 1, 1 << 60] {
            assert!(matches!(
                refuse(12, &[q], t),
                BfvError::Encoding(EncodingError::PlainModulusOutOfRange { .. })
            ));
        }
        for t in [q, 3 * q] {
            assert!(matches!(
                refuse(12, &[q], t),
                BfvError::Encoding(EncodingError::PlainModulusNotCoprime { .. })
            ));
        }
    }

    #[test]
    fn several_plain_moduli_must_be_coprime() {
        let build = |plain: &[u64]| {
            CrtParameters::new(12, valid().moduli().to_vec(), plain.to_vec(), Security::Bits128)
        };
        let good = build(&[40961, 65537]);
        assert!(good.validate().is_ok());
        assert_eq!(good.plain_range(), BigUint::from(40961_u64 * 65537));
        assert_eq!(good.parts()[1], valid());
        assert!(matches!(build(&[]).validate(), Err(BfvError::Encoding(EncodingError::NoPlainModuli))));
        assert!(matches!(
            build(&[6, 35, 9]).validate(),
            Err(BfvError::Encoding(EncodingError::PlainModuliNotCoprime { left: 6, right: 9 }))
        ));
        assert_eq!(CrtParameters::from(valid()), build(&[65537]));
    }

    #[test]
    fn batching_is_a_property_of_t() {
        assert!(valid().supports_batching());
        let with = |t| Parameters::new(12, valid().moduli().to_vec(), t, Security::Bits128);
        assert!(!with(65536).supports_batching());
        assert!(!with(2).supports_batching());
        assert!(!with(12289).supports_batching(), "12289 - 1 is not a multiple of 8192");
    }

    #[test]
    fn parameters_travel_as_json() {
        let text = serde_json::to_string(&valid()).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), valid());
        assert!(serde_json::from_str::<Parameters>(&text.replace("plain_modulus", "t")).is_err());
    }

    #[test]
    fn algorithms_travel_and_older_files_still_load() {
        let key_switching =
            GadgetOptions { radix_bits: Some(16), dropped_limbs: 2, ..GadgetOptions::default() };
        let chosen = valid().with_algorithms(Algorithms { key_switching, ..Algorithms::default() });
        let text = serde_json::to_string(&chosen).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), chosen);
        let crt = CrtParameters::from(chosen.clone());
        assert_eq!(crt.parts(), [chosen]);
        let text = serde_json::to_string(&crt).unwrap();
        assert_eq!(serde_json::from_str::<CrtParameters>(&text).unwrap(), crt);
        let old = r#"{"log2_degree":12,"moduli":[3],"plain_modulus":5,"security":"Bits128"}"#;
        let old: Parameters = serde_json::from_str(old).unwrap();
        assert_eq!(*old.algorithms(), Algorithms::default());
        let unknown = text.replace("radix_bits", "radix");
        assert!(serde_json::from_str::<CrtParameters>(&unknown).is_err());
    }

    #[test]
    fn special_moduli_are_checked_like_the_others() {
        let with = |special: &[u64], t| {
            let key_switching =
                GadgetOptions { special_moduli: special.to_vec(), ..GadgetOptions::default() };
            let algorithms = Algorithms { key_switching, ..Algorithms::default() };
            Parameters::new(12, valid().moduli()[..2].to_vec(), t, Security::Bits128)
                .with_algorithms(algorithms)
        };
        let [q, _, p] = valid().moduli()[..] else { panic!("three primes") };
        let good = with(&[p], 65537);
        good.validate().unwrap();
        assert_eq!(good.log2_key_modulus(), valid().log2_modulus());
        assert!(good.log2_modulus() < good.log2_key_modulus() - 34.0);
        let refuse = |special: &[u64], t| {
            let error = with(special, t).validate().unwrap_err();
            assert_eq!(
                CrtParameters::from(with(special, t)).validate().unwrap_err().to_string(),
                error.to_string()
            );
            error
        };
        assert!(
            matches!(refuse(&[q], 65537), BfvError::Moduli(ModuliError::Repeated { modulus }) if modulus == q)
        );
        assert!(matches!(refuse(&[p, p], 65537), BfvError::Moduli(ModuliError::Repeated { .. })));
        assert!(matches!(refuse(&[p - 2], 65537), BfvError::Moduli(ModuliError::Unusable { .. })));
        assert!(
            matches!(refuse(&[p], 3 * p), BfvError::Encoding(EncodingError::PlainModulusNotCoprime { modulus, .. }) if modulus == p)
        );
        // q alone is far below the limit of 106 bits, with these special moduli it is above.
        let larger = primes_below(1 << 40, 8192, 1).unwrap()[0];
        assert!(matches!(refuse(&[larger], 65537), BfvError::Rlwe(RlweError::Insecure { .. })));
        assert!(matches!(refuse(&[p; 300], 65537), BfvError::Moduli(ModuliError::TooMany { .. })));
    }

    #[test]
    fn options_that_the_moduli_do_not_allow_are_named() {
        let refuse = |algorithms| {
            let parameters = valid().with_algorithms(algorithms);
            let error = parameters.validate().unwrap_err();
            assert!(matches!(error, BfvError::Algorithms(_)), "{error}");
            let crt = CrtParameters::from(parameters).validate().unwrap_err();
            assert_eq!(crt.to_string(), error.to_string());
            error.to_string()
        };
        for (radix_bits, dropped_limbs, name) in
            [(Some(0), 0, "radix_bits"), (Some(62), 0, "radix_bits"), (None, 3, "dropped_limbs")]
        {
            let key_switching = GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() };
            let error = refuse(Algorithms { key_switching, ..Algorithms::default() });
            assert!(error.contains(name), "{error}");
        }
        for (decryption, name) in [
            (Decryption::Gamma { gamma: Some(5) }, "gamma"),
            (Decryption::Gamma { gamma: Some(65537) }, "65537"),
            (Decryption::PowerOfTwo { log2_gamma: Some(61) }, "log2_gamma"),
        ] {
            let scaling = ScalerOptions { decryption, ..ScalerOptions::default() };
            let error = refuse(Algorithms { scaling, ..Algorithms::default() });
            assert!(error.contains(name), "{error}");
        }
    }
}
