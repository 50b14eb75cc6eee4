//! What the key holder needs to know to read what was decrypted: units, padding, errors.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use sunzi_math::Crt;

use crate::analysis::{Facts, Layout, exp2, facts};
use crate::estimate::Estimate;
use crate::{NodeId, Number, Plan, Program, ProgramError};

/// How a node that comes out is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Opening {
    /// Integers in units of the last decimal.
    Exact {
        /// Digits behind the point.
        decimals: u32,
        /// What stands in slots that belong to no row, in units.
        #[serde(with = "text")]
        padding: i128,
    },
    /// Real numbers over 2^exponent.
    Real {
        /// log2 of what they are divided by.
        exponent: i32,
        /// What stands in slots that belong to no row, divided.
        padding: f64,
        /// By how much polynomials may be off, not divided.
        error: f64,
    },
}

/// Standard deviations that a stated error has: a normal distribution leaves 2^-40.6 beyond them on both sides together. Errors in slots are sums of
/// thousands of independent small ones, which is why they are modelled so.
pub const ERROR_DEVIATIONS: f64 = 7.2;

/// Roundings of a number in the clear, more than an expression has.
const ROUNDINGS: f64 = 4096.0;

impl Opening {
    /// The openings of all nodes that come out of a program that is run exactly.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for nodes that are not exact.
    pub fn exact(program: &Program) -> Result<BTreeMap<NodeId, Self>, ProgramError> {
        let facts = facts(program);
        let opening = |id: NodeId| Ok((id, Self::of_exact(&facts, id)?));
        program.totals().into_iter().chain(program.columns()).map(opening).collect()
    }

    pub(crate) fn of_exact(facts: &[Facts], id: NodeId) -> Result<Self, ProgramError> {
        let not_exact = || ProgramError::Invalid("a node is not exact: take CKKS".to_owned());
        facts.get(id.index()).and_then(Self::of_facts).ok_or_else(not_exact)
    }

    /// The opening of a node with these facts; none where it is not exact.
    pub(crate) fn of_facts(facts: &Facts) -> Option<Self> {
        facts.exact.map(|exact| Self::Exact { decimals: exact.decimals, padding: exact.padding })
    }

    /// Whether it reads the same: exactly, but for roundings of what CKKS knows in doubles.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()) + f64::MIN_POSITIVE;
        match (self, other) {
            (
                Self::Real { exponent, padding, error },
                Self::Real { exponent: other_exponent, padding: other_padding, error: other_error },
            ) => exponent == other_exponent && near(*padding, *other_padding) && near(*error, *other_error),
            _ => self == other,
        }
    }

    /// The openings of all nodes that come out of a plan.
    ///
    /// # Errors
    /// Every error of [`exact`](Self::exact).
    pub fn of(plan: &Plan) -> Result<BTreeMap<NodeId, Self>, ProgramError> {
        let Some(lowered) = &plan.lowered else { return Self::exact(&plan.program) };
        let opening = |id: NodeId| {
            let missing = || ProgramError::Invalid("a node is not in the plan".to_owned());
            let step = lowered.step(id).ok_or_else(missing)?;
            let (exponent, padding, error) = (step.exponent, step.padding, step.error);
            Ok((id, Self::Real { exponent, padding, error }))
        };
        plan.program.totals().into_iter().chain(plan.program.columns()).map(opening).collect()
    }

    /// The total behind a sum modulo each plaintext modulus: the padding is taken off.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for residues that are none; [`ProgramError::Mismatch`] for a node of CKKS.
    pub fn total(&self, layout: &Layout, crt: &Crt, residues: &[u64]) -> Result<Number, ProgramError> {
        let sum = crt.reconstruct_centered(residues).map_err(ProgramError::scheme)?;
        let Self::Exact { padding, decimals } = self else { return Err(other("integers", "real numbers")) };
        let padding = BigInt::from(*padding) * BigInt::from(layout.padding());
        // Modulo the plaintext moduli the sum with padding may have wrapped around; without it, it does not.
        let without = crt.residues(&(sum - padding));
        let total = crt.reconstruct_centered(&without).map_err(ProgramError::scheme)?;
        Ok(Number::scaled(total, *decimals))
    }

    /// The total behind a sum that the server knows, in units and with padding.
    ///
    /// # Errors
    /// Every error of [`total`](Self::total).
    pub(crate) fn clear_total(&self, layout: &Layout, sum: &BigInt) -> Result<Number, ProgramError> {
        let Self::Exact { padding, decimals } = self else { return Err(other("integers", "real numbers")) };
        Ok(Number::scaled(sum - BigInt::from(*padding) * BigInt::from(layout.padding()), *decimals))
    }

    /// The total behind a sum in CKKS of this deviation: the padding is taken off.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for an exact node.
    pub fn real_total(&self, layout: &Layout, sum: f64, deviation: f64) -> Result<Estimate, ProgramError> {
        let Self::Real { exponent, padding, error } = self else {
            return Err(other("real numbers", "integers"));
        };
        let scale = exp2(*exponent);
        let number = Number::Real((sum - padding * layout.padding() as f64) * scale);
        // Every slot has the error of polynomials, those without a row among them.
        let slots = (layout.chunks * layout.span) as f64;
        Ok(Estimate { number, error: ERROR_DEVIATIONS * deviation * scale + slots * error })
    }

    /// A chunk of a column that comes out in CKKS, and its error, likewise.
    ///
    /// # Errors
    /// Every error of [`real_total`](Self::real_total).
    pub fn reals(&self, slots: &[f64], deviation: f64) -> Result<(Vec<f64>, f64), ProgramError> {
        let Self::Real { exponent, error, .. } = self else { return Err(other("real numbers", "integers")) };
        let scale = exp2(*exponent);
        Ok((slots.iter().map(|s| s * scale).collect(), ERROR_DEVIATIONS * deviation * scale + error))
    }

    /// A sum that the server knew: exact, or a double with what roundings may have made of it.
    pub(crate) fn clear(&self, number: Number, layout: &Layout) -> Estimate {
        match (&number, self) {
            (Number::Real(_), Self::Real { exponent, error, .. }) => {
                let slots = (layout.chunks * layout.span) as f64;
                let rounding = f64::EPSILON * slots * (slots + ROUNDINGS) * exp2(*exponent);
                Estimate { number, error: rounding + slots * error }
            }
            _ => number.into(),
        }
    }

    /// A cell of a column that comes out, from its units.
    pub(crate) fn cell(&self, units: BigInt) -> Result<Estimate, ProgramError> {
        let Self::Exact { decimals, .. } = self else { return Err(other("integers", "real numbers")) };
        Ok(Number::scaled(units, *decimals).into())
    }
}

fn other(expected: &str, got: &str) -> ProgramError {
    ProgramError::mismatch("an output", expected, got)
}

/// Wide integers as texts: JSON has none of 128 bits.
pub(crate) mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        T::Err: Display,
    {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
