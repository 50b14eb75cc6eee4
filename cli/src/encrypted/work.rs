//! What the job costs, counted: to choose between parameters and schemes.

use serde::Serialize;
use sunzi::circuits::statistics::Layout;
use sunzi::ring::{GadgetOptions, RnsDigits};
use sunzi::rlwe::switch_cost::SwitchCost;

use super::scheme::{Name, Parameters};

/// A multiplication of n words, over a transform.
const MULTIPLICATION: f64 = 1.0 / 15.0;

/// Predicted work of the whole job, and bytes that travel.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Work {
    /// Transforms of one limb, or what takes as long.
    pub(crate) transforms: f64,
    /// Butterflies in them: what is compared between rings of several degrees.
    pub(crate) butterflies: f64,
    /// Keys and ciphertexts to the server and back.
    pub(crate) bytes: u64,
}

impl Work {
    /// Counts the job: each chunk encrypts its inputs, makes them ready and multiplies; then every sum of products is
    /// finished once, and sums are rotated and decrypted.
    pub(crate) fn of(layout: &Layout, parameters: &Parameters, bytes: u64) -> Self {
        let (moduli, options, n) = (parameters.moduli(), parameters.key_switching(), parameters.degree());
        let (fresh, level) = (moduli.len() as f64, parameters.product_limbs() as f64);
        let switch =
            |limbs: usize| SwitchCost::new(options, moduli, limbs, n).unwrap_or_default().in_transforms(n);
        let encryption = 3.0 * fresh + if options.special_moduli.is_empty() { 0.0 } else { 3.0 };
        let square = level * level * MULTIPLICATION;
        // Left and right operands, a product, a sum of products without its relinearisation.
        let (left, right, product, finish) = match parameters.scheme() {
            // Modulo q and as many auxiliary moduli [KPZ21, 3.2]: a left operand is switched to these and extended,
            // a right one extended; a product has eight pointwise terms; a sum returns from all moduli.
            Name::Bfv => {
                (6.0 * level + 4.0 * square, 4.0 * level + 2.0 * square, 8.0, 6.0 * level + 3.0 * square)
            }
            // An operand is switched to the level of the product.
            Name::Bgv if fresh > level => (2.0 * fresh, 2.0 * fresh, 4.0, 0.0),
            Name::Bgv => (0.0, 0.0, 4.0, 0.0),
        };
        let (packed, repeated) = (layout.packed() as f64, layout.repeated() as f64);
        let products = layout.products().len() as f64;
        let inputs = packed * (encryption + left) + repeated * (encryption + right);
        let chunk = inputs + products * product * level * MULTIPLICATION;
        let rotations = f64::from(layout.rotations());
        let sums = products * (finish + (1.0 + rotations) * switch(parameters.product_limbs()) + 2.0 * level)
            + packed * (rotations * switch(moduli.len()) + 2.0 * fresh);
        let transforms = (layout.chunks() as f64 * chunk + sums) * parameters.plain_moduli().len() as f64;
        Self { transforms, butterflies: transforms * n as f64 / 2.0 * (n as f64).log2(), bytes }
    }
}

/// Bytes of a key that switches, relinearisation or Galois.
pub(crate) fn switching_key_bytes(options: &GadgetOptions, moduli: &[u64], degree: usize) -> u64 {
    let limbs = RnsDigits::new(options, moduli).map_or(0, |digits| digits.count() * digits.key_limbs());
    16 * limbs as u64 * degree as u64
}
