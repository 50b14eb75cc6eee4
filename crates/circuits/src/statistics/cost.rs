//! Cost of a statistics layout, by which one is chosen.

use super::Layout;

/// Time of a base conversion from k to k moduli, in units of k² transforms.
const CONVERSION: f64 = 0.065;

/// Counts of the parts of a statistics circuit: of which layout they are does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Ring degree n of the ciphertexts.
    pub degree: usize,
    /// Number of chunks of the table.
    pub chunks: usize,
    /// Number of ciphertexts of a chunk.
    pub inputs: usize,
    /// Number of products of ciphertexts in a chunk.
    pub products: usize,
    /// Number of sums that are rotated and decrypted.
    pub sums: usize,
    /// Number of rotations of each sum.
    pub rotations: u32,
}

impl Tally {
    /// Number of butterflies of the whole job for one plaintext modulus, with `limbs` ciphertext moduli: each
    /// chunk encrypts and extends its inputs and multiplies; then sums are rotated and decrypted.
    #[must_use]
    pub fn butterflies(&self, limbs: usize) -> f64 {
        let k = limbs as f64;
        let input = 8.0 * k + 3.0 + 2.0 * CONVERSION * k * k;
        let product = 8.0 * k + 3.0 + (1.0 + 6.0 * CONVERSION) * k * k;
        let rotation = k * k + 2.0 * k;
        let decryption = 2.0 * (k + 1.0);
        let chunk = self.inputs as f64 * input + self.products as f64 * product;
        let sum = f64::from(self.rotations) * rotation + decryption;
        let transforms = self.chunks as f64 * chunk + self.sums as f64 * sum;
        let n = self.degree as f64;
        transforms * n / 2.0 * n.log2()
    }
}

impl Layout {
    /// Number of butterflies of the whole job, as [`Tally::butterflies`] counts them.
    #[must_use]
    pub fn cost(&self, limbs: usize) -> f64 {
        let (packed, products) = (self.packed(), self.products().len());
        let tally = Tally {
            degree: self.degree(),
            chunks: self.chunks(),
            inputs: packed + self.repeated(),
            products,
            sums: products + packed,
            rotations: self.rotations(),
        };
        tally.butterflies(limbs)
    }
}

#[cfg(test)]
mod tests {
    use crate::statistics::{Layout, Shape};

    #[test]
    fn the_cheapest_layout_beats_both_extremes() {
        let shape = Shape { columns: 30, groups: 2, longest_group: 357 };
        let best = Layout::cheapest(shape, 4096, 3).unwrap();
        let one_chunk = Layout::new(shape, 4096, 512).unwrap();
        assert_eq!(one_chunk.chunks(), 1);
        assert!(best.cost(3) < 0.8 * one_chunk.cost(3), "{best:?}");
        assert!(best.cost(3) < 0.1 * Layout::new(shape, 4096, 1).unwrap().cost(3));
        // One column: nothing to pack, so one chunk.
        let shape = Shape { columns: 1, groups: 1, longest_group: 2048 };
        assert!(Layout::cheapest(shape, 4096, 3).unwrap().chunks() <= 8);
    }
}
