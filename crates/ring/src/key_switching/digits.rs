//! Division of an RNS basis into digits, and the limbs that keys for them keep: arithmetic on moduli, no tables.

use std::ops::Range;

use num_bigint::BigUint;
use sunzi_kernels::MAX_TERMS;

use super::grouping::group_moduli;
use crate::error::{check_length, check_radix};
use crate::ladder::within;
use crate::{GadgetOptions, RingError};

/// Digits of [BEHZ16, 4.5, B.1 and B.2] and [KPZ21, B.2.3] for a list of moduli.
///
/// Residue D_j = \[c\]_{q_j} in [−h_j, h_j] with h_j = (q_j − 1)/2 is one digit, or, in radix ω, one of
/// ℓ_j = ⌈bits(q_j)/log2 ω⌉ digits D_j = Σ_z d_{j,z}·ω^z, each as close to zero as the radix allows: in
/// [−ω/2, ω/2), the last one in [−B, B] with B = ⌈h_j/ω^{ℓ_j − 1}⌉ ≤ ω/2. A key for digit (j, z) holds multiples
/// of the product of the moduli j + 1, …, j + i (cyclically): it is zero in these i limbs, and every limb is
/// missing in as many keys as any other.
///
/// With special moduli a digit is the centred remainder by the product of consecutive moduli.
#[derive(Clone, Debug)]
pub struct RnsDigits {
    moduli: Vec<u64>,
    special: Vec<u64>,
    dropped_limbs: usize,
    digits: Vec<Digit>,
}

/// One digit d = ((y >> shift) & mask) − bias for y = D_j + [`offset`](RnsDigits::offset), or the remainder by
/// several moduli.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// Index j of the digit's first modulus.
    pub source: usize,
    /// Number of the digit's moduli at the highest level.
    pub limbs: usize,
    pub shift: u32,
    pub mask: u64,
    /// Largest value of |d|, for a digit of one modulus.
    pub bias: u64,
}

impl Digit {
    /// Whether the digit is all of a residue, not a part of it.
    pub(super) fn is_whole(&self) -> bool {
        self.shift == 0 && self.mask == u64::MAX
    }

    /// The range of the digit's moduli at the highest level.
    pub(super) fn range(&self) -> Range<usize> {
        self.source..self.source + self.limbs
    }

    /// The digit that is left where it has only one of its moduli.
    pub(super) fn of_one(&self, source: usize, modulus: u64) -> Self {
        if self.limbs == 1 { *self } else { Self::whole(source, 1, modulus) }
    }

    /// The digit that is the remainder by the moduli of this digit and of those after it up to `last`.
    pub(super) fn with(&self, last: &Self) -> Self {
        Self { limbs: last.range().end - self.source, ..*self }
    }

    /// A digit that is the remainder by one modulus, or by the product of `limbs` moduli from `source` on.
    fn whole(source: usize, limbs: usize, modulus: u64) -> Self {
        Self { source, limbs, shift: 0, mask: u64::MAX, bias: modulus.saturating_sub(1).div_ceil(2) }
    }
}

impl RnsDigits {
    /// The digits of the given odd moduli below 2^62.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] without moduli; [`RingError::OutOfRange`] for a radix outside 2^1 to 2^61, for
    /// as many dropped limbs as there are moduli, for more than 4096 digits, for more digits of several moduli than there are moduli or without
    /// special moduli, and for special moduli with a radix or dropped limbs; [`RingError::NotCoprime`] for a special modulus among
    /// the moduli.
    pub fn new(options: &GadgetOptions, moduli: &[u64]) -> Result<Self, RingError> {
        let &GadgetOptions { radix_bits, dropped_limbs, .. } = options;
        if moduli.is_empty() {
            check_length("moduli of a gadget (at least)", 1, 0)?;
        }
        radix_bits.map_or(Ok(()), check_radix)?;
        if dropped_limbs >= moduli.len() {
            let expected = format_args!("below {}, the number of ciphertext moduli", moduli.len());
            return Err(RingError::out_of_range("dropped_limbs", expected, dropped_limbs));
        }
        let count: usize = moduli.iter().map(|&q| digits_of(q, radix_bits) as usize).sum();
        if count > MAX_TERMS {
            let expected = format_args!("a radix of at most {MAX_TERMS} digits");
            return Err(RingError::out_of_range("radix_bits", expected, format_args!("one of {count}")));
        }
        let digits = match ranges_of_digits(options, moduli)? {
            Some(ranges) => remainders(moduli, ranges),
            None => residues(moduli, radix_bits),
        };
        Ok(Self { moduli: moduli.to_vec(), special: options.special_moduli.clone(), dropped_limbs, digits })
    }

    /// The number of digits, which is the number of polynomials in each half of a key.
    #[must_use]
    pub fn count(&self) -> usize {
        self.digits.len()
    }

    /// For each digit, the number of its moduli among those with the given ascending indices: a digit that has none
    /// is left out.
    #[must_use]
    pub fn limbs_of(&self, moduli: &[usize]) -> Vec<usize> {
        self.present(moduli).map(|(_, _, places)| places.len()).collect()
    }

    /// The digits that have some of the given moduli, with their numbers and the places of their moduli in the list.
    pub(super) fn present<'a>(
        &'a self,
        moduli: &'a [usize],
    ) -> impl Iterator<Item = (usize, &'a Digit, Range<usize>)> + 'a {
        let all = (0..).zip(&self.digits).map(|(i, digit)| (i, digit, within(moduli, &digit.range())));
        all.filter(|(_, _, places)| !places.is_empty())
    }

    /// Whether all digits are whole residues or remainders.
    pub(super) fn are_whole(&self) -> bool {
        self.digits.iter().all(Digit::is_whole)
    }

    /// The number of limbs that every polynomial of a key lacks.
    pub(super) fn dropped_limbs(&self) -> usize {
        self.dropped_limbs
    }

    pub(super) fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    pub(super) fn special_moduli(&self) -> &[u64] {
        &self.special
    }

    /// The modulus with an index; 0 if there is none.
    pub(super) fn modulus(&self, limb: usize) -> u64 {
        self.moduli.get(limb).copied().unwrap_or(0)
    }

    /// The moduli with the given indices.
    pub(super) fn moduli_of(&self, limbs: &[usize]) -> Vec<u64> {
        limbs.iter().filter_map(|&limb| self.moduli.get(limb)).copied().collect()
    }

    /// The indices of the moduli of digits that have none of the given moduli.
    pub(super) fn dropped_digits(&self, limbs: &[usize]) -> Vec<usize> {
        let absent = self.digits.iter().filter(|digit| within(limbs, &digit.range()).is_empty());
        absent.flat_map(Digit::range).collect()
    }

    /// The number of limbs of each polynomial of a key, special ones included.
    #[must_use]
    pub fn key_limbs(&self) -> usize {
        self.moduli.len() - self.dropped_limbs + self.special.len()
    }

    /// All digits of the basis; the digits of one residue follow each other, lowest first.
    #[doc(hidden)]
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// The offset Σ_z bias_z·ω^z, below 2^62, which makes all digits of residue j non-negative; `digit` is one of
    /// them.
    #[doc(hidden)]
    pub fn offset(&self, digit: &Digit) -> u64 {
        if digit.is_whole() {
            return digit.bias;
        }
        let siblings = self.digits.iter().filter(|other| other.source == digit.source);
        siblings.map(|other| other.bias << other.shift).sum()
    }

    /// The indices of the moduli of q_I, of which keys for residue j are multiples.
    #[doc(hidden)]
    pub fn dropped(&self, source: usize) -> impl Iterator<Item = u64> {
        self.moduli.iter().copied().cycle().skip(source + 1).take(self.dropped_limbs)
    }

    /// The place of limb `target` in a key for residue j; `None` if the key is zero there.
    #[doc(hidden)]
    pub fn limb(&self, source: usize, target: usize) -> Option<usize> {
        let (k, dropped) = (self.moduli.len(), self.dropped_limbs);
        if (target + k - source - 1) % k < dropped {
            return None;
        }
        // Limbs source + 1, …, source + dropped are missing; those past the end are the first limbs.
        Some(target - if target > source { dropped } else { (source + dropped + 1).saturating_sub(k) })
    }
}

/// The moduli of digits that are remainders by products of them; `None` for digits of single residues.
fn ranges_of_digits(options: &GadgetOptions, moduli: &[u64]) -> Result<Option<Vec<Range<usize>>>, RingError> {
    let GadgetOptions { radix_bits, dropped_limbs, digits, special_moduli } = options;
    if special_moduli.is_empty() {
        return match digits {
            None => Ok(None),
            Some(digits) => {
                Err(RingError::out_of_range("digits", "special moduli beside a number of digits", digits))
            }
        };
    }
    if radix_bits.is_some() || *dropped_limbs > 0 {
        let expected = "none beside a radix or dropped limbs, which are for key switching without them";
        return Err(RingError::out_of_range("special_moduli", expected, special_moduli.len()));
    }
    if let Some(&common) = special_moduli.iter().find(|p| moduli.contains(p)) {
        return Err(RingError::NotCoprime { left: common, right: common });
    }
    let moduli: Vec<BigUint> = moduli.iter().map(|&q| q.into()).collect();
    group_moduli(&moduli, &special_moduli.iter().product(), *digits).map(Some)
}

/// The digits that are remainders by the given ranges of moduli.
fn remainders(moduli: &[u64], ranges: Vec<Range<usize>>) -> Vec<Digit> {
    let first = |range: &Range<usize>| moduli.get(range.start).copied().unwrap_or(0);
    ranges.into_iter().map(|range| Digit::whole(range.start, range.len(), first(&range))).collect()
}

/// Returns the digits of every residue, in the given radix.
fn residues(moduli: &[u64], radix_bits: Option<u32>) -> Vec<Digit> {
    let mut digits = Vec::new();
    for (source, &q) in moduli.iter().enumerate() {
        let (bits, last) = (radix_bits.unwrap_or(0), digits_of(q, radix_bits) - 1);
        for z in 0..last {
            let mask = (1 << bits) - 1;
            digits.push(Digit { source, limbs: 1, shift: z * bits, mask, bias: 1 << (bits - 1) });
        }
        let shift = last * bits;
        let bias = ((q - 1) / 2).div_ceil(1 << shift);
        digits.push(Digit { source, limbs: 1, shift, mask: u64::MAX, bias });
    }
    digits
}

/// The number ℓ of digits for one modulus in a radix.
pub fn digits_of(modulus: u64, radix_bits: Option<u32>) -> u32 {
    let bits = u64::BITS - modulus.leading_zeros();
    radix_bits.map_or(1, |radix| bits.div_ceil(radix).max(1))
}
