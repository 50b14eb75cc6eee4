//! Encoder of slots in GF(p^d) and GR(p^r, d), for any ring index.

mod convolution;
mod transform;

use std::fmt;
use std::sync::Arc;

use sunzi_math::{
    CoefficientBasis, GaloisRing, MAX_SLOT_DEGREE, QuotientGroup, Residues, RingIndex, mod_inv, mod_pow,
};
use zeroize::Zeroizing;

use crate::index_search::{index_with_slots, neighbouring_primes, prime_of_order_one, without_prime};
use crate::plain_modulus::prime_of;
use crate::plaintext::check_index_degree;
use crate::{EncodingError, PLAIN_MODULUS_LIMIT, Plaintext};

use super::{Encoder, check_values};
use transform::SlotTransform;

/// Encodes vectors over GR(p^r, d), the field GF(p^d) for r = 1, into plaintexts modulo t = p^r: sums and products act slot by slot.
///
/// With d the order of p modulo m there are φ(m)/d slots. An element is a list of up to d coefficients in \[0, t) modulo the polynomial G of
/// [`ring`](Self::ring), the same in all slots; a number stands for a constant. Slots form a hypercube, whose dimensions are those of
/// [`group`](Self::group): slot i holds the value at X = Y^u, u its i-th representative. So X → X^g rotates along the dimension of g, and
/// X → X^p is the Frobenius automorphism Y → Y^p in every slot. Plaintexts are in the powerful basis, as rings are, unless
/// [`in_basis`](Self::in_basis) says otherwise.
///
/// Encoding and decoding take about n·q·d multiplications for every prime factor q of m, d the order of p modulo the greater ones, but only
/// n·log q for the greatest one where it is from 64 to 65537. Primes above that take minutes.
///
/// ```
/// use sunzi_encoding::GaloisEncoder;
///
/// // 1024 slots of GF(2^16).
/// let encoder = GaloisEncoder::new(21845, 2, 1)?;
/// assert_eq!((encoder.ring().degree(), encoder.group().slots()), (16, 1024));
/// let plaintext = encoder.encode_elements(&[[1, 0, 1], [0, 1, 1]])?;
/// assert_eq!(encoder.decode_elements(&plaintext)?[1][..4], [0, 1, 1, 0]);
/// # Ok::<(), sunzi_encoding::EncodingError>(())
/// ```
#[derive(Clone)]
pub struct GaloisEncoder {
    tables: Arc<Tables>,
    basis: CoefficientBasis,
}

struct Tables {
    index: RingIndex,
    ring: GaloisRing,
    group: QuotientGroup,
    transform: SlotTransform,
}

/// A rotation along a dimension, made of automorphisms: see [`GaloisEncoder::rotation`].
#[derive(Clone, Debug)]
pub struct DimensionRotation {
    /// Exponent k of X → X^k, which moves all slots of a good dimension, and in a bad one those that do not wrap around.
    pub exponent: u64,
    /// Part of the rotation that moves the slots which wrap around, in a bad dimension.
    pub wrapped: Option<WrappedRotation>,
}

/// Second half of a rotation along a bad dimension.
#[derive(Clone, Debug)]
pub struct WrappedRotation {
    /// Exponent k of X → X^k for the slots that wrap around.
    pub exponent: u64,
    /// Mask with 1 in every slot that does not wrap around, 0 in the others: the rotated slots are b +
    /// mask·(a − b), with b by this automorphism and a by the other.
    pub mask: Plaintext,
}

impl GaloisEncoder {
    /// Makes the encoder for ring index m and plaintext modulus p^r.
    ///
    /// # Errors
    /// [`EncodingError::Math`] for m = 2 mod 4 or below 3; [`EncodingError::IndexTooLarge`]; [`EncodingError::PlainPrime`] for a p that is no
    /// prime, [`EncodingError::PrimeDividesIndex`], [`EncodingError::PlainExponent`] for r = 0 or p^r ≥ 2^60,
    /// [`EncodingError::SlotDegree`] for d above 256: each error says what would work.
    pub fn new(m: u64, p: u64, r: u32) -> Result<Self, EncodingError> {
        let index = RingIndex::new(m)?;
        check_index_degree(&index)?;
        if !sunzi_math::is_prime(p) {
            let [below, above] = neighbouring_primes(p);
            return Err(EncodingError::PlainPrime { got: p, below, above });
        }
        if m.is_multiple_of(p) {
            return Err(EncodingError::PrimeDividesIndex { prime: p, index: m, works: without_prime(m, p) });
        }
        let fits = |r: u32| p.checked_pow(r).is_some_and(|t| t < PLAIN_MODULUS_LIMIT);
        if r == 0 || !fits(r) {
            let most = (1..60).take_while(|&r| fits(r)).count() as u32;
            return Err(EncodingError::PlainExponent { prime: p, got: r, most });
        }
        let group = QuotientGroup::new(m, p)?;
        let degree = group.order_of_p();
        if degree > MAX_SLOT_DEGREE {
            let works = prime_of_order_one(m);
            return Err(EncodingError::SlotDegree {
                prime: p,
                index: m,
                degree,
                most: MAX_SLOT_DEGREE,
                works,
            });
        }
        let ring = GaloisRing::new(m, p, r)?;
        let transform = SlotTransform::new(&index, &ring, &group)?;
        let tables = Arc::new(Tables { index, ring, group, transform });
        Ok(Self { tables, basis: CoefficientBasis::Powerful })
    }

    /// Makes the encoder for ring index m and a plaintext modulus t, a power of a prime.
    ///
    /// ```
    /// let encoder = sunzi_encoding::GaloisEncoder::for_modulus(15, 49)?;
    /// assert_eq!((encoder.ring().prime(), encoder.ring().exponent()), (7, 2));
    /// # Ok::<(), sunzi_encoding::EncodingError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`EncodingError::PlainPrime`] for a t that is no power of a prime.
    pub fn for_modulus(m: u64, t: u64) -> Result<Self, EncodingError> {
        // What is no power of a prime is refused as no prime.
        let p = prime_of(t).unwrap_or(t);
        let exponent = if p < 2 { 1 } else { t.checked_ilog(p).unwrap_or(1) };
        Self::new(m, p, exponent)
    }

    /// Returns the encoder for rings whose coefficients are in this basis, as a ring's `coefficient_basis` says: the powerful one unless set.
    #[must_use]
    pub fn in_basis(&self, basis: CoefficientBasis) -> Self {
        Self { tables: Arc::clone(&self.tables), basis }
    }

    /// Ring index m and the shape of plaintexts.
    #[must_use]
    pub fn index(&self) -> &RingIndex {
        &self.tables.index
    }

    /// Ring whose elements the slots hold; it also computes with elements.
    #[must_use]
    pub fn ring(&self) -> &GaloisRing {
        &self.tables.ring
    }

    /// Hypercube of slots: the group (Z/m)*/⟨p⟩ with its dimensions.
    #[must_use]
    pub fn group(&self) -> &QuotientGroup {
        &self.tables.group
    }

    /// Encodes elements of up to d coefficients each; missing slots count as zero.
    ///
    /// # Errors
    /// [`EncodingError::TooManyElements`], saying which m has enough slots; [`EncodingError::ElementDegree`];
    /// [`EncodingError::ValueOutOfRange`].
    pub fn encode_elements<E: AsRef<[u64]>>(&self, elements: &[E]) -> Result<Plaintext, EncodingError> {
        let (d, t) = (self.tables.ring.degree(), self.tables.ring.modulus());
        self.check_count(elements.len())?;
        let mut values = Zeroizing::new(vec![0; self.tables.index.degree()]);
        for (slot, (element, value)) in elements.iter().zip(values.chunks_mut(d)).enumerate() {
            let element = element.as_ref();
            if element.len() > d {
                let (prime, index) = (self.tables.ring.prime(), self.tables.index.value());
                return Err(EncodingError::ElementDegree {
                    slot,
                    got: element.len(),
                    degree: d,
                    prime,
                    index,
                });
            }
            if element.iter().any(|&x| x >= t) {
                return Err(EncodingError::unsigned_out_of_range(slot, t));
            }
            for (value, &x) in value.iter_mut().zip(element) {
                *value = x;
            }
        }
        let mut coefficients = self.tables.transform.inverse(values)?;
        if self.basis == CoefficientBasis::Power {
            let powers = self.tables.index.power_from_powerful(&Residues(t), &coefficients)?;
            coefficients = Zeroizing::new(powers);
        }
        Plaintext::new(std::mem::take(&mut *coefficients), t)
    }

    /// Returns the elements of all slots, d coefficients each.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`] for a plaintext of another degree or modulus.
    pub fn decode_elements(&self, plaintext: &Plaintext) -> Result<Vec<Vec<u64>>, EncodingError> {
        let values = self.values(plaintext)?;
        Ok(values.chunks(self.tables.ring.degree()).map(<[u64]>::to_vec).collect())
    }

    fn values(&self, plaintext: &Plaintext) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        plaintext.check(self.tables.index.degree(), self.tables.ring.modulus())?;
        if self.basis == CoefficientBasis::Powerful {
            return self.tables.transform.forward(plaintext.coefficients());
        }
        let residues = Residues(self.tables.ring.modulus());
        let coefficients = self.tables.index.powerful_from_power(&residues, plaintext.coefficients());
        self.tables.transform.forward(&Zeroizing::new(coefficients))
    }

    fn check_count(&self, got: usize) -> Result<(), EncodingError> {
        let slots = self.tables.group.slots();
        if got <= slots {
            return Ok(());
        }
        let (prime, index) = (self.tables.ring.prime(), self.tables.index.value());
        Err(EncodingError::TooManyElements { got, slots, prime, index, works: index_with_slots(prime, got) })
    }

    /// Returns the k of X → X^k that applies Y → Y^p in every slot, `times` times: p^times modulo m. Negative numbers apply the inverse.
    #[must_use]
    pub fn frobenius_exponent(&self, times: i64) -> u64 {
        let times = times.rem_euclid(self.tables.ring.degree() as i64).cast_unsigned();
        mod_pow(self.tables.ring.prime(), times, self.tables.index.value())
    }

    /// Returns the rotation along a dimension: slot e + `steps` of every line moves to slot e, cyclically.
    ///
    /// # Errors
    /// [`EncodingError::NoDimension`] for a dimension that the hypercube of slots lacks.
    pub fn rotation(&self, dimension: usize, steps: i64) -> Result<DimensionRotation, EncodingError> {
        let group = &self.tables.group;
        let missing = EncodingError::NoDimension { got: dimension, dimensions: group.dimensions().len() };
        let along = *group.dimensions().get(dimension).ok_or(missing)?;
        let m = self.tables.index.value();
        let steps = steps.rem_euclid(along.length as i64).cast_unsigned();
        let exponent = mod_pow(along.generator, steps, m);
        if along.good || steps == 0 {
            return Ok(DimensionRotation { exponent, wrapped: None });
        }
        let back = along.length as u64 - steps;
        let stays = |slot: usize| group.coordinate(slot, dimension).is_some_and(|e| (e as u64) < back);
        let mask: Vec<[u64; 1]> = (0..group.slots()).map(|slot| [u64::from(stays(slot))]).collect();
        let wrapped = WrappedRotation {
            exponent: mod_inv(mod_pow(along.generator, back, m), m)?,
            mask: self.encode_elements(&mask)?,
        };
        Ok(DimensionRotation { exponent, wrapped: Some(wrapped) })
    }
}

impl fmt::Debug for GaloisEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All tables follow from index and modulus.
        f.debug_struct("GaloisEncoder")
            .field("index", &self.tables.index.value())
            .field("ring", &self.tables.ring)
            .finish_non_exhaustive()
    }
}

/// Encodes a number modulo p^r in every slot, as a constant; decoding refuses other elements.
impl Encoder for GaloisEncoder {
    fn degree(&self) -> usize {
        self.tables.index.degree()
    }

    fn plain_modulus(&self) -> u64 {
        self.tables.ring.modulus()
    }

    fn slots(&self) -> usize {
        self.tables.group.slots()
    }

    fn encode(&self, values: &[u64]) -> Result<Plaintext, EncodingError> {
        self.check_count(values.len())?;
        check_values(values, values.len(), self.plain_modulus())?;
        self.encode_elements(values.chunks(1).collect::<Vec<_>>().as_slice())
    }

    fn decode(&self, plaintext: &Plaintext) -> Result<Vec<u64>, EncodingError> {
        let values = self.values(plaintext)?;
        let number = |(slot, element): (usize, &[u64])| match element {
            [number, rest @ ..] if rest.iter().all(|&x| x == 0) => Ok(*number),
            _ => Err(EncodingError::NotANumber { slot }),
        };
        values.chunks(self.tables.ring.degree()).enumerate().map(number).collect()
    }
}

#[cfg(test)]
mod tests;
