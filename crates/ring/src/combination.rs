//! Linear combinations: every word of the terms is read once, and of the result written once.

use num_bigint::BigInt;
use sunzi_kernels::Modulus;

use crate::integers::residue_of;
use crate::{Domain, Poly, PolyRing, Ring, RingError};

/// Words handled together: so many of every term, and as many copies of every factor, stay in the first-level cache.
const WORDS: usize = 256;
/// Words handled together where there are no factors: those of the sum stay there from one term to the next.
const LONG: usize = 1024;

/// [`PolyRing::linear_combination`].
pub(crate) fn sum<D: Domain>(
    ring: &Ring,
    terms: &[(&BigInt, &Poly<D>)],
    level: usize,
) -> Result<Poly<D>, RingError> {
    let mut sum = ring.at_level(level)?.arbitrary();
    combine(ring, &mut sum, terms, false)?;
    Ok(sum)
}

/// out ← Σ c_i·a_i, or out + Σ c_i·a_i, modulo Q_l for `out` of level l and a_i of any levels from l.
pub(crate) fn combine<D: Domain>(
    ring: &Ring,
    out: &mut Poly<D>,
    terms: &[(&BigInt, &Poly<D>)],
    adds: bool,
) -> Result<(), RingError> {
    let level = ring.level_of(out)?;
    let places = |(_, term): &(&BigInt, &Poly<D>)| ring.nested(level, ring.level_of(term)?);
    let places: Vec<Vec<usize>> = terms.iter().map(places).collect::<Result<_, RingError>>()?;
    let target = ring.at_level(level)?;
    let moduli = target.basis().moduli();
    let residues: Vec<Vec<u64>> = moduli
        .iter()
        .map(|modulus| terms.iter().map(|(c, _)| residue_of(c, modulus.value())).collect())
        .collect();
    ring.parallelism().for_each_part([out.words_mut()], ring.degree(), |i, range, [out]| {
        let (Some(modulus), Some(factors)) = (moduli.get(i), residues.get(i)) else { return Ok(()) };
        let place = |places: &[usize]| places.get(i).copied().unwrap_or(i);
        let parts = terms.iter().zip(&places);
        let parts: Vec<&[u64]> =
            parts.map(|((_, term), places)| term.part(place(places), range.clone())).collect();
        if factors.iter().all(|&c| c == 1 || c == modulus.value() - 1) {
            with_signs(modulus, out, factors, &parts, adds)
        } else {
            with_factors(modulus, out, factors, &parts, adds)
        }
    })
}

/// Factors 1 and −1 only.
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

/// Any factors: an inner product with vectors of equal words.
fn with_factors(
    modulus: &Modulus,
    out: &mut [u64],
    factors: &[u64],
    terms: &[&[u64]],
    adds: bool,
) -> Result<(), RingError> {
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

/// Some words of a list; none where there are not so many.
fn block(words: &[u64], start: usize, len: usize) -> &[u64] {
    words.get(start..start + len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use num_integer::Integer;
    use rand_core::CryptoRng;
    use sunzi_math::primes_below;

    use super::*;
    use crate::sampling::SeededRng;
    use crate::{Coefficient, Evaluation};

    /// Σ c_i·x_i modulo q, centred.
    fn by_terms(terms: &[(&BigInt, Vec<BigInt>)], n: usize, q: &BigInt) -> Vec<BigInt> {
        let sum = |at: usize| terms.iter().map(|(c, a)| *c * &a[at]).sum::<BigInt>();
        let centred = |x: BigInt| -> BigInt { (x + q / 2_u32).mod_floor(q) - q / 2_u32 };
        (0..n).map(|at| centred(sum(at))).collect()
    }

    fn check(log2_degree: u32, factors: &[i128], rng: &mut impl CryptoRng) {
        let step = 2 << log2_degree;
        let mut moduli = primes_below(1 << 47, step, 2).unwrap();
        moduli.extend(primes_below(1 << 30, step, 2).unwrap());
        let ring = Ring::new(step, &moduli).unwrap();
        let factors: Vec<BigInt> = factors.iter().map(|&c| c.into()).collect();
        for level in [4, 3, 1] {
            // Operands of this level and of the highest, in turn; the first with the largest residues.
            let mut polys: Vec<Poly<Coefficient>> = (0..=factors.len())
                .map(|i| {
                    let uniform = ring.to_coefficient(ring.uniform(rng)).unwrap();
                    let largest = ring.from_signed(&vec![-1; 1 << log2_degree]).unwrap();
                    ring.restrict(
                        if i == 0 { &largest } else { &uniform },
                        if i % 2 == 0 { 4 } else { level },
                    )
                    .unwrap()
                })
                .collect();
            let own = ring.restrict(&polys.pop().unwrap(), level).unwrap();
            let integers = |a: &Poly<Coefficient>| {
                let at = ring.level_of(a).unwrap();
                ring.at_level(at).unwrap().to_integers(a).unwrap()
            };
            let terms: Vec<_> = factors.iter().zip(&polys).collect();
            let sum = ring.linear_combination(&terms, level).unwrap();
            let clear: Vec<_> = factors.iter().zip(&polys).map(|(c, a)| (c, integers(a))).collect();
            let q = BigInt::from(ring.at_level(level).unwrap().modulus().clone());
            assert_eq!(integers(&sum), by_terms(&clear, ring.degree(), &q), "{factors:?} at {level}");
            let mut added = own.clone();
            ring.add_linear_combination_assign(&mut added, &terms).unwrap();
            let mut expected = own;
            ring.at_level(level).unwrap().add_assign(&mut expected, &sum).unwrap();
            assert_eq!(added.words(), expected.words(), "{factors:?} added at {level}");
        }
    }

    #[test]
    fn agrees_with_term_by_term() {
        let mut rng = SeededRng::derive(&[3; 32], "linear combinations", 0);
        for log2_degree in [6, 10] {
            for factors in [
                &[][..],
                &[1],
                &[-1],
                &[0],
                &[1, 1, -1],
                &[-1, 1],
                &[1 << 100, -(1 << 90), 3],
                &[7, 1, -1, 0, i128::MAX, i128::MIN, 12345, 1 << 46, -5],
            ] {
                check(log2_degree, factors, &mut rng);
            }
        }
    }

    #[test]
    fn a_term_of_a_lower_level_is_refused_and_changes_nothing() {
        let moduli = primes_below(1 << 40, 128, 3).unwrap();
        let ring = Ring::new(128, &moduli).unwrap();
        let one = BigInt::from(1);
        let mut sum = ring.from_signed(&[5; 64]).unwrap();
        let before = sum.clone();
        let low = ring.restrict(&sum, 2).unwrap();
        let added = ring.add_linear_combination_assign(&mut sum, &[(&one, &before), (&one, &low)]);
        assert!(matches!(added, Err(RingError::NoSuchLevel { got: 3, highest: 2 })), "{added:?}");
        assert_eq!(sum.words(), before.words());
        assert!(ring.linear_combination::<Evaluation>(&[], 4).is_err());
    }
}
