//! Parameters, keys and chunks in files: sequences of objects of [format version 1](sunzi_rlwe::wire).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::bootstrap::{AnyBlueprint, AnyBootstrapKeys, RealBootstrapKeys, RealRingBootstrapping};
use sunzi_rlwe::wire::{
    Accept, CiphertextOf, Fingerprint, Format, GaloisFile, Kind, NoContext, Reader, SchemeFormat,
    SecurityClaim, StoredParameters, WireError, joint_fingerprint, load, open_regular, replace, store, write,
};
use sunzi_rlwe::{GaloisKeys, KeyId, RelinearizationKey};

use super::{Contexts, Encrypted, Parts, PublicKey, SecretKey};
use crate::analysis::Parameters;

/// File name of the parameters in each folder of keys.
pub const PARAMETERS: &str = "parameters.sz";
/// File name of the secret key in the folder of the owner.
pub const SECRET: &str = "secret.sz";
/// File name of the ledger of shared decryptions, which is written with the secret key.
pub const LEDGER: &str = "sharing.sz";
/// File name of the public key in the folder of the encrypting party.
pub const PUBLIC: &str = "public.sz";
/// File name of the relinearisation key in the folder of the computing party.
pub const RELINEARIZATION: &str = "relinearization.sz";
/// File name of the rotation keys in the folder of the computing party.
pub const GALOIS: &str = "galois.sz";

/// File name of the keys of look-ups, or of bootstraps, in the folder of the computing party.
pub const BOOTSTRAPPING: &str = "bootstrapping.sz";

/// Error for a chunk of another scheme, or of another number of ciphertexts.
const OTHER: WireError = WireError::Parameters { what: "scheme or plaintext moduli" };

/// Largest number of plaintext moduli of parameters in a file.
const MOST: usize = 64;

impl Parameters {
    /// Reads parameters: one object, or for BGV one for each plaintext modulus.
    ///
    /// # Errors
    /// Any [`WireError`]: [`WireError::Insecure`] for parameters that were written without security.
    pub fn read(input: impl BufRead) -> Result<Self, WireError> {
        Self::read_as(Accept::Secure, input)
    }

    /// Reads parameters (one object, or for BGV one for each plaintext modulus), secure or insecure as `accept` says.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn read_as(accept: Accept, mut input: impl BufRead) -> Result<Self, WireError> {
        let reader = Reader::new(&mut input)?;
        let parameters = match Kind::of(reader.header().kind) {
            Some(Kind::CkksParameters) => Self::Ckks(reader.read(&accept)?),
            Some(Kind::BootstrapParameters) => Self::Bootstrapped(reader.read(&accept)?),
            Some(Kind::IntegerParameters) => Self::Integers(reader.read(&accept)?),
            Some(Kind::CrtParameters) => Self::Bfv(reader.read(&accept)?),
            Some(Kind::BgvParameters) => {
                let parameters: sunzi_bgv::Parameters = reader.read(&accept)?;
                let mut plain_moduli = vec![parameters.plain_modulus()];
                while let Some(reader) = next(&mut input)? {
                    let other: sunzi_bgv::Parameters = reader.read(&accept)?;
                    let t = other.plain_modulus();
                    if plain_moduli.len() == MOST || parameters.clone().with_plain_modulus(t) != other {
                        return Err(WireError::Parameters { what: "ring, moduli or key switching" });
                    }
                    plain_moduli.push(t);
                }
                return Ok(Self::Bgv { parameters, plain_moduli });
            }
            // Whatever else it is: the error names it.
            _ => Self::Bfv(reader.read::<sunzi_bfv::Parameters, _>(&accept)?.into()),
        };
        match next(&mut input)? {
            Some(_) => Err(WireError::Trailing { extra: 1 }),
            None => Ok(parameters),
        }
    }

    /// Reads the parameters in a file.
    ///
    /// # Errors
    /// Every error of [`read`](Self::read).
    pub fn load(path: &Path) -> Result<Self, WireError> {
        Self::load_as(Accept::Secure, path)
    }

    /// Reads the parameters in a file, secure or insecure as `accept` says.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn load_as(accept: Accept, path: &Path) -> Result<Self, WireError> {
        Self::read_as(accept, BufReader::new(open_regular(path)?))
    }

    /// Returns what the security of the parameters rests on, and the bits of security that they claim.
    #[must_use]
    pub fn claim(&self) -> SecurityClaim {
        match self {
            Self::Bfv(parameters) => parameters.claim(),
            Self::Bgv { parameters, plain_moduli } => {
                SecurityClaim { plain_moduli: plain_moduli.clone(), ..parameters.claim() }
            }
            Self::Ckks(parameters) => parameters.claim(),
            Self::Bootstrapped(parameters) => StoredParameters::claim(parameters),
            Self::Integers(parameters) => StoredParameters::claim(parameters),
        }
    }

    /// Returns the approximate number of bytes of memory that tables of the parameters take, before any table is
    /// made.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        match self {
            Self::Bfv(parameters) => StoredParameters::table_bytes(parameters),
            // Shared by all plaintext moduli.
            Self::Bgv { parameters, .. } => parameters.table_bytes(),
            Self::Ckks(parameters) => parameters.table_bytes(),
            Self::Bootstrapped(parameters) => StoredParameters::table_bytes(parameters),
            Self::Integers(parameters) => StoredParameters::table_bytes(parameters),
        }
    }

    /// Writes parameters as [`read`](Self::read) reads them.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn write(&self, mut out: impl Write) -> Result<(), WireError> {
        match self {
            Self::Bfv(parameters) => match parameters.parts().as_slice() {
                [only] => write(&NoContext, only, out),
                _ => write(&NoContext, parameters, out),
            },
            Self::Bgv { parameters, plain_moduli } => plain_moduli
                .iter()
                .try_for_each(|&t| write(&NoContext, &parameters.clone().with_plain_modulus(t), &mut out)),
            Self::Ckks(parameters) => write(&NoContext, parameters, out),
            Self::Bootstrapped(parameters) => write(&NoContext, parameters, out),
            Self::Integers(parameters) => write(&NoContext, parameters, out),
        }
    }

    /// Writes parameters to a file, in one step.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn store(&self, path: &Path) -> Result<(), WireError> {
        replace(path, false, |file| self.write(file))
    }
}

/// Returns a reader of the next object; `None` at the end of the input.
fn next<I: BufRead>(mut input: I) -> Result<Option<Reader<I>>, WireError> {
    let ended = loop {
        match input.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(WireError::Io(error)),
            Ok(bytes) => break bytes.is_empty(),
        }
    };
    if ended { Ok(None) } else { Reader::new(input).map(Some) }
}

impl Contexts {
    /// Builds the tables of the parameters in a folder of keys.
    ///
    /// # Errors
    /// Any [`WireError`]: [`WireError::Insecure`] for parameters that were written without security.
    pub fn open(folder: &Path) -> Result<Self, WireError> {
        Self::open_as(Accept::Secure, folder)
    }

    /// Builds the tables of the parameters in a folder of keys, secure or insecure as `accept` says.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn open_as(accept: Accept, folder: &Path) -> Result<Self, WireError> {
        Self::load_as(accept, &folder.join(PARAMETERS))
    }

    /// Builds the tables of the parameters in a file.
    ///
    /// # Errors
    /// Every error of [`open`](Self::open).
    pub fn load(path: &Path) -> Result<Self, WireError> {
        Self::load_as(Accept::Secure, path)
    }

    /// Builds the tables of the parameters in a file, secure or insecure as `accept` says.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn load_as(accept: Accept, path: &Path) -> Result<Self, WireError> {
        Ok(Self::new(&Parameters::load_as(accept, path)?)?)
    }

    /// Returns the fingerprint of the parameters of messages in all plaintext moduli.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let joint = match &self.parts {
            Parts::Bfv(contexts) => joint_fingerprint(contexts),
            Parts::Bgv(contexts) => joint_fingerprint(contexts),
            Parts::Ckks(context) => Some(context.message_fingerprint()),
            Parts::Integers(own) => Some(own.context().message_fingerprint()),
        };
        joint.unwrap_or_default()
    }

    /// Reads the secret key of a folder of keys.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn load_secret(&self, folder: &Path) -> Result<SecretKey, WireError> {
        load(self.rlwe(), folder.join(SECRET))
    }

    /// Reads the public key of a folder of keys.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn load_public(&self, folder: &Path) -> Result<PublicKey, WireError> {
        load(self.rlwe(), folder.join(PUBLIC))
    }

    /// Reads the evaluation keys of a folder of keys: of the Galois keys only those with these exponents.
    ///
    /// # Errors
    /// Any [`WireError`], among them [`MissingGaloisKey`](sunzi_rlwe::RlweError::MissingGaloisKey) for an exponent
    /// without a key.
    pub fn load_evaluation(&self, folder: &Path, exponents: &[u64]) -> Result<EvaluationKeys, WireError> {
        let relinearization: RelinearizationKey = load(self.rlwe(), folder.join(RELINEARIZATION))?;
        let file = BufReader::new(open_regular(folder.join(GALOIS))?);
        let galois = GaloisFile::open(self.rlwe(), file)?.read(exponents)?;
        let (expected, got) = (relinearization.id(), galois.id());
        if expected != got {
            return Err(WireError::Key { expected: Some(expected), got: Some(got) });
        }
        Ok(EvaluationKeys { relinearization: Some(relinearization), galois: Some(galois) })
    }

    /// Reads the Galois keys of a folder of keys with these exponents.
    ///
    /// # Errors
    /// Any [`WireError`], among them [`MissingGaloisKey`](sunzi_rlwe::RlweError::MissingGaloisKey) for an exponent
    /// without a key.
    pub fn load_rotations(&self, folder: &Path, exponents: &[u64]) -> Result<GaloisKeys, WireError> {
        let file = BufReader::new(open_regular(folder.join(GALOIS))?);
        GaloisFile::open(self.rlwe(), file)?.read(exponents)
    }

    /// Reads the keys of look-ups, or of bootstraps, of a folder of keys.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn load_bootstrapping(&self, folder: &Path) -> Result<AnyBootstrapKeys, WireError> {
        let file = folder.join(BOOTSTRAPPING);
        // Without the tables of the ring that keys of a real one need beside: files say of what they are.
        let is_real =
            matches!(&self.parameters, Parameters::Bootstrapped(parameters) if parameters.is_real());
        if !is_real {
            return load(self.rlwe(), file).map(Box::new).map(AnyBootstrapKeys::Whole);
        }
        let AnyBlueprint::Real(blueprint) = self.bootstrapping()? else { return Err(OTHER) };
        let keys: RealBootstrapKeys = load(&*blueprint, file)?;
        let relinearization: RelinearizationKey = load(self.rlwe(), folder.join(RELINEARIZATION))?;
        let ([expected, _], got) = (keys.between().ids(), relinearization.id());
        if expected != got {
            return Err(WireError::Key { expected: Some(expected), got: Some(got) });
        }
        let own = RealRingBootstrapping { blueprint: *blueprint, keys, relinearization };
        Ok(AnyBootstrapKeys::Real(Box::new(own)))
    }

    /// Writes the keys of look-ups, or of bootstraps, as [`load_bootstrapping`](Self::load_bootstrapping) reads them; returns the names of the files.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn store_bootstrapping(
        &self,
        keys: &AnyBootstrapKeys,
        folder: &Path,
    ) -> Result<&'static [&'static str], WireError> {
        let file = folder.join(BOOTSTRAPPING);
        match keys {
            AnyBootstrapKeys::Whole(keys) => {
                store(self.rlwe(), &**keys, file)?;
                Ok(&[BOOTSTRAPPING])
            }
            AnyBootstrapKeys::Real(own) => {
                store(&own.blueprint, &own.keys, file)?;
                store(self.rlwe(), &own.relinearization, folder.join(RELINEARIZATION))?;
                Ok(&[BOOTSTRAPPING, RELINEARIZATION])
            }
        }
    }

    /// Writes the ciphertexts of a chunk one after the other.
    ///
    /// # Errors
    /// [`WireError::Io`]; [`WireError::Scheme`] for a chunk of other parameters.
    pub fn write(&self, chunk: &Encrypted, out: impl Write) -> Result<(), WireError> {
        match (&self.parts, chunk) {
            (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => write_all(contexts, parts, out),
            (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => write_all(contexts, parts, out),
            (Parts::Ckks(context), Encrypted::Ckks(part)) => write(context, &**part, out),
            (Parts::Integers(own), Encrypted::Integers(digits)) => write(own.context(), digits, out),
            _ => Err(OTHER),
        }
    }

    /// Returns the bytes of a chunk as [`write`](Self::write) writes them.
    ///
    /// # Errors
    /// Every error of [`write`](Self::write).
    pub fn to_bytes(&self, chunk: &Encrypted) -> Result<Vec<u8>, WireError> {
        let mut bytes = Vec::new();
        self.write(chunk, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a chunk, which must belong to `key` if one is given.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn read(&self, input: impl BufRead, key: Option<KeyId>) -> Result<Encrypted, WireError> {
        self.read_from(Reader::new(input)?, key)
    }

    /// Reads a chunk after its first header.
    pub(crate) fn read_from<I: BufRead>(
        &self,
        reader: Reader<I>,
        key: Option<KeyId>,
    ) -> Result<Encrypted, WireError> {
        Ok(match &self.parts {
            Parts::Bfv(contexts) => Encrypted::Bfv(read_all(contexts, reader, key)?),
            Parts::Bgv(contexts) => Encrypted::Bgv(read_all(contexts, reader, key)?),
            Parts::Ckks(context) => Encrypted::Ckks(Box::new(read_one(context, reader, key)?.0)),
            Parts::Integers(own) => Encrypted::Integers(read_one(own.context(), reader, key)?.0),
        })
    }

    /// Reads a chunk from exactly its bytes.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn from_bytes(&self, mut bytes: &[u8], key: Option<KeyId>) -> Result<Encrypted, WireError> {
        let chunk = self.read(&mut bytes, key)?;
        if bytes.is_empty() { Ok(chunk) } else { Err(WireError::Trailing { extra: bytes.len() as u64 }) }
    }
}

/// Writes one ciphertext of each context.
fn write_all<C: SchemeFormat>(
    contexts: &[C],
    parts: &[CiphertextOf<C>],
    mut out: impl Write,
) -> Result<(), WireError> {
    if contexts.len() != parts.len() {
        return Err(OTHER);
    }
    contexts.iter().zip(parts).try_for_each(|(context, part)| write(context, part, &mut out))
}

/// Reads one ciphertext of each context, after the header of the first.
fn read_all<C: SchemeFormat, I: BufRead>(
    contexts: &[C],
    mut reader: Reader<I>,
    key: Option<KeyId>,
) -> Result<Vec<CiphertextOf<C>>, WireError> {
    let Some((last, others)) = contexts.split_last() else { return Ok(Vec::new()) };
    let mut parts = Vec::with_capacity(contexts.len());
    for context in others {
        let (part, input) = read_one(context, reader, key)?;
        parts.push(part);
        reader = Reader::new(input)?;
    }
    parts.push(read_one(last, reader, key)?.0);
    Ok(parts)
}

/// Reads one object, and returns the object and the remaining input.
fn read_one<T, C: Format<T>, I: BufRead>(
    context: &C,
    reader: Reader<I>,
    key: Option<KeyId>,
) -> Result<(T, I), WireError> {
    match key {
        Some(key) => reader.for_key(key)?.read_next(context),
        None => reader.read_next(context),
    }
}
