//! Requests: which ciphertext to decrypt, what its noise may be, who is asked, and what for.

use std::io::BufRead;
use std::sync::Arc;

use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::joint::Quorum;
use sunzi_rlwe::wire::{self, FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use sunzi_rlwe::{KeyId, RlweContext, SecretDistribution};

use crate::digest::{Digest, digest};
use crate::{PartiesError, Party, Roster, Session};

/// Largest number of bytes of a description.
const MOST_DESCRIPTION: usize = 4096;
/// Largest number of bytes of the record of a request.
pub(super) const MOST: usize =
    3 * 32 + 4 * 8 + 8 * SecretDistribution::MOST_PARTIES as usize + MOST_DESCRIPTION;
/// Largest absolute value of log2 of a noise.
const MOST_NOISE: f64 = (1 << 20) as f64;

/// A ciphertext to be decrypted, as far as shares go: its bytes, by which parties know it, and its part c_1.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Bytes of the ciphertext's file.
    pub bytes: &'a [u8],
    /// Part c_1 of the ciphertext, which must have two parts.
    pub linear: &'a Poly<Evaluation>,
    /// Name of the joint secret, which the ciphertext carries.
    pub key: KeyId,
}

impl Subject<'_> {
    /// Returns the hash of the ciphertext's bytes.
    fn hash(&self) -> Digest {
        digest("sunzi ciphertext", [self.bytes])
    }

    /// Returns the level of c_1, and the hash of c_1 and its key.
    fn linear(&self, context: &RlweContext) -> Result<(usize, Digest), PartiesError> {
        let level = context.ring().level_of(self.linear)?;
        let mut packed = Vec::new();
        context.ring_at(level)?.pack(self.linear, &mut packed).map_err(WireError::from)?;
        let number = (level as u64).to_le_bytes();
        Ok((level, digest("sunzi part of a ciphertext", [self.key.as_bytes(), &number[..], &packed])))
    }
}

/// A request of a decryption, the same for all who are asked.
///
/// The bytes of a request may come from anybody: [`Decryptor::review`](super::Decryptor::review) holds it against the ciphertext and against what the party declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub(super) key: KeyId,
    /// Hash of the ciphertext's bytes.
    pub(crate) ciphertext: Digest,
    /// Hash of c_1.
    pub(crate) linear: Digest,
    pub(super) level: usize,
    pub(super) noise_bits: f64,
    pub(super) parties: Vec<u64>,
    pub(super) program: Digest,
    pub(super) description: String,
}

impl Request {
    /// Makes the request to decrypt a ciphertext whose noise may be 2^`noise_bits`, of the parties given. `program` is the hash of the program that made the ciphertext, or zeros;
    /// `description` is for people.
    ///
    /// # Errors
    /// [`PartiesError::Refused`] for noise that is no number, a description above 4096 bytes, no party, and more than 1024; [`PartiesError::Rlwe`] for a part of another ring.
    pub fn new(
        context: &RlweContext,
        subject: Subject<'_>,
        noise_bits: f64,
        parties: impl IntoIterator<Item = Party>,
        program: [u8; 32],
        description: impl Into<String>,
    ) -> Result<Self, PartiesError> {
        let (level, linear) = subject.linear(context)?;
        let mut parties: Vec<u64> = parties.into_iter().map(|party| party.number().into()).collect();
        parties.sort_unstable();
        parties.dedup();
        let request = Self {
            key: subject.key,
            ciphertext: subject.hash(),
            linear,
            level,
            noise_bits,
            parties,
            program,
            description: description.into(),
        };
        // What cannot be read is not made.
        let most = SecretDistribution::MOST_PARTIES as usize;
        if !(1..=most).contains(&request.parties.len()) {
            let expected = format!("1 to {most}");
            return Err(PartiesError::refused("the number of parties", expected, request.parties.len()));
        }
        if request.description.len() > MOST_DESCRIPTION {
            let expected = format!("at most {MOST_DESCRIPTION} bytes");
            return Err(PartiesError::refused("the description", expected, request.description.len()));
        }
        if !(-MOST_NOISE..=MOST_NOISE).contains(&noise_bits) {
            return Err(PartiesError::refused("log2 of the noise", "a number up to 2^20", noise_bits));
        }
        Ok(request)
    }

    /// Returns the session of the request, in which parties answer it.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster; [`PartiesError::Wire`] never.
    pub fn session(&self, context: &RlweContext, roster: &Arc<Roster>) -> Result<Session, PartiesError> {
        let terms = wire::to_bytes(context, self)?;
        Session::new(context, Arc::clone(roster), "decryption", &terms)
    }

    /// Returns the parties that are asked.
    ///
    /// # Errors
    /// [`PartiesError::Refused`] for parties that are not on the roster, and for more or fewer than decrypt together: all of them, or as many as its threshold says.
    pub fn members(&self, roster: &Roster) -> Result<Vec<Party>, PartiesError> {
        let threshold = roster.threshold();
        let found: Option<Vec<Party>> =
            self.parties.iter().map(|&number| roster.party(number).ok()).collect();
        found.filter(|members| members.len() == threshold).ok_or_else(|| {
            let expected =
                if threshold == roster.len() { "all".to_owned() } else { format!("{threshold} of") };
            let expected = format!("{expected} {}", roster.len());
            PartiesError::refused("parties asked", expected, format!("{:?}", self.parties))
        })
    }

    /// Returns the quorum that is asked, by whose shares a result is opened; `None` where all parties are.
    ///
    /// # Errors
    /// Every error of [`members`](Self::members).
    pub fn quorum(&self, roster: &Roster) -> Result<Option<Quorum>, PartiesError> {
        let members = self.members(roster)?;
        if !roster.has_shares() {
            return Ok(None);
        }
        let numbers: Vec<u32> = members.into_iter().map(Party::number).collect();
        let [threshold, parties] = roster.counts();
        Ok(Some(Quorum::new(threshold, parties, &numbers)?))
    }

    /// Checks that the request is for a ciphertext.
    ///
    /// # Errors
    /// [`PartiesError::Refused`] for another ciphertext; [`PartiesError::Rlwe`] for a part of another ring.
    pub(super) fn check(&self, context: &RlweContext, subject: Subject<'_>) -> Result<(), PartiesError> {
        if self.key != subject.key {
            return Err(PartiesError::refused("the key of the ciphertext", self.key, subject.key));
        }
        let (level, linear) = subject.linear(context)?;
        if level != self.level {
            return Err(PartiesError::refused("the level of the ciphertext", self.level, level));
        }
        if linear != self.linear || subject.hash() != self.ciphertext {
            return Err(PartiesError::refused("the ciphertext", "the one of the request", "another"));
        }
        Ok(())
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The level of the ciphertext.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The logarithm log2 of what the noise of the ciphertext may be, as the request says.
    #[must_use]
    pub fn noise_bits(&self) -> f64 {
        self.noise_bits
    }

    /// The hash of the program that made the ciphertext, as the request says; zeros for none.
    #[must_use]
    pub fn program(&self) -> &[u8; 32] {
        &self.program
    }

    /// Description, in the words of whoever made the request, of what the decryption is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }
}

impl Format<Request> for RlweContext {
    const KIND: Kind = Kind::DecryptionRequest;

    fn key(&self, request: &Request) -> Option<KeyId> {
        Some(request.key)
    }

    fn put(&self, request: &Request, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut fields = Fields::default();
        [&request.ciphertext, &request.linear, &request.program]
            .into_iter()
            .for_each(|hash| fields.bytes(hash));
        fields.usize(request.level);
        fields.f64(request.noise_bits);
        fields.list(request.parties.iter().copied());
        fields.text(&request.description);
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Request, WireError> {
        let key = header.required_key()?;
        let record = source.rest("a request", MOST)?;
        let mut fields = FieldReader::new(&record);
        let (ciphertext, linear, program) = (fields.array()?, fields.array()?, fields.array()?);
        let level = fields.usize_in("level of a ciphertext", 1..=self.level())?;
        let noise_bits = fields.f64_in("log2 of the noise", -MOST_NOISE..=MOST_NOISE)?;
        let most = SecretDistribution::MOST_PARTIES;
        let parties = fields.list("parties asked", most as usize)?;
        let ascending = parties.iter().zip(parties.iter().skip(1)).all(|(a, b)| a < b);
        let in_range = parties.iter().all(|party| (1..=u64::from(most)).contains(party));
        if parties.is_empty() || !ascending || !in_range {
            let expected = format!("ascending numbers from 1 to {most}");
            return Err(WireError::value("parties asked", expected, format!("{parties:?}")));
        }
        let description = fields.text("the description", MOST_DESCRIPTION)?.to_owned();
        fields.finish()?;
        Ok(Request { key, ciphertext, linear, level, noise_bits, parties, program, description })
    }
}
