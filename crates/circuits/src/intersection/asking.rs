//! Queries of a client, and its reading of answers.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_bgv::{BgvError, Ciphertext, Context};
use sunzi_encoding::{BatchEncoder, Encoder};
use sunzi_rlwe::SecretKey;
use zeroize::Zeroizing;

use super::interpolation::Field;
use super::layout::ZEROS;
use super::powers::sources;
use super::{IntersectionError, Layout, Token};
use crate::cuckoo::{PLACES, put};
use crate::packing::unpacked;

/// The items of one query: for every bin the number of its token, if it has one. It is secret.
#[derive(Clone)]
pub struct Bins(Vec<Option<usize>>);

impl Bins {
    /// The number of items of the query.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// Whether the query has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Layout {
    /// Divides tokens among queries, and finds a bin for each of them. The server sees how many queries there are: as many as the [capacity](Self::capacity) takes,
    /// but for a chance below 2^-40.
    #[must_use]
    pub fn arrange(&self, tokens: &[Token], rng: &mut dyn CryptoRng) -> Vec<Bins> {
        let places: Vec<[usize; PLACES]> = tokens.iter().map(|token| self.place(token).bins).collect();
        let mut left: Vec<usize> = (0..tokens.len()).rev().collect();
        let mut queries = Vec::new();
        while !left.is_empty() {
            let (mut bins, mut count) = (vec![None; self.bins()], 0);
            let mut without = Vec::new();
            while count < self.capacity()
                && let Some(next) = left.pop()
            {
                match put(&mut bins, &places, next, rng) {
                    None => count += 1,
                    Some(homeless) => without.push(homeless),
                }
            }
            left.extend(without);
            queries.push(Bins(bins));
        }
        queries
    }

    /// Encrypts a query: powers of the numbers of its items, and of random numbers where a bin has no item.
    ///
    /// # Errors
    /// [`IntersectionError::Setting`] for a context of another layout; [`IntersectionError::Bgv`] for a key of other parameters.
    pub fn query(
        &self,
        context: &Context,
        bins: &Bins,
        tokens: &[Token],
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Ciphertext>, IntersectionError> {
        self.check(context)?;
        let encoder = BatchEncoder::new(self.bins(), self.plain_modulus()).map_err(BgvError::from)?;
        let field = Field::new(self.plain_modulus());
        let others = u128::from(self.plain_modulus() - 1);
        let node = |item: &Option<usize>| match item.and_then(|item| tokens.get(item)) {
            Some(token) => self.place(token).node,
            None => 1 + ((u128::from(rng.next_u64()) * others) >> 64) as u64,
        };
        let nodes: Zeroizing<Vec<u64>> = Zeroizing::new(bins.0.iter().map(node).collect());
        let encrypt = |exponent: &usize| {
            let powers: Zeroizing<Vec<u64>> =
                Zeroizing::new(nodes.iter().map(|&node| field.power(node, *exponent as u64)).collect());
            let plaintext = encoder.encode(&powers).map_err(BgvError::from)?;
            Ok(context.encrypt_secret(&plaintext, secret, rng)?)
        };
        sources(self.sources()).iter().map(encrypt).collect()
    }

    /// Decrypts an answer: returns the labels of the items that the set has, by the numbers of their tokens.
    ///
    /// # Errors
    /// [`IntersectionError::Setting`] for an answer of another number of ciphertexts; [`IntersectionError::Bgv`] for one that does not decrypt.
    pub fn read(
        &self,
        context: &Context,
        bins: &Bins,
        tokens: &[Token],
        answer: &[Ciphertext],
        secret: &SecretKey,
    ) -> Result<BTreeMap<usize, Vec<u8>>, IntersectionError> {
        self.check(context)?;
        if answer.len() != self.answers() {
            return Err(IntersectionError::setting(
                "the ciphertexts of an answer",
                self.answers(),
                answer.len(),
            ));
        }
        let encoder = BatchEncoder::new(self.bins(), self.plain_modulus()).map_err(BgvError::from)?;
        let mut found = BTreeMap::new();
        for part in answer.chunks(self.columns()) {
            let slots =
                |one: &Ciphertext| encoder.decode(&context.decrypt(one, secret)?).map_err(BgvError::from);
            let columns: Vec<Vec<u64>> = part.iter().map(slots).collect::<Result<_, _>>()?;
            for (bin, item) in bins.0.iter().enumerate() {
                let Some((item, token)) = item.and_then(|item| Some((item, tokens.get(item)?))) else {
                    continue;
                };
                let numbers: Vec<u64> =
                    columns.iter().filter_map(|column| column.get(bin).copied()).collect();
                let mut bytes = Zeroizing::new(unpacked(&numbers, self.bits()));
                self.sealed(token, &mut bytes);
                bytes.truncate(ZEROS + self.label_bytes());
                if let Some((zeros, label)) = bytes.split_at_checked(ZEROS)
                    && zeros.iter().all(|zero| *zero == 0)
                {
                    found.insert(item, label.to_vec());
                }
            }
        }
        Ok(found)
    }
}
