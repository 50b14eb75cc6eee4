//! Openings: how the key holder reads decrypted numbers, with their units, padding and errors.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use sunzi_math::Crt;

use crate::analysis::{Facts, Layout, SchemeChoice, exact_facts, exp2, facts};
use crate::contexts::{Digits, Form};
use crate::estimate::Estimate;
use crate::{Node, NodeId, Number, Plan, Program, ProgramError};

/// Opening of an output node: how its decrypted numbers are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Opening {
    /// Opening of integers in units of the last decimal.
    Exact {
        /// Number of decimals of the opened integers.
        decimals: u32,
        /// Value of the node in slots that belong to no row, in units of the last decimal.
        #[serde(with = "text")]
        padding: i128,
    },
    /// Opening of encrypted integers in units of the last decimal, whose range says in how many digits they are.
    Digits {
        /// Number of decimals of the opened integers.
        decimals: u32,
        /// Value of the node in slots that belong to no row, in units of the last decimal.
        #[serde(with = "text")]
        padding: i128,
        /// Least number of units.
        #[serde(with = "text")]
        low: i128,
        /// Largest number of units.
        #[serde(with = "text")]
        high: i128,
        /// Whether the total is a sum over all slots, and not one number.
        summed: bool,
    },
    /// Opening of real numbers divided by 2^exponent.
    Real {
        /// Exponent of the power of two that the numbers are divided by.
        exponent: i32,
        /// Value of the node in slots that belong to no row, divided by 2^exponent.
        padding: f64,
        /// Bound on the error that polynomials cause in the node, not divided by 2^exponent.
        error: f64,
    },
}

/// Number of standard deviations of a stated error: a normal distribution has 2^-40.6 beyond them on both sides
/// together. Errors in slots are sums of thousands of independent small ones, so they are modelled as normal.
pub const ERROR_DEVIATIONS: f64 = 7.2;

/// Upper bound on the roundings of a number that an expression computes in the clear.
const ROUNDINGS: f64 = 4096.0;

impl Opening {
    /// Returns the openings of all output nodes of a program that is run exactly.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for nodes that are not exact.
    pub fn exact(program: &Program) -> Result<BTreeMap<NodeId, Self>, ProgramError> {
        let facts = facts(&program.with_tables());
        let opening = |id: NodeId| Ok((id, Self::of_exact(&facts, id)?));
        program.totals().into_iter().chain(program.columns()).map(opening).collect()
    }

    /// Returns the openings of all output nodes of a program that is run on encrypted integers.
    ///
    /// # Errors
    /// Every error of [`exact`](Self::exact).
    pub fn digits(program: &Program) -> Result<BTreeMap<NodeId, Self>, ProgramError> {
        let facts = exact_facts(program);
        let none = || ProgramError::Invalid("a node is not exact: take CKKS".to_owned());
        let opening = |id| Ok((id, Self::of_digits(program, &facts, id).ok_or_else(none)?));
        program.totals().into_iter().chain(program.columns()).map(opening).collect()
    }

    /// Returns the opening of a node of encrypted integers; `None` for a node that is not exact.
    pub(crate) fn of_digits(program: &Program, facts: &[Facts], id: NodeId) -> Option<Self> {
        let exact = facts.get(id.index())?.exact?;
        let summed = !matches!(program.graph().node(id), Some(Node::Kth { .. }));
        let (low, high) = (exact.low.min(exact.padding), exact.high.max(exact.padding));
        Some(Self::Digits { decimals: exact.decimals, padding: exact.padding, low, high, summed })
    }

    /// Returns the range of a total in units, which is that of a sum over all slots of a layout, padding included.
    pub(crate) fn total_range(&self, layout: &Layout) -> Option<[i128; 2]> {
        let Self::Digits { low, high, summed, .. } = self else { return None };
        let slots = if *summed { layout.chunks.checked_mul(layout.span)? as i128 } else { 1 };
        Some([low.checked_mul(slots)?, high.checked_mul(slots)?])
    }

    /// Returns the total of digits, with the padding subtracted.
    pub(crate) fn digits_total(&self, layout: &Layout, digits: &Digits) -> Result<Number, ProgramError> {
        let Self::Digits { decimals, padding, summed, .. } = self else {
            return Err(other("encrypted integers", "others"));
        };
        let form = self.total_range(layout).and_then(|[low, high]| Form::holding(low, high));
        let units = digits.units(form.ok_or_else(|| other("64 bits", "more"))?, 0)?;
        let slots = if *summed { layout.padding() } else { 0 };
        Ok(Number::scaled(BigInt::from(units) - BigInt::from(*padding) * slots, *decimals))
    }

    /// Returns the number of a cell of an output column of digits.
    pub(crate) fn digits_cell(&self, digits: &Digits, at: usize) -> Result<Estimate, ProgramError> {
        let Self::Digits { decimals, low, high, .. } = self else {
            return Err(other("encrypted integers", "others"));
        };
        let form = Form::holding(*low, *high).ok_or_else(|| other("64 bits", "more"))?;
        Ok(Number::scaled(digits.units(form, at)?.into(), *decimals).into())
    }

    pub(crate) fn of_exact(facts: &[Facts], id: NodeId) -> Result<Self, ProgramError> {
        let not_exact = || ProgramError::Invalid("a node is not exact: take CKKS".to_owned());
        facts.get(id.index()).and_then(Self::of_facts).ok_or_else(not_exact)
    }

    /// Returns the opening of a node with these facts; `None` for a node that is not exact.
    pub(crate) fn of_facts(facts: &Facts) -> Option<Self> {
        facts.exact.map(|exact| Self::Exact { decimals: exact.decimals, padding: exact.padding })
    }

    /// Whether two openings read numbers alike: exact ones are equal, those of CKKS differ by roundings at most.
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

    /// Returns the openings of all output nodes of a plan.
    ///
    /// # Errors
    /// Every error of [`exact`](Self::exact).
    pub fn of(plan: &Plan) -> Result<BTreeMap<NodeId, Self>, ProgramError> {
        if plan.parameters.scheme() == SchemeChoice::Integers {
            return Self::digits(&plan.program);
        }
        let Some(lowered) = &plan.lowered else { return Self::exact(&plan.program) };
        let opening = |id: NodeId| {
            let missing = || ProgramError::Invalid("a node is not in the plan".to_owned());
            let step = lowered.step(id).ok_or_else(missing)?;
            let (exponent, padding, error) = (step.exponent, step.padding, step.error);
            Ok((id, Self::Real { exponent, padding, error }))
        };
        plan.program.totals().into_iter().chain(plan.program.columns()).map(opening).collect()
    }

    /// Returns the total of a sum from its residues modulo each plaintext modulus, with the padding subtracted.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for invalid residues; [`ProgramError::Mismatch`] for a node of CKKS.
    pub fn total(&self, layout: &Layout, crt: &Crt, residues: &[u64]) -> Result<Number, ProgramError> {
        let sum = crt.reconstruct_centered(residues).map_err(ProgramError::scheme)?;
        let Self::Exact { padding, decimals } = self else { return Err(other("integers", "real numbers")) };
        let padding = BigInt::from(*padding) * BigInt::from(layout.padding());
        // Modulo the plaintext moduli the sum with padding may have wrapped around; without it, it does not.
        let without = crt.residues(&(sum - padding));
        let total = crt.reconstruct_centered(&without).map_err(ProgramError::scheme)?;
        Ok(Number::scaled(total, *decimals))
    }

    /// Returns the total of a sum that the server knows in units, with the padding subtracted.
    ///
    /// # Errors
    /// Every error of [`total`](Self::total).
    pub(crate) fn clear_total(&self, layout: &Layout, sum: &BigInt) -> Result<Number, ProgramError> {
        let (Self::Exact { padding, decimals } | Self::Digits { padding, decimals, .. }) = self else {
            return Err(other("integers", "real numbers"));
        };
        Ok(Number::scaled(sum - BigInt::from(*padding) * BigInt::from(layout.padding()), *decimals))
    }

    /// Returns the total of a sum of CKKS whose slots have this standard deviation, with the padding subtracted.
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

    /// Returns the numbers of a chunk of a CKKS column, and the bound of their errors.
    ///
    /// # Errors
    /// Every error of [`real_total`](Self::real_total).
    pub fn reals(&self, slots: &[f64], deviation: f64) -> Result<(Vec<f64>, f64), ProgramError> {
        let Self::Real { exponent, error, .. } = self else { return Err(other("real numbers", "integers")) };
        let scale = exp2(*exponent);
        Ok((slots.iter().map(|s| s * scale).collect(), ERROR_DEVIATIONS * deviation * scale + error))
    }

    /// Returns the estimate of a sum that the server knows: exact, or a double with a bound on its roundings.
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

    /// Returns the number of a cell of an output column, from its units.
    pub(crate) fn cell(&self, units: BigInt) -> Result<Estimate, ProgramError> {
        let Self::Exact { decimals, .. } = self else { return Err(other("integers", "real numbers")) };
        Ok(Number::scaled(units, *decimals).into())
    }
}

fn other(expected: &str, got: &str) -> ProgramError {
    ProgramError::mismatch("an output", expected, got)
}

/// Serialises wide integers as texts, since JSON has none of 128 bits.
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
