//! Functional bootstrapper: the steps of bootstrapping to E, and tables from there.

use sunzi_ckks::{Ciphertext, Evaluator, Metadata};

use super::{Messages, Table};
use crate::bootstrap::bootstrapper::{Bootstrapper, with_scale};
use crate::bootstrap::dft::Parts;
use crate::bootstrap::noise::exact;
use crate::bootstrap::{Blueprint, BootstrapError, BootstrapKeys, Order};
use crate::series::evaluate_many;

/// Functional bootstrapper: it evaluates tables of encrypted messages, and restores their levels.
#[derive(Clone)]
pub struct FunctionalBootstrapper {
    steps: Bootstrapper,
    /// Bound on |E − exp(2πi·x)|, without roundings.
    pub(super) exponential_error: f64,
}

impl FunctionalBootstrapper {
    /// Encodes all diagonals of a set for tables. `progress` is called with the numbers of matrices done and of all, from any thread of the pool.
    ///
    /// # Errors
    /// [`BootstrapError::Set`] for a set without levels for tables, or whose SlotsToCoeffs does not come first; [`BootstrapError::Transform`].
    pub fn new(
        blueprint: &Blueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let set = blueprint.set();
        if set.tables.is_none() || set.order != Order::First {
            let expected = "one with levels for tables and SlotsToCoeffs first".to_owned();
            return Err(BootstrapError::Set { what: "the set", got: set.to_string(), expected });
        }
        let exponential_error = blueprint.eval_mod().exponential_error();
        Ok(Self { steps: Bootstrapper::encode(blueprint, progress)?, exponential_error })
    }

    /// Blueprint from which the bootstrapper was made.
    #[must_use]
    pub fn blueprint(&self) -> &Blueprint {
        self.steps.blueprint()
    }

    /// Evaluator of sums and products of messages.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.steps.evaluator
    }

    /// Number of bytes of the encoded diagonals of the bootstrapper.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.steps.byte_len()
    }

    /// Returns the results of tables for the messages in real and in imaginary parts of all slots, one ciphertext for each table, at the residual level of
    /// the set and its canonical scale. Bounds on their noise contain the error of the table.
    ///
    /// # Errors
    /// [`BootstrapError::MessageNoise`] for messages whose noise may reach the next message; [`BootstrapError::Table`] for tables that take more levels
    /// than the set has for them; [`BootstrapError::TooManySlots`]; [`BootstrapError::LevelTooLow`]; [`BootstrapError::MissingKey`],
    /// [`BootstrapError::Rlwe`] for keys of another secret; [`BootstrapError::Ckks`] for ciphertexts of another context.
    pub fn apply(
        &self,
        a: &Ciphertext,
        tables: &[&Table],
        keys: &BootstrapKeys,
    ) -> Result<Vec<Ciphertext>, BootstrapError> {
        self.steps.on_pool(|| self.all_steps(a, tables, false, keys))
    }

    /// Returns the results of tables for the messages in real parts of slots alone, in about half of the time of [`apply`](Self::apply); imaginary parts are
    /// dropped.
    ///
    /// # Errors
    /// Every error of [`apply`](Self::apply).
    pub fn apply_real(
        &self,
        a: &Ciphertext,
        tables: &[&Table],
        keys: &BootstrapKeys,
    ) -> Result<Vec<Ciphertext>, BootstrapError> {
        self.steps.on_pool(|| self.all_steps(a, tables, true, keys))
    }

    /// Returns two messages as one, a level below both, for a table [of pairs](Table::of_pairs): the number of a, and a p-th of that of b, for a modulo p.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] at level 0 and for ciphertexts of another context.
    pub fn joined(
        &self,
        (a, upper): (&Ciphertext, Messages),
        b: &Ciphertext,
    ) -> Result<Ciphertext, BootstrapError> {
        let evaluator = &self.steps.evaluator;
        let level = a.metadata().level.min(b.metadata().level).saturating_sub(1);
        let scale = evaluator.context().scale(level)?;
        let share = with_scale(b.clone(), b.metadata().scale * upper.modulus() as f64);
        let share = evaluator.set_scale(&share, level, scale)?;
        Ok(evaluator.add(&evaluator.set_scale(a, level, scale)?, &share)?)
    }

    /// Returns the conjugates of all slots, by a key that tables need anyway.
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`]; [`BootstrapError::Ckks`] for ciphertexts of another context.
    pub fn conjugate(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let evaluator = &self.steps.evaluators.coeffs_to_slots;
        evaluator
            .conjugate(a, keys.rotations())
            .map_err(|error| BootstrapError::from(error).of_bootstrapping())
    }

    /// Rotates the slots of a result left by a power of two, or right by one if `steps` is negative, in sets [for integers](crate::bootstrap::Set::for_integers).
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`] for other steps and sets; [`BootstrapError::Ckks`] for ciphertexts of another context.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        steps: i64,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let rotated = self.steps.evaluators.slots_to_coeffs.rotate(a, steps, keys.rotations_to_coeffs());
        rotated.map_err(|error| BootstrapError::from(error).of_bootstrapping())
    }

    fn all_steps(
        &self,
        a: &Ciphertext,
        tables: &[&Table],
        only_real: bool,
        keys: &BootstrapKeys,
    ) -> Result<Vec<Ciphertext>, BootstrapError> {
        let available = self.blueprint().set().tables.map_or(0, |range| range.levels);
        if let Some(table) = tables.iter().find(|table| table.depth() > available) {
            let (what, got) = ("the levels of a table", table.depth().to_string());
            return Err(BootstrapError::Table { what, got, expected: "at most those of the set" });
        }
        tables.iter().try_for_each(|table| self.check(table, self.noise(a)))?;
        // Two numbers from −1 to 1 are in a slot, and what is beyond wraps. Roundings of diagonals grow with the slots all the same.
        let (whole, length) = (a.metadata().precision.magnitude(), 2.0_f64.sqrt());
        let beyond = (whole / length).max(1.0);
        // Slots that are all zero have a bound of zero, which no ciphertext may be given.
        let a = self.steps.evaluator.with_magnitude(a, whole.clamp(f64::EPSILON, 1.0))?;
        let (parts, lowered) = self.steps.raised_parts(&a, length, only_real, keys)?;
        let noise = self.moved(&a, (&lowered, beyond), &parts.real);
        tables.iter().try_for_each(|table| self.check(table, noise))?;
        let real = || self.values(&parts.real, tables, keys);
        let imaginary = || parts.imaginary.as_ref().map(|part| self.values(part, tables, keys)).transpose();
        let (real, imaginary) = rayon::join(real, imaginary);
        let (real, imaginary) = (real?, imaginary?);
        let power = imaginary.as_ref().map_or(0.0, |(_, power)| *power).max(real.1);
        let mut imaginary = imaginary.map(|(values, _)| values.into_iter());
        let mut results = Vec::with_capacity(tables.len());
        for (value, table) in real.0.into_iter().zip(tables) {
            let parts = Parts { real: value, imaginary: imaginary.as_mut().and_then(Iterator::next) };
            let result = self.with_conjugate(&parts, keys)?;
            // A slot holds one number or two.
            let magnitude = table.magnitude() * if only_real { 1.0 } else { 2.0_f64.sqrt() };
            results.push(self.declared((&a, magnitude), result, table, [noise, power])?);
        }
        Ok(results)
    }

    /// Returns S(E) of every table for one part, with the noise of E left out, and a bound on that.
    fn values(
        &self,
        part: &Ciphertext,
        tables: &[&Table],
        keys: &BootstrapKeys,
    ) -> Result<(Vec<Ciphertext>, f64), BootstrapError> {
        let (blueprint, evaluator) = (self.blueprint(), &self.steps.evaluator);
        let key = keys.relinearization();
        let products = [(&self.steps.evaluators.polynomial, keys.of_polynomial()), (evaluator, key)];
        // What moved x is in the error of the table.
        let mut x = exact(part);
        let precision = x.metadata().precision.with_deviation(0.0);
        x.set_metadata(Metadata { precision, ..x.metadata().clone() });
        let power = blueprint.eval_mod.exponential(&x, blueprint.scales.reduced, products)?;
        let depth = tables.iter().map(|table| table.depth()).max().unwrap_or(0);
        let level = blueprint.levels.residual + depth;
        let power = evaluator.with_magnitude(&evaluator.level_to(&power, level)?, 1.0)?;
        let (noise, power) = (self.noise(&power), exact(&power));
        let series: Vec<_> = tables.iter().map(|table| &table.series).collect();
        let tables = self.steps.evaluators.tables.as_ref().unwrap_or(evaluator);
        let values = evaluate_many(tables, &series, &power, keys.of_tables())?;
        let lowered = |value: Ciphertext| match value.metadata().level {
            level if level > blueprint.levels.residual => {
                evaluator.level_to(&value, blueprint.levels.residual)
            }
            _ => Ok(value),
        };
        Ok((values.into_iter().map(lowered).collect::<Result<_, _>>()?, noise))
    }

    /// Returns a + i·b with the conjugates of both values added: (a + i·b) + conj(a − i·b), by one key switch.
    fn with_conjugate(&self, parts: &Parts, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let evaluator = &self.steps.evaluator;
        let [sum, difference] = match &parts.imaginary {
            None => [parts.real.clone(), parts.real.clone()],
            Some(imaginary) => {
                let turned = evaluator.multiply_by_i(imaginary)?;
                [evaluator.add(&parts.real, &turned)?, evaluator.sub(&parts.real, &turned)?]
            }
        };
        Ok(evaluator.add(&sum, &self.conjugate(&difference, keys)?)?)
    }

    /// Returns a result with its slots, scale, bound on slots, and noise.
    fn declared(
        &self,
        (a, magnitude): (&Ciphertext, f64),
        mut result: Ciphertext,
        table: &Table,
        [noise, power]: [f64; 2],
    ) -> Result<Ciphertext, BootstrapError> {
        let metadata = result.metadata();
        let scale = self.blueprint().context().snapped(metadata.level, metadata.scale)?;
        let precision = metadata.precision.with_magnitude(magnitude).plus_error(table.error(noise));
        let metadata = Metadata { slots: a.metadata().slots, scale, precision, ..metadata.clone() };
        result.set_metadata(metadata);
        Ok(self.with_table_error(result, table, [noise, power]))
    }
}
