//! Encrypted tables as files: the bytes written are read again, part by part, and are not taken for anything else.

use std::io::Cursor;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_math::primes_with_bits;
use sunzi_program::analysis::Parameters;
use sunzi_program::contexts::{Encrypted, EncryptionKey, PublicKey, SecretKey};
use sunzi_program::run::{Cells, Table};
use sunzi_program::schema::{Origin, TimeUnit, Unit};
use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::wire::{Fault, Kind, WireError, checksum};
use sunzi_rlwe::{SecretDistribution, Security};
use sunzi_table::file::{Shape, TableFile, TableWriter};
use sunzi_table::{EncryptedTable as _, EncryptedWriter as _, Input, TableError, inputs};

const ROWS: usize = 150;
const SPAN: usize = 64;

/// Two plaintext moduli over one ring, its keys, and the file.
struct Case {
    contexts: Contexts,
    secret: SecretKey,
    public: PublicKey,
    bytes: Vec<u8>,
}

/// Contexts of BFV for plaintext moduli and a number of parties, over a small ring.
pub(crate) fn contexts(plain_moduli: &[u64], parties: u32) -> Contexts {
    let moduli = primes_with_bits(36, 128, 3).unwrap();
    let security = Security::InsecureForResearchOnly;
    let parameters = CrtParameters::new(6, moduli, plain_moduli.to_vec(), security);
    let parameters = parameters.with_secrets(SecretDistribution::of_parties(parties));
    Contexts::new(&Parameters::Bfv(parameters)).unwrap()
}

/// Columns of every kind, encrypted and in the clear.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::integer("age", 1, 90),
        Column::decimal("cost", 2, -500, 10_000).in_the_clear(),
        Column::category("region", &["north", "south", ""]),
        Column::category("sex", &["f", "m"]).in_the_clear(),
        Column::real("weight", -1.5, 2.5).in_the_clear(),
    ]
}

fn schema() -> Schema {
    let mut columns = columns();
    columns.push(
        Column::integer("day", 0, 20_000)
            .in_units(Unit { time: TimeUnit::Days, since: Origin::Epoch })
            .in_the_clear(),
    );
    Schema::new(ROWS as u64, columns).unwrap()
}

/// Returns `count` rows from `start` on.
fn rows(start: usize, count: usize) -> Table {
    let range = || start..start + count;
    let cells = vec![
        Cells::Units(range().map(|i| 1 + i as i64 % 90).collect()),
        Cells::Units(range().map(|i| 67 * i as i64 - 500).collect()),
        Cells::Labels(range().map(|i| i as u32 % 3).collect()),
        Cells::Labels(range().map(|i| i as u32 / 75).collect()),
        Cells::Reals(range().map(|i| i as f64 / 60.0 - 1.0).collect()),
        Cells::Units(range().map(|i| 19_000 + i as i64).collect()),
    ];
    Table::new(&Schema { rows: count as u64, ..schema() }, cells).unwrap()
}

impl Case {
    fn new() -> Self {
        let contexts = contexts(&[257, 641], 1);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let mut case = Self { contexts, secret, public, bytes: Vec::new() };
        case.bytes = case.write();
        case
    }

    fn encrypt(&self, chunk: &Table, input: &Input) -> Encrypted {
        let codec = self.contexts.codec(&self.contexts.layout(ROWS as u64)).unwrap();
        let (column, cells) = (&chunk.schema().columns[input.column], chunk.cells(input.column).unwrap());
        let mut rng = ChaCha20Rng::seed_from_u64(input.column as u64);
        codec.encrypt(column, input.label, cells, EncryptionKey::Public(&self.public), &mut rng).unwrap()
    }

    fn shape(&self) -> Shape {
        let first = self.encrypt(&rows(0, SPAN), &inputs(&schema())[0]);
        let len = self.contexts.to_bytes(&first).unwrap().len();
        Shape::new(&schema(), SPAN, len as u64).unwrap()
    }

    fn write(&self) -> Vec<u8> {
        let (shape, mut bytes) = (self.shape(), Vec::new());
        let mut writer =
            TableWriter::create(&self.contexts, shape.clone(), self.secret.id(), &mut bytes).unwrap();
        for chunk in 0..shape.layout().chunks {
            let table = rows(chunk * SPAN, shape.rows_of(chunk));
            writer.begin_chunk(&table).unwrap();
            shape.inputs().iter().for_each(|input| writer.put(&self.encrypt(&table, input)).unwrap());
        }
        Box::new(writer).finish().unwrap();
        bytes
    }

    fn file<'a>(&self, bytes: &'a [u8]) -> Result<TableFile<Cursor<&'a [u8]>>, TableError> {
        TableFile::open(Cursor::new(bytes), bytes.len() as u64)
    }

    fn open<'a>(&self, bytes: &'a [u8]) -> Result<TableFile<Cursor<&'a [u8]>>, TableError> {
        let mut file = self.file(bytes)?;
        file.check(&self.contexts).map(|_| file)
    }
}

#[test]
fn every_part_is_read_alone() {
    let case = Case::new();
    let mut file = case.file(&case.bytes).unwrap();
    assert_eq!(Kind::of(file.header().kind), Some(Kind::BfvTable));
    assert_eq!((file.shape(), file.key()), (&case.shape(), case.secret.id()));
    assert_eq!(*file.shape().schema(), schema());
    assert_eq!((file.shape().layout().chunks, file.shape().inputs().len()), (3, 4));
    assert_eq!(file.check(&case.contexts).unwrap(), 3 * 4 * 2);
    let codec = case.contexts.codec(&case.contexts.layout(ROWS as u64)).unwrap();
    for (chunk, input) in [(2, 3), (0, 0), (1, 2), (2, 0)] {
        let table = rows(chunk * SPAN, file.shape().rows_of(chunk));
        let clear = file.clear(chunk).unwrap();
        assert_eq!(clear.cells(0), Some(&Cells::Unknown));
        [1, 3, 4].iter().for_each(|&at| assert_eq!(clear.cells(at), table.cells(at)));
        let input = file.shape().inputs()[input];
        let encrypted = file.encrypted(&case.contexts, chunk, &input).unwrap();
        let column = &schema().columns[input.column];
        let slots = codec.decrypt(&encrypted, &case.secret).unwrap();
        let opened = codec.cells(column, input.label, &slots, file.shape().rows_of(chunk)).unwrap();
        let expected = match (table.cells(input.column).unwrap(), input.label) {
            (Cells::Labels(all), Some(label)) => {
                Cells::Units(all.iter().map(|&v| i64::from(v as usize == label)).collect())
            }
            (cells, _) => cells.clone(),
        };
        assert_eq!(opened, expected);
    }
    for (chunk, column, label) in
        [(3, 0, None), (0, 0, Some(0)), (0, 1, None), (0, 2, None), (0, 2, Some(3)), (0, 9, None)]
    {
        let refused = file.encrypted(&case.contexts, chunk, &Input { column, label });
        assert!(matches!(refused, Err(TableError::Mismatch { .. })), "{chunk} {column} {label:?}");
    }
    assert!(matches!(file.clear(3), Err(TableError::Mismatch { .. })));
}

#[test]
fn a_damaged_chunk_does_not_touch_the_others() {
    let case = Case::new();
    let mut bytes = case.bytes.clone();
    *bytes.last_mut().unwrap() ^= 1;
    let mut file = case.file(&bytes).unwrap();
    file.encrypted(&case.contexts, 2, &Input { column: 2, label: Some(1) }).unwrap();
    let refused = file.encrypted(&case.contexts, 2, &Input { column: 2, label: Some(2) });
    assert!(matches!(refused, Err(TableError::Wire(WireError::Checksum { .. }))));
}

#[test]
fn whatever_changed_is_noticed() {
    let case = Case::new();
    let fault = |bytes: &[u8]| match case.open(bytes).err().unwrap() {
        TableError::Wire(error) => error.fault(),
        other => panic!("{other}"),
    };
    for at in (0..case.bytes.len()).filter(|at| *at < 600 || at % 97 == 0) {
        let mut bytes = case.bytes.clone();
        bytes[at] ^= 1;
        let expected = if (8..10).contains(&at) { Fault::Mismatch } else { Fault::Damage };
        assert_eq!(fault(&bytes), expected, "{at}");
    }
    for cut in [0, 63, 64, 100, 300, case.bytes.len() - 1] {
        assert_eq!(fault(&case.bytes[..cut]), Fault::Damage, "{cut}");
    }
    assert_eq!(fault(&[&case.bytes[..], &[0]].concat()), Fault::Damage);
}

/// Checks that numbers with right checksums that no writer writes are refused.
#[test]
fn numbers_of_the_shape_are_checked() {
    let case = Case::new();
    let numbers = 64..64 + 40;
    for (word, values) in [
        (0, [0, ROWS as u64 + 1, (1 << 40) + 1, u64::MAX]),
        (1, [0, 63, 128, 1 << 21]),
        (2, [0, 1, u64::MAX, 1 << 62]),
        (3, [0, 5, 7, 1 << 60]),
        (4, [0, 1, 1 << 21, u64::MAX]),
    ] {
        for value in values {
            let mut bytes = case.bytes.clone();
            let at = 64 + 8 * word;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let sum = checksum(&bytes[numbers.clone()]);
            bytes[numbers.end..numbers.end + 8].copy_from_slice(&sum.to_le_bytes());
            assert!(
                matches!(case.open(&bytes), Err(TableError::Wire(_) | TableError::Program(_))),
                "{word} {value}"
            );
        }
    }
}

#[test]
fn other_parameters_keys_and_orders_are_refused() {
    let case = Case::new();
    let file = case.file(&case.bytes).unwrap();
    for other in [&[257][..], &[641], &[641, 257], &[257, 641, 769]] {
        let refused = file.belongs_to(&contexts(other, 1));
        assert!(matches!(refused, Err(TableError::Wire(WireError::Parameters { .. }))));
    }
    let range = sunzi_ckks::LevelRange { levels: 1, scale_bits: 36 };
    let security = Security::InsecureForResearchOnly;
    let ckks = sunzi_ckks::Parameters::from_ranges(6, 46, &[range], security).unwrap();
    let refused = file.belongs_to(&Contexts::new(&Parameters::Ckks(ckks)).unwrap());
    assert!(matches!(refused, Err(TableError::Wire(WireError::Kind { .. }))));
    // Another object in the place of a table.
    let ours = case.encrypt(&rows(0, SPAN), &Input { column: 0, label: None });
    let refused = case.file(&case.contexts.to_bytes(&ours).unwrap()).err().unwrap();
    assert!(matches!(refused, TableError::Wire(WireError::Kind { .. })));

    let create =
        || Box::new(TableWriter::create(&case.contexts, case.shape(), case.secret.id(), Vec::new()).unwrap());
    let mut writer = create();
    assert!(matches!(writer.put(&ours), Err(TableError::Mismatch { what: "inputs", .. })));
    assert!(matches!(writer.begin_chunk(&rows(0, SPAN - 1)), Err(TableError::Mismatch { .. })));
    writer.begin_chunk(&rows(0, SPAN)).unwrap();
    assert!(matches!(writer.begin_chunk(&rows(0, SPAN)), Err(TableError::Mismatch { .. })));
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let stranger = SecretKey::generate(case.contexts.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(case.contexts.rlwe(), &stranger, &mut rng).unwrap();
    let theirs = Case { public, ..Case::new() }.encrypt(&rows(0, SPAN), &Input { column: 0, label: None });
    assert!(matches!(writer.put(&theirs), Err(TableError::Mismatch { what: "key", .. })));
    let codec = case.contexts.codec(&case.contexts.layout(ROWS as u64)).unwrap();
    let cells = Cells::Units(vec![1; SPAN]);
    let seeded = codec
        .encrypt(&schema().columns[0], None, &cells, EncryptionKey::Secret(&case.secret), &mut rng)
        .unwrap();
    assert!(matches!(
        writer.put(&seeded),
        Err(TableError::Mismatch { what: "bytes of an encrypted chunk", .. })
    ));
    writer.put(&ours).unwrap();
    assert!(matches!(writer.finish(), Err(TableError::Mismatch { .. })));
    assert!(matches!(create().finish(), Err(TableError::Mismatch { .. })));
}
