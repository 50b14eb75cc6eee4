//! Values by keywords: a cuckoo hash table whose places are entries of a database, of which a client asks for three.
//!
//! A keyword has three places, which follow from a hash of it. Its pair is in one of them, behind a tag of the keyword, so that
//! whoever reads all three knows the value, or that there is none. The server learns neither.

use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use sunzi_bfv::{Ciphertext, Context, Evaluator};
use sunzi_rlwe::{EvaluationKeys, SecretKey};

use super::{Database, Layout, RetrievalError, SEAL, opened, sealed};
use crate::cuckoo::{PLACES, put};

/// Filled places of a hundred. With three places a keyword, tables of 11/12 of their places are filled with all but negligible probability; fewer, so that insertions end soon.
const FILLED: u64 = 85;
/// Length of the tag of a keyword: another one has the same by chance once in 2^63.
const TAG: usize = 8;
/// Length of what stands before a value, behind the checksum of the entry: the tag, and the length of the value.
const HEAD: usize = TAG + 4;
/// Seeds that are tried for a table.
const SEEDS: u32 = 32;

/// Layout of a database of values by keywords, from which client and server compute alike where a keyword may be.
///
/// It is public: the seed of the hash, the number of pairs and the length of the longest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keywords {
    layout: Layout,
    seed: [u8; 32],
    pairs: u64,
    value_bytes: usize,
}

/// A database of values by keywords, ready to answer any number of queries.
///
/// ```
/// use sunzi_bfv::{Context, Evaluator, Parameters};
/// use sunzi_circuits::EvaluationKeys;
/// use sunzi_circuits::retrieval::KeywordDatabase;
/// use sunzi_math::primes_below;
/// use sunzi_rlwe::{SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::new(10, primes_below(1 << 47, 2048, 3)?, 65537, Security::InsecureForResearchOnly);
/// let (context, mut rng) = (Context::new(&parameters)?, randomness::from_os()?);
/// let evaluator = Evaluator::new(&context);
/// let capitals = [("France", "Paris"), ("Japan", "Tokyo"), ("Kenya", "Nairobi")];
/// let pairs = capitals.map(|(country, city)| (country.into(), city.into()));
/// let database = KeywordDatabase::new(&evaluator, pairs.to_vec(), &mut rng)?;
///
/// let (keywords, secret) = (database.keywords(), SecretKey::generate(context.rlwe(), &mut rng)?);
/// let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, keywords.layout().exponents(), &mut rng)?;
/// for (country, expected) in [("Japan", Some(&b"Tokyo"[..])), ("Atlantis", None)] {
///     let query = keywords.query(&context, country.as_bytes(), &secret, &mut rng)?;
///     let answer = database.answer(&evaluator, &query, &keys)?;
///     assert_eq!(keywords.read(&context, country.as_bytes(), &answer, &secret)?.as_deref(), expected);
/// }
/// # Ok(())
/// # }
/// ```
pub struct KeywordDatabase {
    keywords: Keywords,
    database: Database,
}

/// A keyword and its value, both as bytes.
pub type Pair = (Vec<u8>, Vec<u8>);

impl Keywords {
    /// The number of places of a keyword, all of which a client asks for.
    pub const PLACES: usize = PLACES;

    /// Makes the layout of so many pairs whose longest value has so many bytes, with this seed of the hash.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for no pairs, for values of more than about 2^24 bytes, and for more pairs than a query selects from.
    pub fn new(
        context: &Context,
        pairs: u64,
        value_bytes: usize,
        seed: [u8; 32],
    ) -> Result<Self, RetrievalError> {
        if pairs == 0 {
            return Err(RetrievalError::setting("the number of pairs", "at least 1", 0));
        }
        let places = (pairs.saturating_mul(100) / FILLED).saturating_add(PLACES as u64);
        let layout = Layout::new(context, places, value_bytes.saturating_add(SEAL + HEAD))?;
        Ok(Self { layout, seed, pairs, value_bytes })
    }

    /// Makes the layout of pairs, and finds a place for each of them: returns the number of the pair of every place, if it has one. Equal pairs, in
    /// equal order, and equal random bytes give equal places.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a keyword that comes twice, for no pairs, for values of more than about 2^24 bytes, and for more pairs than a
    /// query selects from.
    pub fn arrange(
        context: &Context,
        pairs: &[Pair],
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, Vec<Option<usize>>), RetrievalError> {
        let mut sorted: Vec<&[u8]> = pairs.iter().map(|(keyword, _)| &keyword[..]).collect();
        sorted.sort_unstable();
        if let Some([twice, ..]) = sorted.windows(2).find(|pair| pair.first() == pair.last()) {
            let got = format!("{:?} twice", String::from_utf8_lossy(twice));
            return Err(RetrievalError::setting("the keywords", "different ones", got));
        }
        let value_bytes = pairs.iter().map(|(_, value)| value.len()).max().unwrap_or(0);
        for _ in 0..SEEDS {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            let keywords = Self::new(context, pairs.len() as u64, value_bytes, seed)?;
            if let Some(table) = keywords.table(pairs, rng) {
                return Ok((keywords, table));
            }
        }
        Err(RetrievalError::setting("a hash table of the keywords", format!("one in {SEEDS} tries"), "none"))
    }

    /// The layout of the places, which are entries of a database.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The seed of the hash of keywords.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The number of pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The length of the longest value, in bytes.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Encrypts the query of a keyword: one for each of its places.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a context of another layout; [`RetrievalError::Bfv`].
    pub fn query(
        &self,
        context: &Context,
        keyword: &[u8],
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Ciphertext>, RetrievalError> {
        let (places, _) = self.hash(keyword);
        places.into_iter().map(|place| self.layout.query(context, place, secret, rng)).collect()
    }

    /// Decrypts an answer, and returns the value of a keyword; `None` for a keyword that the database does not have.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for an answer of another number of places or ciphertexts, and for a value that says another length than
    /// there can be; [`RetrievalError::Unsealed`] for an answer that opens to what is not in the database; [`RetrievalError::Bfv`] for one that does
    /// not decrypt.
    pub fn read(
        &self,
        context: &Context,
        keyword: &[u8],
        answer: &[Vec<Ciphertext>],
        secret: &SecretKey,
    ) -> Result<Option<Vec<u8>>, RetrievalError> {
        let (places, tag) = self.hash(keyword);
        if answer.len() != PLACES {
            return Err(RetrievalError::setting("the places of an answer", PLACES, answer.len()));
        }
        let mut found = None;
        for (place, answer) in places.into_iter().zip(answer) {
            let entry = self.layout.read(context, place, answer, secret)?;
            let content = opened(&self.seed, place, &entry)?;
            let Some((head, value)) = content.split_first_chunk::<HEAD>() else { continue };
            let [.., a, b, c, d] = *head;
            if !head.starts_with(&tag) {
                continue;
            }
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            let value = value.get(..length).ok_or_else(|| {
                RetrievalError::setting(
                    "the length of a value",
                    format!("at most {}", self.value_bytes),
                    length,
                )
            })?;
            found = Some(value.to_vec());
        }
        Ok(found)
    }

    /// Returns the places of a keyword, in one of which its pair stands if there is one.
    #[must_use]
    pub fn places(&self, keyword: &[u8]) -> [u64; PLACES] {
        self.hash(keyword).0
    }

    /// Whether what stands behind the checksum of an entry is the pair of a keyword.
    #[must_use]
    pub fn holds(&self, content: &[u8], keyword: &[u8]) -> bool {
        content.starts_with(&self.hash(keyword).1)
    }

    /// Returns the places of a keyword and its tag, which is never zero as places without a pair are.
    fn hash(&self, keyword: &[u8]) -> ([u64; PLACES], [u8; TAG]) {
        let digest: [u8; 32] = Sha256::new_with_prefix(self.seed).chain_update(keyword).finalize().into();
        let mut words =
            digest.chunks_exact(8).map(|word| word.iter().rfold(0, |all, &byte| all << 8 | u64::from(byte)));
        let entries = u128::from(self.layout.entries());
        let mut place = || ((u128::from(words.next().unwrap_or_default()) * entries) >> 64) as u64;
        let places = [place(), place(), place()];
        (places, (words.next().unwrap_or_default() | 1).to_le_bytes())
    }

    /// Puts every pair into one of its places, by moving those that stand there; `None` where that takes too long.
    fn table(&self, pairs: &[Pair], rng: &mut dyn CryptoRng) -> Option<Vec<Option<usize>>> {
        let mut table = vec![None; usize::try_from(self.layout.entries()).ok()?];
        let place = |(keyword, _): &Pair| self.hash(keyword).0.map(|place| place as usize);
        let places: Vec<[usize; PLACES]> = pairs.iter().map(place).collect();
        (0..pairs.len()).all(|pair| put(&mut table, &places, pair, rng).is_none()).then_some(table)
    }

    /// Returns the entry of a place: behind a [checksum](sealed) tag, length and value of the pair that stands there, or zeros.
    #[must_use]
    pub fn entry(&self, place: u64, pair: Option<&Pair>) -> Vec<u8> {
        let content = pair.map_or(Vec::new(), |(keyword, value)| {
            let (_, tag) = self.hash(keyword);
            [&tag[..], &(value.len() as u32).to_le_bytes(), value].concat()
        });
        sealed(&self.seed, place, &content, self.layout.entry_bytes())
    }
}

impl KeywordDatabase {
    /// Prepares the values of keywords. Keywords may have any length.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a keyword that comes twice, for no pairs, for values of more than 2^24 bytes, and for more pairs than a
    /// query selects from; [`RetrievalError::Bfv`].
    pub fn new(
        evaluator: &Evaluator,
        pairs: Vec<Pair>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RetrievalError> {
        let (keywords, table) = Keywords::arrange(evaluator.context(), &pairs, rng)?;
        let entry =
            |(place, pair): (u64, Option<usize>)| keywords.entry(place, pair.and_then(|at| pairs.get(at)));
        let database = Database::new(evaluator, keywords.layout(), (0..).zip(table).map(entry))?;
        Ok(Self { keywords, database })
    }

    /// The layout of the database, which clients ask by.
    #[must_use]
    pub fn keywords(&self) -> &Keywords {
        &self.keywords
    }

    /// Answers the query of a keyword: ciphertexts for each of its places.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for a query of another number of places; every error of [`Database::answer`].
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &[Ciphertext],
        keys: &EvaluationKeys,
    ) -> Result<Vec<Vec<Ciphertext>>, RetrievalError> {
        if query.len() != PLACES {
            return Err(RetrievalError::setting("the places of a query", PLACES, query.len()));
        }
        self.database.answer_all(evaluator, query, keys)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use sunzi_bfv::Parameters;
    use sunzi_math::primes_below;
    use sunzi_rlwe::Security;

    use super::*;

    /// Tables hold every pair in one of its places, from one pair to many.
    #[test]
    fn tables_hold_every_pair() {
        let moduli = primes_below(1 << 47, 1 << 9, 3).unwrap();
        let parameters = Parameters::new(8, moduli, 65_537, Security::InsecureForResearchOnly);
        let context = Context::new(&parameters).unwrap();
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(4);
        for count in [1, 2, 3, 10, 100, 1000] {
            let pair = |i: u64| (format!("keyword {i}").into_bytes(), i.to_le_bytes().to_vec());
            let pairs: Vec<Pair> = (0..count).map(pair).collect();
            let of_seed = |seed| Keywords::new(&context, count, 8, [seed; 32]).unwrap();
            let found =
                (0..8).map(of_seed).find_map(|all| all.table(&pairs, &mut rng).map(|table| (all, table)));
            let (all, table) = found.unwrap();
            for (at, (keyword, _)) in pairs.iter().enumerate() {
                let places = all.hash(keyword).0.map(|place| table[place as usize]);
                assert!(places.contains(&Some(at)), "{at} of {count}");
            }
            assert_eq!(table.iter().flatten().count() as u64, count);
        }
    }
}
