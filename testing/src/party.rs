//! Parties that run a circuit under encryption and check every value on the way.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, Rotation};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_rlwe::{PublicKey, SecretKey};

use crate::scheme::{Encrypted, Failure, Scheme};
use crate::{Circuit, Operation};

/// All keys of one owner under a scheme, for tests only.
pub struct Party<S: Scheme> {
    /// Context of the keys of the party that runs circuits.
    pub context: S,
    /// Evaluator of the party that runs circuits.
    pub evaluator: S::Evaluator,
    /// Secret key of the party that runs circuits.
    pub secret: SecretKey,
    /// Public key of the party that runs circuits.
    pub public: PublicKey,
    /// Relinearisation and Galois keys of the party that runs circuits.
    pub keys: EvaluationKeys,
    /// Encoder of plaintext slots.
    pub encoder: BatchEncoder,
}

/// Report of a run of a random circuit under encryption.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Operations of the circuit whose values decrypted to something else than the oracle says.
    pub wrong: Vec<Operation>,
    /// Operations of the circuit whose true noise exceeded the worst-case bound.
    pub above_worst: Vec<Operation>,
    /// Operations of the circuit whose true noise exceeded the bound drawn from the deviation.
    pub above_deviation: Vec<Operation>,
    /// Bits between the true noise and the bound of each value.
    pub gaps: Vec<f64>,
}

impl<S: Scheme> Party<S> {
    /// Makes all keys of a party from a seed, Galois keys for every rotation and the swap of rows among them.
    ///
    /// # Errors
    /// Every error of generating the party's keys and of encoding.
    pub fn new(context: S, seed: u64) -> Result<Self, Failure<S>> {
        let steps: Vec<i64> = (0..context.evaluator().row_length() as i64).collect();
        Self::with_rotations(context, seed, &steps)
    }

    /// Makes keys of a party from a seed; Galois keys for these rotations and the swap of rows only.
    ///
    /// # Errors
    /// Every error of generating the party's keys and of encoding.
    pub fn with_rotations(context: S, seed: u64, steps: &[i64]) -> Result<Self, Failure<S>> {
        let rotations = steps.iter().map(|&steps| Rotation::Rows(steps)).chain([Rotation::Columns]);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let evaluator = context.evaluator();
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng).map_err(lift)?;
        Ok(Self {
            public: PublicKey::generate(rlwe, &secret, &mut rng).map_err(lift)?,
            keys: EvaluationKeys::generate(rlwe, &secret, rotations, &mut rng).map_err(lift)?,
            encoder: BatchEncoder::new(2 * evaluator.row_length(), evaluator.plain_modulus())
                .map_err(lift)?,
            secret,
            evaluator,
            context,
        })
    }

    /// Encodes slots as a plaintext.
    ///
    /// # Errors
    /// Every error of encoding slots.
    pub fn encode(&self, slots: &[u64]) -> Result<Plaintext, S::Error> {
        Ok(self.encoder.encode(slots)?)
    }

    /// Encrypts slots under the secret key, with randomness from a seed.
    ///
    /// # Errors
    /// Every error of encoding slots and encryption.
    pub fn encrypt(&self, slots: &[u64], seed: u64) -> Result<Encrypted<S>, S::Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        self.context.encrypt_secret(&self.encode(slots)?, &self.secret, &mut rng)
    }

    /// Decrypts a ciphertext to slots.
    ///
    /// # Errors
    /// Every error of decrypting the value.
    pub fn decrypt(&self, ciphertext: &Encrypted<S>) -> Result<Vec<u64>, S::Error> {
        Ok(self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret)?)?)
    }

    /// Runs the circuit under encryption and compares every value with the oracle.
    ///
    /// The check does not judge a value whose noise bound exceeds the capacity.
    ///
    /// # Errors
    /// Every error of the circuit's operations, of which a random circuit should meet none.
    pub fn check(&self, circuit: &Circuit, seed: u64) -> Result<Report, Failure<S>> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let expected = circuit.run_clear();
        let mut values: Vec<Encrypted<S>> = Vec::with_capacity(circuit.operations.len());
        let mut report = Report::default();
        for (operation, expected) in circuit.operations.iter().zip(&expected) {
            let value = self.step(circuit, operation, |i| values.get(i), &mut rng)?;
            // Noise is measured modulo q: beyond q/2t it has no meaning.
            if self.evaluator.bits_left(&value) >= 0.0 {
                self.judge(operation, &value, expected, &mut report).map_err(CircuitError::Scheme)?;
            }
            values.push(value);
        }
        Ok(report)
    }

    /// Decrypts a circuit's value, measures its noise and records what is wrong with it.
    ///
    /// # Errors
    /// Every error of decrypting the value.
    pub fn judge(
        &self,
        operation: &Operation,
        value: &Encrypted<S>,
        expected: &[u64],
        report: &mut Report,
    ) -> Result<(), S::Error> {
        let message = self.encode(expected)?;
        let measured = self.context.measure_noise(value, &message, &self.secret)?;
        let noise = self.context.noise(value);
        let ring = self.context.rlwe().ring().expansion();
        let bound = noise.bound(ring).bits();
        if self.context.decrypt(value, &self.secret)? != message {
            report.wrong.push(*operation);
        }
        if measured > noise.worst_case(ring).bits() {
            report.above_worst.push(*operation);
        }
        if measured > bound {
            report.above_deviation.push(*operation);
        }
        report.gaps.push(bound - measured);
        Ok(())
    }

    /// Runs one step of a circuit; `value` returns the values of earlier steps.
    ///
    /// # Errors
    /// Every error of the circuit's operation; [`CircuitError::Empty`] without an operand.
    pub fn step<'a>(
        &self,
        circuit: &Circuit,
        operation: &Operation,
        value: impl Fn(usize) -> Option<&'a Encrypted<S>>,
        rng: &mut ChaCha20Rng,
    ) -> Result<Encrypted<S>, Failure<S>>
    where
        Encrypted<S>: 'a,
    {
        let (evaluator, keys) = (&self.evaluator, &self.keys);
        let value = |i: usize| value(i).ok_or(CircuitError::Empty { what: "an operation" });
        let input =
            |i: usize| self.encode(crate::circuit::row(&circuit.inputs, i)).map_err(CircuitError::Scheme);
        match *operation {
            Operation::Input(i) if i % 2 == 0 => {
                self.context.encrypt(&input(i)?, &self.public, rng).map_err(CircuitError::Scheme)
            }
            Operation::Input(i) => {
                self.context.encrypt_secret(&input(i)?, &self.secret, rng).map_err(CircuitError::Scheme)
            }
            Operation::Add(a, b) => evaluator.add(value(a)?, value(b)?),
            Operation::Sub(a, b) => evaluator.sub(value(a)?, value(b)?),
            Operation::Negate(a) => evaluator.negate(value(a)?),
            Operation::Multiply(a, b) => evaluator.multiply(value(a)?, value(b)?, keys),
            Operation::Square(a) => evaluator.square(value(a)?, keys),
            Operation::AddPlain(a, p) => evaluator.add_plain(value(a)?, &input(p)?),
            Operation::SubPlain(a, p) => evaluator.sub_plain(value(a)?, &input(p)?),
            Operation::MultiplyPlain(a, p) => evaluator.multiply_plain(value(a)?, &input(p)?),
            Operation::MultiplyScalar(a, c) => evaluator.multiply_scalar(value(a)?, c),
            Operation::Rotate(a, steps) => evaluator.rotate(value(a)?, Rotation::Rows(steps), keys),
            Operation::Swap(a) => evaluator.rotate(value(a)?, Rotation::Columns, keys),
        }
    }
}

/// Converts an error of a lower layer to one of a circuit.
pub(crate) fn lift<E: std::error::Error + From<F> + 'static, F>(error: F) -> CircuitError<E> {
    CircuitError::Scheme(error.into())
}
