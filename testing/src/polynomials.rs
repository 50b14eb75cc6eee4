//! Circuits over plaintext polynomials modulo (Φ_m, t), in any ring, with every value checked on the way.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys};
use sunzi_encoding::{EncodingError, Plaintext};
use sunzi_math::{MathError, gcd};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

use crate::circuit::row;
use crate::scheme::{Encrypted, Scheme};
use crate::{Circuit, ClearRing, Operation};

/// All keys of one owner, and the oracle of polynomial circuits, for tests only.
pub struct Polynomials<S: Scheme> {
    context: S,
    evaluator: S::Evaluator,
    clear: ClearRing,
    /// Exponents of the automorphisms that circuits apply, −1 last.
    exponents: Vec<u64>,
    secret: SecretKey,
    public: PublicKey,
    keys: EvaluationKeys,
    galois: GaloisKeys,
}

/// Report of runs of polynomial circuits.
#[derive(Clone, Debug, Default)]
pub struct PolynomialReport {
    /// Failures of the runs of polynomial circuits, in words.
    pub failures: Vec<String>,
    /// Number of operations that were refused for noise or depth.
    pub refused: usize,
    /// Bits between the true noise and the bound of each value.
    pub gaps: Vec<f64>,
}

impl<S: Scheme> Polynomials<S>
where
    S::Error: From<MathError>,
{
    /// Makes all keys of an owner from a seed, Galois keys for five automorphisms among them.
    ///
    /// # Errors
    /// Every error of generating the owner's keys.
    pub fn new(context: S, seed: u64) -> Result<Self, S::Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let (evaluator, rlwe) = (context.evaluator(), context.rlwe());
        let m = rlwe.ring().index();
        let exponents: Vec<u64> = (2..m).filter(|&k| gcd(k, m) == 1).take(4).chain([m - 1]).collect();
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let relinearization = Some(RelinearizationKey::generate(rlwe, &secret, &mut rng)?);
        Ok(Self {
            clear: ClearRing::new(m, evaluator.plain_modulus(), rlwe.ring().coefficient_basis())?,
            public: PublicKey::generate(rlwe, &secret, &mut rng)?,
            keys: EvaluationKeys { relinearization, galois: None },
            galois: GaloisKeys::generate(rlwe, &secret, exponents.iter().copied(), &mut rng)?,
            exponents,
            evaluator,
            secret,
            context,
        })
    }

    /// Runs a polynomial circuit under encryption, skipping values that depend on refused ones, and compares
    /// every value with the oracle.
    ///
    /// # Errors
    /// Every error of encoding and decryption, of which none is expected.
    pub fn check(&self, circuit: &Circuit, seed: u64) -> Result<PolynomialReport, S::Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut clear: Vec<Vec<u64>> = Vec::with_capacity(circuit.operations.len());
        let mut values: Vec<Option<Encrypted<S>>> = Vec::with_capacity(circuit.operations.len());
        let mut report = PolynomialReport::default();
        for operation in &circuit.operations {
            clear.push(self.step_clear(circuit, operation, &clear)?);
            let expected = clear.last().map_or(&[][..], Vec::as_slice);
            let value = match self.step(circuit, operation, &values, &mut rng)? {
                Some(Ok(value)) if self.evaluator.bits_left(&value) >= 0.0 => {
                    self.judge(operation, &value, expected, &mut report)?;
                    Some(value)
                }
                Some(_) => {
                    report.refused += 1;
                    None
                }
                None => None,
            };
            values.push(value);
        }
        Ok(report)
    }

    fn judge(
        &self,
        operation: &Operation,
        value: &Encrypted<S>,
        expected: &[u64],
        report: &mut PolynomialReport,
    ) -> Result<(), S::Error> {
        let message = self.plaintext(expected)?;
        let measured = self.context.measure_noise(value, &message, &self.secret)?;
        let (noise, ring) = (self.context.noise(value), self.context.rlwe().ring().expansion());
        let (bound, worst) = (noise.bound(ring).bits(), noise.worst_case(ring).bits());
        if self.context.decrypt(value, &self.secret)? != message {
            report.failures.push(format!("{operation:?} is wrong"));
        }
        if measured > bound || measured > worst {
            report
                .failures
                .push(format!("{operation:?}: noise 2^{measured:.2}, bounds 2^{bound:.2} and 2^{worst:.2}"));
        }
        report.gaps.push(bound - measured);
        Ok(())
    }

    fn plaintext(&self, coefficients: &[u64]) -> Result<Plaintext, EncodingError> {
        Plaintext::new(coefficients.to_vec(), self.clear.modulus())
    }

    /// Returns the automorphism exponent of a rotation by `steps` steps.
    fn exponent(&self, steps: i64) -> u64 {
        let at = steps.rem_euclid(self.exponents.len().max(1) as i64) as usize;
        self.exponents.get(at).copied().unwrap_or(1)
    }

    /// Runs a step of a polynomial circuit: `None` without its operands; an error where the scheme refuses.
    #[expect(clippy::type_complexity, reason = "refusals are no errors of the test")]
    fn step(
        &self,
        circuit: &Circuit,
        operation: &Operation,
        values: &[Option<Encrypted<S>>],
        rng: &mut ChaCha20Rng,
    ) -> Result<Option<Result<Encrypted<S>, CircuitError<S::Error>>>, S::Error> {
        let (evaluator, keys) = (&self.evaluator, &self.keys);
        let value = |i: usize| values.get(i).and_then(Option::as_ref);
        let input = |i: usize| self.plaintext(row(&circuit.inputs, i));
        let turn = |a, k| self.context.automorphism(a, k, &self.galois).map_err(CircuitError::Scheme);
        let both = |a, b| Some((value(a)?, value(b)?));
        Ok(match *operation {
            Operation::Input(i) if i % 2 == 0 => {
                Some(Ok(self.context.encrypt(&input(i)?, &self.public, rng)?))
            }
            Operation::Input(i) => Some(Ok(self.context.encrypt_secret(&input(i)?, &self.secret, rng)?)),
            Operation::Add(a, b) => both(a, b).map(|(a, b)| evaluator.add(a, b)),
            Operation::Sub(a, b) => both(a, b).map(|(a, b)| evaluator.sub(a, b)),
            Operation::Negate(a) => value(a).map(|a| evaluator.negate(a)),
            Operation::Multiply(a, b) => both(a, b).map(|(a, b)| evaluator.multiply(a, b, keys)),
            Operation::Square(a) => value(a).map(|a| evaluator.square(a, keys)),
            Operation::AddPlain(a, p) => {
                let p = input(p)?;
                value(a).map(|a| evaluator.add_plain(a, &p))
            }
            Operation::SubPlain(a, p) => {
                let p = input(p)?;
                value(a).map(|a| evaluator.sub_plain(a, &p))
            }
            Operation::MultiplyPlain(a, p) => {
                let p = input(p)?;
                value(a).map(|a| evaluator.multiply_plain(a, &p))
            }
            Operation::MultiplyScalar(a, c) => value(a).map(|a| evaluator.multiply_scalar(a, c)),
            Operation::Rotate(a, steps) => value(a).map(|a| turn(a, self.exponent(steps))),
            Operation::Swap(a) => value(a).map(|a| turn(a, self.exponent(-1))),
        })
    }

    fn step_clear(
        &self,
        circuit: &Circuit,
        operation: &Operation,
        values: &[Vec<u64>],
    ) -> Result<Vec<u64>, MathError> {
        let clear = &self.clear;
        let value = |i: usize| row(values, i);
        let input = |i: usize| row(&circuit.inputs, i);
        match *operation {
            Operation::Input(i) => Ok(input(i).to_vec()),
            Operation::Add(a, b) => Ok(clear.sum(value(a), value(b))),
            Operation::Sub(a, b) => Ok(clear.difference(value(a), value(b))),
            Operation::Negate(a) => Ok(clear.multiple(value(a), -1)),
            Operation::Multiply(a, b) => clear.product(value(a), value(b)),
            Operation::Square(a) => clear.product(value(a), value(a)),
            Operation::AddPlain(a, p) => Ok(clear.sum(value(a), input(p))),
            Operation::SubPlain(a, p) => Ok(clear.difference(value(a), input(p))),
            Operation::MultiplyPlain(a, p) => clear.product(value(a), input(p)),
            Operation::MultiplyScalar(a, c) => Ok(clear.multiple(value(a), c)),
            Operation::Rotate(a, steps) => clear.automorphism(value(a), self.exponent(steps)),
            Operation::Swap(a) => clear.automorphism(value(a), self.exponent(-1)),
        }
    }
}
