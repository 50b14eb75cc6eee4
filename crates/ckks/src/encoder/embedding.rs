//! The canonical embedding: polynomials and their values at the roots of unity, in O(s·log s).

use num_complex::Complex64;
use sunzi_math::{RingIndex, bit_reverse};
use zeroize::Zeroizing;

use super::EncoderError;
use super::erased::Erased;
use super::roots::Roots;

/// Bound on rounded coefficients, as log2.
const LOG2_LIMIT: f64 = 126.0;

/// Canonical embedding of real polynomials p of degree below 2s modulo Y^2s + 1: their values p(ξ^(5^j)), j < s, for ξ
/// = e^(2πi/4s).
///
/// Since ξ^(s·5^j) = i, the value of p = Σ a_k·Y^k is Σ_{k<s} w_k·ξ^(k·5^j) with w_k = a_k + i·a_(k+s): an s × s matrix, whose
/// even and odd columns meet by 5^(j+s/2) ≡ 5^j + 2s modulo 4s as in any fast Fourier transform. The values at
/// the other roots are conjugates. Tables take 16·s bytes; results are the same on every machine.
///
/// ```
/// use num_complex::Complex64;
/// use sunzi_ckks::encoder::Embedding;
///
/// # fn main() -> Result<(), sunzi_ckks::encoder::EncoderError> {
/// let embedding = Embedding::new(4)?;
/// // 1 + 2·Y^4 in Z[Y]/(Y^8 + 1): Y^4 is i at every root.
/// let mut values = [Complex64::new(1.0, 2.0), Complex64::ZERO, Complex64::ZERO, Complex64::ZERO];
/// embedding.to_slots(&mut values)?;
/// assert_eq!(values, [Complex64::new(1.0, 2.0); 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Embedding {
    slots: usize,
    /// Roots of unity e^(2πi·5^j/8h), j < h, for h = 1, 2, 4, …, s/2.
    roots: Vec<Complex64>,
}

impl Embedding {
    /// Makes the tables of the canonical embedding for s slots.
    ///
    /// # Errors
    /// [`EncoderError::Slots`] unless s is a power of two up to 2^20: more than any ring has.
    pub fn new(slots: usize) -> Result<Self, EncoderError> {
        const MOST: usize = 1 << 20;
        if !slots.is_power_of_two() || slots > MOST {
            return Err(EncoderError::Slots { got: slots, most: MOST });
        }
        let table = Roots::new(slots);
        let mut roots = Vec::with_capacity(slots);
        let mut half = 1;
        while half < slots {
            let (order, step) = (8 * half, slots / (2 * half));
            let powers = std::iter::successors(Some(1_usize), |power| Some(5 * power % order));
            roots.extend(powers.take(half).map(|power| table.root(power * step)));
            half *= 2;
        }
        Ok(Self { slots, roots })
    }

    /// The number s of slots of a canonical embedding.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Roots of unity e^(2πi·5^j/8h) for j < h: the factors of the step from blocks of h to blocks of 2h, for h a
    /// power of two below s; empty for another h.
    #[must_use]
    pub fn roots(&self, half: usize) -> &[Complex64] {
        if !half.is_power_of_two() {
            return &[];
        }
        self.roots.get(half - 1..2 * half - 1).unwrap_or_default()
    }

    /// Turns the vector w of a polynomial into the values of the polynomial, in place.
    ///
    /// # Errors
    /// [`EncoderError::Length`] unless there are s.
    pub fn to_slots(&self, values: &mut [Complex64]) -> Result<(), EncoderError> {
        self.check(values)?;
        bit_reverse(values);
        let mut half = 1;
        while half < self.slots {
            for block in values.chunks_exact_mut(2 * half) {
                let (first, second) = block.split_at_mut(half);
                for ((a, b), root) in first.iter_mut().zip(second).zip(self.roots(half)) {
                    let turned = *b * root;
                    (*a, *b) = (*a + turned, *a - turned);
                }
            }
            half *= 2;
        }
        Ok(())
    }

    /// Turns the values of a polynomial into its vector w, in place.
    ///
    /// # Errors
    /// [`EncoderError::Length`] unless there are s.
    pub fn to_coefficients(&self, values: &mut [Complex64]) -> Result<(), EncoderError> {
        self.check(values)?;
        let mut half = self.slots / 2;
        while half > 0 {
            for block in values.chunks_exact_mut(2 * half) {
                let (first, second) = block.split_at_mut(half);
                for ((a, b), root) in first.iter_mut().zip(second).zip(self.roots(half)) {
                    (*a, *b) = (*a + *b, (*a - *b) * root.conj());
                }
            }
            half /= 2;
        }
        bit_reverse(values);
        let factor = 1.0 / self.slots as f64;
        values.iter_mut().for_each(|value| *value = value.scale(factor));
        Ok(())
    }

    /// Computes the 2s coefficients ⌊Δ·a_k⌉ of the polynomial with given values in s slots; missing values count as
    /// zero.
    ///
    /// # Errors
    /// [`EncoderError::TooManyValues`]; [`EncoderError::NotFinite`]; [`EncoderError::Scale`];
    /// [`EncoderError::TooLarge`] for coefficients of 2^126 or more.
    pub fn encode(&self, values: &[Complex64], scale: f64) -> Result<Zeroizing<Vec<i128>>, EncoderError> {
        let w = self.vector(values, scale)?;
        rounded(w.iter().map(|w| w.re).chain(w.iter().map(|w| w.im)), scale)
    }

    /// Computes the n coefficients of the ring element with given values in s slots, which repeat in all slots of the ring: those of
    /// [`encode`](Self::encode) at multiples of n/2s. In a real ring the s coefficients of 1 and Y^k + Y^-k stand at multiples of n/s; Y^-k is −Y^(2s−k), so
    /// that w_k = a_k − i·a_(s−k).
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode); [`EncoderError::NotReal`] for a number with an imaginary part in a real ring.
    pub fn encode_in(
        &self,
        ring: &RingIndex,
        values: &[Complex64],
        scale: f64,
    ) -> Result<Zeroizing<Vec<i128>>, EncoderError> {
        let coefficients = if ring.is_real() {
            if let Some(slot) = values.iter().position(|value| value.im != 0.0) {
                return Err(EncoderError::NotReal { slot });
            }
            rounded(self.vector(values, scale)?.iter().map(|w| w.re), scale)?
        } else {
            self.encode(values, scale)?
        };
        let mut all = Zeroizing::new(vec![0_i128; ring.degree()]);
        let places = all.iter_mut().step_by(self.gap(ring));
        places.zip(coefficients.iter()).for_each(|(to, from)| *to = *from);
        Ok(all)
    }

    /// Computes the values in s slots of the ring element with given n coefficients, divided by the scale.
    ///
    /// # Errors
    /// [`EncoderError::Length`]; [`EncoderError::Scale`].
    pub fn decode_in(
        &self,
        ring: &RingIndex,
        coefficients: &[f64],
        scale: f64,
    ) -> Result<Vec<Complex64>, EncoderError> {
        let (expected, got) = (ring.degree(), coefficients.len());
        if got != expected {
            return Err(EncoderError::Length { what: "coefficients", expected, got });
        }
        let mut own = Zeroizing::new(Vec::with_capacity(2 * self.slots));
        own.extend(coefficients.iter().step_by(self.gap(ring)));
        if ring.is_real() {
            // The coefficients of Y^s, …, Y^(2s−1).
            let mirrored: Zeroizing<Vec<f64>> =
                Zeroizing::new(own.iter().skip(1).rev().map(|a| -a).collect());
            own.push(0.0);
            own.extend(mirrored.iter());
        }
        let mut values = self.decode(&own, scale)?;
        if ring.is_real() {
            values.iter_mut().for_each(|value| value.im = 0.0);
        }
        Ok(values)
    }

    /// Distance of the coefficients of s slots in a ring: the number of times that s slots repeat.
    fn gap(&self, ring: &RingIndex) -> usize {
        let most = if ring.is_real() { ring.degree() } else { ring.degree() / 2 };
        (most / self.slots).max(1)
    }

    /// Computes the vector w of the polynomial with given values, which are checked with the scale.
    fn vector(&self, values: &[Complex64], scale: f64) -> Result<Erased, EncoderError> {
        if values.len() > self.slots {
            return Err(EncoderError::TooManyValues { got: values.len(), slots: self.slots });
        }
        if let Some(slot) = values.iter().position(|value| !value.is_finite()) {
            return Err(EncoderError::NotFinite { slot });
        }
        if !(scale.is_finite() && scale > 0.0) {
            return Err(EncoderError::Scale { scale });
        }
        let mut w = Vec::with_capacity(self.slots);
        w.extend_from_slice(values);
        w.resize(self.slots, Complex64::ZERO);
        let mut w = Erased::from(w);
        self.to_coefficients(&mut w)?;
        Ok(w)
    }

    /// Computes the values in s slots of the polynomial with given 2s coefficients, divided by the scale.
    ///
    /// # Errors
    /// [`EncoderError::Length`]; [`EncoderError::Scale`].
    pub fn decode(&self, coefficients: &[f64], scale: f64) -> Result<Vec<Complex64>, EncoderError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(EncoderError::Scale { scale });
        }
        let expected = 2 * self.slots;
        if coefficients.len() != expected {
            return Err(EncoderError::Length { what: "coefficients", expected, got: coefficients.len() });
        }
        let (real, imaginary) = coefficients.split_at(self.slots);
        let w = real.iter().zip(imaginary).map(|(&re, &im)| Complex64::new(re / scale, im / scale));
        let mut values = Erased::from(w.collect::<Vec<_>>());
        self.to_slots(&mut values)?;
        Ok(values.into_inner())
    }

    fn check(&self, values: &[Complex64]) -> Result<(), EncoderError> {
        match values.len() {
            got if got == self.slots => Ok(()),
            got => Err(EncoderError::Length { what: "values", expected: self.slots, got }),
        }
    }
}

/// Rounds coefficients times a scale.
fn rounded(
    coefficients: impl Iterator<Item = f64>,
    scale: f64,
) -> Result<Zeroizing<Vec<i128>>, EncoderError> {
    let coefficients: Zeroizing<Vec<f64>> =
        Zeroizing::new(coefficients.map(|a| (a * scale).round_ties_even()).collect());
    // Coefficients are not finite where sums overflowed: infinite, or differences of infinite numbers.
    let largest = coefficients
        .iter()
        .fold(0.0_f64, |largest, a| if a.is_finite() { largest.max(a.abs()) } else { f64::INFINITY });
    if largest >= LOG2_LIMIT.exp2() {
        return Err(EncoderError::TooLarge { log2_coefficient: largest.log2(), log2_limit: LOG2_LIMIT });
    }
    Ok(Zeroizing::new(coefficients.iter().map(|&a| a as i128).collect()))
}

#[cfg(test)]
mod tests;
