//! Ledgers of shared decryptions.

use std::io::BufRead;

use super::{FieldReader, Fields, Fingerprint, Format, Header, Kind, NoContext, Sink, Source, WireError};
use crate::KeyId;
use crate::sharing::{SharingLedger, SharingPolicy};

/// Bytes of the one record.
const LEN: usize = 3 * 8;

impl Format<SharingLedger> for NoContext {
    const KIND: Kind = Kind::SharingLedger;

    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn origin(&self, ledger: &SharingLedger) -> (Fingerprint, Option<KeyId>) {
        (ledger.parameters, Some(ledger.key))
    }

    fn put(&self, ledger: &SharingLedger, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut fields = Fields::default();
        fields.u64(ledger.policy.statistical_bits().into());
        fields.u64(ledger.policy.queries());
        fields.u64(ledger.used);
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<SharingLedger, WireError> {
        let record = source.sealed("a sharing ledger", LEN)?;
        let mut fields = FieldReader::new(&record);
        let bits = fields
            .usize_in("bits of statistical distance", 1..=SharingPolicy::MOST_STATISTICAL_BITS as usize)?;
        let policy = SharingPolicy::new(bits as u32, fields.u64()?)?;
        let used = fields.u64()?;
        fields.finish()?;
        if used > policy.queries() {
            return Err(WireError::value("results shared", format!("at most {}", policy.queries()), used));
        }
        Ok(SharingLedger { parameters: header.parameters, key: header.required_key()?, policy, used })
    }
}
