//! Schemes of BFV over the rings of BGV, and ciphertexts that change between the two `[KPZ21, app. A]`.

use sunzi_bfv as bfv;
use sunzi_circuits::unified::{UnifiedError, to_bfv, to_bgv};

use crate::error::Failure;
use crate::scheme::{Cipher, Scheme, mixed, wrong_scheme};

/// Makes the BFV schemes with ring, key switching and plaintext moduli of BGV schemes that share a ring.
pub(crate) fn bfv_of(schemes: &[&Scheme]) -> Result<Vec<Scheme>, Failure> {
    let parts = schemes.iter().map(|scheme| scheme.bgv_parameters()).collect::<Option<Vec<_>>>();
    let parts = parts.filter(|parts| !parts.is_empty());
    let Some((parts, first)) = parts.as_ref().and_then(|parts| Some((parts, *parts.first()?))) else {
        let got = schemes.first().map_or("none", |scheme| scheme.name());
        return Err(wrong_scheme("a change to BFV", "bgv", got));
    };
    if first.shares().iter().any(|&share| share > 0) {
        let what = "several primes share a word in these moduli of BGV, and BFV takes primes: make the context with shared_moduli=False";
        return Err(Failure::new("SharedModuli", what));
    }
    let plain = parts.iter().map(|part| part.plain_modulus()).collect();
    let algorithms =
        bfv::Algorithms { key_switching: first.key_switching().clone(), ..bfv::Algorithms::default() };
    let parameters = bfv::CrtParameters::new(first.ring(), first.moduli().to_vec(), plain, first.security());
    Scheme::bfv_of(&parameters.with_algorithms(algorithms))
}

/// Whether keys of one scheme serve the other: rings, moduli, key switching and secrets are the same.
pub(crate) fn share_keys(one: &Scheme, other: &Scheme) -> bool {
    // Fingerprints also tell levels, which keys do not depend on.
    let keys = |scheme: &Scheme| (scheme.rlwe().ring().index(), scheme.rlwe().secrets());
    let options = |scheme: &Scheme| scheme.rlwe().gadget().options().clone();
    keys(one) == keys(other) && one.moduli() == other.moduli() && options(one) == options(other)
}

/// Returns the ciphertext of the same message in another scheme, of the same ring.
pub(crate) fn switched(from: &Scheme, to: &Scheme, a: &Cipher) -> Result<Cipher, Failure> {
    let (bfv, bgv) = match (from, to) {
        (Scheme::Bfv(bfv), Scheme::Bgv(bgv)) | (Scheme::Bgv(bgv), Scheme::Bfv(bfv)) => (bfv, bgv),
        _ => return Err(wrong_scheme("a change of scheme", "bfv or bgv, to the other", from.name())),
    };
    if !share_keys(from, to) {
        let what = "BFV and BGV of other rings, moduli or key switching: take the context that to_bfv() of the BGV one makes";
        return Err(Failure::new("ContextMismatch", what));
    }
    let plain = (bfv.parameters.plain_modulus(), bgv.parameters.plain_modulus());
    if plain.0 != plain.1 {
        return Err(UnifiedError::PlainModuli { bfv: plain.0, bgv: plain.1 }.into());
    }
    match a {
        Cipher::Bfv(a) => Ok(to_bgv(&bgv.evaluator, a)?.into()),
        Cipher::Bgv(a) => Ok(to_bfv(&bgv.evaluator, a)?.into()),
        Cipher::Ckks(_) => Err(mixed()),
    }
}
