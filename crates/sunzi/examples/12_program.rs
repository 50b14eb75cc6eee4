//! A computation as data: planned, run on encrypted columns by a server that cannot read them, finished by the key holder.
//!
//! `sunzi plan`, `keygen`, `encrypt`, `eval` and `decrypt` do the same in processes of their own, through files.
//!
//! `cargo run --release -p sunzi --example 12_program`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use sunzi::program::contexts::{Contexts, EncryptionKey, SecretKey};
use sunzi::program::results::{Description, ResultsReader, ResultsWriter};
use sunzi::program::run::{Cells, Input, Table, evaluate};
use sunzi::program::{Column, Opened, Options, Plan, Program, ProgramError, Schema};
use sunzi::rlwe::{PublicKey, randomness};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What is public: columns, ranges, labels, rows; and what is to be computed.
    let columns = vec![
        Column::integer("age", 0, 120),
        Column::decimal("cost", 2, 0, 10_000_000),
        Column::category("region", &["north", "south"]),
    ];
    let schema = Schema::new(6, columns)?;
    let program = Program::parse("mean(age); corr(age, cost); sum(cost) by region", &schema)?;
    let plan = Plan::new(&program, &Options::default())?;
    print!("{plan}");

    // The owner makes keys and encrypts.
    let contexts = Contexts::new(&plan.parameters)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng)?;
    let cells = vec![
        Cells::Units(vec![31, 45, 62, 29, 77, 50]),
        Cells::Units(vec![120_000, 185_050, 410_099, 99_000, 512_345, 230_010]),
        Cells::Labels(vec![0, 1, 1, 0, 1, 0]),
    ];
    let table = Table::new(&schema, cells)?;
    let codec = contexts.codec(&plan.layout)?;

    // The server asks for a chunk of a column at a time and writes what comes out.
    let input = |id, chunk| {
        let missing = || ProgramError::Invalid("a node reads no column".to_owned());
        let node = program.graph().node(id).ok_or_else(missing)?;
        let at = node.column().ok_or_else(missing)?;
        let (column, cells) =
            schema.columns.get(at).zip(table.chunk(at, &plan.layout, chunk)).ok_or_else(missing)?;
        let key = EncryptionKey::Public(&public);
        codec.encrypt(column, node.label(), &cells, key, &mut rng).map(Input::Encrypted)
    };
    let mut file = Vec::new();
    let mut writer = ResultsWriter::new(&contexts, secret.id(), Description::of(&plan)?, &mut file)?;
    let column = |_, _, answer| writer.put(&answer).map_err(ProgramError::scheme);
    for answer in evaluate(&plan, &codec, &keys, input, column)?.values() {
        writer.put(answer)?;
    }

    // The owner decrypts totals, and does what only the key holder can: divide.
    let mut reader = ResultsReader::open(&contexts, &file[..])?;
    let nothing = |_, _, _| Ok::<(), Box<dyn std::error::Error>>(());
    let totals = reader.decrypt(&codec, &secret, nothing)?;
    for (name, opened) in program.finish(|id| totals.get(&id).cloned()) {
        match opened {
            Opened::Number(Ok(estimate)) => println!("{name} = {}", estimate.number.to_f64()),
            Opened::Groups(groups) => {
                for (labels, estimate) in groups {
                    let value = estimate.map_or(f64::NAN, |estimate| estimate.number.to_f64());
                    println!("{name} [{}] = {value}", labels.join(", "));
                }
            }
            other => println!("{name}: {other:?}"),
        }
    }
    Ok(())
}
