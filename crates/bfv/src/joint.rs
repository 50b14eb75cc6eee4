//! BFV under the joint secret of several parties: results opened by shares, additive shares of messages, encryptions made together.

use std::borrow::Cow;

use sunzi_ring::{Coefficient, Poly};
use sunzi_rlwe::joint::{ExactJointContext, JointContext, Opening};
use sunzi_rlwe::{DeclaredNoise, SharingPolicy};
use zeroize::Zeroizing;

use crate::{Bfv, BfvError, Ciphertext, Context, Plaintext};

impl JointContext for Context {
    type Scheme = Bfv;

    fn opening<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Opening<'a, Bfv>, BfvError> {
        let flooding = self.flooding_for(ciphertext, noise, policy)?;
        Ok(Opening { ciphertext: Cow::Borrowed(ciphertext), level: self.ring().level(), flooding })
    }

    fn opened(
        &self,
        _: &Opening<'_, Bfv>,
        phase: Zeroizing<Poly<Coefficient>>,
        _: usize,
    ) -> Result<Plaintext, BfvError> {
        self.open(&phase)
    }
}

impl ExactJointContext for Context {
    fn held(&self, _: &Opening<'_, Bfv>, message: &Plaintext) -> Result<Zeroizing<Vec<u64>>, BfvError> {
        Ok(Zeroizing::new(message.coefficients().to_vec()))
    }
}
