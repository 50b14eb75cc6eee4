//! Wire format of sharing ledgers, which count shared decryptions.

use std::io::BufRead;

use super::{FieldReader, Fields, Fingerprint, Format, Header, Kind, NoContext, Sink, Source, WireError};
use crate::KeyId;
use crate::sharing::{SharingLedger, SharingPolicy, StoredLedger};

/// Length of the one record of a sharing ledger, in bytes.
const LEN: usize = 3 * 8;

impl Format<StoredLedger> for NoContext {
    const KIND: Kind = Kind::SharingLedger;

    fn origin(&self, ledger: &StoredLedger) -> (Fingerprint, Option<KeyId>) {
        match ledger {
            StoredLedger::Blank { parameters, key } => (*parameters, Some(*key)),
            StoredLedger::Begun(ledger) => (ledger.parameters, Some(ledger.key)),
        }
    }

    fn put(&self, ledger: &StoredLedger, sink: &mut impl Sink) -> Result<(), WireError> {
        let words = match ledger {
            StoredLedger::Blank { .. } => [0; 3],
            StoredLedger::Begun(SharingLedger { policy, used, .. }) => {
                [policy.statistical_bits().into(), policy.queries(), *used]
            }
        };
        let mut fields = Fields::default();
        words.into_iter().for_each(|word| fields.u64(word));
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<StoredLedger, WireError> {
        let (parameters, key) = (header.parameters, header.required_key()?);
        let record = source.sealed("a sharing ledger", LEN)?;
        if record.iter().all(|byte| *byte == 0) {
            return Ok(StoredLedger::Blank { parameters, key });
        }
        let mut fields = FieldReader::new(&record);
        let bits = fields
            .usize_in("bits of statistical distance", 1..=SharingPolicy::MOST_STATISTICAL_BITS as usize)?;
        let policy = SharingPolicy::new(bits as u32, fields.u64()?)?;
        let used = fields.u64()?;
        fields.finish()?;
        if used > policy.queries() {
            return Err(WireError::value("results shared", format!("at most {}", policy.queries()), used));
        }
        Ok(StoredLedger::Begun(SharingLedger { parameters, key, policy, used }))
    }
}

impl Format<SharingLedger> for NoContext {
    const KIND: Kind = Kind::SharingLedger;

    fn origin(&self, ledger: &SharingLedger) -> (Fingerprint, Option<KeyId>) {
        (ledger.parameters, Some(ledger.key))
    }

    fn put(&self, ledger: &SharingLedger, sink: &mut impl Sink) -> Result<(), WireError> {
        self.put(&StoredLedger::Begun(ledger.clone()), sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<SharingLedger, WireError> {
        match self.get(header, source)? {
            StoredLedger::Begun(ledger) => Ok(ledger),
            StoredLedger::Blank { .. } => Err(WireError::value(
                "policy of a sharing ledger",
                "one that the first shared result sets",
                "none",
            )),
        }
    }
}
