//! Packing of polynomials as bytes: the stored coefficients, reduced.

use std::io::BufRead;

use sunzi_ring::storage::{pack_rows, unpack_rows};
use sunzi_ring::{
    Append, Backend, Coefficient, PackingError, Poly, Representation, Residues, Storage, describe,
};

use crate::{Reduction, UnivariateRing};

/// Returns the name of a ring with reductions modulo Φ_m in files.
pub(crate) fn description(ring: &UnivariateRing) -> Vec<u8> {
    // Polynomials, or keys alone, are stored times M; all other reductions have equal numbers.
    let factor = match ring.reduction() {
        Reduction::Montgomery => 1,
        Reduction::Mixed => 2,
        Reduction::Barrett | Reduction::SparseBarrett => 0,
    };
    let mut numbers = vec![factor];
    numbers.extend(ring.basis().values());
    describe(Storage::Univariate, ring.index(), &numbers)
}

/// Packs a polynomial as bytes: [`Backend::pack`].
pub(crate) fn pack(
    ring: &UnivariateRing,
    a: &Residues,
    representation: Representation,
    out: &mut dyn Append,
) -> Result<(), PackingError> {
    ring.check_as(a, representation)?;
    let coefficients = match representation {
        Representation::Values => ring.raw_coefficients(&a.clone().into())?,
        Representation::Coefficients => a.clone().into(),
    };
    pack_rows(coefficients.limbs(), ring.basis().values(), out)
}

/// Unpacks a polynomial from bytes: [`Backend::unpack`].
pub(crate) fn unpack(
    ring: &UnivariateRing,
    representation: Representation,
    from: &mut dyn BufRead,
) -> Result<Residues, PackingError> {
    let mut a: Poly<Coefficient> = ring.arbitrary();
    unpack_rows(a.words_mut().chunks_exact_mut(ring.degree()), ring.basis().values(), from)?;
    Ok(match representation {
        Representation::Values => ring.raw_values(&a)?.into_residues(),
        Representation::Coefficients => a.into_residues(),
    })
}
