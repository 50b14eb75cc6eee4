//! Tests of private retrieval: every number, every shape of a database, noise below its bounds, and what cannot be.

use rand_core::SeedableRng;
use sunzi_bfv::{Context, Evaluator, Parameters, Plaintext};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::retrieval::{Database, KeywordDatabase, Layout, Pair, RetrievalError, expand};
use sunzi_math::primes_below;
use sunzi_rlwe::{SecretKey, Security};

type Rng = chacha20::ChaCha20Rng;

struct Service {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    rng: Rng,
}

impl Service {
    fn new(log_n: u32, plain_modulus: u64) -> Self {
        let moduli = primes_below(1 << 47, 2 << log_n, 3).unwrap();
        let parameters = Parameters::new(log_n, moduli, plain_modulus, Security::InsecureForResearchOnly);
        let context = Context::new(&parameters).unwrap();
        let mut rng = Rng::seed_from_u64(7);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, rng }
    }

    fn keys(&mut self, exponents: impl IntoIterator<Item = u64>) -> EvaluationKeys {
        EvaluationKeys::for_exponents(self.context.rlwe(), &self.secret, exponents, &mut self.rng).unwrap()
    }

    /// Asks for entries, and compares them with those of the database.
    fn check(&mut self, (entries, entry_bytes): (u64, usize), numbers: impl IntoIterator<Item = u64>) {
        let layout = Layout::new(&self.context, entries, entry_bytes).unwrap();
        let keys = self.keys(layout.exponents());
        let all = (0..entries).map(|number| entry(number, entry_bytes));
        let database = Database::new(&self.evaluator, &layout, all).unwrap();
        for number in numbers {
            let query = layout.query(&self.context, number, &self.secret, &mut self.rng).unwrap();
            let answer = database.answer(&self.evaluator, &query, &keys).unwrap();
            let got = layout.read(&self.context, number, &answer, &self.secret).unwrap();
            assert_eq!(got, entry(number, entry_bytes), "{number} of {entries} entries of {entry_bytes}");
        }
    }
}

/// Bytes that differ from entry to entry and within each.
fn entry(number: u64, bytes: usize) -> Vec<u8> {
    (0..bytes as u64)
        .map(|at| (number.wrapping_mul(2_654_435_761).wrapping_add(at * 97) >> 7) as u8)
        .collect()
}

#[test]
fn expansions_have_every_coefficient_and_noise_below_its_bound() {
    let mut service = Service::new(8, 65_537);
    let degree = service.context.degree();
    let keys = service.keys((0..8).map(|step| (degree as u64 >> step) + 1));
    for count in [1, 2, 3, 16, 100, degree] {
        let steps = count.next_power_of_two();
        let coefficients: Vec<u64> =
            (0..degree).map(|at| if at < steps { (at as u64 * 7919 + 3) % 65_537 } else { 0 }).collect();
        let plaintext = Plaintext::new(coefficients.clone(), 65_537).unwrap();
        let sealed = service.context.encrypt_secret(&plaintext, &service.secret, &mut service.rng).unwrap();
        let expanded = expand(&service.evaluator, &sealed, count, &keys).unwrap();
        assert_eq!(expanded.len(), count);
        for (at, one) in expanded.iter().enumerate() {
            let got = service.context.decrypt(one, &service.secret).unwrap();
            let expected = coefficients[at] * steps as u64 % 65_537;
            assert!(got.coefficients()[0] == expected, "coefficient {at} of {count}");
            assert!(got.coefficients()[1..].iter().all(|rest| *rest == 0), "coefficient {at} of {count}");
        }
    }
}

#[test]
fn every_entry_of_small_databases_comes_back() {
    let mut service = Service::new(8, 65_537);
    // One plaintext; several, not all full; one entry a plaintext; entries of several plaintexts.
    service.check((1, 1), [0]);
    service.check((37, 12), 0..37);
    service.check((100, 60), 0..100);
    service.check((9, 512), 0..9);
    service.check((5, 1200), 0..5);
}

#[test]
fn entries_come_back_for_other_plaintext_moduli() {
    for plain_modulus in [257, 1_032_193, (1 << 20) - 3] {
        let mut service = Service::new(8, plain_modulus);
        service.check((200, 33), [0, 1, 99, 150, 199]);
    }
}

#[test]
fn several_queries_are_answered_in_one_pass() {
    let mut service = Service::new(8, 65_537);
    let layout = Layout::new(&service.context, 60, 700).unwrap();
    let keys = service.keys(layout.exponents());
    let all = (0..60).map(|number| entry(number, 700));
    let database = Database::new(&service.evaluator, &layout, all).unwrap();
    let numbers = [59, 0, 17, 17, 31];
    let asked = numbers
        .map(|number| layout.query(&service.context, number, &service.secret, &mut service.rng).unwrap());
    for count in 0..=numbers.len() {
        let answers = database.answer_all(&service.evaluator, &asked[..count], &keys).unwrap();
        assert_eq!(answers.len(), count);
        for (number, answer) in numbers.into_iter().zip(&answers) {
            let got = layout.read(&service.context, number, answer, &service.secret).unwrap();
            assert_eq!(got, entry(number, 700), "{number}");
        }
    }
}

#[test]
fn a_replaced_plaintext_has_its_new_entries_and_others_stay() {
    let mut service = Service::new(8, 65_537);
    let layout = Layout::new(&service.context, 30, 100).unwrap();
    let keys = service.keys(layout.exponents());
    let all = (0..30).map(|number| entry(number, 100));
    let mut database = Database::new(&service.evaluator, &layout, all).unwrap();
    assert_eq!(layout.together(), 5);
    let new: Vec<Vec<u8>> = (0..5).map(|at| vec![at + 1; 90]).collect();
    database.replace(&service.evaluator, 17, &new).unwrap();
    for number in [14, 15, 17, 19, 20] {
        let query = layout.query(&service.context, number, &service.secret, &mut service.rng).unwrap();
        let answer = database.answer(&service.evaluator, &query, &keys).unwrap();
        let got = layout.read(&service.context, number, &answer, &service.secret).unwrap();
        let expected = match number {
            15..20 => [vec![number as u8 - 14; 90], vec![0; 10]].concat(),
            _ => entry(number, 100),
        };
        assert_eq!(got, expected, "{number}");
    }
    let refused = |error: RetrievalError, words: &str| assert!(error.to_string().contains(words), "{error}");
    refused(database.replace(&service.evaluator, 30, &new).unwrap_err(), "below 30, got 30");
    refused(database.replace(&service.evaluator, 1, &new[1..]).unwrap_err(), "expected 5, got 4");
    let long = vec![vec![0; 101]; 5];
    refused(database.replace(&service.evaluator, 1, &long).unwrap_err(), "at most 100, got 101");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut service = Service::new(8, 65_537);
    let context = &service.context;
    let said = |result: Result<Layout, RetrievalError>| result.unwrap_err().to_string();
    assert!(said(Layout::new(context, 0, 5)).contains("number of entries: expected at least 1"));
    assert!(said(Layout::new(context, 5, 0)).contains("bytes of an entry: expected 1 to 2^24"));
    assert!(said(Layout::new(context, 5, (1 << 24) + 1)).contains("2^24"));
    assert!(said(Layout::new(context, u64::MAX, 5)).contains("a larger ring"));
    let other = Service::new(9, 65_537);
    let even = Context::new(&Parameters::new(
        8,
        primes_below(1 << 47, 512, 3).unwrap(),
        1 << 16,
        Security::InsecureForResearchOnly,
    ));
    assert!(said(Layout::new(&even.unwrap(), 5, 5)).contains("odd"));
    let layout = Layout::new(context, 40, 50).unwrap();
    let query = |context: &Context, number, rng: &mut Rng| {
        layout.query(context, number, &service.secret, rng).map(drop).unwrap_err().to_string()
    };
    let mut rng = Rng::seed_from_u64(1);
    assert!(query(context, 40, &mut rng).contains("expected below 40, got 40"));
    assert!(query(&other.context, 4, &mut rng).contains("expected degree 256"));
    let made = |count: u64| {
        let entries = (0..count).map(|number| entry(number, 50));
        Database::new(&service.evaluator, &layout, entries).map(drop).unwrap_err().to_string()
    };
    assert!(made(39).contains("expected 40, got 39") && made(41).contains("got more"));
    let entries = || (0..40).map(|number| entry(number, 50));
    assert!(Database::new(&other.evaluator, &layout, entries()).is_err());
    let long = Database::new(&service.evaluator, &layout, (0..40).map(|_| vec![1; 51]));
    assert!(long.map(drop).unwrap_err().to_string().contains("at most 50, got 51"));
    // Keys that lack something are named before any work.
    let database = Database::new(&service.evaluator, &layout, entries()).unwrap();
    let sealed = layout.query(context, 3, &service.secret, &mut rng).unwrap();
    let exponents: Vec<u64> = layout.exponents().collect();
    let keys = service.keys(exponents[1..].iter().copied());
    let error = database.answer(&service.evaluator, &sealed, &keys).map(drop).unwrap_err();
    assert!(error.to_string().contains("X^257"), "{error}");
    let mut keys = service.keys(exponents);
    keys.relinearization = None;
    let error = database.answer(&service.evaluator, &sealed, &keys).map(drop).unwrap_err();
    assert!(error.to_string().contains("relinearisation key"), "{error}");
    let error = layout.read(&service.context, 3, &[], &service.secret).unwrap_err();
    assert!(error.to_string().contains("expected 1, got 0"), "{error}");
}

fn pairs(count: u64) -> Vec<Pair> {
    (0..count)
        .map(|number| (format!("keyword {number}").into_bytes(), entry(number, number as usize % 40)))
        .collect()
}

/// Asks for keywords, present and absent ones, and compares their values.
fn check_keywords(
    service: &mut Service,
    all: &[Pair],
    asked: impl IntoIterator<Item = (Vec<u8>, Option<Vec<u8>>)>,
) {
    let database = KeywordDatabase::new(&service.evaluator, all.to_vec(), &mut service.rng).unwrap();
    let keywords = database.keywords().clone();
    let keys = service.keys(keywords.layout().exponents());
    for (keyword, expected) in asked {
        let query = keywords.query(&service.context, &keyword, &service.secret, &mut service.rng).unwrap();
        let answer = database.answer(&service.evaluator, &query, &keys).unwrap();
        let value = keywords.read(&service.context, &keyword, &answer, &service.secret).unwrap();
        assert_eq!(value, expected, "{}", String::from_utf8_lossy(&keyword));
        assert!(database.answer(&service.evaluator, &query[1..], &keys).is_err());
        assert!(keywords.read(&service.context, &keyword, &answer[1..], &service.secret).is_err());
    }
}

#[test]
fn keywords_have_their_values_and_absent_ones_none() {
    let mut service = Service::new(8, 65_537);
    for count in [1, 2, 37] {
        let all = pairs(count);
        let present = all.iter().map(|(keyword, value)| (keyword.clone(), Some(value.clone())));
        let absent = ["", "keyword", "keyword 37", "keyword 00"].map(|keyword| (keyword.into(), None));
        check_keywords(&mut service, &all, present.chain(absent));
    }
}

#[test]
fn keywords_that_cannot_be_are_refused_by_name() {
    let mut service = Service::new(8, 65_537);
    let mut made = |pairs: Vec<Pair>| {
        KeywordDatabase::new(&service.evaluator, pairs, &mut service.rng).map(drop).unwrap_err().to_string()
    };
    assert!(made(Vec::new()).contains("the number of pairs: expected at least 1"));
    let twice = made(vec![(b"a".to_vec(), vec![1]), (b"b".to_vec(), vec![2]), (b"a".to_vec(), vec![3])]);
    assert!(twice.contains("expected different ones, got \"a\" twice"), "{twice}");
    let long = made(vec![(b"a".to_vec(), vec![1; (1 << 24) + 1])]);
    assert!(long.contains("2^24"), "{long}");
}
