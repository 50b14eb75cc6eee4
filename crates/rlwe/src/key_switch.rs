//! Key switching by digits (BV): from a secret s' to s.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Gadget, GadgetOptions, PolyRing};

use crate::keys::zero_sample;
use crate::noise::{self, NoiseTerm};
use crate::{Log2, RlweContext, RlweError, SecretKey, randomness};

/// Encryptions of g_i·s' under s for the gadget g, one for every digit: `[BEHZ16, 4.5]` with
/// g_i = q/q_i in RNS, without the limbs that are zero in both halves `[BEHZ16, B.2]`. The uniform halves
/// follow from a 32-byte seed.
#[derive(Clone)]
pub struct KeySwitchKey<R: PolyRing> {
    seed: [u8; 32],
    options: GadgetOptions,
    halves: [Vec<R::Poly<Evaluation>>; 2],
}

impl<R: PolyRing> KeySwitchKey<R> {
    /// Makes the key that turns a polynomial under `source` into a ciphertext under `secret`.
    pub(crate) fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        source: &R::Poly<Evaluation>,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        context.check_key(context.log2_modulus())?;
        let (ring, gadget) = (context.ring(), context.gadget());
        let seed = randomness::public_seed(rng);
        let digits = gadget.digit_count();
        let mut halves = [Vec::with_capacity(digits), Vec::with_capacity(digits)];
        for digit in 0..digits {
            let a = ring.uniform(&mut randomness::public_stream(&seed, digit as u64));
            let zero = zero_sample(ring, secret, a, rng)?;
            for (half, part) in halves.iter_mut().zip(gadget.key_part(zero, source, digit)?) {
                half.push(part);
            }
        }
        Ok(Self { seed, options: *gadget.options(), halves })
    }

    /// The seed of the uniform halves.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The number of digits.
    #[must_use]
    pub fn digit_count(&self) -> usize {
        self.halves[0].len()
    }

    /// Bytes in memory: in RNS with k limbs, ℓ digits of each and i limbs dropped, 16·kℓ(k − i)·n.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.halves.iter().flatten().map(R::byte_len).sum()
    }

    /// (b, a) with b + a·s = c·s' + noise, the noise within [`added_noise`].
    pub(crate) fn switch(
        &self,
        context: &RlweContext<R>,
        c: &R::Poly<Coefficient>,
    ) -> Result<[R::Poly<Evaluation>; 2], RlweError> {
        let expected = *context.gadget().options();
        if self.options != expected {
            return Err(RlweError::GadgetMismatch { expected, got: self.options });
        }
        let [first, second] = &self.halves;
        Ok(context.gadget().product(c, [first, second])?)
    }
}

/// What one key switch adds, from a secret that is a product of `power` ternary polynomials: 2 for s².
pub(crate) fn added_noise<R: PolyRing>(context: &RlweContext<R>, power: u32) -> NoiseTerm {
    let (degree, gadget) = (context.ring().degree(), context.gadget());
    let errors = noise::key_switch(degree, &gadget.digit_bounds());
    errors.plus(noise::truncation(degree, Log2::from_bits(gadget.log2_truncation()), power))
}
