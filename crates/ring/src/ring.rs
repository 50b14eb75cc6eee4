//! A polynomial ring as a value, over any storage of residues.

use std::any::Any;
use std::fmt::{self, Debug};
use std::io::BufRead;
use std::ops::Deref;
use std::sync::Arc;

use num_bigint::BigInt;
use sunzi_kernels::IntegerMatrix;

use crate::{
    Append, Backend, Domain, Gadget, GadgetOptions, PackingError, Poly, Residues, RingError, Scaler,
    ScalerOptions,
};

/// The ring R_q = Z_q\[X\]/Φ_m(X) for q = q_1⋯q_k; cheap to clone. Its operations on polynomials are listed at
/// [`Backend`].
///
/// Residues are words unless the ring was made of another storage ([`of`](Self::of)).
///
/// ```
/// use sunzi_ring::Ring;
/// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
///
/// let m = 2048;
/// let ring = Ring::new(m, &primes_below(DEFAULT_PRIME_BOUND, m, 3)?)?;
/// let mut coefficients = vec![0; ring.degree()];
/// coefficients[ring.degree() - 1] = 5;
/// let a = ring.to_evaluation(ring.from_signed(&coefficients)?)?;
/// let mut square = a.clone();
/// ring.mul_assign(&mut square, &a)?;
/// // (5·X^(n−1))² = −25·X^(n−2).
/// let square = ring.to_integers(&ring.to_coefficient(square)?)?;
/// assert_eq!(square[ring.degree() - 2], (-25).into());
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone)]
pub struct Ring {
    storage: Arc<dyn Backend>,
    tables: Arc<dyn Tables>,
}

impl Ring {
    /// A ring over a storage that brings its own tables.
    #[must_use]
    pub fn of<B: Backend + Tables>(storage: B) -> Self {
        let storage = Arc::new(storage);
        Self { storage: Arc::clone(&storage) as Arc<dyn Backend>, tables: storage }
    }

    /// A ring over the same residues that scales them and cuts them into digits by other tables.
    #[must_use]
    pub fn with_tables(&self, tables: impl Tables) -> Self {
        Self { storage: Arc::clone(&self.storage), tables: Arc::new(tables) }
    }

    /// A ring over a storage with tables that the storage does not bring.
    pub(crate) fn over(storage: impl Backend, tables: impl Tables) -> Self {
        Self { storage: Arc::new(storage), tables: Arc::new(tables) }
    }

    /// A ring over another storage with the tables of this one.
    pub(crate) fn with_storage(&self, storage: impl Backend) -> Self {
        Self { storage: Arc::new(storage), tables: Arc::clone(&self.tables) }
    }

    /// The storage of the ring, if it has type `B`.
    #[must_use]
    pub fn storage<B: Backend>(&self) -> Option<&B> {
        let storage: &dyn Any = &*self.storage;
        storage.downcast_ref()
    }

    /// The storage of the ring, which must have type `B`.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] where the storage has another type.
    pub fn storage_as<B: Backend>(&self) -> Result<&B, RingError> {
        self.storage().ok_or(RingError::OtherStorage)
    }

    /// The ring at a lower level, or this ring itself. Tables are shared and made at first use.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for 0 and above [`level`](Backend::level).
    pub fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if level == self.level() {
            return Ok(self.clone());
        }
        Ok(Self { storage: self.storage.at_level(level)?, tables: Arc::clone(&self.tables) })
    }

    /// The zero polynomial of the ring in a domain.
    #[must_use]
    pub fn zero<D: Domain>(&self) -> Poly<D> {
        self.storage.zero(D::REPRESENTATION).into()
    }

    /// Reduces a modulo Q_l, for a of any level from l.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] above the level of a; [`RingError::NotNested`].
    pub fn restrict<D: Domain>(&self, a: &Poly<D>, level: usize) -> Result<Poly<D>, RingError> {
        self.storage.restrict(a, level).map(Poly::from)
    }

    /// Adds b to a: a ← a + b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    pub fn add_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.storage.add_assign(a, b)
    }

    /// Returns the sum of polynomials, each of which is read once; zero without any.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    pub fn sum<'a, D: Domain + 'a>(
        &self,
        polys: impl IntoIterator<Item = &'a Poly<D>>,
    ) -> Result<Poly<D>, RingError> {
        let polys: Vec<&Residues> = polys.into_iter().map(|poly| &**poly).collect();
        Ok(self.storage.sum(D::REPRESENTATION, &polys)?.into())
    }

    /// Subtracts b from a: a ← a − b.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for a polynomial of another shape.
    pub fn sub_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.storage.sub_assign(a, b)
    }

    /// Returns Σ c_i·a_i modulo Q_l for a_i of any levels from l: residues above level l are not read.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`]; [`RingError::NoSuchLevel`] for a term below level l;
    /// [`RingError::NotNested`].
    pub fn linear_combination<D: Domain>(
        &self,
        terms: &[(&BigInt, &Poly<D>)],
        level: usize,
    ) -> Result<Poly<D>, RingError> {
        let terms: Vec<_> = terms.iter().map(|&(c, a)| (c, &**a)).collect();
        self.storage.linear_combination(&terms, level, D::REPRESENTATION).map(Poly::from)
    }

    /// Adds a linear combination to a: a ← a + Σ c_i·a_i for a of level l and a_i of any levels from l. On an error a
    /// is not changed.
    ///
    /// # Errors
    /// Every error of [`linear_combination`](Self::linear_combination).
    pub fn add_linear_combination_assign<D: Domain>(
        &self,
        a: &mut Poly<D>,
        terms: &[(&BigInt, &Poly<D>)],
    ) -> Result<(), RingError> {
        let terms: Vec<_> = terms.iter().map(|&(c, a)| (c, &**a)).collect();
        self.storage.add_linear_combination_assign(a, &terms)
    }

    /// Returns Σ_k m_ik·a_k modulo Q_l for every row i of a matrix of integers, for a_k of any levels from l: residues
    /// above level l are not read. The matrix acts across polynomials, so that either domain serves, without transforms.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there is a polynomial for each column of the matrix; every error of
    /// [`linear_combination`](Self::linear_combination).
    pub fn matrix_product<D: Domain>(
        &self,
        matrix: &IntegerMatrix,
        polys: &[&Poly<D>],
        level: usize,
    ) -> Result<Vec<Poly<D>>, RingError> {
        let polys: Vec<&Residues> = polys.iter().map(|poly| &***poly).collect();
        let products = self.storage.matrix_product(matrix, &polys, level, D::REPRESENTATION)?;
        Ok(products.into_iter().map(Poly::from).collect())
    }

    /// Applies the automorphism X → X^k: returns a(X^k) for k coprime to m, 0 < k < m.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NotAnAutomorphism`] for another k.
    pub fn automorphism<D: Domain>(&self, a: &Poly<D>, k: u64) -> Result<Poly<D>, RingError> {
        self.storage.automorphism(a, D::REPRESENTATION, k).map(Poly::from)
    }

    /// Tables of the scale-invariant operations for plaintext modulus t.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for t < 2 or t ≥ 2^60 or q too small for t;
    /// [`RingError::NotCoprime`] where t or an auxiliary modulus shares a factor with q.
    pub fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        self.tables.scaler(self, t, options)
    }

    /// A scaler that decrypts polynomials of this level, whatever levels there are below.
    ///
    /// # Errors
    /// Every error of [`scaler`](Self::scaler).
    pub fn decryption_scaler(&self, t: u64) -> Result<Scaler, RingError> {
        self.tables.decryption_scaler(self, t)
    }

    /// Tables of a gadget: a way to cut polynomials into digits.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for options this ring cannot follow.
    pub fn gadget(&self, options: &GadgetOptions) -> Result<Gadget, RingError> {
        self.tables.gadget(self, options)
    }

    /// The name of the ring in files, equal for rings that have the same polynomials at the same levels: see
    /// [`describe`](crate::describe). It is empty for a dry ring, and for tables of another storage.
    #[must_use]
    pub fn description(&self) -> Vec<u8> {
        self.tables.description(self)
    }

    /// Writes a polynomial, packed to the bits of the moduli.
    ///
    /// # Errors
    /// [`PackingError::Ring`] for a polynomial of another ring; [`PackingError::Io`] where writing fails.
    pub fn pack<D: Domain>(&self, a: &Poly<D>, out: &mut dyn Append) -> Result<(), PackingError> {
        self.storage.pack(a, D::REPRESENTATION, out)
    }

    /// Reads a polynomial. Memory is allocated for one polynomial of this ring, whatever the input holds.
    ///
    /// # Errors
    /// [`PackingError::Residue`] for a residue that is not reduced, and for bits behind the last residue that are not
    /// 0; [`PackingError::Io`] where reading fails.
    pub fn unpack<D: Domain>(&self, from: &mut dyn BufRead) -> Result<Poly<D>, PackingError> {
        self.storage.unpack(D::REPRESENTATION, from).map(Poly::from)
    }
}

impl Deref for Ring {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        &*self.storage
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.storage.fmt(f)
    }
}

/// Tables that may differ between rings over one storage: scaling, cutting polynomials into digits, and the name in
/// files.
pub trait Tables: Debug + Send + Sync + 'static {
    /// Tables of the scale-invariant operations for plaintext modulus t.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for t < 2 or t ≥ 2^60 or q too small for t;
    /// [`RingError::NotCoprime`] where t or an auxiliary modulus shares a factor with q.
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError>;
    /// A scaler that decrypts polynomials of this level, whatever levels there are below.
    ///
    /// # Errors
    /// Every error of [`scaler`](Self::scaler).
    fn decryption_scaler(&self, ring: &Ring, t: u64) -> Result<Scaler, RingError> {
        self.scaler(ring, t, &ScalerOptions::default())
    }
    /// Tables of a gadget: a way to cut polynomials into digits.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for options this ring cannot follow.
    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError>;
    /// The name of the ring in files, equal for rings that have the same polynomials at the same levels: see
    /// [`describe`](crate::describe). It is empty for a ring of a storage that these tables are not for, and
    /// for a dry ring.
    fn description(&self, ring: &Ring) -> Vec<u8>;
}
