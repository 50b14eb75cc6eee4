//! Lookup of a private word in a public table: whether and where the table has it.
//!
//! The words of the table fill slots of GF(p^d), several elements a word and as many blocks of slots as needed. The client encrypts its
//! word, repeated in every slot. The server subtracts each block, tests every slot for zero ([`is_zero`]), multiplies the results for the
//! elements of a word, and marks the matches of the i-th block with Y^i, so that d blocks of answers share a ciphertext: coefficient i
//! of slot j says whether word i·slots + j matches. The server learns nothing of the word; the client learns which words are equal to it.

use rayon::prelude::*;
use sunzi_encoding::{Encoder, EncodingError, GaloisEncoder, Plaintext};

use crate::slots::{everywhere, is_zero, norm_exponents, zero_depth};
use crate::{Automorphisms, CircuitError, Outcome, product_tree};

/// A word of a table: its elements, each of up to d coefficients.
pub type Word = Vec<Vec<u64>>;

/// A table of words that is prepared for lookups.
pub struct LookupTable {
    encoder: GaloisEncoder,
    words: usize,
    /// Number of elements of a word.
    width: usize,
    /// Encoded elements of every block of words in order.
    blocks: Vec<Vec<Plaintext>>,
}

impl LookupTable {
    /// Encodes the words of a table, which must all have as many elements.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without words or elements; [`CircuitError::LengthsDiffer`]; [`CircuitError::Encoding`] for elements that do
    /// not fit the slots; [`CircuitError::NoField`] for r > 1.
    pub fn new<E: std::error::Error + 'static>(
        encoder: &GaloisEncoder,
        words: &[Word],
    ) -> Result<Self, CircuitError<E>> {
        let (prime, exponent) = (encoder.ring().prime(), encoder.ring().exponent());
        if exponent != 1 {
            return Err(CircuitError::NoField { what: "a lookup", prime, exponent });
        }
        let width = words.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(CircuitError::Empty { what: "a table of words" });
        }
        if let Some(word) = words.iter().find(|word| word.len() != width) {
            return Err(CircuitError::LengthsDiffer { left: width, right: word.len() });
        }
        let block = |block: &[Word]| -> Result<Vec<Plaintext>, EncodingError> {
            let element = |i: usize| {
                let column: Vec<&[u64]> =
                    block.iter().filter_map(|word| word.get(i).map(Vec::as_slice)).collect();
                encoder.encode_elements(&column)
            };
            (0..width).map(element).collect()
        };
        let blocks = words.par_chunks(encoder.slots()).map(block).collect::<Result<_, _>>()?;
        Ok(Self { encoder: encoder.clone(), words: words.len(), width, blocks })
    }

    /// Number of ciphertexts whose slots the words of the table would fill.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of ciphertexts of an answer: one for d blocks.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.blocks.len().div_ceil(self.encoder.ring().degree())
    }

    /// Multiplicative depth of a lookup: ⌈log2 d⌉ + ⌈log2(p − 1)⌉ for an element, and ⌈log2 width⌉ for a
    /// word.
    #[must_use]
    pub fn depth(&self) -> usize {
        zero_depth(&self.encoder) + product_tree::depth(self.width)
    }

    /// Exponents of the automorphisms for which a lookup needs keys.
    #[must_use]
    pub fn exponents(&self) -> Vec<u64> {
        norm_exponents(&self.encoder)
    }

    /// Returns the plaintexts that the client encrypts: one for each element of its word.
    ///
    /// # Errors
    /// [`CircuitError::LengthsDiffer`] for a word of another length; [`CircuitError::Encoding`].
    pub fn query<E: std::error::Error + 'static>(
        &self,
        word: &Word,
    ) -> Result<Vec<Plaintext>, CircuitError<E>> {
        if word.len() != self.width {
            return Err(CircuitError::LengthsDiffer { left: self.width, right: word.len() });
        }
        word.iter().map(|element| everywhere(&self.encoder, element)).collect()
    }

    /// Computes the server's answers to a query; `progress` is called with the number of blocks done.
    ///
    /// # Errors
    /// [`CircuitError::LengthsDiffer`] for a query of another table; [`CircuitError::MissingRelinearizationKey`];
    /// [`CircuitError::MissingAutomorphism`] without keys for [`exponents`](Self::exponents); [`CircuitError::Scheme`].
    pub fn find<A: Automorphisms<Plaintext = Plaintext>>(
        &self,
        arithmetic: &A,
        query: &[A::Ciphertext],
        keys: &A::Keys,
        progress: &mut dyn FnMut(usize),
    ) -> Outcome<A, Vec<A::Ciphertext>> {
        if query.len() != self.width {
            return Err(CircuitError::LengthsDiffer { left: self.width, right: query.len() });
        }
        let mut done = 0;
        let mut answers = Vec::with_capacity(self.answers());
        for (group, blocks) in self.blocks.chunks(self.encoder.ring().degree()).enumerate() {
            let mut matches = Vec::with_capacity(blocks.len());
            for block in blocks {
                let equal = |(query, element): (&A::Ciphertext, &Plaintext)| {
                    let difference = arithmetic.sub_plain(query, element)?;
                    is_zero(arithmetic, &self.encoder, &difference, keys)
                };
                let equal: Vec<A::Ciphertext> =
                    query.iter().zip(block).map(equal).collect::<Outcome<A, _>>()?;
                matches.push(product_tree::product(arithmetic, &equal, keys)?);
                done += 1;
                progress(done);
            }
            let first = group * self.encoder.ring().degree();
            let marks = (first..first + blocks.len()).map(|block| arithmetic.factor(&self.mark(block)?));
            let marks: Vec<A::Factor> = marks.collect::<Outcome<A, _>>()?;
            let terms: Vec<(&A::Ciphertext, &A::Factor)> = matches.iter().zip(&marks).collect();
            answers.push(arithmetic.sum_of_plain_products(&terms)?);
        }
        Ok(answers)
    }

    /// Returns the element Y^i in the slots that hold words, 0 in the slots left over at the end.
    fn mark(&self, block: usize) -> Result<Plaintext, EncodingError> {
        let (d, slots) = (self.encoder.ring().degree(), self.encoder.slots());
        let mark: Vec<u64> = (0..d).map(|i| u64::from(i == block % d)).collect();
        let filled = (self.words - (block * slots).min(self.words)).min(slots);
        self.encoder.encode_elements(&vec![mark; filled])
    }

    /// Returns the indices of the words that the decrypted answers mark, ascending.
    ///
    /// # Errors
    /// [`CircuitError::Encoding`] for plaintexts of other slots.
    pub fn matches<E: std::error::Error + 'static>(
        &self,
        answers: &[Plaintext],
    ) -> Result<Vec<usize>, CircuitError<E>> {
        let (d, slots) = (self.encoder.ring().degree(), self.encoder.slots());
        let mut found = Vec::new();
        for (group, answer) in answers.iter().enumerate() {
            for (slot, element) in self.encoder.decode_elements(answer)?.iter().enumerate() {
                let marked = element.iter().enumerate().filter(|&(_, &x)| x != 0);
                found.extend(marked.map(|(i, _)| (group * d + i) * slots + slot));
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}
