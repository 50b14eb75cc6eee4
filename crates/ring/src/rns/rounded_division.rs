//! Division by the product of a basis, rounded: modulus switching between any two bases [KPZ21, app. E], and the
//! scaling of products.

use sunzi_kernels::{Buffer, Conversion, Modulus, RoundedQuotient};
use sunzi_math::{mod_inv, mul_mod};

use super::exact_extension::part_of_block;
use super::fast_base_conversion::{half, shift_by_half};
use super::{matrix_product, row_of_ones};
use crate::error::entry;
use crate::options::ModulusSwitching;
use crate::parallel::{BLOCK, Parallelism, Work};
use crate::{Basis, RingError};

/// Computes, from y_i = |a·(q/q_i)^-1|_{q_i}, r = −(A/q)·f modulo other moduli p with factors f, for an integer A ≡ a
/// (mod q): then (a/q)·f + r = f·(a − A)/q is f times an integer next to a/q. Where p divides a, as in a switch from
/// q to a multiple of p [KPZ21, app. E], it is r alone.
///
/// An exact division has A = Σ y_i·q/q_i − u·q = \[a\]_q and the integer ⌊a/q⌉; within ε of a tie it may be its
/// neighbour. An approximate one has A = Σ \[y_i\]_{q_i}·q/q_i, which is off by less than kq/2 in place of q/2. The
/// paper takes y_i in [0, q_i), whose mean would gather noise in few roots of unity.
pub struct RoundedDivision {
    form: QuotientForm,
    conversion: Conversion,
}

enum QuotientForm {
    Exact(RoundedQuotient),
    Approximate { moduli: Vec<Modulus>, ones: Buffer },
}

impl RoundedDivision {
    /// Builds the tables; `targets` are pairs of p and f mod p.
    pub fn new(
        basis: &Basis,
        targets: &[(Modulus, u64)],
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let form = match switching {
            ModulusSwitching::Exact => {
                QuotientForm::Exact(RoundedQuotient::new(basis.isa(), basis.moduli())?)
            }
            ModulusSwitching::Approximate => QuotientForm::Approximate {
                moduli: basis.moduli().to_vec(),
                ones: Buffer::from_slice(&[1; BLOCK]),
            },
        };
        let mut columns = Vec::with_capacity(targets.len());
        for &(target, f) in targets {
            let p = target.value();
            // The entry follows from (q/q_i)/q = 1/q_i modulo p.
            let entry = |&q: &u64| Ok(target.neg(mul_mod(mod_inv(q % p, p)?, f, p)));
            let mut column = basis.values().iter().map(entry).collect::<Result<Vec<_>, RingError>>()?;
            column.push(match &form {
                QuotientForm::Exact(_) => f,
                // The rows hold [y_i] + h_i.
                QuotientForm::Approximate { moduli, .. } => {
                    let terms = moduli.iter().zip(&column).map(|(q, &c)| mul_mod(half(q) % p, c, p));
                    target.neg(terms.fold(0, |sum, term| target.add(sum, term)))
                }
            });
            columns.push(column);
        }
        let last = match &form {
            QuotientForm::Exact(quotient) => quotient.range(),
            QuotientForm::Approximate { .. } => row_of_ones(basis)?,
        };
        let rows: Vec<Modulus> = basis.moduli().iter().copied().chain([last]).collect();
        let targets: Vec<Modulus> = targets.iter().map(|target| target.0).collect();
        Ok(Self { form, conversion: matrix_product(&rows, &targets, &columns)? })
    }

    /// The distance that the integer may have from a/q.
    pub fn error(&self) -> f64 {
        match &self.form {
            QuotientForm::Exact(quotient) => 0.5 + quotient.error(),
            QuotientForm::Approximate { moduli, .. } => moduli.len() as f64 / 2.0,
        }
    }

    /// Prepares limbs of n words y_i to be rows.
    pub fn prepare(&self, digits: &mut [u64], n: usize) -> Result<(), RingError> {
        match &self.form {
            QuotientForm::Exact(_) => Ok(()),
            QuotientForm::Approximate { moduli, .. } => {
                Parallelism::Collapsed.for_each_limb(Work::Elementwise, digits, n, |i, limb| {
                    shift_by_half(entry("modulus", moduli, i)?, limb)
                })
            }
        }
    }

    /// Divides a block; `rows` are the limbs y_i after `prepare`, at most a block of words each.
    pub fn apply(&self, rows: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), RingError> {
        let mut block = [0; BLOCK];
        let last = part_of_block(&mut block, rows)?;
        let mut inputs = rows.to_vec();
        match &self.form {
            QuotientForm::Exact(quotient) => {
                quotient.apply(rows, last)?;
                inputs.push(last);
            }
            QuotientForm::Approximate { ones, .. } => inputs.push(ones.get(..last.len()).unwrap_or_default()),
        }
        Ok(self.conversion.apply(&inputs, output)?)
    }
}
