//! Base conversion: the matrix product that carries residues from some moduli to others.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use std::sync::Arc;

use crate::error::{KernelError, check_count, check_length};
use crate::isa::Isa;
use crate::modulus::{Modulus, check_terms};
use crate::select::{ConvertColumn, convert_column};
use crate::table::{Column, MakeTogether, Together};

/// The base conversion out_j = Σ_i in_i·M_ij mod to_j of coefficient vectors, where in_i < from_i.
///
/// The sum is that of integers, not modulo the product of the source moduli: what a fast base
/// conversion needs once in_i carries the factor (Q/q_i)^-1.
///
/// ```
/// use sunzi_kernels::{Conversion, Modulus};
/// let from = [Modulus::new(97)?, Modulus::new(193)?];
/// let to = [Modulus::new(1009)?];
/// let conversion = Conversion::new(&from, &to, |i, _| [193, 97][i])?;
/// let mut out = [0; 2];
/// conversion.apply(&[&[1, 96], &[1, 192]], &mut [&mut out])?;
/// assert_eq!(out, [290, (96 * 193 + 192 * 97) % 1009]);
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct Conversion {
    from: Vec<Modulus>,
    to: Vec<Modulus>,
    /// Groups of targets that are computed together, for each instruction set among them.
    together: Vec<Arc<dyn Together>>,
    /// Targets that are computed one by one, each with its function.
    alone: Vec<(ConvertColumn, Column)>,
}

impl Conversion {
    /// Makes the conversion with matrix entries `matrix(i, j)`, each reduced modulo `to[j]`.
    ///
    /// # Errors
    /// [`KernelError::TooManyTerms`] for more than [`MAX_TERMS`](crate::MAX_TERMS) source moduli.
    pub fn new(
        from: &[Modulus],
        to: &[Modulus],
        matrix: impl Fn(usize, usize) -> u64,
    ) -> Result<Self, KernelError> {
        check_terms(from.len())?;
        let mut alone: Vec<(ConvertColumn, Column)> = Vec::new();
        let mut groups: Vec<(MakeTogether, Isa, Vec<Column>)> = Vec::new();
        for (output, to) in to.iter().enumerate() {
            let matrix = (0..from.len()).map(|i| to.reduce(matrix(i, output))).collect();
            let column = Column { output, to: to.constants, matrix };
            match (to.table.together, groups.iter_mut().find(|(_, isa, _)| *isa == to.isa())) {
                (None, _) => alone.push((convert_column(to.isa()), column)),
                (_, Some((_, _, columns))) => columns.push(column),
                (Some(make), None) => groups.push((make, to.isa(), vec![column])),
            }
        }
        let mut together = Vec::new();
        let moduli: Vec<u64> = from.iter().map(Modulus::value).collect();
        for (make, isa, columns) in groups {
            // SAFETY: the function belongs to a table chosen for an available instruction set.
            match unsafe { make(&moduli, &columns) } {
                Some(columns) => together.push(columns),
                None => alone.extend(columns.into_iter().map(|column| (convert_column(isa), column))),
            }
        }
        Ok(Self { from: from.to_vec(), to: to.to_vec(), together, alone })
    }

    /// Source moduli of the conversion.
    #[must_use]
    #[inline]
    pub fn from(&self) -> &[Modulus] {
        &self.from
    }

    /// Target moduli of the conversion.
    #[must_use]
    #[inline]
    pub fn to(&self) -> &[Modulus] {
        &self.to
    }

    /// Converts vectors of equal length: one for each source modulus, in `[0, from_i)`, to one for each
    /// target modulus, in `[0, to_j)`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`] for another number or length of
    /// vectors.
    pub fn apply(&self, input: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), KernelError> {
        check_count(self.from.len(), input.len())?;
        check_count(self.to.len(), output.len())?;
        let len = output.first().map_or(0, |out| out.len());
        for slice in input {
            check_length(len, slice.len())?;
        }
        for out in output.iter() {
            check_length(len, out.len())?;
        }
        #[cfg(feature = "tally")]
        crate::tally::conversion(self.from.len() * self.to.len(), len);
        for columns in &self.together {
            columns.convert(input, output);
        }
        for (convert, column) in &self.alone {
            if let Some(out) = output.get_mut(column.output) {
                // SAFETY: the function was chosen for the instruction set of a modulus, which is available.
                unsafe { convert(&column.to, out, input, &column.matrix) };
            }
        }
        Ok(())
    }
}
