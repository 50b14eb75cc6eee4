//! Tests of files of results with extreme and false values.

use std::sync::Arc;

use crate::timed::within;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_bigint::BigInt;
use num_rational::Ratio;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::contexts::EncryptionKey;
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{Answer, Cells, Clear, Estimate, Opening};
use sunzi_program::{Column, Contexts, Number, Options, Plan, Program, ProgramError, Schema};
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, WireError, checksum};
use sunzi_rlwe::{SecretKey, Security};

#[derive(Debug)]
enum Failed {
    Wire,
    Program,
}

impl From<WireError> for Failed {
    fn from(_: WireError) -> Self {
        Self::Wire
    }
}

impl From<ProgramError> for Failed {
    fn from(_: ProgramError) -> Self {
        Self::Program
    }
}

/// Exact numbers are opened with the decimals and padding of the program, since the key holder computes 10^decimals
/// and subtracts padding.
#[test]
fn exact_results_are_read_as_the_program_says() {
    let age = Column::integer("age", 0, 9);
    let schema = Schema::new(3, vec![age.clone()]).unwrap();
    let (security, log2_degree) = (Security::InsecureForResearchOnly, Some(6));
    let options = Options { scheme: Some(SchemeChoice::Bfv), security, log2_degree, ..Options::default() };
    let plan = Plan::new(&Program::parse("sum(age)", &schema).unwrap(), &options).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let cells = Cells::Units(vec![7, 7, 7]);
    let chunk = codec.encrypt(&age, None, &cells, EncryptionKey::Secret(&secret), &mut rng).unwrap();
    for (digits, units, fits) in [(0, 0, true), (1, 0, false), (u32::MAX, 0, false), (0, 1, false)] {
        let mut description = Description::of(&plan).unwrap();
        for opening in description.openings.values_mut() {
            let Opening::Exact { decimals, padding } = opening else { panic!("BFV was asked for") };
            (*decimals, *padding) = (digits, units);
        }
        let mut file = Vec::new();
        let mut writer = ResultsWriter::new(&contexts, secret.id(), description, &mut file).unwrap();
        writer.put(&Answer::Encrypted(chunk.clone())).unwrap();
        let reader = ResultsReader::open(&contexts, file.as_slice());
        assert_eq!(reader.is_ok(), fits, "{digits} digits, padding {units}");
        let Ok(mut reader) = reader else { continue };
        let totals = reader.decrypt::<Failed>(&codec, &secret, |_, _, _| Ok(())).unwrap();
        assert_eq!(totals.values().next().unwrap().number.to_f64(), 7.0);
    }
}

/// Reads a file of results to its end and finishes the formulas, as a key holder does, and returns whether that
/// succeeded; fails where it takes too long.
fn opened(contexts: &Contexts, secret: &Arc<SecretKey>, file: Vec<u8>) -> bool {
    let (contexts, secret, bytes) = (contexts.clone(), Arc::clone(secret), file.len());
    let open = move || {
        let mut reader = ResultsReader::open(&contexts, file.as_slice()).map_err(|_| Failed::Wire)?;
        let description = reader.description().clone();
        let codec = contexts.codec(&description.layout).map_err(|_| Failed::Program)?;
        let totals = reader.decrypt::<Failed>(&codec, &secret, |_, _, _| Ok(()))?;
        Ok::<_, Failed>(description.program.finish(|id| totals.get(&id).cloned()).len())
    };
    within("a file", bytes, move || open().is_ok())
}

fn small(scheme: SchemeChoice, program: &Program) -> (Plan, Contexts, Arc<SecretKey>) {
    let (security, log2_degree) = (Security::InsecureForResearchOnly, Some(6));
    let options = Options { scheme: Some(scheme), security, log2_degree, ..Options::default() };
    let plan = Plan::new(program, &options).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let secret = SecretKey::generate(contexts.rlwe(), &mut ChaCha20Rng::seed_from_u64(5)).unwrap();
    (plan, contexts, Arc::new(secret))
}

/// Makes a file of results with given answers.
fn file(contexts: &Contexts, secret: &SecretKey, description: Description, answers: &[Answer]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = ResultsWriter::new(contexts, secret.id(), description, &mut file).unwrap();
    answers.iter().for_each(|answer| writer.put(answer).unwrap());
    file
}

/// Returns a program whose only formula is multiplied by itself, `levels` times.
fn powers(program: &Program, levels: usize) -> Program {
    let mut text = serde_json::to_value(program).unwrap();
    let mut formula = text["outputs"][0]["value"]["number"].clone();
    (0..levels).for_each(|_| formula = serde_json::json!({ "multiply": [formula, formula] }));
    text["outputs"][0]["value"]["number"] = formula;
    serde_json::from_value(text).unwrap()
}

/// A file of 42 KB on which `sunzi decrypt` once did not end: a fraction of 20 000 digits, and a formula that
/// multiplies it by itself 2^7 times.
#[test]
fn fractions_of_a_server_have_no_more_digits_than_the_schema_allows() {
    let clear = Schema::new(3, vec![Column::integer("age", 0, 9).in_the_clear()]).unwrap();
    let program = Program::parse("sum(age)", &clear).unwrap();
    let (plan, contexts, secret) = small(SchemeChoice::Bfv, &program);
    let total = |numerator: BigInt, denominator: BigInt| {
        Answer::Clear(Number::Exact(Ratio::new(numerator, denominator)))
    };
    let of = |program: &Program, answer| {
        let description = Description { program: program.clone(), ..Description::of(&plan).unwrap() };
        file(&contexts, &secret, description, &[answer])
    };
    for (numerator, fits) in [(0, true), (27, true), (-27, true), (28, false), (i64::MAX, false)] {
        let file = of(&program, total(numerator.into(), 1.into()));
        assert_eq!(opened(&contexts, &secret, file), fits, "{numerator}");
    }
    assert!(!opened(&contexts, &secret, of(&program, total(1.into(), 2.into()))), "halves of integers");
    let long = |digit: u32| BigInt::from(10).pow(20_000) + digit;
    let crafted = of(&powers(&program, 7), total(long(1), long(3)));
    assert!((40_000..50_000).contains(&crafted.len()), "{}", crafted.len());
    assert!(!opened(&contexts, &secret, crafted));
    // The longest that there was room for.
    let mut text = vec![b'7'; 4 << 20];
    text[1 << 21] = b'/';
    let crafted = replaced(of(&program, total(7.into(), 1.into())), text);
    assert!(!opened(&contexts, &secret, crafted));
}

/// Returns a file of results with another text for its last total, a 7.
fn replaced(mut file: Vec<u8>, digits: Vec<u8>) -> Vec<u8> {
    let body = [br#"{"fraction":""#.to_vec(), digits, br#""}"#.to_vec()].concat();
    let old = br#"{"fraction":"7"}"#.len() + CHECKSUM_LEN;
    let start = file.len() - old - HEADER_LEN;
    let mut header = file[start..start + HEADER_LEN].to_vec();
    header[48..56].copy_from_slice(&((body.len() + CHECKSUM_LEN) as u64).to_le_bytes());
    let sum = checksum(&header[..56]).to_le_bytes();
    header[56..].copy_from_slice(&sum);
    file.truncate(start);
    [file, header, body.clone(), checksum(&body).to_le_bytes().to_vec()].concat()
}

/// A server may write formulas of any length: their numbers stay short.
#[test]
fn formulas_take_no_longer_than_their_text() {
    let clear =
        Schema::new(1 << 30, vec![Column::decimal("age", 15, 0, (1 << 52) + 1).in_the_clear()]).unwrap();
    let program = Program::parse("sum(age) * 1.234567890123456789", &clear).unwrap();
    let (plan, contexts, secret) = small(SchemeChoice::Bfv, &program);
    let total = Number::scaled(((1_i64 << 52) + 1).into(), 15);
    for levels in [4, 10, 13] {
        let program = powers(&program, levels);
        let description = Description { program, ..Description::of(&plan).unwrap() };
        let crafted = file(&contexts, &secret, description, &[Answer::Clear(total.clone())]);
        assert!(opened(&contexts, &secret, crafted), "{levels}");
    }
}

/// Errors that a server states are compared with those of the plan.
#[test]
fn results_are_compared_with_a_plan() {
    let schema = Schema::new(3, vec![Column::real("x", -1.0, 1.0)]).unwrap();
    let program = Program::parse("sum(tanh(x))", &schema).unwrap();
    let (plan, ..) = small(SchemeChoice::Ckks, &program);
    let own = Description::of(&plan).unwrap();
    own.check_plan(&plan).unwrap();
    let changed = |by: f64| {
        let mut description = own.clone();
        for opening in description.openings.values_mut() {
            let Opening::Real { error, .. } = opening else { panic!("CKKS was asked for") };
            *error *= by;
        }
        description
    };
    changed(1.0 + 1e-9).check_plan(&plan).unwrap();
    assert!(changed(0.5).check_plan(&plan).is_err());
    assert!(changed(2.0).check_plan(&plan).is_err());
    let other = Program::parse("sum(x)", &schema).unwrap();
    assert!(Description { program: other, ..own.clone() }.check_plan(&plan).is_err());
    assert!(Description { openings: Default::default(), ..own }.check_plan(&plan).is_err());
}

/// A server may know sums of clear columns, and no other output.
#[test]
fn what_is_encrypted_does_not_come_in_the_clear() {
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let columns = vec![Column::integer("age", 0, 9), Column::decimal("paid", 2, 0, 900).in_the_clear()];
        let schema = Schema::new(3, columns).unwrap();
        for (text, known) in [("sum(age)", false), ("age", false), ("sum(paid)", true), ("paid", true)] {
            let (plan, contexts, secret) = small(scheme, &Program::parse(text, &schema).unwrap());
            let span = plan.layout.span;
            let answer = match text {
                "age" | "paid" => Answer::ClearColumn(Clear::Units(vec![7; span])),
                "sum(paid)" => Answer::Clear(Number::scaled(725.into(), 2)),
                _ => Answer::Clear(Number::scaled(7.into(), 0)),
            };
            let description = Description::of(&plan).unwrap();
            let crafted = file(&contexts, &secret, description.clone(), &[answer]);
            assert_eq!(opened(&contexts, &secret, crafted.clone()), known, "{scheme:?} {text}");
            let reader = ResultsReader::open(&contexts, crafted.as_slice()).unwrap();
            assert_eq!(reader.clear().len(), usize::from(known), "{scheme:?} {text}");
            if text != "paid" {
                continue;
            }
            let mut reader = reader;
            let codec = contexts.codec(&description.layout).unwrap();
            let mut cells = Vec::new();
            let take = |_, _, chunk| {
                cells.extend(chunk);
                Ok::<_, Failed>(())
            };
            reader.decrypt(&codec, &secret, take).unwrap();
            let seen: Vec<f64> = cells.iter().map(|cell: &Estimate| cell.number.to_f64()).collect();
            assert_eq!(seen, [0.07; 3], "{scheme:?}: units of the last decimal");
            for wrong in [0, span - 1, span + 1] {
                let answer = Answer::ClearColumn(Clear::Units(vec![7; wrong]));
                let crafted = file(&contexts, &secret, description.clone(), &[answer]);
                assert!(!opened(&contexts, &secret, crafted), "{wrong} cells of {span}");
            }
        }
    }
}

/// Programs of the largest number of totals are read in linear time.
#[test]
fn time_grows_with_the_outputs_and_not_with_their_square() {
    let clear = Schema::new(3, vec![Column::integer("age", 0, 9).in_the_clear()]).unwrap();
    let text = (0..12_000).map(|i| format!("sum(age+{i})")).collect::<Vec<_>>().join(";");
    let program = Program::parse(&text, &clear).unwrap();
    let (plan, contexts, secret) = small(SchemeChoice::Bfv, &program);
    let answers = vec![Answer::Clear(Number::scaled(7.into(), 0)); 12_000];
    let crafted = file(&contexts, &secret, Description::of(&plan).unwrap(), &answers);
    assert!(opened(&contexts, &secret, crafted));
}
