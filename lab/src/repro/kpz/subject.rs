//! One scheme with keys for the circuits of `[KPZ21]`, and what its secret key tells about the results.

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Bfv, Context, Evaluator};
use sunzi_bgv::BgvError;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys};
use sunzi_encoding::Plaintext;
use sunzi_ring::{GadgetOptions, Multiplication, ScalerOptions, sampling};
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm, PublicKey, SecretKey, encryption};

use super::parameters::Parameters;
use super::printed::Column;
use crate::repro::{Keys, LabError, Result, noise};

/// A scheme with keys, in which circuits are computed and results decrypted.
pub(super) trait Subject {
    /// Arithmetic that the scheme computes with.
    type Arithmetic: Arithmetic<Plaintext = Plaintext>;

    fn arithmetic(&self) -> &Self::Arithmetic;
    fn keys(&self) -> &<Self::Arithmetic as Arithmetic>::Keys;
    fn encrypt(&self, message: &Plaintext, rng: &mut dyn CryptoRng) -> Result<Encrypted<Self>>;
    /// log2 of the largest coefficient of the noise times what has been divided away since Q_L; none if `a`
    /// does not decrypt to the message.
    fn opened(&self, a: &Encrypted<Self>, message: &Plaintext) -> Result<Option<f64>>;
    /// The ciphertext without a noise bound by which it could be refused: the sizes of `[KPZ21]` follow
    /// estimates below proven bounds.
    fn trusted(&self, a: Encrypted<Self>) -> Encrypted<Self>;
}

/// Ciphertext of a scheme with keys.
pub(super) type Encrypted<S> = <<S as Subject>::Arithmetic as Arithmetic>::Ciphertext;

/// Options of the gadget by which key switching cuts polynomials into digits.
fn gadget_options(parameters: &Parameters) -> GadgetOptions {
    GadgetOptions {
        digits: Some(parameters.digits),
        special_moduli: parameters.special.clone(),
        ..GadgetOptions::default()
    }
}

/// BFV with keys and one of its multiplications, as circuits compute in it.
pub(super) struct BfvSubject {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    public: PublicKey,
    keys: EvaluationKeys,
    /// Whether encryption is that of the "original BFV" of `[KPZ21]`.
    original: bool,
}

impl BfvSubject {
    pub(super) fn new(
        column: Column,
        plain_modulus: u64,
        parameters: &Parameters,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self> {
        let algorithms = Algorithms {
            scaling: scaling(column),
            key_switching: gadget_options(parameters),
            ..Algorithms::default()
        };
        let set = sunzi_bfv::Parameters::new(
            parameters.log2_degree,
            parameters.moduli.clone(),
            plain_modulus,
            parameters.security,
        );
        let context = Context::new(&set.with_algorithms(algorithms))?;
        let Keys { secret, public, relinearization } = Keys::generate(context.rlwe(), rng)?;
        let keys = EvaluationKeys { relinearization: Some(relinearization), galois: None };
        let original = matches!(column, Column::Behz | Column::Hps);
        Ok(Self { evaluator: Evaluator::new(&context), context, secret, public, keys, original })
    }

    /// An encryption by the original BFV: ⌊Q/t⌋·m plus the noise e·u + e_1 + e_2·s of an encryption modulo Q
    /// itself `[KPZ21, 2.2.2]`.
    ///
    /// Sunzi's own encryption has neither the term |Q|_t·m/t nor, where there are special moduli, the noise
    /// of the original BFV.
    fn encrypt_originally(
        &self,
        message: &Plaintext,
        rng: &mut dyn CryptoRng,
    ) -> Result<sunzi_bfv::Ciphertext> {
        let ring = self.context.ring();
        let zero = encryption::zero_public(self.context.rlwe(), &self.public, rng)?;
        let (noise, [mut c0, c1]) = (zero.noise, zero.parts);
        let mut scaled = ring.to_evaluation(ring.from_signed(&message.centred())?)?;
        let delta: BigUint = ring.modulus() / self.context.plain_modulus();
        ring.mul_integer_assign(&mut scaled, &BigInt::from(delta))?;
        ring.add_assign(&mut c0, &scaled)?;
        let n = ring.degree();
        for _ in 0..2 {
            let mut product = ring.to_evaluation(ring.from_signed(&sampling::ternary(n, rng)?)?)?;
            let error = ring.to_evaluation(ring.from_signed(&sampling::centered_binomial(n, rng)?)?)?;
            ring.mul_assign(&mut product, &error)?;
            ring.add_assign(&mut c0, &product)?;
        }
        let plain_modulus = self.context.plain_modulus();
        Ok(sunzi_rlwe::Ciphertext::<Bfv>::from_parts(vec![c0, c1], plain_modulus, noise, self.public.id())?)
    }
}

/// Scaler options of the product that a column of `[KPZ21]` stands for.
fn scaling(column: Column) -> ScalerOptions {
    let multiplication = match column {
        Column::Behz => Multiplication::Behz,
        Column::Hps => Multiplication::Hps,
        Column::New => Multiplication::HpsOverQ,
        Column::Leveled | Column::Bgv => Multiplication::HpsOverQLeveled,
    };
    ScalerOptions { multiplication, ..ScalerOptions::default() }
}

impl Subject for BfvSubject {
    type Arithmetic = Evaluator;

    fn arithmetic(&self) -> &Evaluator {
        &self.evaluator
    }

    fn keys(&self) -> &EvaluationKeys {
        &self.keys
    }

    fn encrypt(&self, message: &Plaintext, rng: &mut dyn CryptoRng) -> Result<Encrypted<Self>> {
        match self.original {
            true => self.encrypt_originally(message, rng),
            false => Ok(self.context.encrypt(message, &self.public, rng)?),
        }
    }

    fn opened(&self, a: &Encrypted<Self>, message: &Plaintext) -> Result<Option<f64>> {
        let right = self.context.decrypt_unchecked(a, &self.secret)? == *message;
        let known = (message.coefficients(), 1, self.context.plain_modulus());
        Ok(if right { Some(noise::measured(self.context.rlwe(), a, &self.secret, known)?) } else { None })
    }

    fn trusted(&self, a: Encrypted<Self>) -> Encrypted<Self> {
        // Bounds refuse nothing in BFV, and choose levels.
        a
    }
}

/// BGV with keys, as circuits compute in it.
pub(super) struct BgvSubject {
    context: sunzi_bgv::Context,
    evaluator: sunzi_bgv::Evaluator,
    secret: SecretKey,
    public: PublicKey,
    keys: EvaluationKeys,
    /// log2 of the moduli q_0, q_1, …, q_L of BGV, from which noise is counted.
    log2_moduli: Vec<f64>,
    /// Whether the paper's moduli are trusted where proven bounds refuse them.
    trusts: bool,
}

impl BgvSubject {
    pub(super) fn new(plain_modulus: u64, parameters: &Parameters, rng: &mut dyn CryptoRng) -> Result<Self> {
        let Parameters { log2_degree, moduli, security, .. } = parameters;
        let set = sunzi_bgv::Parameters::new(*log2_degree, moduli.clone(), plain_modulus, *security);
        let log2_moduli = moduli.iter().rev().skip(1).rev().map(|q| (*q as f64).log2()).collect();
        let set = set.with_key_switching(gadget_options(parameters));
        Ok(Self { trusts: true, log2_moduli, ..Self::of(&set, rng)? })
    }

    /// BGV of Sunzi's own parameters, whose proven bounds hold.
    pub(super) fn of(set: &sunzi_bgv::Parameters, rng: &mut dyn CryptoRng) -> Result<Self> {
        let context = sunzi_bgv::Context::new(set)?;
        let Keys { secret, public, relinearization } = Keys::generate(context.rlwe(), rng)?;
        let keys = EvaluationKeys { relinearization: Some(relinearization), galois: None };
        Ok(Self {
            evaluator: sunzi_bgv::Evaluator::new(&context),
            context,
            secret,
            public,
            keys,
            log2_moduli: Vec::new(),
            trusts: false,
        })
    }
    /// Noise log e of a ciphertext that is switched for its first product.
    pub(super) fn switched(&self, message: &Plaintext, rng: &mut dyn CryptoRng) -> Result<Option<f64>> {
        let switched = self.evaluator.operand(&self.encrypt(message, rng)?)?;
        self.opened(&switched, message)
    }
}

impl Subject for BgvSubject {
    type Arithmetic = sunzi_bgv::Evaluator;

    fn arithmetic(&self) -> &sunzi_bgv::Evaluator {
        &self.evaluator
    }

    fn keys(&self) -> &EvaluationKeys {
        &self.keys
    }

    fn encrypt(&self, message: &Plaintext, rng: &mut dyn CryptoRng) -> Result<Encrypted<Self>> {
        Ok(self.context.encrypt(message, &self.public, rng)?)
    }

    fn opened(&self, a: &Encrypted<Self>, message: &Plaintext) -> Result<Option<f64>> {
        if !self.trusts {
            // Moduli that share words are no moduli of the ring, in which noise is measured.
            return Ok((self.context.decrypt(a, &self.secret)? == *message).then_some(f64::NAN));
        }
        let factor = self.context.factor(a.metadata().level()).unwrap_or(1);
        let known = (message.coefficients(), factor, self.context.plain_modulus());
        let noise = noise::measured(self.context.rlwe(), a, &self.secret, known)?;
        let mut bounded = a.clone();
        bounded.set_noise(bound(noise));
        match self.context.decrypt(&bounded, &self.secret) {
            Ok(opened) if opened == *message => {}
            Ok(_) | Err(BgvError::BudgetExceeded { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let kept = match a.parts().first() {
            Some(part) => self.context.ring().level_of(part)?,
            None => 0,
        };
        let away: f64 = self.log2_moduli.iter().skip(kept).sum();
        Ok(Some(noise + away))
    }

    fn trusted(&self, mut a: Encrypted<Self>) -> Encrypted<Self> {
        if self.trusts {
            a.set_noise(bound(0.0));
        }
        a
    }
}

/// A noise bound of `log2_noise` bits.
fn bound(log2_noise: f64) -> NoiseBound {
    let bits = Log2::from_bits(log2_noise);
    NoiseBound::dependent(NoiseTerm { worst: bits, deviation: bits, peak: bits }, 1)
}

/// Whether BGV refused an operation because its proven noise bound does not fit the moduli.
pub(super) fn refused(error: &LabError) -> bool {
    let inner = match error.below::<CircuitError<BgvError>>() {
        Some(CircuitError::Scheme(inner)) => Some(inner),
        _ => error.below(),
    };
    matches!(inner, Some(BgvError::BudgetExceeded { .. }))
}
