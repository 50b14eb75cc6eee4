//! The centred lift from one basis to another [HPS19, 2.2; KPZ21, eq. (5) and (6)].

use sunzi_kernels::{Conversion, Modulus, RoundedQuotient};

use super::fast_base_conversion;
use super::matrix_product;
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Conversion from y_i = |x·(q/q_i)^-1|_{q_i} to x' = Σ y_i·q/q_i − u·q ≡ x (mod q) with |x'| ≤ (1/2 + ε)·q: \[x\]_q,
/// but for x within εq of ±q/2, where it may be the next lift. u = ⌊Σ y_i/q_i⌉ is one more row of the matrix product;
/// ε is the error of its sum in doubles, (k² + 7k)/2 units of 2^-53 and for moduli above 2^52 their bits beyond, or 0
/// for one modulus.
pub struct ExactExtension {
    quotient: RoundedQuotient,
    conversion: Conversion,
}

impl ExactExtension {
    /// Builds the tables of lifts from a basis to the given moduli.
    pub fn new(basis: &Basis, targets: &[Modulus]) -> Result<Self, RingError> {
        let quotient = RoundedQuotient::new(basis.isa(), basis.moduli())?;
        let column = |target: &Modulus| {
            let mut column = fast_base_conversion::column(basis, *target, 1);
            column.push(target.neg(basis.product_mod(target.value())));
            column
        };
        let columns: Vec<Vec<u64>> = targets.iter().map(column).collect();
        let rows: Vec<Modulus> = basis.moduli().iter().copied().chain([quotient.range()]).collect();
        Ok(Self { quotient, conversion: matrix_product(&rows, targets, &columns)? })
    }

    /// Lifts a block of coefficients; `rows` are y_i for every i, at most a block of words each.
    pub fn apply(&self, rows: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), RingError> {
        let mut quotients = [0; BLOCK];
        let quotients = part_of_block(&mut quotients, rows)?;
        self.quotient.apply(rows, quotients)?;
        let mut inputs = rows.to_vec();
        inputs.push(quotients);
        Ok(self.conversion.apply(&inputs, output)?)
    }
}

/// Returns the buffers of a block of coefficients, cut to the length of the rows.
pub(super) fn part_of_block<'a>(
    block: &'a mut [u64; BLOCK],
    rows: &[&[u64]],
) -> Result<&'a mut [u64], RingError> {
    let len = rows.first().map_or(0, |row| row.len());
    block
        .get_mut(..len)
        .ok_or_else(|| RingError::out_of_range("block", format_args!("at most {BLOCK} words"), len))
}
