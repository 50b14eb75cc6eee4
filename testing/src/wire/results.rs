//! Specimens of files of program results in every scheme.

use std::collections::BTreeMap;
use std::ops::Range;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_circuits::integers::IntegerParameters;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{Contexts, EncryptionKey, PublicKey, SecretKey};
use sunzi_program::packed::{Packer, Packing, evaluate};
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{Answer, Cells, Clear, Opening, Table};
use sunzi_program::{Column, Node, NodeId, Number, Opened, Plan, Program, ProgramError, Schema};
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Header, Kind, WireError};

use super::Specimen;
use super::specimens::{Failure, bfv_parameters, bgv_parameters, ckks_parameters};

/// Returns a file of results for each scheme, the one of BGV of a table whose chunks are not full; and one of a packed run for each exact scheme.
///
/// # Errors
/// No error is expected of making the files of results.
pub(super) fn results_specimens() -> Result<Vec<Specimen>, Failure> {
    let (bfv, bgv) = (parameters(SchemeChoice::Bfv)?, parameters(SchemeChoice::Bgv)?);
    Ok(vec![
        specimen("bfv-results", &bfv, None)?,
        specimen("bgv-results", &bgv, Some(vec![9, 61]))?,
        specimen("ckks-results", &parameters(SchemeChoice::Ckks)?, None)?,
        specimen("integer-results", &parameters(SchemeChoice::Integers)?, None)?,
        packed_specimen("bfv-packed-results", &bfv)?,
        packed_specimen("bgv-packed-results", &bgv)?,
    ])
}

/// Returns the encryption parameters of results in a scheme.
fn parameters(scheme: SchemeChoice) -> Result<Parameters, Failure> {
    Ok(match scheme {
        SchemeChoice::Bfv => {
            let bfv = bfv_parameters()?;
            let moduli = bfv.moduli().to_vec();
            Parameters::Bfv(CrtParameters::new(bfv.ring(), moduli, vec![257, 641], bfv.security()))
        }
        SchemeChoice::Bgv => Parameters::Bgv { parameters: bgv_parameters()?, plain_moduli: vec![257] },
        SchemeChoice::Ckks => Parameters::Ckks(ckks_parameters()?),
        SchemeChoice::Integers => Parameters::Integers(IntegerParameters::insecure(9)?),
    })
}

const ROWS: usize = 70;

/// Returns a program of sums, groups, a column that is encrypted and one that is not.
fn program() -> Result<Program, Failure> {
    let columns = vec![
        Column::integer("count", 0, 100),
        Column::decimal("age", 1, -50, 900).in_the_clear(),
        Column::category("sex", &["f", "m"]).in_the_clear(),
    ];
    let schema = Schema::new(ROWS as u64, columns)?;
    Ok(Program::parse("mean(count); sum(age) by sex; count; n = age", &schema)?)
}

/// Returns an answer in place of a run's: numbers of encrypted nodes and of clear ones. Nodes are identified
/// by what they read.
fn answer(
    contexts: &Contexts,
    description: &Description,
    public: &PublicKey,
    (id, chunk): (NodeId, Option<usize>),
    rng: &mut ChaCha20Rng,
) -> Result<Answer, Failure> {
    let real = matches!(description.openings.get(&id), Some(Opening::Real { .. }));
    let span = description.layout.span;
    let graph = description.program.graph();
    if graph.node(id).and_then(Node::column) == Some(0) {
        let codec = contexts.codec(&description.layout)?;
        let cells = Cells::Units((0..span as i64).map(|i| i % 90).collect());
        let key = EncryptionKey::Public(public);
        let encrypted = codec.encrypt(&Column::integer("x", 0, 100), None, &cells, key, rng)?;
        return Ok(Answer::Encrypted(encrypted));
    }
    Ok(match (chunk, real) {
        (Some(_), false) => Answer::ClearColumn(Clear::Units((0..span as i128).collect())),
        (Some(_), true) => Answer::ClearColumn(Clear::Reals((0..span).map(|i| i as f64 / 4.0).collect())),
        (None, false) => Answer::Clear(Number::scaled(12_345.into(), 1)),
        (None, true) => Answer::Clear(Number::Real(0.1)),
    })
}

fn openings(program: &Program, contexts: &Contexts) -> Result<BTreeMap<NodeId, Opening>, Failure> {
    match contexts.scheme() {
        SchemeChoice::Ckks => {}
        SchemeChoice::Integers => return Ok(Opening::digits(program)?),
        SchemeChoice::Bfv | SchemeChoice::Bgv => return Ok(Opening::exact(program)?),
    }
    let out = program.totals().into_iter().chain(program.columns());
    Ok(out.map(|id| (id, Opening::Real { exponent: 7, padding: 0.0, error: 1e-6 })).collect())
}

fn specimen(name: &str, parameters: &Parameters, filled: Option<Vec<usize>>) -> Result<Specimen, Failure> {
    let contexts = Contexts::new(parameters)?;
    let mut rng = ChaCha20Rng::seed_from_u64(51);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let program = program()?;
    let layout = contexts.layout(ROWS as u64);
    let openings = openings(&program, &contexts)?;
    let mut description = Description { program, layout, openings, filled: None, packed: None };
    if let Some(filled) = filled {
        description = description.with_filled(filled)?;
    }
    let mut bytes = Vec::new();
    let mut writer = ResultsWriter::new(&contexts, secret.id(), description.clone(), &mut bytes)?;
    let chunks = 0..layout.chunks;
    let columns =
        chunks.flat_map(|chunk| description.program.columns().into_iter().map(move |id| (id, Some(chunk))));
    let totals = description.program.totals().into_iter().map(|id| (id, None));
    for place in columns.chain(totals) {
        writer.put(&answer(&contexts, &description, &public, place, &mut rng)?)?;
    }
    finished(name, contexts, secret, bytes)
}

/// Number of rows of the packed table.
const PACKED_ROWS: usize = 30;

/// Returns the plan of a packed run: a sum of products, sums by group, and a count.
fn packed_plan(parameters: &Parameters) -> Result<Plan, Failure> {
    let columns = vec![
        Column::integer("a", 0, 2),
        Column::integer("b", 0, 1),
        Column::category("region", &["north", "south"]),
    ];
    let schema = Schema::new(PACKED_ROWS as u64, columns)?;
    let program = Program::parse("sum(a * b); sum(a) by region; count(region == \"south\")", &schema)?;
    Ok(Plan::within_packed(&program, parameters, &Packing::default())?)
}

/// Returns the secret key of packed results, and a generator for the other keys.
fn packed_key(contexts: &Contexts) -> Result<(SecretKey, ChaCha20Rng), Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(52);
    Ok((SecretKey::generate(contexts.rlwe(), &mut rng)?, rng))
}

/// Packs, encrypts and computes a table of 12 rows in the north and 18 in the south, where a is i modulo 3 and b is i modulo 2 in row i.
fn packed_specimen(name: &str, parameters: &Parameters) -> Result<Specimen, Failure> {
    let (contexts, plan) = (Contexts::new(parameters)?, packed_plan(parameters)?);
    let (secret, mut rng) = packed_key(&contexts)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng)?;
    let units = |modulus: i64| Cells::Units((0..PACKED_ROWS as i64).map(|i| i % modulus).collect());
    let regions = Cells::Labels((0..PACKED_ROWS).map(|i| u32::from(i >= 12)).collect());
    let table = Table::new(plan.program.schema(), vec![units(3), units(2), regions])?;
    let codec = contexts.codec(&plan.layout)?;
    let packer = Packer::new(&plan, &codec, &table)?;
    let encrypt = |chunk| {
        let inputs = packer.layout().inputs();
        inputs.map(|input| packer.encrypt(chunk, input, EncryptionKey::Public(&public))).collect()
    };
    let sums = evaluate(&plan, &contexts, &keys, encrypt, &|| {})?;
    let mut bytes = Vec::new();
    let mut writer = ResultsWriter::new(&contexts, secret.id(), Description::of(&plan)?, &mut bytes)?;
    sums.results.into_iter().try_for_each(|sum| writer.put(&Answer::Encrypted(sum)))?;
    finished(name, contexts, secret, bytes)
}

/// Decrypts the results of a packed run in an exact scheme, and returns the program's numbers in their order.
///
/// # Errors
/// Every error of reading, decrypting and planning; no error is expected for files of packed results.
pub fn packed_numbers(scheme: SchemeChoice, bytes: &[u8]) -> Result<Vec<f64>, Failure> {
    let parameters = parameters(scheme)?;
    let (contexts, plan) = (Contexts::new(&parameters)?, packed_plan(&parameters)?);
    let mut reader = ResultsReader::open(&contexts, bytes)?;
    let nothing = |_, _, _| Ok::<(), Failure>(());
    let totals = reader.decrypt(&contexts.codec(&plan.layout)?, &packed_key(&contexts)?.0, nothing)?;
    let mut numbers = Vec::new();
    for (_, opened) in reader.description().program.finish(|id| totals.get(&id).cloned()) {
        match opened {
            Opened::Number(number) => numbers.push(number),
            Opened::Groups(groups) => numbers.extend(groups.into_iter().map(|(_, number)| number)),
            Opened::Column(_) => return Err("a packed run has no columns".into()),
        }
    }
    numbers.into_iter().map(|number| Ok(number?.number.to_f64())).collect()
}

/// Makes the specimen of a file of results, which `secret` opens.
fn finished(name: &str, contexts: Contexts, secret: SecretKey, bytes: Vec<u8>) -> Result<Specimen, Failure> {
    let records = records(&bytes)?;
    let (reader, runner) = (contexts.clone(), contexts);
    Ok(Specimen {
        name: name.to_owned(),
        kind: Kind::Results,
        bytes,
        records,
        read: Box::new(move |bytes| rewritten(&reader, bytes)),
        run: Box::new(move |bytes| open_all(&runner, &secret, bytes)),
    })
}

/// Returns the byte ranges of the records of a file of results: of each object its header, which is followed
/// by its checksum like any record, and the body of texts. The first header is left out.
fn records(bytes: &[u8]) -> Result<Vec<Range<usize>>, Failure> {
    let (mut records, mut start) = (Vec::new(), 0);
    while start < bytes.len() {
        let header = Header::read(&mut bytes.get(start..).unwrap_or_default())?;
        let end = start + HEADER_LEN + header.body_len as usize;
        if start > 0 {
            records.push(start..start + HEADER_LEN - CHECKSUM_LEN);
        }
        if header.kind == Kind::Results as u16 {
            records.push(start + HEADER_LEN..end - CHECKSUM_LEN);
        }
        start = end;
    }
    Ok(records)
}

fn rewritten(contexts: &Contexts, bytes: &[u8]) -> Result<Vec<u8>, WireError> {
    let mut reader = ResultsReader::open(contexts, bytes)?;
    let mut out = Vec::new();
    let mut writer = ResultsWriter::new(contexts, reader.key(), reader.description().clone(), &mut out)?;
    while let Some((_, _, answer)) = reader.next_answer()? {
        writer.put(&answer)?;
    }
    Ok(out)
}

/// Decrypts all results of a file and finishes the formulas, ignoring what they are.
fn open_all(contexts: &Contexts, secret: &SecretKey, bytes: &[u8]) -> Result<(), WireError> {
    rewritten(contexts, bytes)?;
    let mut reader = ResultsReader::open(contexts, bytes)?;
    let description = reader.description().clone();
    let Ok(codec) = contexts.codec(&description.layout) else { return Ok(()) };
    let nothing = |_, _, _| Ok::<(), Stopped>(());
    if let Ok(totals) = reader.decrypt(&codec, secret, nothing) {
        drop(description.program.finish(|id| totals.get(&id).cloned()));
    }
    Ok(())
}

/// Error that ends the decryption of results.
struct Stopped;

impl From<WireError> for Stopped {
    fn from(_: WireError) -> Self {
        Self
    }
}

impl From<ProgramError> for Stopped {
    fn from(_: ProgramError) -> Self {
        Self
    }
}
