//! BGV ciphertexts handed from one owner to another by a proxy.

use std::borrow::Cow;

use sunzi_rlwe::reencryption::{Departure, ReencryptionContext};
use sunzi_rlwe::{DeclaredNoise, RlweError};

use crate::{Bgv, BgvError, Ciphertext, Context};

impl ReencryptionContext for Context {
    type Scheme = Bgv;

    /// Where only a part of the last word counts, the residues beside it are no noise but what earlier products left there, which no flooding noise hides:
    /// the ciphertext is switched to the words below first.
    fn departure<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
    ) -> Result<Departure<'a, Bgv>, BgvError> {
        let place = self.check(ciphertext)?;
        if self.place(place)?.share == 0 {
            let capacity = self.log2_noise_capacity(place);
            return Ok(Departure { ciphertext: Cow::Borrowed(ciphertext), noise, capacity });
        }
        let Some((lower, below, bound)) = self.declared_below(ciphertext, place, noise)? else {
            let bits_short = noise.bits() - self.log2_noise_capacity(place);
            let hop = ciphertext.hops().saturating_add(1);
            return Err(RlweError::ReencryptionRoom { hop, bits_short, declared: noise.bits() }.into());
        };
        let capacity = self.log2_noise_capacity(below);
        Ok(Departure {
            ciphertext: Cow::Owned(lower),
            noise: DeclaredNoise::from_bits(bound.bits()),
            capacity,
        })
    }
}
