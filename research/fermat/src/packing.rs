//! Packing of polynomials modulo 2^g − 1 as bytes.

use std::io::BufRead;

use sunzi_ring::{Append, Backend, PackingError, RingError};

use crate::residues::FermatResidues;
use crate::{Component, FermatRing};

/// Returns the bytes of a component in files: the h bits of each residue, and modulo 2^h + 1 a bit for each
/// that says whether it is 2^h.
fn component_len(component: Component, degree: usize) -> usize {
    degree / 8 * (component.bits() + usize::from(component.is_fermat()))
}

/// Returns the number of bytes that a polynomial modulo 2^g − 1 takes in files.
pub(crate) fn packed_len(ring: &FermatRing) -> usize {
    let components = ring.fermat_modulus().components().iter();
    components.map(|&component| component_len(component, ring.degree())).sum()
}

/// Writes the residues of a polynomial modulo 2^g − 1 into a file.
pub(crate) fn pack(ring: &FermatRing, a: &FermatResidues, out: &mut dyn Append) -> Result<(), PackingError> {
    if !a.limbs.is_empty() {
        return Err(RingError::out_of_range("primes beside 2^g - 1", "none", ring.level()).into());
    }
    for (component, residues) in ring.0.parts(&a.words) {
        let mut highest = Vec::with_capacity(ring.degree());
        let mut bytes = Vec::new();
        for residue in residues.chunks_exact(component.len()) {
            let (low, high) = residue.split_at_checked(component.bits() / 64).unwrap_or_default();
            bytes.clear();
            bytes.extend(low.iter().flat_map(|word| word.to_le_bytes()));
            out.write_all(&bytes)?;
            highest.extend(high);
        }
        if component.is_fermat() {
            let mut bytes = vec![0; ring.degree() / 8];
            sunzi_kernels::pack(&mut bytes, &highest, 1).map_err(RingError::from)?;
            out.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// Reads the residues of a polynomial modulo 2^g − 1 from a file.
pub(crate) fn unpack(ring: &FermatRing, from: &mut dyn BufRead) -> Result<FermatResidues, PackingError> {
    let mut a = ring.empty();
    for (limb, (component, residues)) in ring.0.parts_mut(&mut a.words).enumerate() {
        let mut bytes = vec![0; component.bits() / 8];
        for residue in residues.chunks_exact_mut(component.len()) {
            from.read_exact(&mut bytes)?;
            let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            residue.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        let (mut highest, mut bytes) = (vec![0; ring.degree()], vec![0; ring.degree() / 8]);
        if component.is_fermat() {
            from.read_exact(&mut bytes)?;
            sunzi_kernels::unpack(&mut highest, &bytes, 1).map_err(RingError::from)?;
        }
        for (residue, &high) in residues.chunks_exact_mut(component.len()).zip(&highest) {
            let (low, top) = residue.split_at_mut_checked(component.bits() / 64).unwrap_or_default();
            top.fill(high);
            // 2^h has no other bits modulo 2^h + 1; 2^h − 1 is 0 modulo itself.
            let excess = match component.is_fermat() {
                true => high == 1 && low.iter().any(|&word| word != 0),
                false => low.iter().all(|&word| word == u64::MAX),
            };
            if excess {
                return Err(PackingError::Residue { limb });
            }
        }
    }
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::{BigInt, BigUint};
    use sunzi_ring::{Coefficient, Ring, sampling::SeededRng};

    #[test]
    fn polynomials_come_back_and_residues_are_canonical() {
        for bits in [64, 128, 512] {
            let ring = Ring::of(FermatRing::new(128, bits).unwrap());
            let mut polys = vec![
                ring.to_coefficient(ring.uniform(&mut SeededRng::derive(&[1; 32], "fermat", 0))).unwrap(),
            ];
            // 2^h modulo every component 2^h + 1, and the ends of the range.
            let q: BigInt = ring.modulus().clone().into();
            let specials = (0..64).map(|i| match i {
                0 => BigInt::from(-1),
                1 => &q / 2,
                _ => BigInt::from(BigUint::from(1_u8) << (64 << (i % 3))),
            });
            polys.push(ring.from_integers(&specials.collect::<Vec<_>>()).unwrap());
            for a in polys {
                let mut bytes = Vec::new();
                ring.pack(&a, &mut bytes).unwrap();
                assert_eq!(bytes.len(), ring.packed_len());
                assert!(bytes.len() as f64 <= 1.03 * (64 * bits / 8) as f64);
                let again = ring.unpack::<Coefficient>(&mut bytes.as_slice()).unwrap();
                assert_eq!(ring.to_integers(&again).unwrap(), ring.to_integers(&a).unwrap());
            }
            let ones = vec![0xFF; ring.packed_len()];
            let refused = ring.unpack::<Coefficient>(&mut ones.as_slice());
            assert!(matches!(refused, Err(PackingError::Residue { limb: 0 })));
        }
    }
}
