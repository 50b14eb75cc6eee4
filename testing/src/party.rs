//! Runs a circuit under encryption and checks every value on the way.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{
    BatchEncoder, BfvError, Ciphertext, Context, Encoder, Evaluator, row_rotation_exponent, row_swap_exponent,
};
use sunzi_ring::PolyRing;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

use crate::{Circuit, Operation};

/// Everybody's keys in one place: for tests only.
pub struct Party<R: PolyRing> {
    /// The context.
    pub context: Context<R>,
    /// The secret key.
    pub secret: SecretKey<R>,
    /// The public key.
    pub public: PublicKey<R>,
    /// The relinearisation key.
    pub relinearization: RelinearizationKey<R>,
    /// Galois keys for every rotation.
    pub galois: GaloisKeys<R>,
    /// The slot encoder.
    pub encoder: BatchEncoder,
}

/// What running a circuit showed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Values that decrypted to something else than the oracle says.
    pub wrong: Vec<Operation>,
    /// Values whose true noise exceeded the worst-case bound.
    pub above_worst: Vec<Operation>,
    /// Values whose true noise exceeded the bound drawn from the deviation.
    pub above_deviation: Vec<Operation>,
    /// Bits between the true noise and the bound of each value.
    pub gaps: Vec<f64>,
}

impl<R: PolyRing> Party<R> {
    /// Makes all keys from a seed, Galois keys for every rotation and the swap of rows among them.
    ///
    /// # Errors
    /// Those of key generation and encoding.
    pub fn new(context: Context<R>, seed: u64) -> Result<Self, BfvError> {
        let steps: Vec<i64> = (0..context.degree() as i64 / 2).collect();
        Self::with_rotations(context, seed, &steps)
    }

    /// Makes keys from a seed; Galois keys for these rotations and the swap of rows only.
    ///
    /// # Errors
    /// Those of key generation and encoding.
    pub fn with_rotations(context: Context<R>, seed: u64, steps: &[i64]) -> Result<Self, BfvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let degree = context.degree();
        let exponents = steps
            .iter()
            .map(|&steps| row_rotation_exponent(degree, steps))
            .chain([row_swap_exponent(degree)]);
        Ok(Self {
            public: PublicKey::generate(rlwe, &secret, &mut rng)?,
            relinearization: RelinearizationKey::generate(rlwe, &secret, &mut rng)?,
            galois: GaloisKeys::generate(rlwe, &secret, exponents, &mut rng)?,
            encoder: BatchEncoder::new(degree, context.plain_modulus())?,
            secret,
            context,
        })
    }

    /// Runs the circuit under encryption and compares every value with the oracle.
    ///
    /// A value whose noise bound exceeds the capacity is checked against its bounds only.
    ///
    /// # Errors
    /// Those of the operations: a random circuit should meet none.
    pub fn check(&self, circuit: &Circuit, seed: u64) -> Result<Report, BfvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let expected = circuit.run_clear();
        let mut values: Vec<Ciphertext<R>> = Vec::with_capacity(circuit.operations.len());
        let mut report = Report::default();
        for (operation, expected) in circuit.operations.iter().zip(&expected) {
            let value = self.step(circuit, operation, &values, &mut rng)?;
            self.judge(operation, &value, expected, &mut report)?;
            values.push(value);
        }
        Ok(report)
    }

    fn judge(
        &self,
        operation: &Operation,
        value: &Ciphertext<R>,
        expected: &[u64],
        report: &mut Report,
    ) -> Result<(), BfvError> {
        let message = self.encoder.encode(expected)?;
        let measured = self.context.measure_noise(value, &message, &self.secret)?;
        let bound = value.noise().bound(self.context.degree()).bits();
        // Noise is measured modulo q: beyond q/2t it says nothing.
        if self.context.bits_left(value) < 0.0 {
            return Ok(());
        }
        if self.context.decrypt(value, &self.secret)? != message {
            report.wrong.push(*operation);
        }
        if measured > value.noise().worst.bits() {
            report.above_worst.push(*operation);
        }
        if measured > bound {
            report.above_deviation.push(*operation);
        }
        report.gaps.push(bound - measured);
        Ok(())
    }

    fn step(
        &self,
        circuit: &Circuit,
        operation: &Operation,
        values: &[Ciphertext<R>],
        rng: &mut ChaCha20Rng,
    ) -> Result<Ciphertext<R>, BfvError> {
        let evaluator = Evaluator::new(&self.context);
        let value = |i: usize| values.get(i).ok_or(BfvError::Empty { what: "a circuit" });
        let input = |i: usize| self.encoder.encode(crate::circuit::row(&circuit.inputs, i));
        let (relinearization, galois) = (&self.relinearization, &self.galois);
        match *operation {
            Operation::Input(i) if i % 2 == 0 => self.context.encrypt(&input(i)?, &self.public, rng),
            Operation::Input(i) => self.context.encrypt_secret(&input(i)?, &self.secret, rng),
            Operation::Add(a, b) => evaluator.add(value(a)?, value(b)?),
            Operation::Sub(a, b) => evaluator.sub(value(a)?, value(b)?),
            Operation::Negate(a) => evaluator.negate(value(a)?),
            Operation::Multiply(a, b) => evaluator.multiply(value(a)?, value(b)?, relinearization),
            Operation::Square(a) => evaluator.square(value(a)?, relinearization),
            Operation::AddPlain(a, p) => evaluator.add_plain(value(a)?, &input(p)?),
            Operation::SubPlain(a, p) => evaluator.sub_plain(value(a)?, &input(p)?),
            Operation::MultiplyPlain(a, p) => evaluator.multiply_plain(value(a)?, &input(p)?),
            Operation::MultiplyScalar(a, c) => evaluator.multiply_scalar(value(a)?, c),
            Operation::Rotate(a, steps) => evaluator.rotate_rows(value(a)?, steps, galois),
            Operation::Swap(a) => evaluator.rotate_columns(value(a)?, galois),
        }
    }
}
