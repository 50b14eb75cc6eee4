//! Decryption ⌊t·a/q⌉ mod t: the steps that all its forms share.

use sunzi_kernels::Modulus;
use zeroize::Zeroize;

use super::digit_decryption::DigitDecryption;
use super::float_decryption::FloatDecryption;
use super::gamma_decryption::GammaDecryption;
use super::power_of_two_decryption::PowerOfTwoDecryption;
use super::{DecryptionForm, too_long_a_block};
use crate::error::{check_limbs, check_table};
use crate::options::Decryption;
use crate::parallel::{BLOCK, Parallelism, block_of};
use crate::scratch::Scratch;
use crate::{Basis, RingError};

/// Number of words from one row of a block to the next: a cache line more than a block, so that rows do not
/// compete for the same cache sets.
const STRIDE: usize = BLOCK + 8;

/// Tables of decryption for one (q, t), in the form that was asked for.
pub struct Decryptor {
    moduli: Vec<Modulus>,
    /// Factors |c·q_i/q|_{q_i} of the rows of decryption.
    row_factors: Vec<u64>,
    form: Box<dyn DecryptionForm>,
}

impl Decryptor {
    /// Builds the tables of the given form of decryption, modulo t.
    pub fn new(basis: &Basis, t: u64, decryption: Decryption) -> Result<Self, RingError> {
        Self::with_form(
            basis,
            match decryption {
                Decryption::Gamma { gamma } => Box::new(GammaDecryption::new(basis, t, gamma)?),
                Decryption::PowerOfTwo { log2_gamma } => {
                    Box::new(PowerOfTwoDecryption::new(basis, t, log2_gamma)?)
                }
                Decryption::FloatingPoint { precision } => {
                    Box::new(FloatDecryption::new(basis, t, precision)?)
                }
                Decryption::DigitDecomposition => Box::new(DigitDecryption::new(basis, t)?),
            },
        )
    }

    fn with_form(basis: &Basis, form: Box<dyn DecryptionForm>) -> Result<Self, RingError> {
        let constants = basis.moduli().iter().zip(basis.quotient_inverses());
        let row_factors = constants.map(|(modulus, &inverse)| form.row_factor(modulus, inverse)).collect();
        Ok(Self { moduli: basis.moduli().to_vec(), row_factors, form })
    }

    /// The distance of t·x/q from an integer up to which decryption is right.
    pub fn margin(&self) -> f64 {
        self.form.margin()
    }

    /// The factors of residues that [`apply_rows`](Self::apply_rows) expects to be multiplied already.
    pub(crate) fn row_factors(&self) -> &[u64] {
        &self.row_factors
    }

    /// Returns ⌊t·a/q⌉ mod t in [0, t) for rows of n coefficients of a, which are multiplied by the factors of rows
    /// already.
    pub(crate) fn apply_rows(&self, rows: &[u64], n: usize) -> Result<Vec<u64>, RingError> {
        let mut message = vec![0; n];
        Parallelism::Collapsed.for_each_block(&mut message, n, |range, output| {
            let views = block_of(rows.chunks_exact(n), &range);
            output.iter_mut().try_for_each(|message| self.form.apply(&views, message))
        })?;
        Ok(message)
    }

    /// Returns ⌊t·a/q⌉ mod t in [0, t) for the coefficients of a, limb after limb.
    pub fn apply(&self, words: &[u64], n: usize) -> Result<Vec<u64>, RingError> {
        let mut message = vec![0; n];
        check_limbs("limb of what is decrypted", self.moduli.len(), n, words.len())?;
        check_table("factor of a row", self.moduli.len(), self.row_factors.len())?;
        Parallelism::Collapsed.for_each_block(&mut message, n, |range, output| {
            let mut rows = Scratch::new(self.moduli.len() * STRIDE);
            let limbs = words.chunks_exact(n).zip(self.moduli.iter().zip(&self.row_factors));
            let mut views = Vec::with_capacity(self.moduli.len());
            for (row, (limb, (modulus, &factor))) in rows.chunks_exact_mut(STRIDE).zip(limbs) {
                let (Some(row), Some(limb)) = (row.get_mut(..range.len()), limb.get(range.clone())) else {
                    return Err(too_long_a_block(range.len()));
                };
                row.copy_from_slice(limb);
                if factor != 1 {
                    modulus.mul_scalar_assign(row, factor)?;
                }
                views.push(&*row);
            }
            output.iter_mut().try_for_each(|message| self.form.apply(&views, message))?;
            rows.zeroize();
            Ok(())
        })?;
        Ok(message)
    }
}
