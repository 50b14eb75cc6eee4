//! Dry run of circuits over clear vectors, with every operation counted.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sunzi_bgv::{Budget, Operations};

use crate::{Arithmetic, CircuitError, GiantStep, Outcome, Rotation};

/// Counts of the operations of a circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tensor products of two ciphertexts, squares among them.
    pub products: usize,
    /// Tensor products of an operand with itself, which are squares.
    pub squares: usize,
    /// Sums of products that were scaled: in BFV, what lazy scaling saves.
    pub scalings: usize,
    /// Relinearisations of products and of sums.
    pub relinearizations: usize,
    /// Products of ciphertexts with plaintexts.
    pub plain_products: usize,
    /// Products of ciphertexts with constants.
    pub scalar_products: usize,
    /// Additions and subtractions of ciphertexts and plaintexts.
    pub additions: usize,
    /// Rotations of ciphertexts, one by one or together.
    pub rotations: usize,
    /// Rotations that shared their decomposition with others.
    pub hoisted: usize,
    /// Decompositions: one for a rotation on its own, one for all rotations of a ciphertext together.
    pub decompositions: usize,
    /// Rotations that occurred: those to make Galois keys for.
    pub rotated_by: BTreeSet<Rotation>,
    /// Largest number of operations between two multiplications: what to declare for BGV.
    pub budget: Budget,
}

/// Clear vectors in the place of ciphertexts: an oracle for every circuit, and a way to learn its depth, its
/// costs, the keys and the BGV parameters it needs before anything is encrypted.
///
/// ```
/// use sunzi_circuits::{Clear, ClearKeys, product_tree};
///
/// let clear = Clear::new(4, 257);
/// let factors: Vec<_> = (1..=7).map(|x| clear.encrypt(&[x, 1])).collect();
/// let product = product_tree::product(&clear, &factors, &ClearKeys::all())?;
/// assert_eq!(product.slots()[..2], [5040 % 257, 1]);
/// assert_eq!((product.depth(), clear.counts().relinearizations), (3, 6));
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
#[derive(Debug)]
pub struct Clear {
    row_length: usize,
    plain_modulus: u64,
    counts: Mutex<Counts>,
}

/// A clear vector in place of a ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearCiphertext {
    slots: Vec<u64>,
    depth: usize,
    relinearized: bool,
    /// Operations on the value since its last multiplication, as BGV counts.
    used: Operations,
}

impl ClearCiphertext {
    /// Values of all slots, row 0 first.
    #[must_use]
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// Number of products of ciphertexts in a row that led to the value.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Operations on the value since the last of its products, as BGV counts.
    #[must_use]
    pub fn used(&self) -> Operations {
        self.used
    }
}

/// Keys of a dry run, by what they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearKeys {
    /// Whether the keys relinearise products.
    pub relinearization: bool,
    /// Rotations that have keys, reduced modulo the row length; none means all of them.
    pub rotations: Option<BTreeSet<Rotation>>,
}

impl ClearKeys {
    /// Makes keys for every operation.
    #[must_use]
    pub fn all() -> Self {
        Self { relinearization: true, rotations: None }
    }

    /// Makes a relinearisation key, and keys for these rotations of rows of `row_length` slots.
    #[must_use]
    pub fn for_rotations(rotations: impl IntoIterator<Item = Rotation>, row_length: usize) -> Self {
        let reduced = rotations.into_iter().filter_map(|rotation| rotation.reduced(row_length));
        Self { relinearization: true, rotations: Some(reduced.collect()) }
    }
}

/// Operands that the dry run refuses, as schemes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClearError {
    /// An operand has other slots than the arithmetic.
    #[error("{got} slots, there are {expected}: encrypt and encode with this arithmetic")]
    SlotCount {
        /// Number of slots of the arithmetic.
        expected: usize,
        /// Number of slots of the operand.
        got: usize,
    },
    /// An operand was not relinearised.
    #[error("an operand has three parts: relinearize it first")]
    NotRelinearized,
}

impl From<ClearError> for CircuitError<ClearError> {
    fn from(error: ClearError) -> Self {
        Self::Scheme(error)
    }
}

impl Clear {
    /// Makes the arithmetic of two rows of `row_length` slots modulo `plain_modulus`.
    #[must_use]
    pub fn new(row_length: usize, plain_modulus: u64) -> Self {
        Self { row_length, plain_modulus: plain_modulus.max(1), counts: Mutex::default() }
    }

    /// Returns these numbers modulo t, in the place of a fresh ciphertext; missing ones count as zero, and
    /// those beyond the slots are left out.
    #[must_use]
    pub fn encrypt(&self, values: &[u64]) -> ClearCiphertext {
        let used = Operations::default();
        ClearCiphertext { slots: self.encode(values), depth: 0, relinearized: true, used }
    }

    /// Returns these numbers modulo t, in the place of a plaintext; missing ones count as zero.
    #[must_use]
    pub fn encode(&self, values: &[u64]) -> Vec<u64> {
        let reduced = values.iter().map(|value| value % self.plain_modulus);
        reduced.chain(std::iter::repeat(0)).take(2 * self.row_length).collect()
    }

    /// Counts of the operations done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, slots: &[u64]) -> Result<(), ClearError> {
        let (expected, got) = (2 * self.row_length, slots.len());
        if got == expected { Ok(()) } else { Err(ClearError::SlotCount { expected, got }) }
    }

    fn two_parts(&self, a: &ClearCiphertext) -> Result<(), ClearError> {
        self.check(&a.slots)?;
        if a.relinearized { Ok(()) } else { Err(ClearError::NotRelinearized) }
    }

    /// Returns f(a_i, b_i) modulo t for every slot i.
    fn join(&self, a: &[u64], b: &[u64], f: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let t = u128::from(self.plain_modulus);
        a.iter().zip(b).map(|(&x, &y)| (f(x.into(), y.into()) % t) as u64).collect()
    }

    fn sum(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> ClearCiphertext {
        let depth = a.depth.max(b.depth);
        // What comes from a higher level is switched, and starts anew.
        let brought = |c: &ClearCiphertext| if c.depth == depth { c.used } else { Operations::default() };
        let (left, right) = (brought(a), brought(b));
        self.noted(ClearCiphertext {
            slots: self.join(&a.slots, &b.slots, |x, y| x + y),
            depth,
            relinearized: a.relinearized && b.relinearized,
            used: Operations {
                additions: left.additions.saturating_add(right.additions).saturating_add(1),
                rotations: left.rotations.saturating_add(right.rotations),
                plain_products: left.plain_products.max(right.plain_products),
            },
        })
    }

    /// Raises the budget of operations to what a value has used.
    fn noted(&self, a: ClearCiphertext) -> ClearCiphertext {
        let mut counts = self.lock();
        let declared = if a.depth == 0 { &mut counts.budget.fresh } else { &mut counts.budget.per_level };
        declared.additions = declared.additions.max(a.used.additions);
        declared.rotations = declared.rotations.max(a.used.rotations);
        declared.plain_products = declared.plain_products.max(a.used.plain_products);
        a
    }

    fn residue(&self, c: i64) -> u64 {
        i128::from(c).rem_euclid(self.plain_modulus.into()) as u64
    }

    fn map(a: &ClearCiphertext, f: impl FnOnce(&[u64]) -> Vec<u64>) -> ClearCiphertext {
        ClearCiphertext { slots: f(&a.slots), ..*a }
    }

    /// Rotates a clear vector without counting a decomposition.
    fn moved(
        &self,
        a: &ClearCiphertext,
        rotation: Rotation,
        keys: &ClearKeys,
    ) -> Outcome<Self, ClearCiphertext> {
        self.two_parts(a)?;
        let Some(reduced) = rotation.reduced(self.row_length) else { return Ok(a.clone()) };
        if !self.can_rotate(keys, reduced) {
            return Err(CircuitError::MissingRotation { rotation });
        }
        let mut counts = self.lock();
        counts.rotations += 1;
        counts.rotated_by.insert(reduced);
        drop(counts);
        let mut slots = a.slots.clone();
        match reduced {
            Rotation::Columns => slots.rotate_left(self.row_length),
            Rotation::Rows(steps) => {
                slots.chunks_mut(self.row_length).for_each(|row| row.rotate_left(steps as usize));
            }
        }
        let used = Operations { rotations: a.used.rotations.saturating_add(1), ..a.used };
        Ok(self.noted(ClearCiphertext { slots, used, ..*a }))
    }
}

impl Arithmetic for Clear {
    type Ciphertext = ClearCiphertext;
    type Plaintext = Vec<u64>;
    type Keys = ClearKeys;
    type Error = ClearError;
    type Operand = ClearCiphertext;
    type Sum = ClearCiphertext;
    type Factor = Vec<u64>;
    type Multiplier = Vec<u64>;

    fn row_length(&self) -> usize {
        self.row_length
    }

    fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    fn bits_left(&self, _: &ClearCiphertext) -> f64 {
        f64::INFINITY
    }

    fn can_relinearize(&self, keys: &ClearKeys) -> bool {
        keys.relinearization
    }

    fn can_rotate(&self, keys: &ClearKeys, rotation: Rotation) -> bool {
        let has = |reduced| keys.rotations.as_ref().is_none_or(|rotations| rotations.contains(&reduced));
        rotation.reduced(self.row_length).is_none_or(has)
    }

    fn add(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Outcome<Self, ClearCiphertext> {
        self.check(&a.slots)?;
        self.check(&b.slots)?;
        self.lock().additions += 1;
        Ok(self.sum(a, b))
    }

    fn sub(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Outcome<Self, ClearCiphertext> {
        self.add(a, &Arithmetic::negate(self, b)?)
    }

    fn negate(&self, a: &ClearCiphertext) -> Outcome<Self, ClearCiphertext> {
        self.check(&a.slots)?;
        let t = self.plain_modulus;
        Ok(Self::map(a, |slots| slots.iter().map(|x| (t - x) % t).collect()))
    }

    fn add_plain(&self, a: &ClearCiphertext, m: &Vec<u64>) -> Outcome<Self, ClearCiphertext> {
        self.check(&a.slots)?;
        self.check(m)?;
        self.lock().additions += 1;
        Ok(Self::map(a, |slots| self.join(slots, m, |x, y| x + y)))
    }

    fn sub_plain(&self, a: &ClearCiphertext, m: &Vec<u64>) -> Outcome<Self, ClearCiphertext> {
        self.check(m)?;
        let t = self.plain_modulus;
        let negated: Vec<u64> = m.iter().map(|x| (t - x % t) % t).collect();
        self.add_plain(a, &negated)
    }

    fn add_scalar(&self, a: &ClearCiphertext, c: i64) -> Outcome<Self, ClearCiphertext> {
        self.add_plain(a, &vec![self.residue(c); 2 * self.row_length])
    }

    fn multiply_scalar(&self, a: &ClearCiphertext, c: i64) -> Outcome<Self, ClearCiphertext> {
        self.check(&a.slots)?;
        self.lock().scalar_products += 1;
        let residue = self.residue(c);
        let size = residue.min(self.plain_modulus - residue).max(1);
        let c = vec![residue; 2 * self.row_length];
        let mut product = Self::map(a, |slots| self.join(slots, &c, |x, y| x * y));
        // A sum of |c| copies.
        product.used.additions = a.used.additions.saturating_add(1).saturating_mul(size) - 1;
        product.used.rotations = a.used.rotations.saturating_mul(size);
        Ok(self.noted(product))
    }

    fn factor(&self, m: &Vec<u64>) -> Outcome<Self, Vec<u64>> {
        self.check(m)?;
        Ok(m.clone())
    }

    fn sum_of_plain_products(
        &self,
        terms: &[(&ClearCiphertext, &Vec<u64>)],
    ) -> Outcome<Self, ClearCiphertext> {
        let mut sum: Option<ClearCiphertext> = None;
        for &(a, m) in terms {
            self.check(&a.slots)?;
            self.lock().plain_products += 1;
            let mut term = Self::map(a, |slots| self.join(slots, m, |x, y| x * y));
            term.used.plain_products = a.used.plain_products.saturating_add(1);
            let term = self.noted(term);
            sum = Some(sum.map_or_else(|| term.clone(), |sum| self.sum(&sum, &term)));
        }
        self.lock().additions += terms.len().saturating_sub(1);
        sum.ok_or(CircuitError::Empty { what: "a sum of products with plaintexts" })
    }

    fn multiplier(&self, m: &Vec<u64>) -> Outcome<Self, Vec<u64>> {
        self.factor(m)
    }

    fn linear_map(
        &self,
        a: &ClearCiphertext,
        steps: &[GiantStep<'_, i64, Self>],
        keys: &ClearKeys,
    ) -> Outcome<Self, ClearCiphertext> {
        let babies: BTreeSet<i64> =
            steps.iter().flat_map(|(_, terms)| terms).map(|&(baby, _)| baby).collect();
        let babies: Vec<i64> = babies.into_iter().collect();
        let turned = self.rotate_many(a, &babies, keys)?;
        let of_baby = |baby: i64| babies.binary_search(&baby).ok().and_then(|place| turned.get(place));
        let mut sum: Option<ClearCiphertext> = None;
        for (giant, terms) in steps {
            let terms: Vec<_> = terms.iter().filter_map(|&(baby, m)| Some((of_baby(baby)?, m))).collect();
            let inner = self.sum_of_plain_products(&terms)?;
            let part = self.rotate(&inner, Rotation::Rows(*giant), keys)?;
            sum = Some(sum.map_or_else(|| Ok(part.clone()), |sum| Arithmetic::add(self, &sum, &part))?);
        }
        sum.ok_or(CircuitError::Empty { what: "a linear map" })
    }

    fn operand(&self, a: &ClearCiphertext) -> Outcome<Self, ClearCiphertext> {
        self.two_parts(a)?;
        Ok(a.clone())
    }

    fn add_product(
        &self,
        sum: &mut Option<ClearCiphertext>,
        a: &ClearCiphertext,
        b: &ClearCiphertext,
    ) -> Outcome<Self, ()> {
        let product = ClearCiphertext {
            slots: self.join(&a.slots, &b.slots, |x, y| x * y),
            depth: a.depth.max(b.depth) + 1,
            relinearized: false,
            used: Operations::default(),
        };
        let mut counts = self.lock();
        counts.products += 1;
        counts.squares += usize::from(std::ptr::eq(a, b));
        counts.additions += usize::from(sum.is_some());
        drop(counts);
        *sum = Some(sum.as_ref().map_or_else(|| product.clone(), |sum| self.sum(sum, &product)));
        Ok(())
    }

    fn finish(&self, sum: ClearCiphertext, keys: &ClearKeys) -> Outcome<Self, ClearCiphertext> {
        self.lock().scalings += 1;
        Arithmetic::relinearize(self, &sum, keys)
    }

    fn multiply_unrelinearized(
        &self,
        a: &ClearCiphertext,
        b: &ClearCiphertext,
    ) -> Outcome<Self, ClearCiphertext> {
        let mut sum = None;
        self.add_product(&mut sum, &self.operand(a)?, &self.operand(b)?)?;
        self.lock().scalings += 1;
        sum.ok_or(CircuitError::Empty { what: "a product" })
    }

    fn relinearize(&self, a: &ClearCiphertext, keys: &ClearKeys) -> Outcome<Self, ClearCiphertext> {
        self.check(&a.slots)?;
        if !keys.relinearization {
            return Err(CircuitError::MissingRelinearizationKey);
        }
        self.lock().relinearizations += usize::from(!a.relinearized);
        Ok(ClearCiphertext { relinearized: true, ..a.clone() })
    }

    fn rotate(
        &self,
        a: &ClearCiphertext,
        rotation: Rotation,
        keys: &ClearKeys,
    ) -> Outcome<Self, ClearCiphertext> {
        let moved = self.moved(a, rotation, keys)?;
        self.lock().decompositions += usize::from(rotation.reduced(self.row_length).is_some());
        Ok(moved)
    }

    fn rotate_many(
        &self,
        a: &ClearCiphertext,
        steps: &[i64],
        keys: &ClearKeys,
    ) -> Outcome<Self, Vec<ClearCiphertext>> {
        let moved = steps
            .iter()
            .map(|&steps| self.moved(a, Rotation::Rows(steps), keys))
            .collect::<Outcome<Self, Vec<_>>>()?;
        let turns = |steps: &&i64| Rotation::Rows(**steps).reduced(self.row_length).is_some();
        let together = steps.iter().filter(turns).count();
        let mut counts = self.lock();
        counts.hoisted += if together > 1 { together } else { 0 };
        counts.decompositions += usize::from(together > 0);
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_counts_what_bgv_must_be_told() {
        let clear = Clear::new(4, 17);
        let keys = ClearKeys::all();
        let x = clear.encrypt(&[1, 2, 3]);
        // 5 ≡ −12: five copies, one of them x; then x rotated.
        let five = clear.multiply_scalar(&x, -12).unwrap();
        let turned = clear.rotate(&x, Rotation::Rows(1), &keys).unwrap();
        let sum = clear.add(&five, &turned).unwrap();
        let fresh = Operations { additions: 5, rotations: 1, plain_products: 0 };
        assert_eq!(clear.counts().budget, Budget { fresh, ..Budget::default() });
        // A product starts anew, and so does what joins it from above.
        let product = clear.multiply(&sum, &x, &keys).unwrap();
        let joined = clear.add(&product, &sum).unwrap();
        assert_eq!((joined.depth(), joined.used.additions), (1, 1));
        let factor = clear.encode(&[3; 8]);
        let scaled = clear.multiply_plain(&joined, &factor).unwrap();
        clear.multiply_plain(&scaled, &factor).unwrap();
        let per_level = Operations { additions: 1, rotations: 0, plain_products: 2 };
        assert_eq!(clear.counts().budget, Budget { fresh, per_level, ..Budget::default() });
    }

    #[test]
    fn what_schemes_refuse_is_refused() {
        let clear = Clear::new(4, 17);
        let (x, other) = (clear.encrypt(&[1]), Clear::new(2, 17).encrypt(&[1]));
        let wide = clear.multiply_unrelinearized(&x, &x).unwrap();
        for result in [clear.multiply(&wide, &x, &ClearKeys::all()), clear.multiply_unrelinearized(&x, &wide)]
        {
            assert!(matches!(result, Err(CircuitError::Scheme(ClearError::NotRelinearized))));
        }
        assert!(clear.rotate(&wide, Rotation::Columns, &ClearKeys::all()).is_err());
        let error = clear.add(&x, &other).unwrap_err();
        assert!(
            matches!(error, CircuitError::Scheme(ClearError::SlotCount { expected: 8, got: 4 })),
            "{error}"
        );
        assert!(clear.factor(&vec![0; 4]).is_err());
    }
}
