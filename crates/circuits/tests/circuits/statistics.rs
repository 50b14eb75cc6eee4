//! Encrypted sums against plain ones, over shapes that exercise every branch of the layout.

use sunzi_bfv::{BatchEncoder, Context, Encoder, Evaluator, Parameters};
use sunzi_circuits::statistics::{
    EncryptedChunk, EncryptedSums, Input, Layout, Server, Shape, StatisticsError,
};
use sunzi_circuits::{CircuitError, EvaluationKeys, Rotation};
use sunzi_rlwe::{SecretKey, Security, randomness};

const DEGREE: usize = 64;
const T: u64 = 257;

struct Setup {
    context: Context,
    encoder: BatchEncoder,
    secret: SecretKey,
    keys: EvaluationKeys,
}

impl Setup {
    fn new() -> Self {
        let parameters = Parameters::builder()
            .depth(1)
            .plain_modulus(T)
            .log2_degree(DEGREE.ilog2())
            .additions(5)
            .rotations(5)
            .security(Security::InsecureForResearchOnly)
            .build()
            .unwrap();
        let context = Context::new(&parameters).unwrap();
        let mut rng = randomness::from_os().unwrap();
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
        let widest =
            Layout::new(Shape { columns: 1, groups: 1, longest_group: 1 }, DEGREE, DEGREE / 2).unwrap();
        let keys = EvaluationKeys::generate(rlwe, &secret, widest.required_rotations(), &mut rng).unwrap();
        let encoder = BatchEncoder::new(DEGREE, T).unwrap();
        Self { context, encoder, secret, keys }
    }

    fn encrypt(&self, layout: &Layout, chunk: usize, table: &Table) -> EncryptedChunk {
        let encrypt = |input| {
            let cell = |c, g, r| (r < table.rows[g]).then(|| Table::cell(c, g, r));
            let plaintext = self.encoder.encode(&layout.place(input, chunk, 1, cell)).unwrap();
            self.context
                .encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os().unwrap())
                .unwrap()
        };
        EncryptedChunk {
            packed: (0..layout.packed()).map(Input::Packed).map(encrypt).collect(),
            repeated: (0..layout.repeated()).map(Input::Repeated).map(encrypt).collect(),
        }
    }

    fn slots(&self, ciphertext: &sunzi_bfv::Ciphertext) -> Vec<u64> {
        self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret).unwrap()).unwrap()
    }
}

/// Cells are a fixed function of where they stand.
struct Table {
    columns: usize,
    rows: Vec<usize>,
}

impl Table {
    fn cell(column: usize, group: usize, row: usize) -> u64 {
        ((31 * column + 17 * group + 7 * row + column * row * row) % T as usize) as u64
    }

    fn shape(&self) -> Shape {
        let longest_group = *self.rows.iter().max().unwrap();
        Shape { columns: self.columns, groups: self.rows.len(), longest_group }
    }

    /// Σ f over a group modulo t.
    fn sum(&self, group: usize, f: impl Fn(usize) -> u64) -> u64 {
        (0..self.rows[group]).map(f).sum::<u64>() % T
    }

    fn total(&self, f: impl Fn(usize, usize) -> u64) -> u64 {
        (0..self.rows.len()).map(|group| self.sum(group, |row| f(group, row))).sum::<u64>() % T
    }
}

fn check(setup: &Setup, layout: &Layout, table: &Table, sums: &EncryptedSums) {
    let columns: Vec<_> =
        sums.columns.iter().map(|s| (setup.slots(&s.groups), setup.slots(&s.total))).collect();
    let products: Vec<_> =
        sums.products.iter().map(|s| (setup.slots(&s.groups), setup.slots(&s.total))).collect();
    for group in 0..table.rows.len() {
        let count = columns[layout.block(layout.ones())].0[layout.slot(layout.ones(), group)];
        assert_eq!(count, table.sum(group, |_| 1), "count of group {group}, {layout:?}");
        for x in 0..table.columns {
            let sum = columns[layout.block(x)].0[layout.slot(x, group)];
            assert_eq!(sum, table.sum(group, |row| Table::cell(x, group, row)), "sum of {x}, {layout:?}");
            for y in 0..table.columns {
                let (index, column) = layout.pair(x, y);
                let sum = products[index].0[layout.slot(column, group)];
                let plain = table.sum(group, |row| Table::cell(x, group, row) * Table::cell(y, group, row));
                assert_eq!(sum, plain, "{x}·{y}, {layout:?}");
            }
        }
    }
    for x in 0..table.columns {
        let sum = columns[layout.block(x)].1[layout.slot(x, 0)];
        assert_eq!(sum, table.total(|group, row| Table::cell(x, group, row)), "total of {x}, {layout:?}");
        for y in 0..=x {
            let (index, column) = layout.pair(x, y);
            let sum = products[index].1[layout.slot(column, 0)];
            assert_eq!(
                sum,
                table.total(|g, row| Table::cell(x, g, row) * Table::cell(y, g, row)),
                "{layout:?}"
            );
        }
    }
}

#[test]
fn encrypted_sums_equal_plain_ones_for_every_layout() {
    let setup = Setup::new();
    let evaluator = Evaluator::new(&setup.context);
    let tables = [(1, vec![1]), (1, vec![70]), (3, vec![9, 4]), (9, vec![3, 0, 5]), (4, vec![2; 17])];
    let mut layouts = 0;
    for (columns, rows) in tables {
        let table = Table { columns, rows };
        for segment in (0..6).map(|log| 1 << log) {
            let Ok(layout) = Layout::new(table.shape(), DEGREE, segment) else { continue };
            let steps = std::sync::atomic::AtomicUsize::new(0);
            let step = || {
                steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            };
            let mut server = Server::new(&evaluator, &setup.keys, &layout).unwrap();
            for chunk in 0..layout.chunks() {
                server.absorb(&setup.encrypt(&layout, chunk, &table), &step).unwrap();
            }
            let sums = server.finish(&step).unwrap();
            check(&setup, &layout, &table, &sums);
            assert_eq!(steps.into_inner(), layout.steps());
            layouts += 1;
        }
    }
    assert!(layouts > 15, "{layouts}");
}

#[test]
fn a_server_refuses_what_the_layout_does_not_ask_for() {
    let setup = Setup::new();
    let evaluator = Evaluator::new(&setup.context);
    let table = Table { columns: 3, rows: vec![9, 4] };
    let layout = Layout::new(table.shape(), DEGREE, 8).unwrap();
    let new = || Server::new(&evaluator, &setup.keys, &layout).unwrap();
    let quiet = || ();

    let mut chunk = setup.encrypt(&layout, 0, &table);
    chunk.repeated.pop();
    let error = new().absorb(&chunk, &quiet).unwrap_err();
    assert!(
        matches!(
            error,
            CircuitError::Statistics(StatisticsError::InputCount { what: "repeated", expected: 3, got: 2 })
        ),
        "{error}"
    );
    let error = new().finish(&quiet).err().unwrap();
    let none = matches!(error, CircuitError::Statistics(StatisticsError::ChunkCount { expected: 2, got: 0 }));
    assert!(none, "{error}");
    let mut server = new();
    for result in [true, true, false] {
        assert_eq!(server.absorb(&setup.encrypt(&layout, 0, &table), &quiet).is_ok(), result);
    }
    let other = Layout::new(table.shape(), 2 * DEGREE, 8).unwrap();
    let error = Server::new(&evaluator, &setup.keys, &other).err().unwrap();
    assert!(
        matches!(error, CircuitError::Statistics(StatisticsError::DegreeMismatch { expected: 128, got: 64 })),
        "{error}"
    );

    // Keys for shorter units than the layout's are found missing before any work.
    let mut rng = randomness::from_os().unwrap();
    let (rlwe, secret) = (setup.context.rlwe(), &setup.secret);
    let mut keys = EvaluationKeys::generate(rlwe, secret, [Rotation::Rows(1)], &mut rng).unwrap();
    let error = Server::new(&evaluator, &keys, &layout).err().unwrap();
    assert!(matches!(error, CircuitError::MissingRotation { rotation: Rotation::Rows(2) }), "{error}");
    keys.relinearization = None;
    let error = Server::new(&evaluator, &keys, &layout).err().unwrap();
    assert!(matches!(error, CircuitError::MissingRelinearizationKey), "{error}");
}
