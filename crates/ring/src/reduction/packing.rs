//! Polynomials as bytes: the coefficients that are kept, reduced.

use std::io::BufRead;

use super::{UnivariatePoly, UnivariateRing};
use crate::packing::{pack_rows, rows_len, unpack_rows};
use crate::poly_ring::sealed::Sealed;
use crate::{Append, Coefficient, Domain, Packing, PackingError, PolyRing, Reduction, Storage, describe};

impl Packing for UnivariateRing {
    fn description(&self) -> Vec<u8> {
        // Polynomials times M, or keys alone; all other reductions have the same numbers.
        let factor = match self.reduction() {
            Reduction::Montgomery => 1,
            Reduction::Mixed => 2,
            Reduction::Barrett | Reduction::SparseBarrett => 0,
        };
        let mut numbers = vec![factor];
        numbers.extend(self.basis().values());
        describe(Storage::Univariate, self.index(), &numbers)
    }

    fn packed_len(&self) -> usize {
        rows_len(self.degree(), self.basis().values())
    }

    fn pack<D: Domain>(&self, a: &UnivariatePoly<D>, out: &mut impl Append) -> Result<(), PackingError> {
        self.check(a)?;
        let coefficients = match <D as Sealed>::EVALUATION {
            true => self.raw_coefficients(&a.clone().relabel())?,
            false => a.clone().relabel(),
        };
        pack_rows(coefficients.words().chunks_exact(self.degree()), self.basis().values(), out)
    }

    fn unpack<D: Domain>(&self, from: &mut impl BufRead) -> Result<UnivariatePoly<D>, PackingError> {
        let mut a = self.arbitrary::<Coefficient>();
        unpack_rows(a.words_mut().chunks_exact_mut(self.degree()), self.basis().values(), from)?;
        Ok(if <D as Sealed>::EVALUATION { self.raw_values(&a)?.relabel() } else { a.relabel() })
    }
}
