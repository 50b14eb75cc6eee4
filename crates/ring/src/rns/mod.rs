//! Algorithms of [BEHZ16], [HPS19] and [KPZ21], one a file.
//!
//! The algorithms of this module are all integer matrix products over limbs ([`sunzi_kernels::Conversion`]);
//! constant factors are folded into matrices and into the last stage of the inverse transforms that precede
//! them.

pub(crate) mod auxiliary_basis;
mod behz;
mod bounds;
mod centered_conversion;
pub(crate) mod decryption;
pub(crate) mod digit_decryption;
pub(crate) mod exact_extension;
pub(crate) mod extension;
pub(crate) mod fast_base_conversion;
mod float_decryption;
mod gamma_decryption;
mod hps;
mod over_q;
mod power_of_two_decryption;
pub(crate) mod rns_floor;
pub(crate) mod rounded_division;
mod scaler;
pub(crate) mod shenoy_kumaresan;
mod small_montgomery_reduction;

pub use bounds::{ScalingBounds, SwitchingBounds, check_scalable};
pub use decryption::Decryptor;
pub use exact_extension::ExactExtension;
pub use rounded_division::RoundedDivision;
pub use scaler::RnsScaler;

use sunzi_kernels::{Conversion, Modulus};

use crate::error::check_table;
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Returns the error for a block that is longer than the buffers.
fn too_long_a_block(words: usize) -> RingError {
    RingError::out_of_range("block", format_args!("at most {BLOCK} words"), words)
}

/// Returns the modulus for a row of ones, which carries a constant into a matrix product.
fn row_of_ones(basis: &Basis) -> Result<Modulus, RingError> {
    basis.modulus(2)
}

/// A form of decryption: it computes messages from rows |c·a·q_i/q|_{q_i}, or with other factors. No time depends on
/// them.
pub trait DecryptionForm: Send + Sync {
    /// The factor of residues modulo q_i in the rows: |c·q_i/q|_{q_i}, given |q_i/q|_{q_i}.
    fn row_factor(&self, modulus: &Modulus, inverse: u64) -> u64;
    /// The margin of decryption: the distance of t·a/q to an integer up to which the message is right.
    fn margin(&self) -> f64;
    /// Decrypts at most a block of coefficients from its rows.
    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError>;
}

/// Returns the double 1/2 − loss, never more than the exact value.
fn half_less(loss: f64) -> f64 {
    (0.5 - loss.next_up()).next_down()
}

/// Builds the matrix product Σ_i row_i·column_ij modulo each target.
pub fn matrix_product(
    rows: &[Modulus],
    targets: &[Modulus],
    columns: &[Vec<u64>],
) -> Result<Conversion, RingError> {
    check_table("column of a matrix", targets.len(), columns.len())?;
    for column in columns {
        check_table("entry of a matrix", rows.len(), column.len())?;
    }
    let entry = |i: usize, j: usize| columns.get(j).and_then(|column| column.get(i)).copied().unwrap_or(0);
    Ok(Conversion::new(rows, targets, entry)?)
}
