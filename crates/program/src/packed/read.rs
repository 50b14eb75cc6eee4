//! Reading of packed results by the key holder: decrypted slots to totals.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use rayon::prelude::*;
use sunzi_math::Crt;

use super::moments::{Of, Rows, Terms};
use super::{Packed, not_ckks};
use crate::contexts::{Codec, Slots};
use crate::{NodeId, Number, ProgramError};

/// First slots of all segments of one result, for each plaintext modulus.
pub(super) type Heads = Vec<Vec<u64>>;

impl Packed {
    /// Returns the first slots of the segments of a decrypted result, which hold the totals.
    pub(crate) fn heads(&self, slots: &Slots) -> Heads {
        let Slots::Residues(parts) = slots else { return Vec::new() };
        parts.iter().map(|part| part.iter().copied().step_by(self.layout.segment()).collect()).collect()
    }

    /// Whether sums over groups, and whether sums over all rows, are results: for one group these sums are equal.
    pub(super) fn wanted(&self) -> (bool, bool) {
        let groups = self.layout.shape().groups > 1;
        let mut moments = self.moments.totals.values().flat_map(|(_, terms)| terms.keys());
        (groups, !groups || moments.any(|&(rows, of)| rows == Rows::All && of != Of::One))
    }

    /// Returns the number of results, each of which has a ciphertext for each plaintext modulus.
    #[must_use]
    pub fn results(&self) -> usize {
        let (groups, total) = self.wanted();
        (usize::from(groups) + usize::from(total)) * (self.layout.packed() + self.layout.products().len())
    }
}

/// Reader of totals from the residues of packed results.
pub(crate) struct Reader<'a> {
    packed: &'a Packed,
    rows: u64,
    crt: &'a Crt,
    heads: &'a [Heads],
}

impl<'a> Reader<'a> {
    /// Makes the reader of all results of a table of `rows` rows.
    pub(crate) fn new(
        packed: &'a Packed,
        codec: &'a Codec,
        rows: u64,
        heads: &'a [Heads],
    ) -> Result<Self, ProgramError> {
        let crt = codec.integers().ok_or_else(not_ckks)?.crt();
        Ok(Self { packed, rows, crt, heads })
    }

    /// Returns all totals, over the rows of a label if one is given.
    pub(crate) fn totals(&self, label: Option<usize>) -> Result<BTreeMap<NodeId, Number>, ProgramError> {
        let within = |rows: Rows| match (rows, label) {
            (rows, None) => Some(rows),
            (Rows::All, Some(label)) => Some(Rows::Group(label)),
            (Rows::Group(own), Some(label)) => (own == label).then_some(rows),
        };
        let total = |(&id, (decimals, terms)): (&NodeId, &(u32, Terms))| {
            let mut units = BigInt::ZERO;
            for (&(rows, of), &factor) in terms.iter().filter(|(_, factor)| **factor != 0) {
                if let Some(rows) = within(rows) {
                    units += self.moment(rows, of)? * factor;
                }
            }
            Ok((id, Number::scaled(units, *decimals)))
        };
        self.packed.moments.totals.par_iter().map(total).collect()
    }

    fn moment(&self, rows: Rows, of: Of) -> Result<BigInt, ProgramError> {
        let layout = &self.packed.layout;
        let (sum, column) = match of {
            Of::One if rows == Rows::All => return Ok(self.rows.into()),
            Of::One => (layout.block(layout.ones()), layout.ones()),
            Of::Column(x) => (layout.block(x), x),
            Of::Product(x, y) => {
                let (index, column) = layout.pair(x, y);
                (layout.packed() + index, column)
            }
        };
        let (groups, total) = self.packed.wanted();
        let (place, group) = match rows {
            Rows::Group(group) if groups => (0, group),
            _ => (usize::from(groups), 0),
        };
        let result = sum * (usize::from(groups) + usize::from(total)) + place;
        let missing =
            || ProgramError::mismatch("results", format!("{} sums", self.packed.results()), "fewer");
        let heads = self.heads.get(result).ok_or_else(missing)?;
        let head = layout.slot(column, group) / layout.segment();
        let residues = heads.iter().map(|part| part.get(head).copied().ok_or_else(missing));
        let residues = residues.collect::<Result<Vec<u64>, _>>()?;
        self.crt.reconstruct_centered(&residues).map_err(ProgramError::scheme)
    }
}

#[cfg(test)]
mod tests {
    use sunzi_circuits::statistics::{Layout, Shape};

    use super::super::moments::Moments;
    use super::super::{Packing, Sizes, Work};
    use super::*;

    #[test]
    fn residues_join_to_signed_integers() {
        let plain = [97, 101, 103];
        let crt = Crt::new(&plain).unwrap();
        // Two columns in units of one slot, and the column of ones.
        let shape = Shape { columns: 2, groups: 1, longest_group: 1 };
        let layout = Layout::new(shape, 8, 1).unwrap();
        let moments = Moments { group: None, groups: 1, columns: Vec::new(), totals: BTreeMap::new() };
        let packing = Packing::default();
        let (work, sizes) = (Work::default(), Sizes::default());
        let packed = Packed { layout, packing, moments, work, sizes };
        for values in [[0_i128, 1, 7], [-1, 500_000, 7], [-504_545, -9, 7], [12, -12, 7]] {
            let heads = |values: &[i128]| -> Heads {
                let part = |q| values.iter().map(|v| v.rem_euclid(i128::from(q)) as u64).collect();
                plain.into_iter().map(part).collect()
            };
            // The columns, then products of the block with the first column, then with the second.
            let all = [heads(&values), heads(&[values[1], 0]), heads(&[values[0], values[1]])];
            let reader = Reader { packed: &packed, rows: 3, crt: &crt, heads: &all };
            for rows in [Rows::All, Rows::Group(0)] {
                let moment = |of| reader.moment(rows, of).unwrap();
                assert_eq!(moment(Of::Column(0)), values[0].into());
                assert_eq!(moment(Of::Column(1)), values[1].into());
                assert_eq!(moment(Of::Product(0, 0)), values[1].into());
                assert_eq!(moment(Of::Product(0, 1)), values[0].into());
                assert_eq!(moment(Of::Product(1, 1)), values[1].into());
                assert_eq!(moment(Of::One), if rows == Rows::All { 3 } else { values[2] }.into());
            }
        }
    }
}
