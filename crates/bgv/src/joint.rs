//! BGV under the joint secret of several parties: results opened by shares, additive shares of messages, encryptions made together.

use sunzi_encoding::Plaintext;
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{Coefficient, Poly};
use sunzi_rlwe::joint::{ExactJointContext, JointContext, Opening};
use sunzi_rlwe::{DeclaredNoise, SharingPolicy};
use zeroize::Zeroizing;

use crate::{Bgv, BgvError, Ciphertext, Context};

impl JointContext for Context {
    type Scheme = Bgv;

    fn opening<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Opening<'a, Bgv>, BgvError> {
        let (ciphertext, level, flooding) = self.flooding_for(ciphertext, noise, policy)?;
        Ok(Opening { ciphertext, level, flooding })
    }

    fn opened(
        &self,
        opening: &Opening<'_, Bgv>,
        phase: Zeroizing<Poly<Coefficient>>,
        _: usize,
    ) -> Result<Plaintext, BgvError> {
        let held = self.scaler(opening.level)?.decrypt(&phase)?;
        self.plaintext(&opening.ciphertext, opening.level, held)
    }
}

impl ExactJointContext for Context {
    fn held(&self, opening: &Opening<'_, Bgv>, message: &Plaintext) -> Result<Zeroizing<Vec<u64>>, BgvError> {
        let t = self.plain_modulus();
        let inverse = mod_inv(self.held_factor(&opening.ciphertext, opening.level)?, t)?;
        let held = message.coefficients().iter().map(|&m| mul_mod(m, inverse, t));
        Ok(Zeroizing::new(held.collect()))
    }
}
