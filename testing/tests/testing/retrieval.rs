//! Private retrieval at scale: every number of a database, and thousands of keywords, present and absent.

use rand_core::SeedableRng;
use sunzi_bfv::{Context, Evaluator, Parameters};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::retrieval::{Database, KeywordDatabase, Layout, Pair};
use sunzi_math::primes_below;
use sunzi_rlwe::{SecretKey, Security};
use sunzi_testing::Figure;

const ROW: u8 = 26;
/// Numbers and keywords that the table of reliability asks for, of each kind.
const ALL: usize = 5_000;

struct Service {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    rng: chacha20::ChaCha20Rng,
}

impl Service {
    fn new(log_n: u32) -> Self {
        let moduli = primes_below(1 << 47, 2 << log_n, 3).unwrap();
        let parameters = Parameters::new(log_n, moduli, 65_537, Security::InsecureForResearchOnly);
        let context = Context::new(&parameters).unwrap();
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(26);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, rng }
    }

    fn keys(&mut self, layout: &Layout) -> EvaluationKeys {
        let (rlwe, exponents) = (self.context.rlwe(), layout.exponents());
        EvaluationKeys::for_exponents(rlwe, &self.secret, exponents, &mut self.rng).unwrap()
    }
}

/// Bytes that differ from entry to entry and within each.
fn entry(number: u64, bytes: usize) -> Vec<u8> {
    let byte = |at: u64| (number.wrapping_mul(2_654_435_761).wrapping_add(at * 97) >> 7) as u8;
    (0..bytes as u64).map(byte).collect()
}

/// Asks for every number of a database, several at once.
fn numbers(count: usize) {
    let mut service = Service::new(8);
    let layout = Layout::new(&service.context, count as u64, 90).unwrap();
    let keys = service.keys(&layout);
    let all = (0..count as u64).map(|number| entry(number, 90));
    let database = Database::new(&service.evaluator, &layout, all).unwrap();
    let mut wrong = 0;
    for numbers in (0..count as u64).collect::<Vec<_>>().chunks(8) {
        let query = |number: &u64| layout.query(&service.context, *number, &service.secret, &mut service.rng);
        let queries: Vec<_> = numbers.iter().map(query).collect::<Result<_, _>>().unwrap();
        let answers = database.answer_all(&service.evaluator, &queries, &keys).unwrap();
        for (number, answer) in numbers.iter().zip(&answers) {
            let got = layout.read(&service.context, *number, answer, &service.secret).unwrap();
            wrong += usize::from(got != entry(*number, 90));
        }
    }
    Figure::new(ROW, "entries that came back otherwise").cases(count, ALL).none_wrong(wrong);
}

/// Asks for as many present as absent keywords.
fn keywords(count: usize) {
    let mut service = Service::new(8);
    let pair = |number: u64| (format!("keyword {number}").into_bytes(), entry(number, number as usize % 40));
    let pairs: Vec<Pair> = (0..count as u64).map(pair).collect();
    let database = KeywordDatabase::new(&service.evaluator, pairs.clone(), &mut service.rng).unwrap();
    let asked = database.keywords().clone();
    let keys = service.keys(asked.layout());
    let absent = (0..count).map(|number| (format!("absent {number}").into_bytes(), None));
    let present = pairs.into_iter().map(|(keyword, value)| (keyword, Some(value)));
    let mut wrong = 0;
    for (keyword, expected) in present.chain(absent) {
        let query = asked.query(&service.context, &keyword, &service.secret, &mut service.rng).unwrap();
        let answer = database.answer(&service.evaluator, &query, &keys).unwrap();
        let value = asked.read(&service.context, &keyword, &answer, &service.secret).unwrap();
        wrong += usize::from(value != expected);
    }
    Figure::new(ROW, "present and absent keywords with another answer")
        .cases(2 * count, 2 * ALL)
        .none_wrong(wrong);
}

#[test]
fn numbers_and_keywords_have_their_values() {
    numbers(200);
    keywords(40);
}

#[test]
#[ignore = "long: 5000 numbers and 10^4 keywords"]
fn thousands_of_numbers_and_keywords_have_their_values() {
    numbers(ALL);
    keywords(ALL);
}
