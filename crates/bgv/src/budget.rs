//! The declared operations of a BGV computation, and the operations that a ciphertext has used.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most multiplications by plaintexts in a row that are counted: more than noise allows, and what files have room for.
pub(crate) const MOST_PLAIN_PRODUCTS: usize = u32::MAX as usize;

/// Operations of one BGV level: between two multiplications, or before the first one.
///
/// ```
/// use sunzi_bgv::Operations;
///
/// let declared = Operations { additions: 7, rotations: 4, plain_products: 1 };
/// assert!(declared.covers(&Operations { additions: 3, ..Operations::default() }));
/// assert!(!declared.covers(&declared.and(&declared)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Operations {
    /// Number of additions: one less than the ciphertexts that are summed, a ciphertext times a constant c counting
    /// |c| times.
    pub additions: u64,
    /// Number of rotations and other key switches that enter a sum, relinearisations apart.
    pub rotations: u64,
    /// Number of multiplications by plaintexts in a row.
    pub plain_products: usize,
}

impl Operations {
    const UNLIMITED: Self =
        Self { additions: u64::MAX, rotations: u64::MAX, plain_products: MOST_PLAIN_PRODUCTS };

    /// Adds two counts of operations.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            additions: self.additions.saturating_add(other.additions),
            rotations: self.rotations.saturating_add(other.rotations),
            plain_products: self.plain_products.saturating_add(other.plain_products).min(MOST_PLAIN_PRODUCTS),
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether declared operations suffice for the operations `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.additions <= self.additions
            && other.rotations <= self.rotations
            && other.plain_products <= self.plain_products
    }
}

/// The operations that a BGV parameter set is made for, beside its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Operations before the first multiplication: n_add and n_ks of `[KPZ21, section 4]`.
    pub fresh: Operations,
    /// Operations after every multiplication: n′_add and n′_ks of `[KPZ21, section 4]`.
    pub per_level: Operations,
    /// Further operations after the last multiplication: they cost noise at the lowest level only.
    #[serde(skip_serializing_if = "Operations::is_none")]
    pub last: Operations,
}

impl Budget {
    /// A budget without limits, for moduli chosen by hand: no operation is undeclared, noise bounds alone decide.
    pub const UNLIMITED: Self = Self {
        fresh: Operations::UNLIMITED,
        per_level: Operations::UNLIMITED,
        last: Operations { additions: 0, rotations: 0, plain_products: 0 },
    };

    /// The budget of dynamic switching: no operation is undeclared, and a product takes its operands at the modulus
    /// that leaves it most bits, by the noise bounds that they carry.
    pub const DYNAMIC: Self =
        Self { fresh: Operations::UNLIMITED, per_level: Operations::UNLIMITED, last: Operations::UNLIMITED };

    /// Whether the moduli of products follow the noise of their operands, not their levels.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        *self == Self::DYNAMIC
    }

    /// The operations that a budget declares for a level of a parameter set of depth `depth`.
    #[must_use]
    pub fn at(&self, level: usize, depth: usize) -> Operations {
        match level {
            level if level >= depth => self.fresh,
            0 => self.per_level.and(&self.last),
            _ => self.per_level,
        }
    }
}

/// Operations that went into a BGV ciphertext since its last multiplication or modulus switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Number of ciphertexts summed.
    pub(crate) terms: u64,
    /// Number of key switches in the sum of ciphertexts.
    pub(crate) rotations: u64,
    /// Number of multiplications by plaintexts in a row.
    pub(crate) plain_products: usize,
}

impl Usage {
    /// The usage of one ciphertext without any operation.
    pub(crate) const ONE: Self = Self { terms: 1, rotations: 0, plain_products: 0 };

    /// Converts the usage to operations: one addition fewer than there are terms.
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

    /// The usage of a product with a constant of absolute value `factor`.
    pub(crate) fn times(&self, factor: u64) -> Self {
        let factor = factor.max(1);
        Self {
            terms: self.terms.saturating_mul(factor),
            rotations: self.rotations.saturating_mul(factor),
            plain_products: self.plain_products,
        }
    }

    /// The excess of `operation` over the `declared` operations, if its result has used more than these.
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

/// Excess: an operation that a BGV budget does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Name of the undeclared operation.
    pub operation: &'static str,
    /// Level of the undeclared operation: multiplications that its result allows.
    pub level: usize,
    /// Whether the undeclared operation came before the first multiplication.
    pub fresh: bool,
    /// Operations that the result has used at its level.
    pub used: Operations,
    /// Operations that the budget declares for the level.
    pub declared: Operations,
}

/// Writes the excess as text: "add at level 3 makes 12 additions where 7 are declared: declare
/// additions_per_level(12)".
impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, level, fresh, used, declared } = self;
        let pairs = [
            ("additions", used.additions, declared.additions),
            ("rotations", used.rotations, declared.rotations),
            ("plain_products", used.plain_products as u64, declared.plain_products as u64),
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
