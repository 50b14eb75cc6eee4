//! Wire format of ciphertexts of any scheme, alone and in arrays.

use std::io::BufRead;

use super::{FieldReader, Fields, Fingerprint, Format, Header, Kind, Reader, Scope, Sink, Source, WireError};
use crate::noise::STORED_LEN;
use crate::reencryption::MOST_HOPS;
use crate::{Ciphertext, KeyId, NoiseBound, RlweContext, Scheme, randomness};

/// Largest number of parts that a ciphertext may have: products have three.
const MOST_PARTS: usize = 16;
/// Length of the first record of a ciphertext, in bytes: level, number of parts, whether c_1 is a seed with the number of re-encryptions, and the seed.
const SHAPE_LEN: usize = 3 * 8 + 32;

/// A context of a scheme whose ciphertexts and plaintexts are stored: the data in their files besides polynomials.
pub trait SchemeFormat: Sized {
    /// Scheme of the ciphertexts in files.
    type Scheme: Scheme;
    /// Kind of one ciphertext in files.
    const CIPHERTEXT: Kind;
    /// Kind of an array of ciphertexts in files.
    const CIPHERTEXTS: Kind;
    /// Kind of one plaintext in files.
    const PLAINTEXT: Kind;
    /// Length of the metadata of a ciphertext in files, in bytes.
    const METADATA_LEN: usize;

    /// The RLWE context of a scheme's context: its ring and keys.
    fn rlwe(&self) -> &RlweContext;
    /// Writes the data on which messages depend besides the ring.
    fn describe(&self, fields: &mut Fields);
    /// Writes the metadata of a ciphertext.
    fn put_metadata(&self, metadata: &<Self::Scheme as Scheme>::Metadata, fields: &mut Fields);
    /// Reads the metadata of a ciphertext, and fails for any that no ciphertext of this context has.
    ///
    /// # Errors
    /// [`WireError::Value`] and [`WireError::Scheme`] for impossible metadata.
    fn get_metadata(
        &self,
        fields: &mut FieldReader<'_>,
    ) -> Result<<Self::Scheme as Scheme>::Metadata, WireError>;
    /// Checks that operations of this context might have made the ciphertext, and records in its trace that it was
    /// read.
    ///
    /// # Errors
    /// [`WireError::Scheme`] for a ciphertext that no operations make.
    fn accept(&self, ciphertext: CiphertextOf<Self>) -> Result<CiphertextOf<Self>, WireError>;

    /// Returns the fingerprint of the parameters of ciphertexts and plaintexts.
    fn message_fingerprint(&self) -> Fingerprint {
        let mut fields = Fields::default();
        self.describe(&mut fields);
        self.rlwe().fingerprint().with_scheme(fields.as_bytes())
    }
}

/// Returns the fingerprint of the parameters of messages in several contexts of one ring, one for
/// each plaintext modulus; `None` for no context.
#[must_use]
pub fn joint_fingerprint<C: SchemeFormat>(contexts: &[C]) -> Option<Fingerprint> {
    let mut fields = Fields::default();
    contexts.iter().for_each(|context| context.describe(&mut fields));
    Some(contexts.first()?.rlwe().fingerprint().with_scheme(fields.as_bytes()))
}

/// Type of the ciphertexts of a context.
pub type CiphertextOf<C> = Ciphertext<<C as SchemeFormat>::Scheme>;

fn put<C: SchemeFormat>(
    context: &C,
    ciphertext: &CiphertextOf<C>,
    sink: &mut impl Sink,
) -> Result<(), WireError> {
    let (parts, seed) = (ciphertext.parts(), ciphertext.seed());
    let [first, ..] = parts else { return Err(WireError::value("parts", "2 or more", 0)) };
    let level = context.rlwe().ring().level_of(first)?;
    let ring = context.rlwe().ring_at(level)?;
    let mut fields = Fields::default();
    fields.usize(level);
    fields.usize(parts.len());
    // Readers from before re-encryption take 0 and 1 alone: they refuse what they would forget to count.
    fields.u64(u64::from(seed.is_some()) | u64::from(ciphertext.hops()) << 1);
    fields.bytes(seed.unwrap_or(&[0; 32]));
    ciphertext.noise().put(&mut fields)?;
    context.put_metadata(ciphertext.metadata(), &mut fields);
    sink.sealed(fields.as_bytes())?;
    for (i, part) in parts.iter().enumerate() {
        if i != 1 || seed.is_none() {
            sink.poly(&ring, part)?;
        }
    }
    sink.seal()
}

fn get<C: SchemeFormat>(
    context: &C,
    key: KeyId,
    source: &mut Source<impl BufRead>,
) -> Result<CiphertextOf<C>, WireError> {
    let record = source.sealed("a ciphertext's numbers", SHAPE_LEN + STORED_LEN + C::METADATA_LEN)?;
    let mut fields = FieldReader::new(&record);
    let level = fields.usize_in("level", 1..=context.rlwe().level())?;
    let parts = fields.usize_in("parts", 2..=MOST_PARTS)?;
    let most = 2 * MOST_HOPS as usize + 1;
    let word = fields.usize_in("whether there is a seed, with the number of re-encryptions", 0..=most)?;
    let (seeded, hops, seed) = (word % 2 == 1, (word / 2) as u32, fields.array()?);
    if seeded && hops > 0 {
        return Err(WireError::value("seed", "none after a re-encryption", "one"));
    }
    if !seeded && seed != [0; 32] {
        return Err(WireError::value("seed", "0 where there is none", "something else"));
    }
    let noise = NoiseBound::get(&mut fields)?;
    let metadata = context.get_metadata(&mut fields)?;
    fields.finish()?;
    let ring = context.rlwe().ring_at(level)?;
    let stored = parts - usize::from(seeded);
    let mut polys = (0..stored).map(|_| source.poly(&ring)).collect::<Result<Vec<_>, _>>()?;
    source.seal("a ciphertext")?;
    if seeded {
        polys.insert(1, ring.uniform(&mut randomness::public_stream(&seed, 0)));
    }
    let mut ciphertext = Ciphertext::from_stored(polys, seeded.then_some(seed), metadata, noise, key)?;
    ciphertext.set_hops(hops);
    context.accept(ciphertext)
}

impl<C: SchemeFormat> Scope for C {
    fn expected(&self) -> Option<Fingerprint> {
        Some(self.message_fingerprint())
    }
}

impl<C: SchemeFormat> Format<CiphertextOf<C>> for C {
    const KIND: Kind = C::CIPHERTEXT;

    fn key(&self, ciphertext: &CiphertextOf<C>) -> Option<KeyId> {
        Some(ciphertext.key())
    }

    fn put(&self, ciphertext: &CiphertextOf<C>, sink: &mut impl Sink) -> Result<(), WireError> {
        put(self, ciphertext, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<CiphertextOf<C>, WireError> {
        get(self, header.required_key()?, source)
    }
}

impl<C: SchemeFormat> Format<Vec<CiphertextOf<C>>> for C {
    const KIND: Kind = C::CIPHERTEXTS;

    fn key(&self, ciphertexts: &Vec<CiphertextOf<C>>) -> Option<KeyId> {
        ciphertexts.first().map(Ciphertext::key)
    }

    fn put(&self, ciphertexts: &Vec<CiphertextOf<C>>, sink: &mut impl Sink) -> Result<(), WireError> {
        sink.sealed(&(ciphertexts.len() as u64).to_le_bytes())?;
        let mut pairs = ciphertexts.windows(2);
        if pairs.any(|pair| matches!(pair, [a, b] if a.key() != b.key())) {
            return Err(WireError::MixedKeys);
        }
        ciphertexts.iter().try_for_each(|ciphertext| put(self, ciphertext, sink))
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<Vec<CiphertextOf<C>>, WireError> {
        let count = get_count(source)?;
        let mut ciphertexts = Vec::new();
        for _ in 0..count {
            ciphertexts.push(get(self, header.required_key()?, source)?);
        }
        Ok(ciphertexts)
    }
}

fn get_count(source: &mut Source<impl BufRead>) -> Result<u64, WireError> {
    let record = source.sealed("the count of ciphertexts", 8)?;
    FieldReader::new(&record).u64()
}

/// Iterator over the ciphertexts of a stored array, read one at a time. After an error there are no more.
pub struct Ciphertexts<'a, C, I: BufRead> {
    context: &'a C,
    header: Header,
    source: Option<Source<I>>,
    left: u64,
}

impl<'a, C: SchemeFormat, I: BufRead> Ciphertexts<'a, C, I> {
    /// Starts to read a stored array of ciphertexts.
    ///
    /// # Errors
    /// Every error of [`Header::read`](super::Header::read); [`WireError::Truncated`]; [`WireError::Checksum`];
    /// [`WireError::Io`].
    pub fn new(context: &'a C, reader: Reader<I>) -> Result<Self, WireError> {
        let (header, mut source) = reader.into_source::<Vec<CiphertextOf<C>>, C>(context)?;
        let left = get_count(&mut source)?;
        Ok(Self { context, header, source: Some(source), left })
    }

    fn step(&mut self) -> Result<Option<CiphertextOf<C>>, WireError> {
        let Some(source) = &mut self.source else { return Ok(None) };
        if self.left == 0 {
            return self.source.take().map_or(Ok(None), |source| source.finish().map(|_| None));
        }
        self.left -= 1;
        get(self.context, self.header.required_key()?, source).map(Some)
    }
}

impl<C: SchemeFormat, I: BufRead> Iterator for Ciphertexts<'_, C, I> {
    type Item = Result<CiphertextOf<C>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.source = None;
        }
        step.transpose()
    }
}
