//! What is declared of a BGV computation, and what a ciphertext has used of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Operations of one level: between two multiplications, or before the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Operations {
    /// Additions: one less than the ciphertexts that are summed, a ciphertext times a constant c counting |c| times.
    pub additions: u64,
    /// Rotations and other key switches that enter a sum, relinearisations apart.
    pub rotations: u64,
    /// Multiplications by plaintexts in a row.
    pub plain_products: u32,
}

impl Operations {
    const UNLIMITED: Self = Self { additions: u64::MAX, rotations: u64::MAX, plain_products: u32::MAX };

    /// These operations and `other` together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            additions: self.additions.saturating_add(other.additions),
            rotations: self.rotations.saturating_add(other.rotations),
            plain_products: self.plain_products.saturating_add(other.plain_products),
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether these operations suffice for `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.additions <= self.additions
            && other.rotations <= self.rotations
            && other.plain_products <= self.plain_products
    }
}

/// The computation a parameter set is made for, beside its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Operations before the first multiplication: n_add and n_ks of `[KPZ21, section 4]`.
    pub fresh: Operations,
    /// Operations after every multiplication: n′_add and n′_ks.
    pub per_level: Operations,
    /// Operations after the last multiplication besides: what they cost is paid once, not at every level.
    #[serde(skip_serializing_if = "Operations::is_none")]
    pub last: Operations,
}

impl Budget {
    /// Nothing is refused because it was not declared: noise bounds alone decide. For moduli chosen by hand.
    pub const UNLIMITED: Self = Self {
        fresh: Operations::UNLIMITED,
        per_level: Operations::UNLIMITED,
        last: Operations { additions: 0, rotations: 0, plain_products: 0 },
    };

    /// What is declared for a level of a parameter set of this depth.
    #[must_use]
    pub fn at(&self, level: usize, depth: usize) -> Operations {
        match level {
            level if level >= depth => self.fresh,
            0 => self.per_level.and(&self.last),
            _ => self.per_level,
        }
    }
}

/// What went into a ciphertext since its last multiplication or modulus switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Number of ciphertexts summed.
    pub(crate) terms: u64,
    /// Number of key switches in the sum of ciphertexts.
    pub(crate) rotations: u64,
    /// Number of multiplications by plaintexts in a row.
    pub(crate) plain_products: u32,
}

impl Usage {
    /// The usage of one ciphertext to which nothing was done.
    pub(crate) const ONE: Self = Self { terms: 1, rotations: 0, plain_products: 0 };

    /// These counts as operations: one addition fewer than there are terms.
    #[must_use]
    pub fn operations(&self) -> Operations {
        let (rotations, plain_products) = (self.rotations, self.plain_products);
        Operations { additions: self.terms.saturating_sub(1), rotations, plain_products }
    }

    /// The usage of a sum of two ciphertexts.
    pub(crate) fn sum(&self, other: &Self) -> Self {
        Self {
            terms: self.terms.saturating_add(other.terms),
            rotations: self.rotations.saturating_add(other.rotations),
            plain_products: self.plain_products.max(other.plain_products),
        }
    }

    /// The usage of a product with a constant of this absolute value.
    pub(crate) fn times(&self, factor: u64) -> Self {
        let factor = factor.max(1);
        Self {
            terms: self.terms.saturating_mul(factor),
            rotations: self.rotations.saturating_mul(factor),
            plain_products: self.plain_products,
        }
    }

    /// The excess of `operation` whose result has this usage, if that is beyond `declared`.
    pub(crate) fn excess(
        &self,
        operation: &'static str,
        level: usize,
        fresh: bool,
        declared: &Operations,
    ) -> Option<Excess> {
        let used = self.operations();
        let excess = Excess { operation, level, fresh, used, declared: *declared };
        (!declared.covers(&used)).then_some(excess)
    }
}

/// An operation beyond what was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Name of the operation.
    pub operation: &'static str,
    /// The level the operation happened at: multiplications its result allows.
    pub level: usize,
    /// Whether the operation came before the first multiplication.
    pub fresh: bool,
    /// What the result of the operation had used at its level.
    pub used: Operations,
    /// What was declared for the level.
    pub declared: Operations,
}

/// The excess as text: "add at level 3 makes 12 additions where 7 are declared: declare additions_per_level(12)".
impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, level, fresh, used, declared } = self;
        let pairs = [
            ("additions", used.additions, declared.additions),
            ("rotations", used.rotations, declared.rotations),
            ("plain_products", used.plain_products.into(), declared.plain_products.into()),
        ];
        let Some((what, used, declared)) = pairs.into_iter().find(|(_, used, declared)| used > declared)
        else {
            return write!(f, "{operation} at level {level} is within what was declared");
        };
        let setting = if *fresh { format!("fresh_{what}") } else { format!("{what}_per_level") };
        write!(
            f,
            "{operation} at level {level} makes {used} {} where {declared} are declared: declare {setting}({used})",
            what.replace('_', " ")
        )
    }
}
