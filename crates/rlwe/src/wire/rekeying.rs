//! Wire format of rekeying keys: the name of the new secret, and a key switch.

use std::io::BufRead;

use super::keys::{Bodies, get_switch, put_switch};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use crate::rekeying::digits_of;
use crate::{KeyId, RekeyingKey, RlweContext};

impl Format<RekeyingKey> for RlweContext {
    const KIND: Kind = Kind::RekeyingKey;

    fn key(&self, key: &RekeyingKey) -> Option<KeyId> {
        Some(key.source())
    }

    fn put(&self, key: &RekeyingKey, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut fields = Fields::default();
        fields.bytes(key.target().as_bytes());
        fields.u64(u64::from(key.is_short()));
        sink.sealed(fields.as_bytes())?;
        put_switch(&digits_of(self, key.is_short())?, key.key(), Bodies::Stored, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<RekeyingKey, WireError> {
        let record = source.sealed("the target and the digits of a rekeying key", 16 + 8)?;
        let mut fields = FieldReader::new(&record);
        let ids = [header.required_key()?, KeyId::from_bytes(fields.array()?)];
        let short = fields.flag("short digits of a rekeying key")?;
        if ids[0] == ids[1] {
            let expected = "another key than that of the header";
            return Err(WireError::value("target of a rekeying key", expected, ids[1]));
        }
        let context = digits_of(self, short)?;
        let key = get_switch(&context, Bodies::Stored, source)?;
        Ok(RekeyingKey::from_key(ids, context, key))
    }
}
