//! Wire format of parameters of any scheme: read without a context, since they make one.

use std::io::BufRead;

use super::{
    FieldReader, Fields, Fingerprint, Format, Header, Kind, Scope, SecurityClaim, Sink, Source, WireError,
};
use crate::{KeyId, Security, memory, security};

/// Length that no stored parameters reach, in bytes.
const MOST: usize = 1 << 16;

/// A scope for objects that belong to no context, such as parameters, which it reads with [`Accept::Secure`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContext;

/// Choice of the parameters that are accepted from files. In every case, the security that a file claims is checked
/// against the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// Accepts parameters with a security of 128 bits or more; all others are [`WireError::Insecure`].
    #[default]
    Secure,
    /// Accepts also parameters written with [`Security::InsecureForResearchOnly`], which may protect nothing. For
    /// tests and for published sets that today's estimates no longer cover, never for data that matters.
    InsecureForResearchOnly,
}

impl Scope for NoContext {}

impl Scope for Accept {}

impl Accept {
    /// Returns the opt-out from security if `yes`, and [`Accept::Secure`] if not.
    #[must_use]
    pub fn insecure_for_research_only(yes: bool) -> Self {
        if yes { Self::InsecureForResearchOnly } else { Self::Secure }
    }

    /// Checks that parameters are accepted, and that the security table bears out their claim.
    ///
    /// # Errors
    /// [`WireError::Insecure`]; [`RlweError::Insecure`](crate::RlweError::Insecure) in a [`WireError::Rlwe`].
    pub fn check(self, claim: &SecurityClaim) -> Result<(), WireError> {
        if claim.security == Security::InsecureForResearchOnly && self == Self::Secure {
            return Err(WireError::Insecure { claim: claim.clone() });
        }
        claim.check()
    }
}

impl SecurityClaim {
    /// Checks that the security table bears out a claim; a claim of no security is always borne out.
    ///
    /// # Errors
    /// [`RlweError::Insecure`](crate::RlweError::Insecure) in a [`WireError::Rlwe`].
    pub fn check(&self) -> Result<(), WireError> {
        Ok(security::check_of(self.secrets, self.degree, self.log2_key_modulus, self.security)?)
    }
}

/// Parameters of a scheme that are stored as numbers.
pub trait StoredParameters: Sized {
    /// Kind of the parameters in files.
    const KIND: Kind;
    /// The data of parameters on which keys depend, [as bytes](super::ring_bytes).
    fn key_bytes(&self) -> Vec<u8>;
    /// Writes the data on which messages depend besides the ring, as
    /// [`SchemeFormat::describe`](super::SchemeFormat::describe) of their contexts.
    fn describe(&self, fields: &mut Fields);
    /// The fingerprint of the parameters, equal to the fingerprint of contexts made of them.
    fn fingerprint(&self) -> Fingerprint {
        let mut fields = Fields::default();
        self.describe(&mut fields);
        Fingerprint::of_ring(&self.key_bytes()).with_scheme(fields.as_bytes())
    }
    /// The security claim of the parameters.
    fn claim(&self) -> SecurityClaim;
    /// The approximate bytes of memory that the tables of contexts of the parameters take, before any is made: the
    /// tables of all plaintext moduli together.
    fn table_bytes(&self) -> u64;
    /// The number of digits of key switching, which is the number of polynomials in each half of a switching key.
    fn digits(&self) -> usize;
    /// The approximate bytes of memory that a switching key takes at the highest level, told before there is a
    /// context.
    fn switch_key_bytes(&self) -> u64 {
        let claim = self.claim();
        let bytes = (claim.log2_key_modulus / 8.0 / claim.moduli.max(1) as f64).ceil() as u64;
        let polynomial = (claim.degree as u64).saturating_mul(bytes.saturating_mul(claim.moduli as u64));
        polynomial.saturating_mul(2 * self.digits() as u64)
    }
    /// Writes all numbers of the parameters.
    fn put(&self, fields: &mut Fields);
    /// Reads parameters, and fails for parameters that make no context. Whether they are secure enough is for
    /// [`Accept`] to say.
    ///
    /// # Errors
    /// [`WireError::Value`], [`WireError::Length`] and [`WireError::Scheme`] for numbers that make no context.
    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError>;
}

/// Returns parameters that `serde` has read: the security that they claim is checked, and parameters without any are
/// read within [`accepting_insecure`](crate::security::accepting_insecure) only.
///
/// # Errors
/// [`WireError::Rlwe`] in an error of the deserializer, for a claim that the table does not bear out.
pub fn claimed<P: StoredParameters, E: serde::de::Error>(parameters: P) -> Result<P, E> {
    parameters.claim().check().map_err(E::custom)?;
    Ok(parameters)
}

impl<P: StoredParameters> Format<P> for Accept {
    const KIND: Kind = P::KIND;

    fn origin(&self, parameters: &P) -> (Fingerprint, Option<KeyId>) {
        (parameters.fingerprint(), None)
    }

    fn put(&self, parameters: &P, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut fields = Fields::default();
        parameters.put(&mut fields);
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<P, WireError> {
        let record = source.rest("parameters", MOST)?;
        let mut fields = FieldReader::new(&record);
        let parameters = P::get(&mut fields)?;
        fields.finish()?;
        parameters.fingerprint().check(&header.parameters)?;
        let claim = parameters.claim();
        self.check(&claim)?;
        // The tables must fit in memory: whoever reads parameters makes them next.
        memory::require(parameters.table_bytes())?;
        Ok(parameters)
    }
}

impl<P: StoredParameters> Format<P> for NoContext {
    const KIND: Kind = P::KIND;

    fn origin(&self, parameters: &P) -> (Fingerprint, Option<KeyId>) {
        Accept::Secure.origin(parameters)
    }

    fn put(&self, parameters: &P, sink: &mut impl Sink) -> Result<(), WireError> {
        Format::<P>::put(&Accept::Secure, parameters, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<P, WireError> {
        Format::<P>::get(&Accept::Secure, header, source)
    }
}
