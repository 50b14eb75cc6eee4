//! Memory of the tables of a BFV parameter set, computed from its numbers alone.

use sunzi_math::log2_product;
use sunzi_ring::{Auxiliary, ScalerOptions};
use sunzi_rlwe::{RingShape, memory};

use crate::algorithms::Algorithms;

/// Bits of the auxiliary moduli that BFV products take, where these are not as long as the ciphertext moduli.
const AUXILIARY_BITS: f64 = 48.0;

/// Estimates the bytes that BFV contexts take: ring and keys once, and for every plaintext modulus the tables of
/// products and decryption.
pub(crate) fn bytes(ring: RingShape, moduli: &[u64], plain_moduli: &[u64], algorithms: &Algorithms) -> u64 {
    let all = [(0..moduli.len()).collect()];
    let own = memory::table_bytes(ring, moduli, &algorithms.key_switching, &all, &all);
    let of_modulus = |&t: &u64| {
        let auxiliary = auxiliary(ring, moduli, t, &algorithms.scaling);
        memory::transform_bytes(ring, auxiliary).saturating_add(memory::level_bytes(auxiliary + moduli.len()))
    };
    plain_moduli.iter().map(of_modulus).fold(own, u64::saturating_add)
}

/// Estimates how many auxiliary moduli BFV products take beside the ciphertext moduli.
fn auxiliary(ring: RingShape, moduli: &[u64], plain_modulus: u64, options: &ScalerOptions) -> usize {
    let log2 = |x: u64| (x as f64).log2();
    let longest = moduli.iter().copied().max().map_or(AUXILIARY_BITS, log2);
    let (bits, room) = match options.auxiliary {
        Auxiliary::Standard => (AUXILIARY_BITS, 8.0),
        Auxiliary::LikeModulus => (longest.max(1.0), 0.0),
    };
    let product = if options.multiplication.switches_operands() {
        0.0
    } else {
        log2(plain_modulus) + log2(ring.degree().max(1) as u64) + room
    };
    ((log2_product(moduli) + product) / bits).ceil() as usize
}

/// Estimates the bytes of the tables of a context modulo 2^`bits` − 1; transforms for products are made when first
/// asked for.
pub(crate) fn fermat_bytes(degree: usize, bits: usize) -> u64 {
    let auxiliary = (bits as f64 / AUXILIARY_BITS).ceil() as usize + 2;
    let ring = RingShape::Log2Degree(degree.max(1).ilog2());
    memory::transform_bytes(ring, auxiliary).saturating_add(memory::level_bytes(auxiliary))
}
