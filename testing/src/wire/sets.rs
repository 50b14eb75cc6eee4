//! Specimens of files of private sets: a description, the items, what is asked of them, and what they answer.

use std::rc::Rc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bgv::{Operations, Parameters};
use sunzi_rlwe::wire::{Accept, from_bytes, to_bytes};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security};
use sunzi_table::csv::CsvRows;
use sunzi_table::intersection::{
    Answer, Bins, Blinded, Description, Intersection, PrivateSet, Query, Served, Token, token,
};
use sunzi_table::lookup::Choice;

use super::Specimen;
use super::specimens::Failure;

/// Table of the set.
const TABLE: &str = "email,risk\nana@example.org,low\nbo@example.org,high\ncy@example.org,none\n";
const ACCEPT: Accept = Accept::InsecureForResearchOnly;

/// A set, and a client of it who asked.
struct Asking {
    served: Served,
    /// The file of the items.
    set: Vec<u8>,
    secret: SecretKey,
    key: RelinearizationKey,
    tokens: Vec<Token>,
    bins: Bins,
    query: Query,
    answer: Answer,
}

impl Asking {
    fn new() -> Result<Self, Failure> {
        let last = Operations { additions: 4, rotations: 0, plain_products: 1 };
        let parameters =
            Parameters::builder().depth(2).plain_modulus(257).log2_degree(7).last_operations(last);
        let parameters = parameters.security(Security::InsecureForResearchOnly).build()?;
        let choice = Choice { by: Some("email".to_owned()), columns: None };
        let mut rng = ChaCha20Rng::seed_from_u64(71);
        let mut rows = CsvRows::new(TABLE.as_bytes(), "table")?;
        let set = PrivateSet::with_parameters(&mut rows, &choice, parameters, &mut rng)?;
        let bytes = to_bytes(&ACCEPT, &set)?;
        let served = Served::new(set, &mut rng)?;
        let intersection = served.intersection();
        let blinded = Blinded::new(&["bo@example.org", "di@example.org"], &mut rng)?;
        let (evaluated, proof) = served.evaluate(blinded.elements(), &mut rng)?;
        let outputs = blinded.finish(&evaluated, &proof, intersection.description().key())?;
        let tokens: Vec<Token> = outputs.iter().map(token).collect();
        let rlwe = intersection.context().rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let key = RelinearizationKey::generate(rlwe, &secret, &mut rng)?;
        let bins = intersection.layout().arrange(&tokens, &mut rng).swap_remove(0);
        let query = intersection.ask(&bins, &tokens, &secret, &mut rng)?;
        let answer = served.answer(&query, &key)?;
        let own = Self { served, set: bytes, secret, key, tokens, bins, query, answer };
        let found = own.opened(&own.answer)?;
        if found == [(0, vec!["high".to_owned()])] {
            return Ok(own);
        }
        Err(format!("expected the row of bo@example.org, got {found:?}").into())
    }

    fn opened(&self, answer: &Answer) -> Result<Vec<(usize, Vec<String>)>, sunzi_table::TableError> {
        let asked = (&self.bins, &self.tokens[..]);
        let found = self.served.intersection().read(asked, &self.query, answer, &self.secret)?;
        Ok(found.into_iter().collect())
    }
}

/// Makes specimens of the description and the items of a set, a query and an answer.
pub(super) fn set_specimens() -> Result<Vec<Specimen>, Failure> {
    let own = Rc::new(Asking::new()?);
    let [answering, opening] = [(); 2].map(|()| Rc::clone(&own));
    let intersection = own.served.intersection();
    let set: PrivateSet = from_bytes(&ACCEPT, &own.set)?;
    Ok(vec![
        Specimen::new(
            "set-description",
            &ACCEPT,
            intersection.description(),
            |description: &Description| {
                drop(Intersection::new(description));
            },
        )?,
        Specimen::new("private-set", &ACCEPT, &set, |set: &PrivateSet| {
            drop(set.intersection().description().id());
        })?,
        Specimen::new("set-query", intersection, &own.query, move |query: &Query| {
            drop(answering.served.answer(query, &answering.key));
        })?,
        Specimen::new("set-answer", intersection, &own.answer, move |answer: &Answer| {
            drop(opening.opened(answer));
        })?,
    ])
}
