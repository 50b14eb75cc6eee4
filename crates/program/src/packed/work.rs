//! What a packed plan costs, counted: to choose between parameters and schemes.

use serde::Serialize;
use sunzi_circuits::statistics::Layout;
use sunzi_ring::RnsDigits;
use sunzi_rlwe::switch_cost::SwitchCost;

use crate::analysis::{MULTIPLICATION, Parameters};

/// Predicted work of the whole job, and bytes that travel.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Work {
    /// Transforms of one limb, or what takes as long.
    pub transforms: f64,
    /// Butterflies in them: what is compared between rings of several degrees.
    pub butterflies: f64,
    /// Keys and ciphertexts to the server and back.
    pub bytes: u64,
}

/// Bytes in memory, eight for each residue.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sizes {
    /// The public key.
    pub public_key: u64,
    /// The relinearisation key.
    pub relinearization_key: u64,
    /// All Galois keys together.
    pub galois_keys: u64,
    /// How many Galois keys.
    pub galois_key_count: usize,
    /// One ciphertext.
    pub ciphertext: u64,
    /// Ciphertexts sent to the server.
    pub input_ciphertexts: usize,
    /// All of them.
    pub inputs: u64,
    /// Ciphertexts sent back.
    pub result_ciphertexts: usize,
    /// All of them.
    pub results: u64,
}

/// Ciphertext moduli that a product has.
fn product_limbs(parameters: &Parameters) -> usize {
    match parameters {
        Parameters::Bgv { parameters, .. } => parameters.limbs(parameters.depth()).len(),
        _ => parameters.moduli().len(),
    }
}

impl Work {
    /// Counts the job: each chunk encrypts its inputs, makes them ready and multiplies; then every sum of products is
    /// finished once, and sums are rotated and decrypted.
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

    /// What goes to the server and back.
    pub(super) fn travelling(&self) -> u64 {
        self.relinearization_key + self.galois_keys + self.inputs + self.results
    }
}
