//! Passage between a real ring and the whole ring in which it lies.
//!
//! The real ring of degree n has the elements of Z\[X\]/(X^2n + 1) that X → X^-1 does not change, so that their values at
//! ψ^e and ψ^-e are equal. Position p of the whole ring holds the value at ψ^(2·bitrev(p) + 1), and position
//! 2n − 1 − p, the complement of p, that at the inverse of this root. The first n positions are those of the real ring.

use sunzi_math::RingIndex;

use crate::scratch::Scratch;
use crate::{Evaluation, HollowRing, Poly, Ring, RingError, Shape, WordRing};

/// A real ring of degree n and the whole ring of degree 2n in which it lies, of moduli of which some are common.
///
/// ```
/// use sunzi_math::{RingIndex, primes_below};
/// use sunzi_ring::{RealSubring, Ring};
///
/// let moduli = primes_below(1 << 40, 256, 2)?;
/// let [real, whole] = [Ring::new(RingIndex::real(64)?, &moduli)?, Ring::new(256, &moduli)?];
/// let subring = RealSubring::new(&real, &whole)?;
/// let mut coefficients = vec![0; 64];
/// coefficients[3] = 5;
/// let a = subring.include(&real.to_evaluation(real.from_signed(&coefficients)?)?)?;
/// // 5·(X^3 + X^-3) = 5·X^3 − 5·X^125.
/// let a = whole.to_integers(&whole.to_coefficient(a)?)?;
/// assert_eq!((&a[3], &a[125]), (&5.into(), &(-5).into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RealSubring {
    real: Ring,
    whole: Ring,
}

impl RealSubring {
    /// The passage between a real ring and a whole ring.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] unless the first ring is a real one and the second the whole ring of twice its degree.
    pub fn new(real: &Ring, whole: &Ring) -> Result<Self, RingError> {
        let (from, to) = (real.ring_index(), whole.ring_index());
        let wanted = is_whole(to) && from.is_real() && from.value() == to.value();
        if wanted {
            return Ok(Self { real: real.clone(), whole: whole.clone() });
        }
        let expected = "a real ring of degree n and the whole ring of degree 2n in which it lies";
        let named = |index: &RingIndex| {
            let kind = if index.is_real() { "a real ring" } else { "a whole ring" };
            format!("{kind} of degree {}", index.degree())
        };
        let got = format_args!("{} and {}", named(from), named(to)).to_string();
        Err(RingError::out_of_range("pair of rings", expected, got))
    }

    /// The real ring.
    #[must_use]
    pub fn real(&self) -> &Ring {
        &self.real
    }

    /// The whole ring.
    #[must_use]
    pub fn whole(&self) -> &Ring {
        &self.whole
    }

    /// Returns an element of the real ring as one of the whole ring: zero modulo what is no modulus of the real ring.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for a polynomial of another ring.
    pub fn include(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let Self { real, whole } = self;
        moved(a, real, whole, |from, to| {
            let (first, last) = to.split_at_mut_checked(from.len()).unwrap_or_default();
            first.copy_from_slice(from);
            last.iter_mut().zip(from.iter().rev()).for_each(|(to, &from)| *to = from);
        })
    }

    /// Returns the elements a_+ and a_- of the real ring whose values are those of a at ψ^e and at ψ^-e, for e = 1
    /// modulo 4: zero modulo what is no modulus of the whole ring.
    ///
    /// The trace a(X) + a(X^-1) is a_+ + a_-, and (a·b)_± = a_±·b_±. The elements a_± are uniform if a is; their
    /// coefficients are large even if those of a are small.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for a polynomial of another ring.
    pub fn halves(&self, a: &Poly<Evaluation>) -> Result<[Poly<Evaluation>; 2], RingError> {
        let Self { real, whole } = self;
        let first = moved(a, whole, real, |from, to| {
            let n = to.len();
            to.copy_from_slice(from.get(..n).unwrap_or_default());
        })?;
        let last = moved(a, whole, real, |from, to| {
            to.iter_mut().zip(from.iter().rev()).for_each(|(to, &from)| *to = from);
        })?;
        Ok([first, last])
    }
}

fn is_whole(index: &RingIndex) -> bool {
    index.is_power_of_two() && !index.is_real()
}

/// Returns the polynomial whose limbs `values` makes of those of a with equal modulus; other limbs are zero.
fn moved(
    a: &Poly<Evaluation>,
    from: &Ring,
    to: &Ring,
    values: impl Fn(&[u64], &mut [u64]),
) -> Result<Poly<Evaluation>, RingError> {
    from.check(a)?;
    if from.storage::<HollowRing>().is_some() {
        to.storage_as::<HollowRing>()?;
        return Ok(to.zero());
    }
    let (from, to): (&WordRing, &WordRing) = (from.storage_as()?, to.storage_as()?);
    let Shape { degree, limbs } = to.shape();
    let mut words = Scratch::zeroed(degree * limbs);
    let own = from.basis().values();
    for (limb, modulus) in words.chunks_exact_mut(degree.max(1)).zip(to.basis().values()) {
        if let Some(place) = own.iter().position(|q| q == modulus) {
            values(a.own_limb(place)?, limb);
        }
    }
    Ok(Poly::new(words, degree, to.basis().tag()))
}
