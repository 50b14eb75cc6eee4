//! Predicted cost of a packed plan, for the choice between parameters and schemes.

use serde::Serialize;
use sunzi_circuits::statistics::Layout;
use sunzi_ring::RnsDigits;
use sunzi_rlwe::switch_cost::SwitchCost;

use crate::analysis::{MULTIPLICATION, Parameters};

/// Predicted work of a packed plan for all parties, and the bytes that they exchange.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Work {
    /// Number of transforms of one limb, with other work counted in transforms of the same cost.
    pub transforms: f64,
    /// Number of butterflies in the transforms, by which rings of different degrees are compared.
    pub butterflies: f64,
    /// Number of bytes of keys and ciphertexts that are exchanged with the server.
    pub bytes: u64,
}

/// Sizes of keys and ciphertexts in memory, eight bytes for each residue.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sizes {
    /// Number of bytes of the public key.
    pub public_key: u64,
    /// Number of bytes of the relinearisation key.
    pub relinearization_key: u64,
    /// Number of bytes of all Galois keys together.
    pub galois_keys: u64,
    /// Number of Galois keys.
    pub galois_key_count: usize,
    /// Number of bytes of one ciphertext.
    pub ciphertext: u64,
    /// Number of ciphertexts sent to the server.
    pub input_ciphertexts: usize,
    /// Number of bytes of all ciphertexts sent to the server.
    pub inputs: u64,
    /// Number of ciphertexts that the server sends back.
    pub result_ciphertexts: usize,
    /// Number of bytes of all ciphertexts that the server sends back.
    pub results: u64,
}

/// Returns the number of ciphertext moduli of a product.
fn product_limbs(parameters: &Parameters) -> usize {
    match parameters {
        Parameters::Bgv { parameters, .. } => parameters.limbs(parameters.depth()).len(),
        _ => parameters.moduli().len(),
    }
}

impl Work {
    /// Counts the work of a packed plan: each chunk encrypts its inputs, prepares them and multiplies; then every sum
    /// of products is finished once, and sums are rotated and decrypted.
    pub(super) fn of(layout: &Layout, parameters: &Parameters, bytes: u64) -> Self {
        let (moduli, options, n) = (parameters.moduli(), parameters.key_switching(), parameters.degree());
        let (fresh, level) = (moduli.len() as f64, product_limbs(parameters) as f64);
        let switch =
            |limbs: usize| SwitchCost::new(options, moduli, limbs, n).unwrap_or_default().in_transforms(n);
        let encryption = 3.0 * fresh + if options.special_moduli.is_empty() { 0.0 } else { 3.0 };
        let square = level * level * MULTIPLICATION;
        // Left and right operands, a product, a sum of products without its relinearisation.
        let (left, right, product, finish) = match parameters {
            // An operand is switched to the level of the product.
            Parameters::Bgv { .. } if fresh > level => (2.0 * fresh, 2.0 * fresh, 4.0, 0.0),
            Parameters::Bgv { .. } => (0.0, 0.0, 4.0, 0.0),
            // Modulo q and as many auxiliary moduli [KPZ21, 3.2]: a left operand is switched to these and extended,
            // a right one extended; a product has eight pointwise terms; a sum returns from all moduli.
            _ => (6.0 * level + 4.0 * square, 4.0 * level + 2.0 * square, 8.0, 6.0 * level + 3.0 * square),
        };
        let (packed, repeated) = (layout.packed() as f64, layout.repeated() as f64);
        let products = layout.products().len() as f64;
        let inputs = packed * (encryption + left) + repeated * (encryption + right);
        let chunk = inputs + products * product * level * MULTIPLICATION;
        let rotations = f64::from(layout.rotations());
        let sums = products * (finish + (1.0 + rotations) * switch(product_limbs(parameters)) + 2.0 * level)
            + packed * (rotations * switch(moduli.len()) + 2.0 * fresh);
        let transforms = (layout.chunks() as f64 * chunk + sums) * parameters.plain_moduli().len() as f64;
        Self { transforms, butterflies: transforms * n as f64 / 2.0 * (n as f64).log2(), bytes }
    }
}

impl Sizes {
    pub(super) fn of(layout: &Layout, parameters: &Parameters) -> Self {
        let (moduli, options) = (parameters.moduli(), parameters.key_switching());
        let plain = parameters.plain_moduli().len();
        // Both halves of one limb.
        let limb = 16 * parameters.degree() as u64;
        let ciphertext = moduli.len() as u64 * limb;
        let limbs = RnsDigits::new(options, moduli).map_or(0, |digits| digits.count() * digits.key_limbs());
        let switching_key = limb * limbs as u64;
        let galois_key_count = layout.required_rotations().len();
        let input_ciphertexts = plain * layout.chunks() * (layout.packed() + layout.repeated());
        let sums = 2 * plain * layout.packed();
        let products = 2 * plain * layout.products().len();
        Self {
            public_key: ciphertext + if options.special_moduli.is_empty() { 0 } else { limb },
            relinearization_key: switching_key,
            galois_keys: switching_key * galois_key_count as u64,
            galois_key_count,
            ciphertext,
            input_ciphertexts,
            inputs: ciphertext * input_ciphertexts as u64,
            result_ciphertexts: sums + products,
            results: ciphertext * sums as u64 + product_limbs(parameters) as u64 * limb * products as u64,
        }
    }

    /// Returns the number of bytes that are exchanged with the server.
    pub(super) fn travelling(&self) -> u64 {
        self.relinearization_key + self.galois_keys + self.inputs + self.results
    }
}
