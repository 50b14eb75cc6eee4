//! Encoder of integers wider than one plaintext modulus, joined by the Chinese remainder theorem.

use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use sunzi_math::{Crt, gcd};
use zeroize::Zeroizing;

use crate::{EncodingError, Plaintext};

use super::{BatchEncoder, CoefficientEncoder, Encoder};

/// Encodes integers modulo T = Π t_i as one plaintext for each t_i.
///
/// Every operation on ciphertexts is done once per t_i; the results are joined when decoded.
/// Integers lie in [-⌊T/2⌋, ⌈T/2⌉ − 1]: a computation whose true result leaves this range wraps
/// without notice, so choose T from the largest result.
///
/// ```
/// use sunzi_encoding::CrtEncoder;
///
/// let encoder = CrtEncoder::batching(1024, &[40961, 61441, 65537])?;
/// let plaintexts = encoder.encode(&[-1_000_000_007, 5])?;
/// assert_eq!(plaintexts.len(), 3);
/// assert_eq!(encoder.decode(&plaintexts)?[..2], [-1_000_000_007, 5]);
/// # Ok::<(), sunzi_encoding::EncodingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrtEncoder<E = BatchEncoder> {
    parts: Vec<E>,
    crt: Crt,
}

impl CrtEncoder<BatchEncoder> {
    /// Makes the encoder that batches modulo each of `plain_moduli`, distinct primes ≡ 1 (mod 2n).
    ///
    /// # Errors
    /// Every error of [`BatchEncoder::new`] and [`CrtEncoder::from_encoders`].
    pub fn batching(degree: usize, plain_moduli: &[u64]) -> Result<Self, EncodingError> {
        let parts: Result<_, _> = plain_moduli.iter().map(|&t| BatchEncoder::new(degree, t)).collect();
        Self::from_encoders(parts?)
    }
}

impl CrtEncoder<CoefficientEncoder> {
    /// Makes the encoder of one integer per coefficient modulo each of `plain_moduli`, pairwise coprime.
    ///
    /// # Errors
    /// Every error of [`CoefficientEncoder::new`] and [`CrtEncoder::from_encoders`].
    pub fn coefficients(degree: usize, plain_moduli: &[u64]) -> Result<Self, EncodingError> {
        let parts: Result<_, _> = plain_moduli.iter().map(|&t| CoefficientEncoder::new(degree, t)).collect();
        Self::from_encoders(parts?)
    }
}

impl<E: Encoder> CrtEncoder<E> {
    /// Joins encoders of one degree whose plaintext moduli are pairwise coprime.
    ///
    /// # Errors
    /// [`EncodingError::NoPlainModuli`]; [`EncodingError::PlainModuliNotCoprime`];
    /// [`EncodingError::DegreesDiffer`].
    pub fn from_encoders(parts: Vec<E>) -> Result<Self, EncodingError> {
        let first = parts.first().ok_or(EncodingError::NoPlainModuli)?;
        if let Some(other) = parts.iter().find(|part| part.degree() != first.degree()) {
            return Err(EncodingError::DegreesDiffer { left: first.degree(), right: other.degree() });
        }
        let moduli: Vec<u64> = parts.iter().map(Encoder::plain_modulus).collect();
        check_pairwise_coprime(&moduli)?;
        Ok(Self { parts, crt: Crt::new(&moduli)? })
    }

    /// Encoders of the residues, one for each t_i.
    pub fn parts(&self) -> &[E] {
        &self.parts
    }

    /// Number T = Π t_i of different integers that one slot can hold.
    pub fn range(&self) -> &BigUint {
        self.crt.product()
    }

    /// Tables that join residues modulo the t_i.
    pub fn crt(&self) -> &Crt {
        &self.crt
    }

    /// Smallest and largest integer: −⌊T/2⌋ and ⌈T/2⌉ − 1.
    pub fn bounds(&self) -> (BigInt, BigInt) {
        bounds(self.range())
    }

    /// Number of integers that one encoding holds.
    pub fn slots(&self) -> usize {
        self.parts.iter().map(Encoder::slots).min().unwrap_or(0)
    }

    /// Encodes integers as plaintexts, one for each t_i; missing integers count as zero.
    ///
    /// # Errors
    /// [`EncodingError::TooManyValues`]; [`EncodingError::ValueOutOfRange`].
    pub fn encode(&self, values: &[i128]) -> Result<Vec<Plaintext>, EncodingError> {
        let (low, high) = self.bounds();
        // A bound that exceeds i128 excludes nothing.
        let (least, most) = (low.to_i128().unwrap_or(i128::MIN), high.to_i128().unwrap_or(i128::MAX));
        if let Some(index) = values.iter().position(|value| !(least..=most).contains(value)) {
            return Err(EncodingError::ValueOutOfRange { index, low, high });
        }
        self.encode_residues(values)
    }

    /// Encodes integers modulo T as plaintexts, one for each t_i: those out of [`bounds`](Self::bounds) wrap.
    ///
    /// # Errors
    /// [`EncodingError::TooManyValues`].
    pub fn encode_residues(&self, values: &[i128]) -> Result<Vec<Plaintext>, EncodingError> {
        let encode = |part: &E| {
            let t = i128::from(part.plain_modulus());
            let residues = values.iter().map(|value| value.rem_euclid(t) as u64);
            part.encode(&Zeroizing::new(residues.collect::<Vec<u64>>()))
        };
        self.parts.iter().map(encode).collect()
    }

    /// Encodes integers of any width as plaintexts, one for each t_i.
    ///
    /// # Errors
    /// [`EncodingError::TooManyValues`]; [`EncodingError::ValueOutOfRange`].
    pub fn encode_integers(&self, values: &[BigInt]) -> Result<Vec<Plaintext>, EncodingError> {
        let (low, high) = self.bounds();
        if let Some(index) = values.iter().position(|value| *value < low || *value > high) {
            return Err(EncodingError::ValueOutOfRange { index, low, high });
        }
        let residues: Vec<Vec<u64>> = values.iter().map(|value| self.crt.residues(value)).collect();
        let encode = |(i, part): (usize, &E)| {
            let column: Vec<u64> = residues.iter().filter_map(|row| row.get(i).copied()).collect();
            part.encode(&column)
        };
        self.parts.iter().enumerate().map(encode).collect()
    }

    /// Returns all integers of an encoding, of any width.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextCount`]; [`EncodingError::PlaintextMismatch`], also for plaintexts in
    /// another order than the t_i.
    pub fn decode_integers(&self, plaintexts: &[Plaintext]) -> Result<Vec<BigInt>, EncodingError> {
        if plaintexts.len() != self.parts.len() {
            return Err(EncodingError::PlaintextCount { expected: self.parts.len(), got: plaintexts.len() });
        }
        let mut residues = vec![Vec::with_capacity(self.parts.len()); self.slots()];
        for (part, plaintext) in self.parts.iter().zip(plaintexts) {
            for (row, residue) in residues.iter_mut().zip(part.decode(plaintext)?) {
                row.push(residue);
            }
        }
        residues.iter().map(|row| Ok(self.crt.reconstruct_centered(row)?)).collect()
    }

    /// Returns all integers of an encoding, as `i128`.
    ///
    /// # Errors
    /// Every error of [`CrtEncoder::decode_integers`]; [`EncodingError::TooWide`] for an integer that exceeds `i128`.
    pub fn decode(&self, plaintexts: &[Plaintext]) -> Result<Vec<i128>, EncodingError> {
        let narrow =
            |(index, value): (usize, BigInt)| value.to_i128().ok_or(EncodingError::TooWide { index });
        self.decode_integers(plaintexts)?.into_iter().enumerate().map(narrow).collect()
    }
}

/// Returns the smallest and the largest integer of T = `range`: −⌊T/2⌋ and ⌈T/2⌉ − 1.
pub(crate) fn bounds(range: &BigUint) -> (BigInt, BigInt) {
    let half = BigInt::from(range >> 1_u32);
    let high = BigInt::from((range + 1_u32) >> 1_u32) - 1;
    (-half, high)
}

/// Checks that the plaintext moduli are pairwise coprime.
pub fn check_pairwise_coprime(moduli: &[u64]) -> Result<(), EncodingError> {
    for (i, &left) in moduli.iter().enumerate() {
        if let Some(&right) = moduli.iter().skip(i + 1).find(|&&right| gcd(left, right) != 1) {
            return Err(EncodingError::PlainModuliNotCoprime { left, right });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_integers_round_trip_to_both_ends_of_the_range() {
        // 61-bit products, 183 bits together.
        let encoder = CrtEncoder::batching(64, &[257, 641, 769, 1153, 1409, 2689]).unwrap();
        let (low, high) = encoder.bounds();
        assert_eq!(&high - &low + 1, BigInt::from(encoder.range().clone()));
        let values = vec![low.clone(), high.clone(), BigInt::from(0), BigInt::from(-1), &high - 1, &low + 1];
        let plaintexts = encoder.encode_integers(&values).unwrap();
        let back = encoder.decode_integers(&plaintexts).unwrap();
        assert_eq!(back[..6], values);
        assert_eq!(back.len(), 64);
        for over in [low - 1, high + 1] {
            let error = encoder.encode_integers(&[BigInt::from(0), over]).unwrap_err();
            assert!(matches!(error, EncodingError::ValueOutOfRange { index: 1, .. }), "{error}");
        }
    }

    #[test]
    fn words_and_big_integers_agree() {
        let encoder = CrtEncoder::batching(64, &[257, 641, 769]).unwrap();
        let (low, high) = encoder.bounds();
        let (low, high) = (low.to_i128().unwrap(), high.to_i128().unwrap());
        let values = [low, -12345, 0, 67, high];
        let plaintexts = encoder.encode(&values).unwrap();
        let wide: Vec<BigInt> = values.iter().map(|&v| BigInt::from(v)).collect();
        assert_eq!(plaintexts, encoder.encode_integers(&wide).unwrap());
        assert_eq!(encoder.decode(&plaintexts).unwrap()[..5], values);
        let error = encoder.encode(&[0, 0, high + 1]).unwrap_err();
        assert!(matches!(error, EncodingError::ValueOutOfRange { index: 2, .. }), "{error}");
        assert!(error.to_string().contains(&format!("[{low}, {high}]")), "{error}");
        assert!(encoder.encode(&[low - 1]).is_err());
        assert!(encoder.encode(&[i128::MIN]).is_err());
    }

    #[test]
    fn residues_wrap_where_integers_are_refused() {
        let encoder = CrtEncoder::batching(64, &[257, 641, 769]).unwrap();
        let range = encoder.range().to_i128().unwrap();
        assert_eq!(encoder.crt().product(), encoder.range());
        let wrapped = encoder.encode_residues(&[range + 5, -range - 5, i128::MAX]).unwrap();
        let back = encoder.decode(&wrapped).unwrap();
        assert_eq!(back[..2], [5, -5]);
        assert_eq!(back[2].rem_euclid(range), i128::MAX % range);
        assert!(matches!(encoder.encode_residues(&[0; 65]), Err(EncodingError::TooManyValues { .. })));
    }

    #[test]
    fn a_range_beyond_128_bits_takes_every_i128_and_says_when_it_cannot_return_one() {
        let large: Vec<u64> = vec![(1 << 60) - 1, (1 << 60) - 3, (1 << 59) - 1];
        let encoder = CrtEncoder::coefficients(4, &large).unwrap();
        let plaintexts = encoder.encode(&[i128::MIN, i128::MAX]).unwrap();
        assert_eq!(encoder.decode(&plaintexts).unwrap()[..2], [i128::MIN, i128::MAX]);
        let (_, high) = encoder.bounds();
        let plaintexts = encoder.encode_integers(&[BigInt::from(1), high]).unwrap();
        assert!(matches!(encoder.decode(&plaintexts), Err(EncodingError::TooWide { index: 1 })));
    }

    #[test]
    fn sums_of_residues_are_sums_of_integers() {
        let encoder = CrtEncoder::coefficients(2, &[8, 9, 5, 7]).unwrap();
        for a in -1260_i128..1260 {
            let b = (a * 7).rem_euclid(2520) - 1260;
            let left = encoder.encode(&[a]).unwrap();
            let right = encoder.encode(&[b]).unwrap();
            let add = |(x, y): (&Plaintext, &Plaintext)| {
                let t = x.modulus();
                let sums = x.coefficients().iter().zip(y.coefficients()).map(|(p, q)| (p + q) % t).collect();
                Plaintext::new(sums, t).unwrap()
            };
            let sum: Vec<Plaintext> = left.iter().zip(&right).map(add).collect();
            assert_eq!(encoder.decode(&sum).unwrap()[0], (a + b + 1260).rem_euclid(2520) - 1260);
        }
    }

    #[test]
    fn misuse_is_an_error() {
        assert!(matches!(CrtEncoder::batching(64, &[]), Err(EncodingError::NoPlainModuli)));
        assert!(matches!(
            CrtEncoder::batching(64, &[257, 257]),
            Err(EncodingError::PlainModuliNotCoprime { left: 257, right: 257 })
        ));
        assert!(CrtEncoder::coefficients(64, &[6, 35, 77]).is_err());
        let mixed = vec![CoefficientEncoder::new(4, 3).unwrap(), CoefficientEncoder::new(8, 5).unwrap()];
        assert!(matches!(
            CrtEncoder::from_encoders(mixed),
            Err(EncodingError::DegreesDiffer { left: 4, right: 8 })
        ));
        let encoder = CrtEncoder::batching(64, &[257, 641]).unwrap();
        let mut plaintexts = encoder.encode(&[1; 64]).unwrap();
        assert!(matches!(encoder.encode(&[1; 65]), Err(EncodingError::TooManyValues { got: 65, slots: 64 })));
        assert!(encoder.decode(&plaintexts[..1]).is_err());
        plaintexts.reverse();
        assert!(matches!(encoder.decode(&plaintexts), Err(EncodingError::PlaintextMismatch { .. })));
    }
}
