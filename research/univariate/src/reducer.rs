//! Reducer: the tables of reductions modulo Φ_m and one prime, and the reductions over them.

use std::fmt;
use std::sync::Arc;

use sunzi_kernels::{Buffer, Modulus, active_isa};

use crate::Reduction;
use crate::barrett::{Barrett, residues};
use crate::cyclic::{CyclicPlan, CyclicScale};
use crate::geometry::Geometry;
use crate::montgomery::Montgomery;
use crate::sparse::SparseReduction;
use sunzi_ring::RingError;
use sunzi_ring::storage::check_length;

/// Products modulo one prime, reduced modulo Φ_m by one of the reductions: the core of a ring, for measurements.
///
/// ```
/// use sunzi_univariate::{Reducer, Reduction};
///
/// // Modulo Φ_97, of degree 96.
/// let reducer = Reducer::new(97, 7681, Reduction::SparseBarrett)?;
/// let [mut x, mut y] = [vec![0; reducer.length()], vec![0; reducer.length()]];
/// (x[95], y[2]) = (1, 1);
/// reducer.transform(&mut x)?;
/// reducer.transform(&mut y)?;
/// reducer.multiply(&mut x, &y)?;
/// reducer.reduce(&mut x)?;
/// // X^95·X^2 = X^97 = 1.
/// assert_eq!(x[..96].iter().position(|&c| c == 1), Some(0));
/// assert_eq!(x[..96].iter().sum::<u64>(), 1);
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone)]
pub struct Reducer(Arc<Tables>);

pub(crate) struct Tables {
    geometry: Arc<Geometry>,
    plan: CyclicPlan,
    reduction: Reduction,
    /// Transform of Φ_m modulo X^(N/2) − 1, which reductions multiply by.
    phi: Buffer,
    /// Scales of inverse transforms of length N, and in the next field of length N/2.
    whole: CyclicScale,
    half: CyclicScale,
    /// Tables of Barrett's reduction, [`Reduction::Barrett`].
    plain: Option<Barrett>,
    sparse: SparseReduction,
    /// Tables of Barrett's reduction after the sparse one, of a product, and in the next field of a
    /// polynomial modulo X^m − 1.
    after_product: Option<Barrett>,
    after_sparse: Option<Barrett>,
    montgomery: Option<Factor>,
}

/// Tables of Montgomery's reduction.
struct Factor {
    tables: Montgomery,
    /// Transforms of Montgomery's factor M and of M².
    powers: [Buffer; 2],
}

impl Reducer {
    /// Makes the reducer of index m modulo a prime q ≡ 1 (mod N), N the power of two from 2φ(m) and at least 128.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an index m that is not supported; [`RingError::Kernel`] for a modulus
    /// without the roots.
    pub fn new(m: u64, q: u64, reduction: Reduction) -> Result<Self, RingError> {
        Self::with_geometry(&Arc::new(Geometry::new(m)?), Modulus::with_isa(q, active_isa()?)?, reduction)
    }

    pub(crate) fn with_geometry(
        geometry: &Arc<Geometry>,
        modulus: Modulus,
        reduction: Reduction,
    ) -> Result<Self, RingError> {
        let (n, length) = (geometry.degree, geometry.length);
        let plan = CyclicPlan::new(modulus, length)?;
        let mut folded = geometry.phi.clone();
        let above: Vec<i64> = folded.drain((length / 2).min(folded.len())..).collect();
        folded.iter_mut().zip(above).for_each(|(low, high)| *low += high);
        let mut phi = residues(&plan, &folded, length / 2);
        plan.forward(&mut phi, false)?;
        let barrett =
            |alpha: Option<usize>| alpha.map(|alpha| Barrett::new(geometry, &plan, alpha)).transpose();
        let is_plain = reduction == Reduction::Barrett;
        let plain = if is_plain { barrett((2 * n - 1).checked_sub(n + 1))? } else { None };
        let after_sparse = barrett(geometry.sparse.degree().checked_sub(n + 1))?;
        // A product may be shorter than Q_sp.
        let shorter = geometry.sparse.degree() > 2 * n - 1;
        let after_product = if shorter { barrett(geometry.sparse.alpha())? } else { None };
        let montgomery = if reduction.divides_exactly() { Some(Factor::new(geometry, &plan)?) } else { None };
        let (whole, half) = (plan.scale(length, 1)?, plan.scale(length / 2, 1)?);
        let sparse = SparseReduction::new(geometry.index, &geometry.sparse);
        let geometry = Arc::clone(geometry);
        let tables = Tables {
            geometry,
            plan,
            reduction,
            phi,
            whole,
            half,
            plain,
            sparse,
            after_product,
            after_sparse,
            montgomery,
        };
        Ok(Self(Arc::new(tables)))
    }

    /// Length N of the reducer's transforms.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.geometry.length
    }

    /// Degree n = φ(m) of the reducer's ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.0.geometry.degree
    }

    /// Prime modulus q of the reducer.
    #[must_use]
    pub fn prime(&self) -> u64 {
        self.modulus().value()
    }

    pub(crate) fn modulus(&self) -> Modulus {
        self.0.plan.modulus()
    }

    /// Transforms a polynomial of at most N/2 coefficients to its N values, in place: the upper words may be anything.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there are N words of values.
    pub fn transform(&self, words: &mut [u64]) -> Result<(), RingError> {
        check_length("words", self.length(), words.len())?;
        self.0.plan.forward(words, true)
    }

    /// Multiplies values point by point, a ← a·b: the values of a product of degree up to 2n − 2, if both
    /// have degree below n.
    ///
    /// # Errors
    /// [`RingError::Kernel`] for lists of values of different length.
    pub fn multiply(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        Ok(self.modulus().mul_assign(a, b)?)
    }

    /// Reduces the N values of a sum of products to its n coefficients modulo Φ_m, divided by M for [`Reduction::Montgomery`]: the first n words;
    /// the others may be anything afterwards.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there are N words of values.
    pub fn reduce(&self, values: &mut [u64]) -> Result<(), RingError> {
        check_length("values", self.length(), values.len())?;
        let tables = &*self.0;
        if tables.reduction.keeps_factor() {
            return self.divide_by_factor(values);
        }
        tables.plan.inverse(values, &tables.whole)?;
        let products = 2 * self.degree() - 1;
        if tables.reduction == Reduction::Barrett {
            return match &tables.plain {
                Some(barrett) => barrett.apply(&tables.plan, &tables.phi, values),
                // Products of degree n - 1 and less are reduced already.
                None => Ok(()),
            };
        }
        let length = tables.sparse.apply(self.modulus(), values, products)?;
        let short = length < tables.geometry.sparse.degree();
        let barrett = if short { &tables.after_product } else { &tables.after_sparse };
        // `None` where the polynomial has no degree above n − 1.
        barrett.as_ref().map_or(Ok(()), |barrett| barrett.apply(&tables.plan, &tables.phi, values))
    }

    /// Returns the tables of Montgomery's factor M, which reductions that divide by it must have.
    fn factor(&self) -> Result<&Factor, RingError> {
        self.0.montgomery.as_ref().ok_or(RingError::MissingTable { table: "table of X^(N/2) + 1", limb: 0 })
    }

    /// Applies Montgomery's reduction, whatever products are reduced by.
    pub(crate) fn divide_by_factor(&self, values: &mut [u64]) -> Result<(), RingError> {
        let tables = &*self.0;
        self.factor()?.tables.apply(&tables.plan, &tables.phi, values)
    }

    /// Multiplies a polynomial's values by M or M², point by point.
    pub(crate) fn multiply_by_factor(&self, a: &mut [u64], squared: bool) -> Result<(), RingError> {
        let [once, twice] = &self.factor()?.powers;
        self.multiply(a, if squared { twice } else { once })
    }

    /// Converts the N values of a polynomial of degree below n to its coefficients, in the first n words.
    pub(crate) fn coefficients(&self, values: &mut [u64]) -> Result<(), RingError> {
        let half = values.get_mut(..self.length() / 2).unwrap_or_default();
        self.0.plan.inverse(half, &self.0.half)
    }

    /// Reduces m coefficients modulo X^m − 1, in m words or more, to n coefficients modulo Φ_m.
    pub(crate) fn reduce_coefficients(&self, c: &mut [u64]) -> Result<(), RingError> {
        let tables = &*self.0;
        let length = tables.sparse.apply(self.modulus(), c, tables.geometry.index)?;
        c.get_mut(length..).unwrap_or_default().fill(0);
        let barrett = tables.after_sparse.as_ref();
        barrett.map_or(Ok(()), |barrett| barrett.apply(&tables.plan, &tables.phi, c))
    }
}

impl Factor {
    fn new(geometry: &Geometry, plan: &CyclicPlan) -> Result<Self, RingError> {
        let tables = Montgomery::new(geometry, plan)?;
        let integers = geometry.montgomery_factor();
        let mut powers =
            [&integers.factor, &integers.square].map(|power| residues(plan, power, geometry.length));
        powers.iter_mut().try_for_each(|power| plan.forward(power, true))?;
        Ok(Self { tables, powers })
    }
}

impl fmt::Debug for Reducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tables { geometry, plan, reduction, .. } = &*self.0;
        let modulus = plan.modulus().value();
        f.debug_struct("Reducer")
            .field("index", &geometry.index)
            .field("modulus", &modulus)
            .field("reduction", reduction)
            .finish()
    }
}
