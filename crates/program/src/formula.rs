//! Formulas that the key holder evaluates on decrypted totals, in the clear.

use serde::{Deserialize, Serialize};

use crate::{Decimal, NodeId, Number};

/// Number computed from totals. Servers never divide: means, variances and correlations are formulas of sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Formula {
    /// Constant of a formula.
    Number(Decimal),
    /// Number of rows of the table.
    Rows,
    /// Sum of a node over all rows.
    Total(NodeId),
    /// Sum a + b of two formulas.
    Add(Box<Formula>, Box<Formula>),
    /// Difference a − b of two formulas.
    Subtract(Box<Formula>, Box<Formula>),
    /// Product a·b of two formulas.
    Multiply(Box<Formula>, Box<Formula>),
    /// Quotient a/b of two formulas; undefined for b = 0.
    Divide(Box<Formula>, Box<Formula>),
    /// Square root √a of a formula; undefined for a < 0.
    SquareRoot(Box<Formula>),
}

/// Largest nesting depth of a formula: each level takes two levels of JSON, whose reader allows 128.
pub(crate) const DEEPEST: usize = 58;

impl Formula {
    pub(crate) fn add(self, other: Self) -> Self {
        Self::Add(Box::new(self), Box::new(other))
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        Self::Subtract(Box::new(self), Box::new(other))
    }

    pub(crate) fn multiply(self, other: Self) -> Self {
        Self::Multiply(Box::new(self), Box::new(other))
    }

    pub(crate) fn divide(self, other: Self) -> Self {
        Self::Divide(Box::new(self), Box::new(other))
    }

    pub(crate) fn square_root(self) -> Self {
        Self::SquareRoot(Box::new(self))
    }

    fn parts(&self) -> [Option<&Self>; 2] {
        match self {
            Self::Number(_) | Self::Rows | Self::Total(_) => [None, None],
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) | Self::Divide(a, b) => {
                [Some(a), Some(b)]
            }
            Self::SquareRoot(a) => [Some(a), None],
        }
    }

    /// Returns the nesting depth of the formula.
    pub(crate) fn depth(&self) -> usize {
        1 + self.parts().into_iter().flatten().map(Self::depth).max().unwrap_or(0)
    }

    /// Returns the number of parts of the formula.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().into_iter().flatten().map(Self::size).sum::<usize>()
    }

    /// Returns the nodes whose totals the formula reads.
    #[must_use]
    pub fn totals(&self) -> Vec<NodeId> {
        match self {
            Self::Total(id) => vec![*id],
            _ => self.parts().into_iter().flatten().flat_map(Self::totals).collect(),
        }
    }

    /// Returns the formula's value, if it has one: exact as long as totals are exact and no root is taken.
    pub fn value(&self, rows: u64, total: &impl Fn(NodeId) -> Option<Number>) -> Option<Number> {
        let of = |formula: &Self| formula.value(rows, total);
        match self {
            Self::Number(number) => Some((*number).into()),
            Self::Rows => Some(Number::scaled(rows.into(), 0)),
            Self::Total(id) => total(*id),
            Self::Add(a, b) => Some(of(a)?.add(&of(b)?)),
            Self::Subtract(a, b) => Some(of(a)?.sub(&of(b)?)),
            Self::Multiply(a, b) => Some(of(a)?.multiply(&of(b)?)),
            Self::Divide(a, b) => of(a)?.divide(&of(b)?),
            Self::SquareRoot(a) => of(a)?.square_root(),
        }
    }
}
