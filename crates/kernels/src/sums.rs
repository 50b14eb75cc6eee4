//! Sums of products with constants as integers of two words, without reduction.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a call chosen for an available instruction set")
)]

use std::sync::Arc;

use crate::error::{KernelError, check_count, check_length};
use crate::isa::Isa;
use crate::modulus::{Modulus, check_terms};
use crate::table::Together;

/// Bound that constants of wide sums are below: with 2^12 words below 2^62 no sum passes 2^128.
const BOUND: u64 = 1 << 52;
/// Number of coefficients that the portable loop handles together.
const CHUNK: usize = 16;

/// The wide sums s_j = Σ_i x_i·c_ij, word by word, for words x_i below moduli, with s_j as low + 2^64·high.
///
/// ```
/// use sunzi_kernels::{Modulus, WideSums, active_isa};
/// let from = [Modulus::new(97)?, Modulus::new(193)?];
/// let sums = WideSums::new(active_isa()?, &from, 1, |i, _| [1 << 51, 3][i])?;
/// let (mut low, mut high) = ([0; 2], [0; 2]);
/// sums.apply(&[&[96, 1], &[5, 192]], &mut [&mut low, &mut high])?;
/// assert_eq!((low, high), ([96 << 51 | 15, (1 << 51) + 576], [0; 2]));
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct WideSums {
    terms: usize,
    columns: Vec<Vec<u64>>,
    together: Option<Arc<dyn Together>>,
}

impl WideSums {
    /// Makes the sums with constants `matrix(i, j)` for the given number of columns j.
    ///
    /// # Errors
    /// [`KernelError::UnavailableIsa`]; [`KernelError::TooManyTerms`] for more than [`MAX_TERMS`](crate::MAX_TERMS) moduli;
    /// [`KernelError::NotReduced`] for a constant from 2^52 on.
    pub fn new(
        isa: Isa,
        from: &[Modulus],
        columns: usize,
        matrix: impl Fn(usize, usize) -> u64,
    ) -> Result<Self, KernelError> {
        check_terms(from.len())?;
        Modulus::with_isa(3, isa)?;
        let columns: Vec<Vec<u64>> =
            (0..columns).map(|j| (0..from.len()).map(|i| matrix(i, j)).collect()).collect();
        if let Some(&value) = columns.iter().flatten().find(|&&constant| constant >= BOUND) {
            return Err(KernelError::NotReduced { value, modulus: BOUND });
        }
        let together = match isa {
            // SAFETY: the instruction set is available.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Ifma => unsafe {
                let moduli: Vec<u64> = from.iter().map(Modulus::value).collect();
                crate::x86_64::avx512_ifma::sums(&moduli, &columns)
            },
            _ => None,
        };
        Ok(Self { terms: from.len(), columns, together })
    }

    /// Computes the wide sums: from one vector for every modulus two vectors for every column, the low words
    /// and the high ones.
    ///
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), KernelError> {
        check_count(self.terms, input.len())?;
        check_count(2 * self.columns.len(), output.len())?;
        let len = output.first().map_or(0, |out| out.len());
        input.iter().try_for_each(|row| check_length(len, row.len()))?;
        output.iter().try_for_each(|out| check_length(len, out.len()))?;
        #[cfg(feature = "tally")]
        crate::tally::conversion(self.terms * self.columns.len(), len);
        match &self.together {
            Some(together) => together.convert(input, output),
            None => self.portable(input, output),
        }
        Ok(())
    }

    fn portable(&self, input: &[&[u64]], output: &mut [&mut [u64]]) {
        for (column, out) in self.columns.iter().zip(output.as_chunks_mut().0) {
            let [low, high] = out;
            for (at, (low, high)) in low.chunks_mut(CHUNK).zip(high.chunks_mut(CHUNK)).enumerate() {
                let mut sums = [0_u128; CHUNK];
                for (row, &constant) in input.iter().zip(column) {
                    let words = row.get(at * CHUNK..).unwrap_or_default();
                    for (sum, &word) in sums.iter_mut().zip(words) {
                        *sum = sum.wrapping_add(u128::from(word) * u128::from(constant));
                    }
                }
                for ((low, high), sum) in low.iter_mut().zip(high).zip(sums) {
                    (*low, *high) = (sum as u64, (sum >> 64) as u64);
                }
            }
        }
    }
}
