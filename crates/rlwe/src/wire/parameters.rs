//! Parameters of any scheme: read without a context, since they make one.

use std::io::BufRead;

use super::{FieldReader, Fields, Fingerprint, Format, Header, Kind, Sink, Source, WireError};
use crate::KeyId;

/// More bytes than any parameters take.
const MOST: usize = 1 << 16;

/// What reads and writes parameters, which belong to no context.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContext;

/// Parameters as numbers.
pub trait StoredParameters: Sized {
    /// What they are.
    const KIND: Kind;
    /// Names them: as the contexts that are made of them do.
    fn fingerprint(&self) -> Fingerprint;
    /// Writes them.
    fn put(&self, fields: &mut Fields);
    /// Reads them, and fails for any that make no context.
    ///
    /// # Errors
    /// [`WireError::Value`]; [`WireError::Length`]; [`WireError::Scheme`].
    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError>;
}

impl<P: StoredParameters> Format<P> for NoContext {
    const KIND: Kind = P::KIND;

    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

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
        Ok(parameters)
    }
}
