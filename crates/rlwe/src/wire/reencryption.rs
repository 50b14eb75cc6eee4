//! Wire format of keys of re-encryption: the uniform half of a public key is a seed, while both halves of a key made under it are stored.

use std::io::BufRead;

use sha2::{Digest as _, Sha256};

use super::keys::{get_public, put_public};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError, to_bytes};
use crate::reencryption::{ReencryptionKey, ReencryptionPublicKey};
use crate::words::grouped;
use crate::{KeyId, RlweContext};

impl ReencryptionPublicKey {
    /// Returns the fingerprint of the public key, a hash of its file as eight groups of four hexadecimal digits: its owner reads it out, and whoever makes a
    /// re-encryption key compares it.
    ///
    /// # Errors
    /// [`WireError::Rlwe`] in another ring.
    pub fn fingerprint(&self, context: &RlweContext) -> Result<String, WireError> {
        let hash = Sha256::new().chain_update("sunzi public key for re-encryption");
        Ok(grouped(&hash.chain_update(to_bytes(context, self)?).finalize().into()))
    }
}

impl Format<ReencryptionPublicKey> for RlweContext {
    const KIND: Kind = Kind::ReencryptionPublicKey;

    fn key(&self, key: &ReencryptionPublicKey) -> Option<KeyId> {
        Some(key.id())
    }

    fn put(&self, key: &ReencryptionPublicKey, sink: &mut impl Sink) -> Result<(), WireError> {
        put_public(self.key_ring(), &key.0, sink)
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<ReencryptionPublicKey, WireError> {
        get_target(self, header.required_key()?, source)
    }
}

impl Format<ReencryptionKey> for RlweContext {
    const KIND: Kind = Kind::ReencryptionKey;

    fn key(&self, key: &ReencryptionKey) -> Option<KeyId> {
        Some(key.source())
    }

    fn put(&self, key: &ReencryptionKey, sink: &mut impl Sink) -> Result<(), WireError> {
        key.check(self, key.source(), key.level())?;
        let mut fields = Fields::default();
        fields.bytes(key.target().as_bytes());
        fields.usize(key.level());
        sink.sealed(fields.as_bytes())?;
        put_public(self.key_ring(), &key.target.0, sink)?;
        let gadget = self.gadget_at(key.level())?;
        for half in &key.halves {
            for (digit, part) in half.iter().enumerate() {
                sink.key_part(&gadget, part, digit)?;
            }
            sink.seal()?;
        }
        Ok(())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<ReencryptionKey, WireError> {
        let record = source.sealed("the target and the level of a re-encryption key", 16 + 8)?;
        let mut fields = FieldReader::new(&record);
        let target = KeyId::from_bytes(fields.array()?);
        let level = fields.usize_in("level of a key", 1..=self.level())?;
        if header.required_key()? == target {
            let expected = "another key than that of the header";
            return Err(WireError::value("target of a re-encryption key", expected, target));
        }
        let target = get_target(self, target, source)?;
        let gadget = self.gadget_at(level)?;
        let mut halves = [Vec::new(), Vec::new()];
        for half in &mut halves {
            for digit in 0..gadget.digit_count() {
                half.push(gadget.pack_part(source.poly(&gadget.part_ring(digit)?)?, digit)?);
            }
            source.seal("a half of a re-encryption key")?;
        }
        let options = self.gadget().options().clone();
        Ok(ReencryptionKey { source: header.required_key()?, target, options, level, halves })
    }
}

fn get_target(
    context: &RlweContext,
    id: KeyId,
    source: &mut Source<impl BufRead>,
) -> Result<ReencryptionPublicKey, WireError> {
    let names = ["the seed of a public key for re-encryption", "a public key for re-encryption"];
    get_public(context.key_ring(), id, names, source).map(ReencryptionPublicKey)
}
