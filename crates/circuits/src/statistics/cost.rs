//! What a layout costs, to choose one.

use super::Layout;

/// Time of a base conversion from k to k moduli, over k² transforms.
const CONVERSION: f64 = 0.065;

impl Layout {
    /// Butterflies of the whole job for one plaintext modulus, with `limbs` ciphertext moduli: each
    /// chunk encrypts and extends its inputs and multiplies; then sums are rotated and decrypted.
    #[must_use]
    pub fn cost(&self, limbs: usize) -> f64 {
        let k = limbs as f64;
        let products = self.products().len() as f64;
        let packed = self.packed() as f64;
        let inputs = packed + self.repeated() as f64;
        let input = 8.0 * k + 3.0 + 2.0 * CONVERSION * k * k;
        let product = 8.0 * k + 3.0 + (1.0 + 6.0 * CONVERSION) * k * k;
        let rotation = k * k + 2.0 * k;
        let decryption = 2.0 * (k + 1.0);
        let chunk = inputs * input + products * product;
        let sum = f64::from(self.rotations()) * rotation + decryption;
        let transforms = self.chunks() as f64 * chunk + (products + packed) * sum;
        let n = self.degree() as f64;
        transforms * n / 2.0 * n.log2()
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
