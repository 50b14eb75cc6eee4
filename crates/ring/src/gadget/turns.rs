//! Sums of products with turned ciphertexts: all turns and all sums modulo one modulus before the next, so that no turned
//! ciphertext is ever held as a whole.

use std::sync::Arc;

use sunzi_kernels::permute;

use super::RnsGadget;
use super::product::{InnerProducts, Input, PAD, RnsDecomposition, Task};
use crate::multiplier::{Pairs, PairsByLimb, Turn};
use crate::parallel::Parallelism;
use crate::{Evaluation, Multiplier, Poly, PolyRing, Ring, RingError};

/// What is done modulo every modulus.
struct Turns<'a> {
    gadget: &'a RnsGadget,
    ciphertext: [&'a Poly<Evaluation>; 2],
    /// Products and permutation of every turn; none for the identity.
    turns: Vec<Option<(InnerProducts<'a>, Arc<[u32]>)>>,
}

/// [`Multipliers::sums_of_turns`](crate::Multipliers::sums_of_turns).
pub(crate) fn sums_of_turns(
    gadget: &RnsGadget,
    digits: &RnsDecomposition,
    ciphertext: [&Poly<Evaluation>; 2],
    turns: &[Turn<'_, Ring>],
    lists: &[Vec<(usize, &Multiplier)>],
) -> Result<Pairs<Ring>, RingError> {
    let (tables, ring) = (&*gadget.tables, &gadget.tables.key_ring);
    ciphertext.into_iter().try_for_each(|part| tables.ring.check(part))?;
    let mut prepared = Vec::with_capacity(turns.len());
    for turn in turns {
        let Some(key) = turn.key else {
            prepared.push(None);
            continue;
        };
        let products = InnerProducts::with_key(gadget, Input::Digits(digits), key)?;
        prepared.push(Some((products, ring.value_permutation(turn.exponent)?)));
    }
    ring.sums_by_limbs(&Turns { gadget, ciphertext, turns: prepared }, lists)
}

impl PairsByLimb for Turns<'_> {
    fn count(&self) -> usize {
        self.turns.len()
    }

    /// Limbs of P·(c_0, c_1), of inner products, and of every turn.
    fn scratch_words(&self) -> usize {
        (self.turns.len() + 2) * 2 * (self.gadget.tables.ring.degree() + PAD)
    }

    fn limbs<'s>(
        &'s self,
        i: usize,
        space: &'s mut [u64],
        inside: Parallelism,
    ) -> Result<Vec<[&'s [u64]; 2]>, RingError> {
        let tables = &*self.gadget.tables;
        let (ring, n) = (&tables.key_ring, tables.ring.degree());
        let Some(modulus) = ring.basis().moduli().get(i) else { return Ok(Vec::new()) };
        let group = tables.groups.iter().position(|group| group.contains(&i)).unwrap_or(0);
        let pair = 2 * (n + PAD);
        let (own, space) = space.split_at_mut_checked(pair).unwrap_or_default();
        self.multiples(i, halves(own, n))?;
        let [c0, c1] = halves(own, n);
        let (products, turned) = space.split_at_mut_checked(pair).unwrap_or_default();
        let mut limbs = Vec::with_capacity(self.turns.len());
        for (turn, out) in self.turns.iter().zip(turned.chunks_exact_mut(pair)) {
            let [to_first, to_second] = halves(out, n);
            if let Some((keys, permutation)) = turn {
                let outs = vec![halves(products, n)];
                keys.apply(&mut Task { group, targets: i..i + 1, outs, inside }, &mut [])?;
                let [first, second] = halves(products, n);
                modulus.add_assign(first, c0)?;
                permute(to_first, first, permutation)?;
                permute(to_second, second, permutation)?;
            } else {
                to_first.copy_from_slice(c0);
                to_second.copy_from_slice(c1);
            }
            limbs.push([&*to_first, &*to_second]);
        }
        Ok(limbs)
    }
}

impl Turns<'_> {
    /// Limb `i` of P times both halves: zero modulo the special moduli.
    fn multiples(&self, i: usize, outs: [&mut [u64]; 2]) -> Result<(), RingError> {
        let own = self.gadget.tables.ring.basis().moduli().get(i);
        for (out, part) in outs.into_iter().zip(self.ciphertext) {
            match own.zip(part.limb(i)) {
                None => out.fill(0),
                Some((modulus, limb)) => {
                    out.copy_from_slice(limb);
                    modulus.mul_scalar_assign(out, self.gadget.top.special_mod(modulus))?;
                }
            }
        }
        Ok(())
    }
}

/// Two limbs of n words, apart.
fn halves(pair: &mut [u64], n: usize) -> [&mut [u64]; 2] {
    let (first, second) = pair.split_at_mut_checked(n + PAD).unwrap_or_default();
    [first, second].map(|half| half.get_mut(..n).unwrap_or_default())
}
