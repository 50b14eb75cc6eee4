//! Linear combinations: every word of the terms is read once, and every word of the result written once.

use num_bigint::BigInt;
use sunzi_kernels::Modulus;
use zeroize::Zeroizing;

use super::integers::residue_of;
use crate::error::entry;
use crate::{Backend, Evaluation, KeyPoly, PackedPoly, Poly, Residues, RingError, WordRing};

/// Number of words handled together: that many of every term, and as many copies of every factor, stay in the
/// first-level cache.
const WORDS: usize = 256;
/// Number of words handled together where there are no factors: the words of the sum stay in the cache from
/// one term to the next.
const LONG: usize = 1024;
/// Number of words that are combined before they are packed.
const PACKED: usize = 2048;

/// Does [`Backend::linear_combination`] in words.
pub(crate) fn sum(
    ring: &WordRing,
    terms: &[(&BigInt, &Residues)],
    level: usize,
) -> Result<Residues, RingError> {
    let mut sum = ring.at_level(level)?.arbitrary_residues();
    combine(ring, &mut sum, terms, false)?;
    Ok(sum)
}

/// Does [`Backend::packed_combination`] in words: blocks of the sum are packed while they are in the cache.
pub(crate) fn packed(
    ring: &WordRing,
    terms: &[(&BigInt, &Poly<Evaluation>)],
) -> Result<PackedPoly, RingError> {
    terms.iter().try_for_each(|(_, term)| ring.check(term))?;
    let mut packed = KeyPoly::empty(ring);
    let mut words = Zeroizing::new(vec![0; PACKED.min(ring.degree())]);
    for (i, modulus) in ring.basis().moduli().iter().enumerate() {
        let factors: Vec<u64> = terms.iter().map(|(c, _)| residue_of(c, modulus.value())).collect();
        for start in (0..ring.degree()).step_by(PACKED) {
            let words = words.get_mut(..PACKED.min(ring.degree() - start)).unwrap_or_default();
            let parts = terms.iter().map(|(_, term)| term.part(i, start..start + words.len()));
            let parts: Vec<&[u64]> = parts.collect::<Result<_, _>>()?;
            combine_words(modulus, words, &factors, &parts, false)?;
            packed.put(i, start, words, modulus)?;
        }
    }
    Ok(PackedPoly::new(packed))
}

/// Computes out ← Σ c_i·a_i, or out + Σ c_i·a_i, modulo Q_l for `out` of level l and a_i of any levels from l.
pub(crate) fn combine(
    ring: &WordRing,
    out: &mut Residues,
    terms: &[(&BigInt, &Residues)],
    adds: bool,
) -> Result<(), RingError> {
    let level = ring.level_of(out)?;
    let places = |(_, term): &(&BigInt, &Residues)| ring.nested(level, ring.level_of(term)?);
    let places: Vec<Vec<usize>> = terms.iter().map(places).collect::<Result<_, RingError>>()?;
    let target = ring.at_level(level)?;
    let moduli = target.basis().moduli();
    let residues: Vec<Vec<u64>> = moduli
        .iter()
        .map(|modulus| terms.iter().map(|(c, _)| residue_of(c, modulus.value())).collect())
        .collect();
    ring.parallelism().for_each_part([out.words_mut()], ring.degree(), |i, range, [out]| {
        let (modulus, factors) = (entry("modulus", moduli, i)?, entry("row of factors", &residues, i)?);
        let parts = terms.iter().zip(&places);
        let parts = parts.map(|((_, term), places)| term.part_at(places, i, range.clone()));
        combine_words(modulus, out, factors, &parts.collect::<Result<Vec<_>, _>>()?, adds)
    })
}

/// Combines words of the terms by whichever way is faster for the factors.
fn combine_words(
    modulus: &Modulus,
    out: &mut [u64],
    factors: &[u64],
    terms: &[&[u64]],
    adds: bool,
) -> Result<(), RingError> {
    if factors.iter().all(|&c| c == 1 || c == modulus.value() - 1) {
        with_signs(modulus, out, factors, terms, adds)
    } else {
        with_factors(modulus, out, factors, terms, adds)
    }
}

/// Sums the terms of a combination with the factors 1 and −1 only.
fn with_signs(
    modulus: &Modulus,
    out: &mut [u64],
    factors: &[u64],
    terms: &[&[u64]],
    adds: bool,
) -> Result<(), RingError> {
    if !adds && terms.is_empty() {
        out.fill(0);
    }
    if let ([first, second], [a, b], false) = (factors, terms, adds) {
        return match (*first == 1, *second == 1) {
            (true, true) => Ok(modulus.sum_into(out, a, b)?),
            (true, false) => Ok(modulus.difference_into(out, a, b)?),
            (false, true) => Ok(modulus.difference_into(out, b, a)?),
            (false, false) => {
                modulus.sum_into(out, a, b)?;
                modulus.neg_assign(out);
                Ok(())
            }
        };
    }
    for (b, out) in out.chunks_mut(LONG).enumerate() {
        for (t, (&c, term)) in factors.iter().zip(terms).enumerate() {
            let term = block(term, b * LONG, out.len());
            match (c == 1, adds || t > 0) {
                (true, true) => modulus.add_assign(out, term)?,
                (false, true) => modulus.sub_assign(out, term)?,
                (plus, false) => {
                    out.copy_from_slice(term);
                    if !plus {
                        modulus.neg_assign(out);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Sums the terms of a combination with any factors: an inner product with vectors of equal words.
fn with_factors(
    modulus: &Modulus,
    out: &mut [u64],
    factors: &[u64],
    terms: &[&[u64]],
    adds: bool,
) -> Result<(), RingError> {
    if let ([factor], [term], false) = (factors, terms, adds) {
        for (b, out) in out.chunks_mut(LONG).enumerate() {
            out.copy_from_slice(block(term, b * LONG, out.len()));
            modulus.mul_scalar_assign(out, *factor)?;
        }
        return Ok(());
    }
    let mut copies = vec![1; (factors.len() + 1) * WORDS];
    for (copies, &c) in copies.chunks_exact_mut(WORDS).zip(factors) {
        copies.fill(c);
    }
    let own = usize::from(adds);
    let mut before = [0; WORDS];
    for (b, out) in out.chunks_mut(WORDS).enumerate() {
        let before = before.get_mut(..out.len()).unwrap_or_default();
        before.copy_from_slice(out);
        let factors = copies.chunks_exact(WORDS).take(factors.len() + own);
        let factors: Vec<&[u64]> = factors.map(|copies| block(copies, 0, out.len())).collect();
        let mut values: Vec<&[u64]> = terms.iter().map(|term| block(term, b * WORDS, out.len())).collect();
        values.extend(adds.then_some(&*before));
        modulus.inner_product(out, &factors, &values)?;
    }
    Ok(())
}

/// Returns `len` words of a list from `start` on; none where there are fewer.
fn block(words: &[u64], start: usize, len: usize) -> &[u64] {
    words.get(start..start + len).unwrap_or_default()
}
