//! Predicts the noise of the requested circuit with the formulas that the BFV evaluator uses.

use sunzi_ring::{Expansion, GadgetOptions, Multiplication, RingError, RnsDigits, ScalingBounds};
use sunzi_rlwe::noise::NoiseModel;
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm};

use crate::noise::ProductModel;
use crate::request::Request;
use sunzi_math::log2_product;

/// Figures on which the noise of the requested circuit depends.
#[derive(Clone, Copy)]
struct Model {
    product: ProductModel,
    fresh: NoiseTerm,
    /// Noise of the key switch of a rotation, and of one that relinearises.
    rotation: NoiseTerm,
    /// Noise that a re-encryption adds beside flooding noise.
    reencryption: NoiseTerm,
    relinearization: NoiseTerm,
    /// Factor by which products at lower levels may increase the noise.
    level_growth: Log2,
    capacity: f64,
}

impl Model {
    fn new(
        ring: Expansion,
        moduli: &[u64],
        key_switching: &GadgetOptions,
        plain_modulus: u64,
        request: &Request,
    ) -> Result<Self, RingError> {
        let (secrets, algorithms) = (request.secrets, &request.algorithms);
        let secret = NoiseModel::new(ring, secrets);
        let log2_modulus = log2_product(moduli);
        let digits = RnsDigits::new(key_switching, moduli)?;
        let special = &key_switching.special_moduli;
        let log2_p = log2_product(special.get(..1).unwrap_or_default());
        let bounds = ScalingBounds::new(&algorithms.scaling, moduli, plain_modulus)?;
        let plain_modulus = plain_modulus as f64;
        let zero = secret.public_encryption(log2_p);
        Ok(Self {
            product: ProductModel { ring, secrets, plain_modulus, log2_modulus, log2_dropped: 0.0, bounds },
            fresh: zero.plus(NoiseTerm::rounding().scaled(Log2::from_bits(-log2_p))),
            rotation: switched(secret, secret.key_switch(&digits.bounds(), 1), special),
            reencryption: switched(secret, secret.public_key_switch(&digits.bounds()), special).plus(zero),
            relinearization: switched(secret, secret.key_switch(&digits.bounds(), 2), special),
            level_growth: match algorithms.scaling.multiplication {
                Multiplication::HpsOverQLeveled => ProductModel::level_growth(algorithms.cushion_bits),
                _ => Log2::of(1.0),
            },
            capacity: bounds.decryption_margin.log2() + log2_modulus - plain_modulus.log2(),
        })
    }

    /// The noise of an encryption under the public key.
    fn fresh(&self) -> NoiseBound {
        NoiseBound::fresh(self.fresh, 0)
    }

    fn multiply(&self, a: &NoiseBound) -> NoiseBound {
        self.product.product(a, a).plus(self.relinearization).scaled(self.level_growth)
    }

    /// The noise after the rotate-and-add steps and plaintext products that a level applies to its products.
    fn finish(&self, mut bound: NoiseBound, request: &Request) -> NoiseBound {
        for _ in 0..request.rotations {
            bound = bound.times_norm(2.0).plus(self.rotation);
        }
        let plain_norm = self.product.ring.degree() as f64 * self.product.plain_modulus / 2.0;
        for _ in 0..request.plain_products {
            bound = bound.times_norm(plain_norm);
        }
        bound
    }

    /// The noise after the re-encryptions that were asked for.
    fn handed_on(&self, bound: &NoiseBound, request: &Request) -> NoiseBound {
        let after = |hops: Reencryptions| hops.after(bound, self.reencryption, self.product.ring);
        request.reencryptions.map_or(*bound, after)
    }

    fn bits_left(&self, bound: &NoiseBound) -> f64 {
        self.capacity - bound.bound(self.product.ring).bits()
    }
}

fn switched(secret: NoiseModel, noise: NoiseTerm, special: &[u64]) -> NoiseTerm {
    if special.is_empty() {
        noise
    } else {
        noise.scaled(Log2::from_bits(-log2_product(special))).plus(secret.mod_switch(2))
    }
}

/// Predicts the bits of noise left after each level, summed fresh ciphertexts first; at most 1 + depth entries. The last one counts the re-encryptions that
/// were asked for: behind the computation, or before it where that leaves less.
///
/// # Errors
/// [`RingError`] for algorithms that these moduli do not allow.
pub(super) fn bits_left(
    ring: Expansion,
    moduli: &[u64],
    key_switching: &GadgetOptions,
    plain_modulus: u64,
    request: &Request,
) -> Result<Vec<f64>, RingError> {
    let model = Model::new(ring, moduli, key_switching, plain_modulus, request)?;
    let fresh = model.fresh();
    let (mut left, end) = run(model, fresh, request);
    if request.reencryptions.is_some() {
        let (first, _) = run(model, model.handed_on(&fresh, request), request);
        let both = [Some(model.bits_left(&model.handed_on(&end, request))), first.last().copied()];
        let least = both.into_iter().flatten().fold(f64::INFINITY, f64::min);
        left.last_mut().into_iter().for_each(|last| *last = least);
    }
    Ok(left)
}

/// Returns the bits of noise left after each level of the requested circuit on ciphertexts of the given noise, and the noise of its results.
fn run(mut model: Model, fresh: NoiseBound, request: &Request) -> (Vec<f64>, NoiseBound) {
    let terms = f64::from(request.additions).exp2();
    let mut bound = fresh.times_norm(terms);
    if request.depth == 0 {
        bound = model.finish(bound, request);
    }
    let mut left = vec![model.bits_left(&bound)];
    for _ in 0..request.depth {
        if model.bits_left(&bound) < 0.0 {
            // Decryption has failed already; without the term v_1·v_2·t/q, which would square from here
            // on, the figure still says how much modulus is missing.
            model.product.log2_modulus = f64::INFINITY;
        }
        bound = model.finish(model.multiply(&bound).times_norm(terms), request);
        left.push(model.bits_left(&bound));
    }
    (left, bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::primes_below;

    #[test]
    fn every_demand_costs_bits_and_every_limb_gives_some() {
        let moduli = |count| primes_below(1 << 47, 1 << 14, count).unwrap();
        let last = |moduli: &[u64], t, request: &Request| {
            *bits_left((1 << 13).into(), moduli, &GadgetOptions::default(), t, request)
                .unwrap()
                .last()
                .unwrap()
        };
        let base = Request { depth: 2, additions: 1, rotations: 1, plain_products: 1, ..Request::default() };
        let bits = last(&moduli(4), 65537, &base);
        assert!(last(&moduli(4), 65537, &Request { depth: 3, ..base.clone() }) < bits - 20.0);
        assert!(last(&moduli(4), 65537, &Request { additions: 2, ..base.clone() }) < bits - 1.0);
        assert!(last(&moduli(4), 65537, &Request { rotations: 2, ..base.clone() }) < bits);
        assert!(last(&moduli(4), 65537, &Request { plain_products: 2, ..base.clone() }) < bits - 20.0);
        assert!(last(&moduli(4), 1 << 20, &base) < bits - 3.0);
        assert!(last(&moduli(5), 65537, &base) > bits + 40.0);
    }

    #[test]
    fn the_shortage_grows_evenly_with_the_depth() {
        let q = primes_below(1 << 47, 1 << 14, 4).unwrap();
        let request = Request { depth: 30, ..Request::default() };
        let left = bits_left((1 << 13).into(), &q, &GadgetOptions::default(), 65537, &request).unwrap();
        let steps: Vec<f64> = left.windows(2).map(|pair| pair[0] - pair[1]).collect();
        assert!(steps[1..].iter().all(|step| (25.0..40.0).contains(step)), "{steps:?}");
    }

    #[test]
    fn a_fresh_ciphertext_has_the_noise_of_its_encryption() {
        let request = Request { depth: 0, ..Request::default() };
        let q = primes_below(1 << 47, 1 << 13, 1).unwrap();
        let bits = bits_left((1 << 12).into(), &q, &GadgetOptions::default(), 2, &request).unwrap();
        // σ = sqrt(10.5·(1 + 4n/3)) = 239.5, 13.8σ = 2^11.7; q/(2t) = 2^45.
        assert_eq!(bits.len(), 1);
        assert!((bits[0] - 33.3).abs() < 0.2, "{bits:?}");
    }
}
