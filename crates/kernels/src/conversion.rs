//! Base conversion: the matrix product that carries residues from some moduli to others.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use crate::error::{KernelError, check_count, check_length};
use crate::generic::paired_conversion::{self, PairedMatrix};
use crate::modulus::{Modulus, check_terms};
use crate::portable::PORTABLE;
use crate::table::{self, Table};

/// The conversion out_j = Σ_i in_i·M_ij mod to_j of coefficient vectors, where in_i < from_i.
///
/// It is the sum as an integer, not modulo the product of the source moduli: what a fast base
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
    paired: Option<Paired>,
    columns: Vec<Column>,
}

/// All targets of an instruction set that converts columns together.
#[derive(Clone)]
struct Paired {
    convert: table::ConvertPaired,
    matrix: PairedMatrix,
}

/// One target that is converted alone.
#[derive(Clone)]
struct Column {
    /// Its place among the targets.
    place: usize,
    /// Its own table, or one that takes wider words if some source modulus needs it.
    table: &'static Table,
    /// M_0j, M_1j, …
    matrix: Vec<u64>,
}

impl Conversion {
    /// The conversion by `matrix(i, j)`, which is reduced modulo `to[j]`.
    ///
    /// # Errors
    /// [`KernelError::TooManyTerms`] for more than [`MAX_TERMS`](crate::MAX_TERMS) source moduli.
    pub fn new(
        from: &[Modulus],
        to: &[Modulus],
        matrix: impl Fn(usize, usize) -> u64,
    ) -> Result<Self, KernelError> {
        check_terms(from.len())?;
        let widest = from.iter().map(Modulus::value).max().unwrap_or(0);
        let narrow = |to: &Modulus| table::takes_inputs(to.table, widest);
        let in_pairs = |to: &Modulus| {
            let fits = (1..=paired_conversion::MAX_TERMS).contains(&from.len()) && narrow(to);
            table::paired_conversion(to.isa()).filter(|_| fits)
        };
        let entries = |j: usize, to: &Modulus| -> Vec<u64> {
            (0..from.len()).map(|i| to.reduce(matrix(i, j))).collect()
        };
        let column = |(place, to): (usize, &Modulus)| Column {
            place,
            table: if narrow(to) { to.table } else { &PORTABLE },
            matrix: entries(place, to),
        };
        let alone = to.iter().enumerate().filter(|(_, to)| in_pairs(to).is_none());
        let columns = alone.map(column).collect();
        let paired = to.iter().find_map(in_pairs).map(|convert| {
            let together = to.iter().enumerate().filter(|(_, to)| in_pairs(to).is_some());
            let scaled: Vec<(usize, &Modulus, Vec<u64>)> =
                together.map(|(j, to)| (j, to, scale_by_word(to, entries(j, to)))).collect();
            Paired { convert, matrix: paired_matrix(from, &scaled) }
        });
        Ok(Self { from: from.to_vec(), to: to.to_vec(), paired, columns })
    }

    /// The source moduli.
    #[must_use]
    pub fn from(&self) -> &[Modulus] {
        &self.from
    }

    /// The target moduli.
    #[must_use]
    pub fn to(&self) -> &[Modulus] {
        &self.to
    }

    /// Converts vectors of equal length: one for each source modulus, in `[0, from_i)`, to one for each
    /// target modulus, in `[0, to_j)`.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`], [`KernelError::LengthMismatch`].
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
        if let Some(Paired { convert, matrix }) = &self.paired {
            // SAFETY: it belongs to the instruction set of a target, which is available.
            unsafe { convert(matrix, output, input) };
        }
        for Column { place, table, matrix } in &self.columns {
            if let (Some(out), Some(to)) = (output.get_mut(*place), self.to.get(*place)) {
                // SAFETY: the table was chosen for an available instruction set.
                unsafe { (table.convert_column)(&to.constants, out, input, matrix) };
            }
        }
        Ok(())
    }
}

/// 2^52·M_i modulo the target: the Montgomery step takes the factor off again.
fn scale_by_word(to: &Modulus, mut entries: Vec<u64>) -> Vec<u64> {
    let word = to.constants.word52.wrap.0;
    entries.iter_mut().for_each(|entry| *entry = to.mul(*entry, word));
    entries
}

fn paired_matrix(from: &[Modulus], columns: &[(usize, &Modulus, Vec<u64>)]) -> PairedMatrix {
    let column = |(place, to, entries): &(usize, &Modulus, Vec<u64>)| {
        let (modulus, inverse) = (to.value(), to.constants.word52.inverse);
        paired_conversion::Column { place: *place, modulus, inverse, entries: entries.clone() }
    };
    let columns: Vec<paired_conversion::Column> = columns.iter().map(column).collect();
    PairedMatrix::new(&columns, from.iter().map(|q| u128::from(q.value())).sum())
}
