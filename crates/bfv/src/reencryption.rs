//! BFV ciphertexts handed from one owner to another by a proxy.

use std::borrow::Cow;

use sunzi_rlwe::DeclaredNoise;
use sunzi_rlwe::reencryption::{Departure, ReencryptionContext};

use crate::{Bfv, BfvError, Ciphertext, Context};

impl ReencryptionContext for Context {
    type Scheme = Bfv;

    fn departure<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
    ) -> Result<Departure<'a, Bfv>, BfvError> {
        self.check(ciphertext)?;
        let capacity = self.log2_noise_capacity();
        Ok(Departure { ciphertext: Cow::Borrowed(ciphertext), noise, capacity })
    }
}
