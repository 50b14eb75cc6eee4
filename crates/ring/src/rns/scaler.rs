//! Operations of BFV that leave R_q, in residues throughout.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use super::auxiliary_basis;
use super::behz::Behz;
use super::bounds::{ScalingBounds, check_scalable};
use super::decryption::Decryptor;
use super::hps::Hps;
use super::over_q::OverQ;
use crate::error::entry;
use crate::once::get_or_try_init;
use crate::parallel::Work;
use crate::scaling;
use crate::transform::Scale;
use crate::{
    Apart, Backend, Coefficient, Evaluation, Multiplication, Poly, Ring, RingError, ScalerBackend,
    ScalerOptions, Side, WordRing,
};

/// Tables of the scaler for extension to the ring of products, scaling back, and decryption. Cheap to clone.
#[derive(Clone)]
pub struct RnsScaler(Arc<Inner>);

struct Inner {
    /// Ring of the scaler as its users see it.
    handle: Ring,
    ring: WordRing,
    t: u64,
    options: ScalerOptions,
    decryption: Decryptor,
    /// Factors of the decryption's rows, for inverse transforms.
    decryption_scales: Vec<Scale>,
    bounds: ScalingBounds,
    products: Products,
}

enum Products {
    Behz(Behz),
    Hps { tables: Hps, capacity: u64 },
    OverQ(Levels),
}

/// Tables of [KPZ21, Alg. 2 and 3], built when a level is first used.
struct Levels {
    /// Ring modulo the auxiliary modulus P_k.
    auxiliary: WordRing,
    /// Number of limbs of P_k that each of levels 1 to k takes.
    counts: Vec<usize>,
    /// Lowest level at which products can be computed.
    lowest: usize,
    tables: Vec<OnceLock<OverQ>>,
}

impl RnsScaler {
    pub(crate) fn new(
        handle: &Ring,
        ring: &WordRing,
        t: u64,
        options: &ScalerOptions,
    ) -> Result<Self, RingError> {
        let q = ring.basis();
        check_scalable(q, t)?;
        let decryption = Decryptor::new(q, t, options.decryption)?;
        let decryption_scales = ring.transform().scales(decryption.row_factors())?;
        let auxiliary = |primes: &[u64]| WordRing::with_isa(ring.ring_index(), primes, ring.isa());
        let products = match options.multiplication {
            Multiplication::Behz => Products::Behz(Behz::new(ring, t, options)?),
            Multiplication::Hps => {
                let (primes, capacity) = auxiliary_basis::holding_products(q, ring.ring_index(), t, options)?;
                Products::Hps { tables: Hps::new(ring, auxiliary(&primes)?, t)?, capacity }
            }
            Multiplication::HpsOverQ | Multiplication::HpsOverQLeveled => {
                let (primes, counts) = auxiliary_basis::as_long_as_levels(q, ring.ring_index(), t, options)?;
                Products::OverQ(Levels::new(ring, auxiliary(&primes)?, counts, t, options.multiplication))
            }
        };
        let bounds = ScalingBounds::of(options, q.len(), &decryption);
        let (handle, ring, options) = (handle.clone(), ring.clone(), *options);
        Ok(Self(Arc::new(Inner {
            handle,
            ring,
            t,
            options,
            decryption,
            decryption_scales,
            bounds,
            products,
        })))
    }

    /// The number of products of two extended ciphertexts that may be summed in the wide ring before one
    /// [`scale`](ScalerBackend::scale), each of which adds at most two products of polynomials to a coefficient
    /// polynomial [BEHZ16, eq. (14)]. Where products are scaled by t/q at least 256, or 1 with
    /// [`Auxiliary::LikeModulus`](crate::Auxiliary); where they are scaled by t/P [KPZ21, Alg. 2] no number is too large.
    #[must_use]
    pub fn product_capacity(&self) -> u64 {
        match &self.0.products {
            Products::Behz(tables) => tables.product_capacity(),
            Products::Hps { capacity, .. } => *capacity,
            Products::OverQ(_) => u64::MAX,
        }
    }

    /// The tables of products of a level, built at first use, of [`Products::OverQ`].
    fn over_q<'a>(&'a self, levels: &'a Levels, level: usize) -> Result<&'a OverQ, RingError> {
        let Inner { ring, t, options, .. } = &*self.0;
        self.check_level(level)?;
        let (Some(cell), Some(&count)) = (levels.tables.get(level - 1), levels.counts.get(level - 1)) else {
            return Err(self.no_such_level(level));
        };
        get_or_try_init(cell, || {
            OverQ::new(ring, level, levels.auxiliary.sub_ring(0..count)?, *t, options.modulus_switching)
        })
    }

    fn check_level(&self, level: usize) -> Result<(), RingError> {
        if self.levels().contains(&level) { Ok(()) } else { Err(self.no_such_level(level)) }
    }

    fn no_such_level(&self, level: usize) -> RingError {
        let levels = self.levels();
        let expected = format_args!("{} to {} moduli", levels.start(), levels.end());
        RingError::out_of_range("level of a product", expected, level)
    }
}

impl Levels {
    fn new(
        ring: &WordRing,
        auxiliary: WordRing,
        counts: Vec<usize>,
        t: u64,
        multiplication: Multiplication,
    ) -> Self {
        let k = ring.basis().len();
        let lowest = match multiplication {
            // The lowest level is the first at which q_1⋯q_ℓ > 2t.
            Multiplication::HpsOverQLeveled => {
                let products = ring.basis().values().iter().scan(1_u128, |product, &q| {
                    *product = product.saturating_mul(u128::from(q));
                    Some(*product)
                });
                products.take_while(|&product| product <= 2 * u128::from(t)).count() + 1
            }
            _ => k,
        };
        Self { auxiliary, counts, lowest: lowest.min(k), tables: (0..k).map(|_| OnceLock::new()).collect() }
    }
}

impl ScalerBackend for RnsScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let k = self.0.ring.basis().len();
        match &self.0.products {
            Products::OverQ(levels) => levels.lowest..=k,
            _ => k..=k,
        }
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        self.check_level(level)?;
        let wide = match &self.0.products {
            Products::Behz(tables) => tables.wide(),
            Products::Hps { tables, .. } => tables.wide(),
            Products::OverQ(levels) => self.over_q(levels, level)?.wide(),
        };
        Ok(self.0.handle.with_storage(wide.clone()))
    }

    fn extend(&self, a: &Poly<Evaluation>, side: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        self.check_level(level)?;
        match &self.0.products {
            Products::Behz(tables) => tables.extend(a),
            Products::Hps { tables, .. } => tables.extend(a),
            Products::OverQ(levels) => self.over_q(levels, level)?.extend(a, side),
        }
    }

    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        self.check_level(level)?;
        match &self.0.products {
            Products::Behz(tables) => tables.scale(a),
            Products::Hps { tables, .. } => tables.scale(a),
            Products::OverQ(levels) => self.over_q(levels, level)?.scale(a),
        }
    }

    /// Scales a product a, in two summands: where products are scaled by t/P the part modulo q_1⋯q_ℓ needs no
    /// inverse transform.
    fn scale_apart(&self, a: Poly<Evaluation>, level: usize) -> Result<Apart, RingError> {
        match &self.0.products {
            Products::OverQ(levels) => {
                let (rest, multiple) = self.over_q(levels, level)?.scale_apart(a)?;
                Ok((rest, Some(multiple)))
            }
            _ => Ok((self.scale(a, level)?, None)),
        }
    }

    /// Multiplies two ciphertexts; where operands are switched, group by group of the wide ring.
    fn multiply(
        &self,
        left: [&Poly<Evaluation>; 2],
        right: [&Poly<Evaluation>; 2],
        level: usize,
        whole: bool,
    ) -> Result<[Apart; 3], RingError> {
        match &self.0.products {
            Products::OverQ(levels) => self.over_q(levels, level)?.multiply(left, right, whole),
            _ => scaling::multiply(self, left, right, level, whole),
        }
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.0.ring.check(a)?;
        self.0.decryption.apply(a.words(), a.shape().degree)
    }

    /// Decrypts a polynomial from its values; factors of rows are folded into the inverse transforms.
    fn decrypt_values(&self, _: &Ring, mut rows: Zeroizing<Poly<Evaluation>>) -> Result<Vec<u64>, RingError> {
        let Inner { ring, decryption, decryption_scales, .. } = &*self.0;
        ring.check(&rows)?;
        let n = ring.degree();
        ring.parallelism().for_each_limb(Work::Transform, rows.words_mut(), n, |i, row| {
            let scale = entry("factor of an inverse transform", decryption_scales, i)?;
            Ok(ring.plan(i)?.inverse_scaled(row, scale)?)
        })?;
        decryption.apply_rows(rows.words(), n)
    }

    fn product_capacity(&self) -> u64 {
        self.product_capacity()
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.0.bounds
    }
}

impl fmt::Debug for RnsScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { ring, t, options, .. } = &*self.0;
        f.debug_struct("RnsScaler").field("ring", ring).field("t", t).field("options", options).finish()
    }
}
