//! Remainders of one big integer modulo a list of moduli.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::Modulus;
use sunzi_ring::RingError;

use super::groups::{Group, group};
use super::words::{self, for_each_sum, interleave};

/// Tables of x ↦ x − offset modulo a list of moduli.
#[derive(Clone, Debug)]
pub(super) struct Remainders {
    groups: Vec<Group>,
    /// Powers 2^(60w) mod P_g over the words w of an integer, for two groups of moduli, then the next two.
    powers: Vec<[u64; 2]>,
    /// Negated offset −offset mod P_g of the remainders, for each group g of moduli.
    offsets: Vec<u64>,
    length: usize,
}

impl Remainders {
    /// Makes the tables of remainders for integers of `length` words.
    pub(super) fn new(moduli: &[Modulus], length: usize, offset: &BigUint) -> Result<Self, RingError> {
        let groups = group(moduli)?;
        let reduce = |x: BigUint, modulus: Modulus| (x % modulus.value()).to_u64().unwrap_or(0);
        let row = |group: &Group| -> Vec<u64> {
            (0..length).map(|w| reduce(words::end(w), group.product)).collect()
        };
        let rows: Vec<Vec<u64>> = groups.iter().map(row).collect();
        let pair = |rows: &[Vec<u64>]| match rows {
            [a, b] => interleave(a, b),
            _ => interleave(&rows.concat(), &[]),
        };
        let powers = rows.chunks(2).flat_map(pair).collect();
        let offsets =
            groups.iter().map(|group| group.product.neg(reduce(offset.clone(), group.product))).collect();
        Ok(Self { groups, powers, offsets, length })
    }

    /// Writes the residues of a big integer x into entry `at` of every row, one row for each modulus.
    #[inline]
    pub(super) fn apply(&self, x: &[u64], rows: &mut [&mut [u64]], at: usize) {
        let mut rows = rows.iter_mut();
        let groups = self.groups.chunks(2).zip(self.offsets.chunks(2));
        for ((groups, offsets), powers) in groups.zip(self.powers.chunks_exact(self.length)) {
            let mut residues = [0; 2];
            residues.iter_mut().zip(offsets).for_each(|(residue, offset)| *residue = *offset);
            for_each_sum(x, powers, |sums| {
                for ((residue, sum), group) in residues.iter_mut().zip(sums).zip(groups) {
                    *residue = group.product.reduce_u128(sum + u128::from(*residue));
                }
            });
            for (group, residue) in groups.iter().zip(residues) {
                for (member, row) in group.members.iter().zip(&mut rows) {
                    if let Some(out) = row.get_mut(at) {
                        *out =
                            if group.members.len() == 1 { residue } else { member.modulus.reduce(residue) };
                    }
                }
            }
        }
    }
}
