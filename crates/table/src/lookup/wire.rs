//! Files of queries, answers, and of what was asked.

use std::io::BufRead;

use sunzi_bfv::Ciphertext;
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{
    Accept, FieldReader, Fields, Fingerprint, Format, Header, Kind, Sink, Source, StoredParameters, WireError,
};

use super::description::DATABASE;
use super::{Answer, Asked, By, Description, Lookup, MOST_KEYWORD, Query, Wanted};
use crate::hashed::{get, most, put};

/// Bytes of the first record of what was asked: hash of the query, number, length of the keyword.
const ASKED: usize = 32 + 2 * 8;

impl Lookup {
    /// Largest number of bytes of a query as a file.
    #[must_use]
    pub fn most_query_bytes(&self) -> u64 {
        most(&self.context, self.queries())
    }

    /// Largest number of bytes of an answer as a file.
    #[must_use]
    pub fn most_answer_bytes(&self) -> u64 {
        let count = self.queries().saturating_mul(self.layout().pieces());
        most(&self.context, count)
    }
}

impl Format<Query> for Lookup {
    const KIND: Kind = Kind::LookupQuery;

    fn key(&self, query: &Query) -> Option<KeyId> {
        query.ciphertexts.first().map(Ciphertext::key)
    }

    fn put(&self, query: &Query, sink: &mut impl Sink) -> Result<(), WireError> {
        put(&self.context, self.id(), &query.ciphertexts, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Query, WireError> {
        let (id, ciphertexts) =
            get(&self.context, ("the ciphertexts of a query", self.queries()), header, source)?;
        if id != *self.id() {
            return Err(WireError::Parameters { what: DATABASE });
        }
        Ok(Query { ciphertexts })
    }
}

impl Format<Answer> for Lookup {
    const KIND: Kind = Kind::LookupAnswer;

    fn key(&self, answer: &Answer) -> Option<KeyId> {
        answer.ciphertexts.first().map(Ciphertext::key)
    }

    fn put(&self, answer: &Answer, sink: &mut impl Sink) -> Result<(), WireError> {
        put(&self.context, &answer.query, &answer.ciphertexts, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Answer, WireError> {
        let count = self.queries() * self.layout().pieces();
        let (query, ciphertexts) =
            get(&self.context, ("the ciphertexts of an answer", count), header, source)?;
        Ok(Answer { query, ciphertexts })
    }
}

/// Notes of what was asked have the description with them, so that nothing else is needed beside the key.
impl Format<Asked> for Accept {
    const KIND: Kind = Kind::LookupAsked;

    fn origin(&self, asked: &Asked) -> (Fingerprint, Option<KeyId>) {
        (asked.description.parameters.fingerprint(), Some(asked.key))
    }

    fn put(&self, asked: &Asked, sink: &mut impl Sink) -> Result<(), WireError> {
        let (number, keyword) = match &asked.wanted {
            Wanted::Number(number) => (*number, &[][..]),
            Wanted::Keyword(keyword) => (0, &keyword[..]),
        };
        let mut fields = Fields::default();
        fields.bytes(&asked.query);
        fields.u64(number);
        fields.usize(keyword.len());
        sink.sealed(fields.as_bytes())?;
        sink.sealed(keyword)?;
        let mut fields = Fields::default();
        asked.description.put_fields(&mut fields);
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Asked, WireError> {
        let key = header.required_key()?;
        let record = source.sealed("what was asked", ASKED)?;
        let mut fields = FieldReader::new(&record);
        let (query, number) = (fields.array()?, fields.u64()?);
        let len = fields.usize_in("the length of a keyword", 0..=MOST_KEYWORD)?;
        let keyword = source.sealed("a keyword", len)?;
        let record = source.rest("a description", super::description::MOST_BYTES)?;
        let description = Description::get_fields(*self, &record)?;
        description.parameters.fingerprint().check(&header.parameters)?;
        let wanted = match (description.by(), number, keyword.is_empty()) {
            (By::Number, number, true) => Wanted::Number(number),
            (By::Keyword(_), 0, _) => Wanted::Keyword(keyword.to_vec()),
            _ => return Err(WireError::value("what was asked", "a number or a keyword", "both")),
        };
        Ok(Asked { description, key, query, wanted })
    }
}
