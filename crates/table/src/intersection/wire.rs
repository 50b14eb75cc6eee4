//! Files of queries to private sets, and of answers.

use std::io::BufRead;

use sunzi_bgv::Ciphertext;
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Format, Header, Kind, Sink, Source, WireError};

use super::description::SET;
use super::{Answer, Intersection, Query};
use crate::hashed::{get, most, put};

impl Intersection {
    /// Largest number of bytes of a query as a file.
    #[must_use]
    pub fn most_query_bytes(&self) -> u64 {
        most(&self.context, self.layout.sources())
    }

    /// Largest number of bytes of an answer as a file.
    #[must_use]
    pub fn most_answer_bytes(&self) -> u64 {
        most(&self.context, self.layout.answers())
    }
}

impl Format<Query> for Intersection {
    const KIND: Kind = Kind::SetQuery;

    fn key(&self, query: &Query) -> Option<KeyId> {
        query.key()
    }

    fn put(&self, query: &Query, sink: &mut impl Sink) -> Result<(), WireError> {
        put(&self.context, self.id(), &query.ciphertexts, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Query, WireError> {
        let (what, count) = ("the ciphertexts of a query", self.layout.sources());
        let (id, ciphertexts) = get(&self.context, (what, count), header, source)?;
        if id != *self.id() {
            return Err(WireError::Parameters { what: SET });
        }
        Ok(Query { ciphertexts })
    }
}

impl Format<Answer> for Intersection {
    const KIND: Kind = Kind::SetAnswer;

    fn key(&self, answer: &Answer) -> Option<KeyId> {
        answer.ciphertexts.first().map(Ciphertext::key)
    }

    fn put(&self, answer: &Answer, sink: &mut impl Sink) -> Result<(), WireError> {
        put(&self.context, &answer.query, &answer.ciphertexts, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Answer, WireError> {
        let (what, count) = ("the ciphertexts of an answer", self.layout.answers());
        let (query, ciphertexts) = get(&self.context, (what, count), header, source)?;
        Ok(Answer { query, ciphertexts })
    }
}
