//! Encryptions under a public key: its two parts times a ternary polynomial, plus errors and a message, with the
//! modulus switched down.

use std::ops::Range;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::division::Division;
use crate::backend::by_polynomials;
use crate::error::entry;
use crate::parallel::{Work, groups};
use crate::sampling::{CENTERED_BINOMIAL_BOUND, spherical_error, ternary};
use crate::scratch::Scratch;
use crate::{Backend, Coefficient, Evaluation, Poly, RingError, WordRing};

/// Bound on coefficients of an error, never reached: an index has at most six odd primes, each of which doubles it.
const LARGEST_ERROR: u64 = (CENTERED_BINOMIAL_BOUND as u64) << 6;

/// Secrets of an encryption: u, and the errors and message that are added to each part.
struct Masks<'a> {
    u: Zeroizing<Vec<i64>>,
    parts: [&'a Poly<Evaluation>; 2],
    errors: [Zeroizing<Vec<i64>>; 2],
    message: Option<&'a Poly<Coefficient>>,
}

/// Does [`Backend::masked`] limb by limb: temporaries of one limb stay in the second-level cache.
pub fn by_limbs(
    ring: &WordRing,
    parts: [&Poly<Evaluation>; 2],
    message: Option<&Poly<Coefficient>>,
    level: usize,
    rng: &mut dyn CryptoRng,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    parts.iter().try_for_each(|part| ring.check(part))?;
    let Ok(places) = ring.nested(level, ring.level()) else {
        return by_polynomials(ring, parts, message, level, rng);
    };
    message.map_or(Ok(()), |message| ring.check(message))?;
    let u = ternary(ring.degree(), rng)?;
    let errors = [spherical_error(ring.ring_index(), rng)?, spherical_error(ring.ring_index(), rng)?];
    let masks = Masks { u, parts, errors, message };
    let target = ring.at_level(level)?;
    let mut masked = [target.arbitrary(), target.arbitrary()];
    let division = if level == ring.level() { None } else { Some(ring.division(level)?) };
    let rows = |division| Ok::<_, RingError>((division, masks.rows(ring, division)?));
    let divided = division.map(rows).transpose()?;
    let n = ring.degree();
    let [first, second] = masked.each_mut().map(|poly| poly.words_mut().chunks_mut(n));
    let mut limbs = first.zip(second).map(|(first, second)| [first, second]);
    let groups: Vec<Group<'_>> = groups(0..places.len())
        .into_iter()
        .map(|range| Group { limbs: limbs.by_ref().take(range.len()).collect(), range })
        .collect();
    let inside = ring.parallelism().inside(groups.len());
    let run = |mut group: Group<'_>| {
        if let Some((division, rows)) = &divided {
            let limbs = group.limbs.iter_mut().map(|[first, second]| (&mut **first, &mut **second));
            let (first, second): (Vec<_>, Vec<_>) = limbs.unzip();
            for (rows, out) in rows.iter().zip([first, second]) {
                division.remainders(rows, group.range.clone(), out, inside)?;
            }
        } else {
            group.limbs.iter_mut().flatten().for_each(|limb| limb.fill(0));
        }
        let limbs = group.range.zip(group.limbs);
        limbs.into_iter().try_for_each(|(j, pair)| {
            let inverse = division.map(|division| division.inverse(j)).transpose()?;
            masks.finish_limb(ring, *entry("place", &places, j)?, pair, inverse)
        })
    };
    ring.parallelism().for_each(Work::Transform, 2 * places.len() * n, groups, run)?;
    Ok(masked)
}

/// One part of a key, and the terms added to its product: an error, and a message.
type Half<'a> = (&'a Poly<Evaluation>, (&'a [i64], Option<&'a Poly<Coefficient>>));

/// Group of limbs of both parts that one conversion writes.
struct Group<'a> {
    range: Range<usize>,
    limbs: Vec<[&'a mut [u64]; 2]>,
}

impl Masks<'_> {
    /// Returns the ternary secret u modulo q_j, in evaluation form.
    fn u(&self, ring: &WordRing, j: usize) -> Result<Zeroizing<Scratch>, RingError> {
        let mut u = Zeroizing::new(Scratch::new(ring.degree()));
        let plan = ring.plan(j)?;
        u.fill(0);
        plan.modulus().add_small_assign(&mut u, &self.u)?;
        plan.forward(&mut u)?;
        Ok(u)
    }

    /// Adds an error and the message, if there is one, to a limb modulo q_j, in coefficient form.
    fn add_error(
        &self,
        ring: &WordRing,
        j: usize,
        (error, message): (&[i64], Option<&Poly<Coefficient>>),
        limb: &mut [u64],
    ) -> Result<(), RingError> {
        let modulus = ring.basis().own(j)?;
        if modulus.value() > LARGEST_ERROR {
            modulus.add_small_assign(limb, error)?;
        } else {
            let mut residues = Zeroizing::new(vec![0; error.len()]);
            modulus.reduce_signed_into(&mut residues, error)?;
            modulus.add_assign(limb, &residues)?;
        }
        match message {
            Some(message) => Ok(modulus.add_assign(limb, message.own_limb(j)?)?),
            None => Ok(()),
        }
    }

    /// The two parts of the encryption, each with its error and the first with the message.
    fn halves(&self) -> [Half<'_>; 2] {
        let ([first, second], [e0, e1]) = (self.parts, &self.errors);
        [(first, (e0, self.message)), (second, (e1, None))]
    }

    /// Returns the rows from which the remainders of both parts modulo the divisor are computed.
    fn rows(&self, ring: &WordRing, division: &Division) -> Result<[Zeroizing<Scratch>; 2], RingError> {
        let [first, second] = self.halves();
        Ok([self.rows_of(ring, division, first)?, self.rows_of(ring, division, second)?])
    }

    fn rows_of(
        &self,
        ring: &WordRing,
        division: &Division,
        (key, added_to): Half<'_>,
    ) -> Result<Zeroizing<Scratch>, RingError> {
        let (n, divisors) = (ring.degree(), division.path().divisor());
        let mut rows = Zeroizing::new(Scratch::new((divisors.len() + 1) * n));
        let mut added = Zeroizing::new(Scratch::zeroed(divisors.len() * n));
        for ((&j, row), added) in divisors.iter().zip(rows.chunks_exact_mut(n)).zip(added.chunks_exact_mut(n))
        {
            ring.basis().own(j)?.inner_product(row, &[key.own_limb(j)?], &[&self.u(ring, j)?])?;
            self.add_error(ring, j, added_to, added)?;
        }
        division.fill_rows(&mut rows, None, &added.chunks_exact(n).collect::<Vec<_>>())?;
        Ok(rows)
    }

    /// Finishes limb j of both parts of the encryption, from −r or from zero.
    fn finish_limb(
        &self,
        ring: &WordRing,
        j: usize,
        limbs: [&mut [u64]; 2],
        inverse: Option<u64>,
    ) -> Result<(), RingError> {
        let plan = ring.plan(j)?;
        let (u, modulus) = (self.u(ring, j)?, plan.modulus());
        for (limb, (key, added)) in limbs.into_iter().zip(self.halves()) {
            self.add_error(ring, j, added, limb)?;
            plan.forward(limb)?;
            modulus.mul_add_assign(limb, key.own_limb(j)?, &u)?;
            inverse.map_or(Ok(()), |inverse| modulus.mul_scalar_assign(limb, inverse))?;
        }
        Ok(())
    }
}
