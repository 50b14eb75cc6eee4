//! Division by the product of a basis, rounded: modulus switching between any two bases [KPZ21, app. E], and the
//! scaling of products.

use sunzi_kernels::{Buffer, Conversion, Modulus, RoundedQuotient};
use sunzi_math::{mod_inv, mul_mod};

use super::exact_extension::part_of_block;
use super::fast_base_conversion::{half, shift_by_half};
use super::{matrix_product, row_of_ones};
use crate::options::ModulusSwitching;
use crate::parallel::{BLOCK, Parallelism, Work};
use crate::{Basis, RingError};

/// From y_i = |a·(q/q_i)^-1|_{q_i} to r = −(A/q)·f modulo other moduli p with factors f, for an integer A ≡ a (mod q): then
/// (a/q)·f + r = f·(a − A)/q is f times an integer next to a/q. Where p divides a, as in a switch from q to a multiple
/// of p [KPZ21, app. E], it is r alone.
///
/// Exact: A = Σ y_i·q/q_i − u·q = [a]_q and the integer is ⌊a/q⌉; within ε of a tie it may be its neighbour. Approximate:
/// A = Σ [y_i]_{q_i}·q/q_i, which is off by less than kq/2 in place of q/2. The paper takes y_i in [0, q_i), whose mean
/// would gather noise in few roots of unity.
pub(crate) struct RoundedDivision {
    form: Form,
    conversion: Conversion,
}

enum Form {
    Exact(RoundedQuotient),
    Approximate { moduli: Vec<Modulus>, ones: Buffer },
}

impl RoundedDivision {
    /// `targets`: pairs of p and f mod p.
    pub(crate) fn new(
        basis: &Basis,
        targets: &[(Modulus, u64)],
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let form = match switching {
            ModulusSwitching::Exact => Form::Exact(RoundedQuotient::new(basis.isa(), basis.moduli())?),
            ModulusSwitching::Approximate => {
                Form::Approximate { moduli: basis.moduli().to_vec(), ones: Buffer::from_slice(&[1; BLOCK]) }
            }
        };
        let mut columns = Vec::with_capacity(targets.len());
        for &(target, f) in targets {
            let p = target.value();
            // (q/q_i)/q = 1/q_i modulo p.
            let entry = |&q: &u64| Ok(target.neg(mul_mod(mod_inv(q % p, p)?, f, p)));
            let mut column = basis.values().iter().map(entry).collect::<Result<Vec<_>, RingError>>()?;
            column.push(match &form {
                Form::Exact(_) => f,
                // The rows are [y_i] + h_i.
                Form::Approximate { moduli, .. } => {
                    let terms = moduli.iter().zip(&column).map(|(q, &c)| mul_mod(half(q) % p, c, p));
                    target.neg(terms.fold(0, |sum, term| target.add(sum, term)))
                }
            });
            columns.push(column);
        }
        let last = match &form {
            Form::Exact(quotient) => quotient.range(),
            Form::Approximate { .. } => row_of_ones(basis)?,
        };
        let rows: Vec<Modulus> = basis.moduli().iter().copied().chain([last]).collect();
        let targets: Vec<Modulus> = targets.iter().map(|target| target.0).collect();
        Ok(Self { form, conversion: matrix_product(&rows, &targets, &columns)? })
    }

    /// How far the integer may lie from a/q.
    #[cfg(test)]
    pub(crate) fn error(&self) -> f64 {
        match &self.form {
            Form::Exact(quotient) => 0.5 + quotient.error(),
            Form::Approximate { moduli, .. } => moduli.len() as f64 / 2.0,
        }
    }

    /// Makes limbs of n words y_i ready to be rows.
    pub(crate) fn prepare(&self, digits: &mut [u64], n: usize) -> Result<(), RingError> {
        match &self.form {
            Form::Exact(_) => Ok(()),
            Form::Approximate { moduli, .. } => {
                Parallelism::Collapsed.for_each_limb(Work::Elementwise, digits, n, |i, limb| {
                    moduli.get(i).map_or(Ok(()), |q| shift_by_half(q, limb))
                })
            }
        }
    }

    /// `rows`: what `prepare` left of y_i, at most a block of words each.
    pub(crate) fn apply(&self, rows: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), RingError> {
        let mut block = [0; BLOCK];
        let last = part_of_block(&mut block, rows)?;
        let mut inputs = rows.to_vec();
        match &self.form {
            Form::Exact(quotient) => {
                quotient.apply(rows, last)?;
                inputs.push(last);
            }
            Form::Approximate { ones, .. } => inputs.push(ones.get(..last.len()).unwrap_or_default()),
        }
        Ok(self.conversion.apply(&inputs, output)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::fast_base_conversion::row_factors;

    /// a/q rounded for every |a| ≤ 3q: ⌊a/q⌉ if exact, else within k/2 of a/q, and nearly that far somewhere.
    #[test]
    fn every_integer_is_divided_within_the_error() {
        let values = [17, 19, 23];
        let basis = Basis::new(&values).unwrap();
        let q = 17 * 19 * 23_i64;
        let (p, f) = (Modulus::new(250_199_979_294_721).unwrap(), 12_345);
        let factors = row_factors(&basis, |_| Ok(1)).unwrap();
        for switching in [ModulusSwitching::Exact, ModulusSwitching::Approximate] {
            let division = RoundedDivision::new(&basis, &[(p, f)], switching).unwrap();
            let mut largest = 0.0_f64;
            let points: Vec<i64> = (-3 * q..=3 * q).collect();
            for points in points.chunks(BLOCK) {
                let row = |(&m, &c): (&u64, &u64)| -> Vec<u64> {
                    points.iter().map(|a| a.rem_euclid(m as i64) as u64 * c % m).collect()
                };
                let mut digits: Vec<u64> = values.iter().zip(&factors).flat_map(row).collect();
                division.prepare(&mut digits, points.len()).unwrap();
                let rows: Vec<&[u64]> = digits.chunks_exact(points.len()).collect();
                let mut out = vec![0; points.len()];
                division.apply(&rows, &mut [&mut out]).unwrap();
                let inverse = mod_inv(q as u64, p.value()).unwrap();
                for (&a, &r) in points.iter().zip(&out) {
                    let quotient = p.mul(p.mul(p.reduce_i64(a), inverse), f);
                    let scaled = p.mul(p.add(quotient, r), mod_inv(f, p.value()).unwrap());
                    let rounded =
                        if scaled > p.value() / 2 { scaled as i64 - p.value() as i64 } else { scaled as i64 };
                    let error = (rounded as f64 - a as f64 / q as f64).abs();
                    assert!(error <= division.error(), "{switching:?} {a}: {rounded}");
                    largest = largest.max(error);
                }
            }
            assert!(largest > 0.9 * division.error(), "{switching:?}: {largest}");
        }
    }
}
