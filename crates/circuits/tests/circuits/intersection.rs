//! Tests of private set intersection: every item found with its label, and no other, in sets of every shape; and what cannot be.

use std::collections::BTreeMap;

use rand_core::{Rng as _, SeedableRng};
use sunzi_bgv::{Context, Evaluator, Operations, Parameters};
use sunzi_circuits::intersection::{IntersectionError, LabelledSet, Layout, Token, parameters};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security};

type Rng = chacha20::ChaCha20Rng;

struct Sides {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    key: RelinearizationKey,
    rng: Rng,
}

impl Sides {
    fn new(parameters: &Parameters) -> Self {
        let context = Context::new(parameters).unwrap();
        let mut rng = Rng::seed_from_u64(11);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, key, rng }
    }

    /// A ring of 1024 bins, without security.
    fn small() -> Self {
        let last = Operations { additions: 162, rotations: 0, plain_products: 1 };
        let parameters = Parameters::builder().depth(2).plain_modulus(12_289).log2_degree(10);
        let parameters = parameters.security(Security::InsecureForResearchOnly).last_operations(last);
        Self::new(&parameters.build().unwrap())
    }

    fn tokens(&mut self, count: usize) -> Vec<Token> {
        let mut token = || {
            let mut bytes = [0; 64];
            self.rng.fill_bytes(&mut bytes);
            Token::new(bytes)
        };
        (0..count).map(|_| token()).collect()
    }

    /// Asks a set of so many items for the last `common` of them and `others` that it does not have.
    fn check(&mut self, items: usize, label_bytes: usize, [common, others]: [usize; 2]) -> Layout {
        let tokens = self.tokens(items + others);
        let label = |at: usize| (0..label_bytes).map(|byte| (at * 31 + byte * 7) as u8).collect::<Vec<u8>>();
        let own: Vec<_> =
            tokens.iter().take(items).cloned().enumerate().map(|(at, token)| (token, label(at))).collect();
        let set = LabelledSet::new(&self.evaluator, &own, &mut self.rng).unwrap();
        let (layout, asked) = (set.layout(), &tokens[items - common..]);
        let mut found = BTreeMap::new();
        for bins in layout.arrange(asked, &mut self.rng) {
            assert!(bins.len() <= layout.capacity() && !bins.is_empty());
            let query = layout.query(&self.context, &bins, asked, &self.secret, &mut self.rng).unwrap();
            let answer = set.answer(&self.evaluator, &query, &self.key).unwrap();
            let read = layout.read(&self.context, &bins, asked, &answer, &self.secret).unwrap();
            found.extend(read);
        }
        let expected: BTreeMap<_, _> = (0..common).map(|at| (at, label(items - common + at))).collect();
        assert!(found == expected, "{items} items, labels of {label_bytes}: {} of {common}", found.len());
        layout.clone()
    }
}

#[test]
fn sets_of_every_shape_have_their_items_and_labels_alone() {
    let mut sides = Sides::small();
    // Few items and many; one polynomial a bin and several; labels of none to many bytes; one query and several.
    for (items, label_bytes, asked) in [
        (1, 0, [1, 0]),
        (1, 5, [0, 1]),
        (2, 1, [2, 5]),
        (100, 16, [50, 50]),
        (3000, 3, [600, 900]),
        (60_000, 2, [100, 100]),
    ] {
        let layout = sides.check(items, label_bytes, asked);
        assert_eq!((layout.items(), layout.label_bytes()), (items as u64, label_bytes));
    }
}

#[test]
fn the_parameters_of_intersections_hold_large_sets() {
    let mut sides = Sides::new(&parameters().unwrap());
    let layout = sides.check(20_000, 8, [3000, 1000]);
    assert_eq!((layout.sources(), layout.parts()), (3, 1));
}

#[test]
#[ignore = "long: a set of 2^20 items takes 2 GB and half a minute"]
fn a_million_items_are_found() {
    let start = std::time::Instant::now();
    let mut sides = Sides::new(&parameters().unwrap());
    let layout = sides.check(1 << 20, 16, [3000, 2400]);
    println!(
        "{} powers, {} polynomials, {} ciphertexts, {:?}",
        layout.sources(),
        layout.parts(),
        layout.answers(),
        start.elapsed()
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let mut sides = Sides::small();
    let tokens = sides.tokens(3);
    let twice = [(tokens[0].clone(), vec![1]), (tokens[1].clone(), vec![2]), (tokens[0].clone(), vec![3])];
    let refused = LabelledSet::new(&sides.evaluator, &twice, &mut sides.rng).map(drop).unwrap_err();
    assert!(matches!(refused, IntersectionError::Twice { first: 0, second: 2 }), "{refused}");
    let refused = LabelledSet::new(&sides.evaluator, &[], &mut sides.rng).map(drop).unwrap_err();
    assert!(refused.to_string().contains("the number of items"), "{refused}");
    let long = [(tokens[0].clone(), vec![0; Layout::MOST_LABEL + 1])];
    let refused = LabelledSet::new(&sides.evaluator, &long, &mut sides.rng).map(drop).unwrap_err();
    assert!(refused.to_string().contains("the bytes of a label"), "{refused}");

    let set = LabelledSet::new(&sides.evaluator, &twice[..2], &mut sides.rng).unwrap();
    let layout = set.layout();
    let bins = layout.arrange(&tokens, &mut sides.rng).remove(0);
    let query = layout.query(&sides.context, &bins, &tokens, &sides.secret, &mut sides.rng).unwrap();
    let two = [query[0].clone(), query[0].clone()];
    assert!(set.answer(&sides.evaluator, &two, &sides.key).is_err());
    assert!(set.answer(&sides.evaluator, &[], &sides.key).is_err());
    let answer = set.answer(&sides.evaluator, &query, &sides.key).unwrap();
    assert!(layout.read(&sides.context, &bins, &tokens, &answer[1..], &sides.secret).is_err());
    let shallow = Parameters::builder().depth(1).plain_modulus(12_289).log2_degree(10);
    let shallow =
        Context::new(&shallow.security(Security::InsecureForResearchOnly).build().unwrap()).unwrap();
    let refused = Layout::new(&shallow, [0; 32], (1, 1), (1, 1)).unwrap_err();
    assert!(refused.to_string().contains("depth"), "{refused}");
    for (sources, parts) in [(0, 1), (8, 1), (1, 0), (1, Layout::MOST_PARTS + 1)] {
        assert!(Layout::new(&sides.context, [0; 32], (1, 1), (sources, parts)).is_err());
    }
    assert!(layout.query(&shallow, &bins, &tokens, &sides.secret, &mut sides.rng).is_err());
}
