//! Specimens of files of program results in every scheme.

use std::collections::BTreeMap;
use std::ops::Range;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{Contexts, EncryptionKey, PublicKey, SecretKey};
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{Answer, Cells, Clear, Opening};
use sunzi_program::{Column, Node, NodeId, Number, Program, ProgramError, Schema};
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Header, Kind, WireError};

use super::Specimen;
use super::specimens::{Failure, bfv_parameters, bgv_parameters, ckks_parameters};

/// Returns a file of results for each scheme; the one of BGV is of a table whose chunks are not full.
///
/// # Errors
/// No error is expected of making the files of results.
pub(super) fn results_specimens() -> Result<Vec<Specimen>, Failure> {
    let bfv = bfv_parameters()?;
    let several = CrtParameters::new(bfv.ring(), bfv.moduli().to_vec(), vec![257, 641], bfv.security());
    let bgv = Parameters::Bgv { parameters: bgv_parameters()?, plain_moduli: vec![257] };
    Ok(vec![
        specimen("bfv-results", &Parameters::Bfv(several), None)?,
        specimen("bgv-results", &bgv, Some(vec![9, 61]))?,
        specimen("ckks-results", &Parameters::Ckks(ckks_parameters()?), None)?,
    ])
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
    if contexts.scheme() != SchemeChoice::Ckks {
        return Ok(Opening::exact(program)?);
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
    let mut description = Description { program, layout, openings, filled: None };
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
