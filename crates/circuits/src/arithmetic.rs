//! What a circuit asks of a scheme.

use crate::{CircuitError, Rotation};

/// The result of an operation of `A`.
pub type Outcome<A, T> = Result<T, CircuitError<<A as Arithmetic>::Error>>;

/// A movement of a sum and the terms of that, a movement and what multiplies each.
pub type GiantStep<'a, Movement, A> = (Movement, Vec<(Movement, &'a <A as Arithmetic>::Multiplier)>);

/// Exact arithmetic on slots modulo t, encrypted or not: all that the circuits of this crate know of a scheme.
///
/// Slots form two rows of [`row_length`](Self::row_length); sums and products act slot by slot. BFV and BGV
/// implement it by their evaluators, and [`Clear`](crate::Clear) by plain vectors, counting what each operation
/// would cost.
///
/// A product is split where work can be shared: [`operand`](Self::operand) does what depends on one factor
/// alone, [`add_product`](Self::add_product) adds a product to a running sum, and [`finish`](Self::finish)
/// does once what a sum needs once (in BFV scaling, in both relinearisation) `[KPZ21, app. F]`.
pub trait Arithmetic: Sync {
    /// Encrypted slots.
    type Ciphertext: Clone + Send + Sync;
    /// Clear slots, encoded.
    type Plaintext: Send + Sync;
    /// Everything that evaluation needs besides public parameters.
    type Keys: Sync;
    /// What operations fail with.
    type Error: std::error::Error + Send + Sync + 'static;
    /// A ciphertext made ready to be multiplied with others.
    type Operand: Send + Sync;
    /// A sum of products on its way.
    type Sum: Send;
    /// A plaintext made ready to multiply ciphertexts.
    type Factor: Send + Sync;
    /// A plaintext made ready to multiply rotations of a ciphertext in a linear map.
    type Multiplier: Send + Sync;

    /// Slots in each of the two rows.
    fn row_length(&self) -> usize;
    /// The plaintext modulus t.
    fn plain_modulus(&self) -> u64;
    /// Bits left before decryption would refuse.
    fn bits_left(&self, a: &Self::Ciphertext) -> f64;
    /// Whether the keys relinearise.
    fn can_relinearize(&self, keys: &Self::Keys) -> bool;
    /// Whether the keys rotate by this much.
    fn can_rotate(&self, keys: &Self::Keys, rotation: Rotation) -> bool;

    /// a + b.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`], here and below, for operands the scheme refuses.
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Outcome<Self, Self::Ciphertext>;
    /// a − b.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Outcome<Self, Self::Ciphertext>;
    /// −a.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn negate(&self, a: &Self::Ciphertext) -> Outcome<Self, Self::Ciphertext>;
    /// a + m.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn add_plain(&self, a: &Self::Ciphertext, m: &Self::Plaintext) -> Outcome<Self, Self::Ciphertext>;
    /// a − m.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn sub_plain(&self, a: &Self::Ciphertext, m: &Self::Plaintext) -> Outcome<Self, Self::Ciphertext>;
    /// a + c in every slot.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn add_scalar(&self, a: &Self::Ciphertext, c: i64) -> Outcome<Self, Self::Ciphertext>;
    /// c·a.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply_scalar(&self, a: &Self::Ciphertext, c: i64) -> Outcome<Self, Self::Ciphertext>;

    /// Makes a plaintext ready for any number of products.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn factor(&self, m: &Self::Plaintext) -> Outcome<Self, Self::Factor>;
    /// Σ a_i·m_i.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`CircuitError::Empty`].
    fn sum_of_plain_products(
        &self,
        terms: &[(&Self::Ciphertext, &Self::Factor)],
    ) -> Outcome<Self, Self::Ciphertext>;

    /// Makes a plaintext ready for any number of linear maps.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiplier(&self, m: &Self::Plaintext) -> Outcome<Self, Self::Multiplier>;
    /// Σ_g rotate_g(Σ_b m_gb·rotate_b(a)) for steps of rows, g and terms (b, m_gb): a matrix times a vector by baby steps and giant steps.
    ///
    /// # Errors
    /// Every error of [`rotate`](Self::rotate); [`CircuitError::Empty`] without steps.
    fn linear_map<'a>(
        &self,
        a: &Self::Ciphertext,
        steps: &[GiantStep<'a, i64, Self>],
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext>;

    /// Does what a product asks of one factor alone.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn operand(&self, a: &Self::Ciphertext) -> Outcome<Self, Self::Operand>;
    /// sum ← sum + a·b, where none counts as zero. On an error the sum is not to be used.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn add_product(
        &self,
        sum: &mut Option<Self::Sum>,
        a: &Self::Operand,
        b: &Self::Operand,
    ) -> Outcome<Self, ()>;
    /// Turns a sum of products into a ciphertext that may be multiplied again.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`CircuitError::MissingRelinearizationKey`].
    fn finish(&self, sum: Self::Sum, keys: &Self::Keys) -> Outcome<Self, Self::Ciphertext>;

    /// a·b in three parts, to be relinearised later.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply_unrelinearized(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Outcome<Self, Self::Ciphertext>;
    /// Back from three parts to two.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    fn relinearize(&self, a: &Self::Ciphertext, keys: &Self::Keys) -> Outcome<Self, Self::Ciphertext>;

    /// Moves the slots.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add); [`CircuitError::MissingRotation`].
    fn rotate(
        &self,
        a: &Self::Ciphertext,
        rotation: Rotation,
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext>;

    /// Rotates the rows of one ciphertext by each of `steps`, sharing what the rotations have in common.
    ///
    /// # Errors
    /// Every error of [`rotate`](Self::rotate).
    fn rotate_many(
        &self,
        a: &Self::Ciphertext,
        steps: &[i64],
        keys: &Self::Keys,
    ) -> Outcome<Self, Vec<Self::Ciphertext>> {
        steps.iter().map(|&steps| self.rotate(a, Rotation::Rows(steps), keys)).collect()
    }

    /// a·m.
    ///
    /// # Errors
    /// Every error of [`add`](Self::add).
    fn multiply_plain(&self, a: &Self::Ciphertext, m: &Self::Plaintext) -> Outcome<Self, Self::Ciphertext> {
        self.sum_of_plain_products(&[(a, &self.factor(m)?)])
    }

    /// a·b, relinearised.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    fn multiply(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext> {
        self.sum_of_products(&[(a, b)], keys)
    }

    /// a·b for one that is multiplied next, not added to others: where levels are left by a modulus switch, that is done
    /// with the relinearisation.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    fn multiply_towards_product(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext> {
        self.multiply(a, b, keys)
    }

    /// a², relinearised.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish).
    fn square(&self, a: &Self::Ciphertext, keys: &Self::Keys) -> Outcome<Self, Self::Ciphertext> {
        let a = self.operand(a)?;
        let mut sum = None;
        self.add_product(&mut sum, &a, &a)?;
        self.finish(sum.ok_or(CircuitError::Empty { what: "a square" })?, keys)
    }

    /// Σ a_i·b_i, finished once.
    ///
    /// # Errors
    /// Every error of [`finish`](Self::finish); [`CircuitError::Empty`].
    fn sum_of_products(
        &self,
        terms: &[(&Self::Ciphertext, &Self::Ciphertext)],
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext> {
        let mut sum = None;
        for (a, b) in terms {
            self.add_product(&mut sum, &self.operand(a)?, &self.operand(b)?)?;
        }
        self.finish(sum.ok_or(CircuitError::Empty { what: "a sum of products" })?, keys)
    }
}

/// Arithmetic of which automorphisms X → X^k are known, in a ring of any index: what circuits on slots of GF(p^d) take besides.
pub trait Automorphisms: Arithmetic {
    /// Whether the keys apply this automorphism.
    fn can_apply(&self, keys: &Self::Keys, exponent: u64) -> bool;
    /// X → X^`exponent`.
    ///
    /// # Errors
    /// Every error of [`add`](Arithmetic::add); [`CircuitError::MissingAutomorphism`].
    fn automorphism(
        &self,
        a: &Self::Ciphertext,
        exponent: u64,
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext>;
    /// Σ_g σ_g(Σ_b m_gb·σ_b(a)) for exponents g and terms (b, m_gb): as [`linear_map`](Arithmetic::linear_map).
    ///
    /// # Errors
    /// Every error of [`automorphism`](Self::automorphism); [`CircuitError::Empty`] without steps.
    fn linear_map_by_exponents(
        &self,
        a: &Self::Ciphertext,
        steps: &[GiantStep<'_, u64, Self>],
        keys: &Self::Keys,
    ) -> Outcome<Self, Self::Ciphertext>;
    /// Several of one ciphertext, sharing what they have in common.
    ///
    /// # Errors
    /// Every error of [`automorphism`](Self::automorphism).
    fn automorphisms(
        &self,
        a: &Self::Ciphertext,
        exponents: &[u64],
        keys: &Self::Keys,
    ) -> Outcome<Self, Vec<Self::Ciphertext>>;
}

/// Fails unless the keys relinearise and rotate by all of `rotations`: called before any work is done.
pub(crate) fn check_keys<A: Arithmetic + ?Sized>(
    arithmetic: &A,
    keys: &A::Keys,
    relinearization: bool,
    rotations: impl IntoIterator<Item = Rotation>,
) -> Outcome<A, ()> {
    if relinearization && !arithmetic.can_relinearize(keys) {
        return Err(CircuitError::MissingRelinearizationKey);
    }
    let row = arithmetic.row_length();
    let missing = |rotation: &Rotation| {
        rotation.reduced(row).is_some_and(|rotation| !arithmetic.can_rotate(keys, rotation))
    };
    match rotations.into_iter().find(missing) {
        Some(rotation) => Err(CircuitError::MissingRotation { rotation }),
        None => Ok(()),
    }
}
