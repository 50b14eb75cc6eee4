//! Private sets from the rows of a table, and their answers.

use std::io::BufRead;

use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_bgv::{Context, Evaluator, Parameters};
use sunzi_circuits::intersection::{IntersectionError, LabelledSet, Layout, Token, parameters};
use sunzi_oprf::{Element, OprfError, Proof, ServerKey};
use sunzi_rlwe::wire::{
    Accept, FieldReader, Fields, Fingerprint, Format, Header, Kind, Sink, Source, StoredParameters, WireError,
};
use sunzi_rlwe::{KeyId, RelinearizationKey};
use zeroize::{Zeroize, Zeroizing};

use super::{Answer, Description, Intersection, Query, token};
use crate::lookup::{Choice, gather};
use crate::{Rows, TableError};

/// Items of a record of a file.
const TOGETHER: usize = 1 << 10;
/// Bytes of a token.
const TOKEN: usize = 64;

/// A private set: the key of its server, the tokens of its items, and the cells of their rows. All of it is secret.
pub struct PrivateSet {
    intersection: Intersection,
    key: ServerKey,
    items: Vec<(Token, Vec<u8>)>,
}

impl Drop for PrivateSet {
    fn drop(&mut self) {
        self.items.iter_mut().for_each(|(_, label)| label.zeroize());
    }
}

impl PrivateSet {
    /// Reads all rows, and draws a key, for the [parameters](parameters) that intersections are made for.
    ///
    /// # Errors
    /// [`TableError::Column`] for a column that the table does not have, for no column of items, and for items that come several times; [`TableError::Cell`] for
    /// an item that is too long; [`TableError::Intersection`] for rows that are too long or too many; every error of reading the table.
    pub fn new(rows: &mut dyn Rows, choice: &Choice, rng: &mut dyn CryptoRng) -> Result<Self, TableError> {
        Self::with_parameters(rows, choice, parameters()?, rng)
    }

    /// Reads all rows as [`new`](Self::new) does, for other parameters.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`TableError::Intersection`] for parameters that no set has.
    pub fn with_parameters(
        rows: &mut dyn Rows,
        choice: &Choice,
        parameters: Parameters,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, TableError> {
        let by =
            choice.by.clone().ok_or_else(|| TableError::mismatch("the column of items", "one", "none"))?;
        let (pairs, columns) = gather(rows, choice)?;
        let key = ServerKey::generate(rng);
        let evaluated = |(item, label): (Vec<u8>, Vec<u8>)| Ok((token(&key.output(&item)?), label));
        let items: Vec<(Token, Vec<u8>)> =
            pairs.into_par_iter().map(evaluated).collect::<Result<_, OprfError>>()?;
        let context = Context::new(&parameters).map_err(IntersectionError::from)?;
        let layout = Layout::drawn(&context, &items, rng)?;
        let description = Description {
            parameters,
            key: key.public_key(),
            seed: *layout.seed(),
            items: layout.items(),
            label_bytes: layout.label_bytes(),
            sources: layout.sources(),
            parts: layout.parts(),
            by,
            columns,
        };
        let intersection = Intersection { id: description.id()?, description, context, layout };
        Ok(Self { intersection, key, items })
    }

    /// The set as its description tells it.
    #[must_use]
    pub fn intersection(&self) -> &Intersection {
        &self.intersection
    }
}

/// Files of private sets have their description with them.
impl Format<PrivateSet> for Accept {
    const KIND: Kind = Kind::PrivateSet;

    fn origin(&self, set: &PrivateSet) -> (Fingerprint, Option<KeyId>) {
        (set.intersection.description.parameters.fingerprint(), None)
    }

    fn put(&self, set: &PrivateSet, sink: &mut impl Sink) -> Result<(), WireError> {
        let (mut fields, mut of_description) = (Fields::default(), Fields::default());
        set.intersection.description.put_fields(&mut of_description);
        fields.bytes(&*set.key.to_bytes());
        fields.usize(of_description.as_bytes().len());
        sink.sealed(fields.as_bytes())?;
        sink.sealed(of_description.as_bytes())?;
        let bytes = set.intersection.layout.label_bytes();
        for items in set.items.chunks(TOGETHER) {
            let mut record = Zeroizing::new(Vec::with_capacity(items.len() * (TOKEN + bytes)));
            for (token, label) in items {
                record.extend_from_slice(token.as_bytes());
                record.extend_from_slice(label);
                let padded = record.len() + bytes.saturating_sub(label.len());
                record.resize(padded, 0);
            }
            sink.sealed(&record)?;
        }
        Ok(())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<PrivateSet, WireError> {
        header.without_key()?;
        let record = source.sealed("the key of a set", ServerKey::BYTES + 8)?;
        let mut fields = FieldReader::new(&record);
        let wrong = |what, error: &dyn std::fmt::Display| WireError::value(what, "one", error.to_string());
        let key =
            ServerKey::from_bytes(&fields.array()?).map_err(|error| wrong("the key of a set", &error))?;
        let len = fields.usize_in("the length of a description", 0..=super::description::MOST_BYTES)?;
        let description = Description::get_fields(*self, &source.sealed("a description", len)?)?;
        description.parameters.fingerprint().check(&header.parameters)?;
        if key.public_key() != description.key {
            return Err(WireError::value("the key of a set", "that of its description", "another"));
        }
        let intersection =
            Intersection::new(&description).map_err(|error| wrong("the description of a set", &error))?;
        let (bytes, mut items) = (TOKEN + description.label_bytes, Vec::new());
        while (items.len() as u64) < description.items {
            let left = usize::try_from(description.items - items.len() as u64).unwrap_or(usize::MAX);
            let record = source.sealed("items of a set", left.min(TOGETHER).saturating_mul(bytes))?;
            for item in record.chunks(bytes) {
                let Some((token, label)) = item.split_first_chunk::<TOKEN>() else { continue };
                items.push((Token::new(*token), label.to_vec()));
            }
        }
        Ok(PrivateSet { intersection, key, items })
    }
}

/// A private set that is prepared in memory, to answer any number of queries.
pub struct Served {
    set: PrivateSet,
    evaluator: Evaluator,
    prepared: LabelledSet,
}

impl Served {
    /// Prepares a set.
    ///
    /// # Errors
    /// [`TableError::Intersection`] for items that do not have the layout of their description, and for a set that does not fit the memory.
    pub fn new(set: PrivateSet, rng: &mut dyn CryptoRng) -> Result<Self, TableError> {
        let intersection = &set.intersection;
        let evaluator = Evaluator::new(&intersection.context);
        let prepared = LabelledSet::with_layout(&evaluator, intersection.layout.clone(), &set.items, rng)?;
        Ok(Self { set, evaluator, prepared })
    }

    /// The set as its description tells it.
    #[must_use]
    pub fn intersection(&self) -> &Intersection {
        &self.set.intersection
    }

    /// Evaluates blinded items under the key of the set.
    ///
    /// # Errors
    /// [`OprfError::Inputs`] for none, or more than are evaluated together.
    pub fn evaluate(
        &self,
        blinded: &[Element],
        rng: &mut dyn CryptoRng,
    ) -> Result<(Vec<Element>, Proof), OprfError> {
        self.set.key.evaluate(blinded, rng)
    }

    /// Answers a query.
    ///
    /// # Errors
    /// [`TableError::Intersection`] for a query of other parameters, and for another key.
    pub fn answer(&self, query: &Query, key: &RelinearizationKey) -> Result<Answer, TableError> {
        let ciphertexts = self.prepared.answer(&self.evaluator, &query.ciphertexts, key)?;
        Ok(Answer { query: self.set.intersection.hash(query)?, ciphertexts })
    }
}
