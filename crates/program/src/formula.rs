//! Finishing formulas: what the key holder computes from decrypted totals, in the clear.

use serde::{Deserialize, Serialize};

use crate::{Decimal, NodeId, Number};

/// A number made of totals. Servers never divide: means, variances and correlations are formulas of sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Formula {
    /// A constant.
    Number(Decimal),
    /// The number of rows.
    Rows,
    /// The sum of a node over all rows.
    Total(NodeId),
    /// a + b.
    Add(Box<Formula>, Box<Formula>),
    /// a − b.
    Subtract(Box<Formula>, Box<Formula>),
    /// a·b.
    Multiply(Box<Formula>, Box<Formula>),
    /// a/b; nothing for b = 0.
    Divide(Box<Formula>, Box<Formula>),
    /// √a; nothing for a < 0.
    SquareRoot(Box<Formula>),
}

/// Formulas nested deeper than this are refused: each level is two of JSON, whose reader allows 128.
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

    /// How deep it is nested.
    pub(crate) fn depth(&self) -> usize {
        1 + self.parts().into_iter().flatten().map(Self::depth).max().unwrap_or(0)
    }

    /// How many parts it has.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().into_iter().flatten().map(Self::size).sum::<usize>()
    }

    /// The totals it needs.
    #[must_use]
    pub fn totals(&self) -> Vec<NodeId> {
        match self {
            Self::Total(id) => vec![*id],
            _ => self.parts().into_iter().flatten().flat_map(Self::totals).collect(),
        }
    }

    /// Its value, if it has one: exact as long as totals are and no root is taken.
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
