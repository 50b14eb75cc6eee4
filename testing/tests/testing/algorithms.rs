//! Every circuit of `sunzi-circuits` under encryption, against the same circuit over clear vectors.

use sunzi_big::BigRing;
use sunzi_circuits::inner_product::{Laziness, inner_product, inner_product_of_slots};
use sunzi_circuits::matrix_vector::{self, Matrix, pack};
use sunzi_circuits::polynomial::{self, Coefficient, Method, Polynomial};
use sunzi_circuits::statistics::{EncryptedChunk, EncryptedSums, Input, Layout, Server, Shape};
use sunzi_circuits::{Arithmetic, Clear, ClearError, ClearKeys, Outcome, product_tree};
use sunzi_math::primes_below;
use sunzi_ring::{Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::storage::stored;
use sunzi_testing::{Operation, Party, Report, Scheme};

const DEGREE: usize = 64;
const T: u64 = 65537;
const METHODS: [Method; 3] = [Method::PowerBasis, Method::PatersonStockmeyer, Method::Automatic];
const LAZINESS: [Laziness; 3] = [Laziness::RelinearizeEach, Laziness::RelinearizeOnce, Laziness::ScaleOnce];

/// Function that makes a value of slots.
type Make<'a, T, E> = Box<dyn Fn(&[u64]) -> Result<T, E> + 'a>;

/// One side of the comparison: arithmetic, keys, and how slots enter.
struct World<'a, A: Arithmetic> {
    arithmetic: &'a A,
    keys: &'a A::Keys,
    encrypt: Make<'a, A::Ciphertext, A::Error>,
    encode: Make<'a, A::Plaintext, A::Error>,
}

/// Results with their names.
type Named<A> = Vec<(String, <A as Arithmetic>::Ciphertext)>;

/// Returns numbers modulo t that differ from slot to slot and from seed to seed.
fn slots(seed: u64) -> Vec<u64> {
    (0..DEGREE as u64).map(|i| (i * i * 7919 + seed * 104_729 + (i << seed)) % T).collect()
}

fn entry(i: usize, j: usize) -> u64 {
    (i * 1000 + j * j + 1) as u64 % T
}

impl<A: Arithmetic> World<'_, A> {
    fn list(&self, from: u64, count: u64) -> Vec<A::Ciphertext> {
        (from..from + count).map(|seed| (self.encrypt)(&slots(seed)).unwrap()).collect()
    }

    /// Adds results of deep products.
    fn products(&self, results: &mut Named<A>) -> Outcome<A, ()> {
        for count in [1, 2, 5, 8] {
            let product = product_tree::product(self.arithmetic, &self.list(1, count), self.keys)?;
            results.push((format!("product of {count}"), product));
        }
        // Dependent factors.
        let x = (self.encrypt)(&slots(3)).unwrap();
        let cube = product_tree::product(self.arithmetic, &[x.clone(), x.clone(), x], self.keys)?;
        results.push(("cube".to_owned(), cube));
        Ok(())
    }

    fn polynomials(&self, results: &mut Named<A>) -> Outcome<A, ()> {
        let x = (self.encrypt)(&slots(1)).unwrap();
        let dense: Vec<i64> = (0..9).map(|i| 3 * i - 11).collect();
        for (name, coefficients) in [
            ("zero", vec![]),
            ("constant", vec![-5]),
            ("linear", vec![4, -3]),
            ("dense", dense),
            ("sparse", vec![0, 0, 0, 2, 0, 0, 0, 0, 1]),
        ] {
            for method in METHODS {
                let polynomial = Polynomial::constants(&coefficients);
                let value = polynomial::evaluate(self.arithmetic, &polynomial, &x, method, self.keys)?;
                results.push((format!("{name} polynomial, {method:?}"), value));
            }
        }
        let own = |seed| Coefficient::Slots((self.encode)(&slots(seed)).unwrap());
        let polynomial = Polynomial::new(vec![own(4), own(5), Coefficient::Constant(7), own(6)]);
        let value = polynomial::evaluate(self.arithmetic, &polynomial, &x, Method::Automatic, self.keys)?;
        results.push(("polynomials of slots".to_owned(), value));
        Ok(())
    }

    fn inner_products(&self, results: &mut Named<A>) -> Outcome<A, ()> {
        let x = self.list(1, 6);
        for laziness in LAZINESS {
            // Each ciphertext occurs on both sides.
            let y: Vec<_> = x.iter().rev().cloned().collect();
            let sum = inner_product(self.arithmetic, &x, &y, laziness, self.keys)?;
            results.push((format!("inner product, {laziness:?}"), sum));
        }
        let [a, b, ..] = x.as_slice() else { return Ok(()) };
        for length in [1, 4, DEGREE / 2, DEGREE] {
            let sum = inner_product_of_slots(self.arithmetic, a, b, length, self.keys)?;
            results.push((format!("inner product of {length} slots"), sum));
        }
        Ok(())
    }

    fn matrices(&self, results: &mut Named<A>) -> Outcome<A, ()> {
        let row = self.arithmetic.row_length();
        for (rows, columns) in [(1, 1), (7, 7), (32, 32), (3, 20), (20, 3)] {
            let (first, second) = (slots(1), slots(2));
            let vector = pack(columns, row, &first[..columns], &second[..columns]);
            let vector = (self.encrypt)(&vector).unwrap();
            let encode = |slots: &[u64]| (self.encode)(slots);
            let matrix = Matrix::encode(self.arithmetic, rows, columns, entry, encode)?;
            let product = matrix_vector::multiply(self.arithmetic, &matrix, &vector, self.keys)?;
            results.push((format!("{rows} x {columns}"), product));
            let encrypt = |slots: &[u64]| (self.encrypt)(slots);
            let matrix = Matrix::encrypt(self.arithmetic, rows, columns, entry, encrypt)?;
            let product = matrix_vector::multiply_encrypted(self.arithmetic, &matrix, &vector, self.keys)?;
            results.push((format!("encrypted {rows} x {columns}"), product));
        }
        Ok(())
    }

    /// Adds sums by group over several chunks.
    fn statistics(&self, results: &mut Named<A>) -> Outcome<A, ()> {
        let shape = Shape { columns: 3, groups: 2, longest_group: 9 };
        let layout = Layout::new(shape, DEGREE, 4)?;
        let mut server = Server::new(self.arithmetic, self.keys, &layout)?;
        for chunk in 0..layout.chunks() {
            let encrypt = |input| {
                let cell = |c: usize, g: usize, r: usize| (r + g < 9).then_some(entry(c, g + 3 * r));
                (self.encrypt)(&layout.place(input, chunk, 1, cell)).unwrap()
            };
            let packed = (0..layout.packed()).map(Input::Packed).map(encrypt).collect();
            let repeated = (0..layout.repeated()).map(Input::Repeated).map(encrypt).collect();
            server.absorb(&EncryptedChunk { packed, repeated }, &|| ())?;
        }
        let EncryptedSums { columns, products } = server.finish(&|| ())?;
        for sum in columns.into_iter().chain(products) {
            results.push(("sum by group".to_owned(), sum.groups));
            results.push(("sum over groups".to_owned(), sum.total));
        }
        Ok(())
    }

    fn run(&self) -> Outcome<A, Named<A>> {
        let mut results = Vec::new();
        self.products(&mut results)?;
        self.polynomials(&mut results)?;
        self.inner_products(&mut results)?;
        self.matrices(&mut results)?;
        self.statistics(&mut results)?;
        Ok(results)
    }
}

fn oracle<'a>(clear: &'a Clear, keys: &'a ClearKeys) -> World<'a, Clear> {
    World {
        arithmetic: clear,
        keys,
        encrypt: Box::new(|slots| Ok::<_, ClearError>(clear.encrypt(slots))),
        encode: Box::new(|slots| Ok(clear.encode(slots))),
    }
}

/// Runs all circuits clear and encrypted; returns the encrypted results.
fn check<S: Scheme>(party: &Party<S>) -> Named<S::Evaluator> {
    let world = World {
        arithmetic: &party.evaluator,
        keys: &party.keys,
        encrypt: Box::new(|slots| party.encrypt(slots, slots[5] ^ 9)),
        encode: Box::new(|slots| party.encode(slots)),
    };
    let expected = oracle(&Clear::new(DEGREE / 2, T), &ClearKeys::all()).run().unwrap();
    let results = world.run().unwrap();
    assert_eq!(expected.len(), results.len());
    for ((name, expected), (_, result)) in expected.iter().zip(&results) {
        assert_eq!(party.decrypt(result).unwrap(), expected.slots(), "{name}");
        let mut report = Report::default();
        party.judge(&Operation::Input(0), result, expected.slots(), &mut report).unwrap();
        let noisy = !report.above_worst.is_empty() || !report.above_deviation.is_empty();
        assert!(!noisy, "{name}: noise above its bounds, {report:?}");
    }
    results
}

fn bfv(ring: Ring) -> Party<sunzi_bfv::Context> {
    let context = sunzi_bfv::Context::with_ring(ring, T, Security::InsecureForResearchOnly).unwrap();
    Party::new(context, 1).unwrap()
}

#[test]
fn circuits_agree_with_clear_vectors_under_bfv() {
    let moduli = primes_below(sunzi_math::DEFAULT_PRIME_BOUND, 2 * DEGREE as u64, 5).unwrap();
    let ring = Ring::new(2 * DEGREE as u64, &moduli).unwrap();
    let party = bfv(ring.clone());
    let results = check(&party);
    let bits = |name: &str| {
        let (_, result) = results.iter().find(|(other, _)| other == name).unwrap();
        party.context.bits_left(result)
    };
    // Fewer roundings and key switches leave more bits.
    let [each, once, lazy] = LAZINESS.map(|laziness| bits(&format!("inner product, {laziness:?}")));
    assert!(each < once && once <= lazy, "{each} {once} {lazy}");
    check(&bfv(stored(BigRing::new(2 * DEGREE as u64, ring.modulus()).unwrap(), Storage::Big)));
}

#[test]
fn circuits_agree_with_clear_vectors_under_bgv() {
    // A dry run determines the operations to declare.
    let clear = Clear::new(DEGREE / 2, T);
    let results = oracle(&clear, &ClearKeys::all()).run().unwrap();
    let depth = results.iter().map(|(_, result)| result.depth()).max().unwrap();
    let parameters = sunzi_bgv::Parameters::builder()
        .depth(depth)
        .plain_modulus(T)
        .log2_degree(DEGREE.ilog2())
        .budget(clear.counts().budget)
        .security(Security::InsecureForResearchOnly)
        .build()
        .unwrap();
    let party = Party::new(sunzi_bgv::Context::new(&parameters).unwrap(), 1).unwrap();
    check(&party);
}
