//! What several parties cannot do, and is refused by name.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_program::analysis::{Layout, Options, SchemeChoice};
use sunzi_program::contexts::{Agreed, ChunkPart, Contexts, EncryptionKey};
use sunzi_program::packed::Packing;
use sunzi_program::results::ResultsReader;
use sunzi_program::run::Cells;
use sunzi_program::{Column, Plan, Program, ProgramError};
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{PublicKey, SecretKey, SharingPolicy};

use super::hospitals::Hospitals;
use super::{Draw, SCHEMES, Text, example, file, inputs, of_parties, policy, schema};
use crate::encrypted::options;

fn refusal(text: &str, options: &Options) -> String {
    match Plan::new(&Program::parse(text, &schema(300)).unwrap(), options) {
        Err(ProgramError::Refused(refusal)) => refusal.to_string(),
        Err(error) => panic!("{text}: {error}"),
        Ok(plan) => panic!("{text} was planned:\n{plan}"),
    }
}

#[test]
fn what_takes_sparse_keys_is_refused() {
    let integers = refusal(
        "sum(x)",
        &Options { scheme: Some(SchemeChoice::Integers), ..of_parties(SchemeChoice::Bfv, 3) },
    );
    let order = refusal("median(x)", &Options { scheme: None, ..of_parties(SchemeChoice::Bfv, 3) });
    for text in [integers, order] {
        assert!(
            text.contains("3 parties cannot make together") && text.contains("take BFV, BGV or CKKS"),
            "{text}"
        );
    }
    let deep = format!("sum({}x{})", "sigmoid(".repeat(24), ")".repeat(24));
    let text = refusal(&deep, &of_parties(SchemeChoice::Ckks, 2));
    assert!(
        text.contains("bootstrapping takes keys of a sparse secret") && text.contains("2 parties"),
        "{text}"
    );
}

#[test]
fn parties_need_room_for_their_shares() {
    for scheme in SCHEMES {
        let alone = Options { sharing: None, ..of_parties(scheme, 2) };
        let text = refusal("sum(x)", &alone);
        assert!(text.contains("results of several parties are opened by shares"), "{text}");
    }
    let text = refusal("sum(sigmoid(x))", &Options { precision: 30, ..of_parties(SchemeChoice::Ckks, 2) });
    assert!(text.contains("less precision"), "{text}");
    for parties in [0, 1025] {
        let text = refusal("sum(x)", &of_parties(SchemeChoice::Bfv, parties));
        assert!(text.contains("1 to 1024 parties"), "{text}");
    }
    // A single holder is asked for nothing.
    assert_eq!(options(SchemeChoice::Bfv, 10).parties, 1);
    let old: Options = serde_json::from_value(serde_json::json!({
        "scheme": "bfv", "precision": 16, "security": "Bits128", "log2_degree": null
    }))
    .unwrap();
    assert_eq!((old.parties, old.parts), (1, 1));
    let text = serde_json::to_string(&old).unwrap();
    assert!(!text.contains("parties"), "{text}");
}

/// More parties have more noise in columns that all encrypt, and take more bits of moduli.
#[test]
fn parameters_count_the_parties() {
    for scheme in SCHEMES {
        let plan = |parties| {
            let options = of_parties(scheme, parties);
            Plan::new(&Program::parse("sum(x)", &schema(300)).unwrap(), &options).unwrap()
        };
        let bits = |plan: &Plan| plan.parameters.moduli().iter().map(|&q| (q as f64).log2()).sum::<f64>();
        let (one, many) = (plan(1), plan(64));
        assert_eq!((one.parameters.parties(), many.parameters.parties()), (1, 64));
        assert!(bits(&many) >= bits(&one), "{scheme:?}: {} {}", bits(&one), bits(&many));
        // The square root of 64 is 2^3.
        let noise = |plan: &Plan| plan.course().unwrap().first().unwrap().noise;
        assert!(noise(&many) > noise(&one) + 2.9, "{scheme:?}: {} {}", noise(&one), noise(&many));
        // Parameters of one holder are no parameters of several.
        let mismatch = Contexts::new(&one.parameters).unwrap().joint_key_levels(&many);
        assert!(mismatch.unwrap_err().to_string().contains("one of these parameters"));
    }
}

#[test]
fn results_are_those_of_the_agreed_program() {
    for scheme in SCHEMES {
        let (plan, contexts, table) = example(scheme, 2, 50, "sum(x * y); x + y");
        let codec = contexts.codec(&plan.layout).unwrap();
        let mut hospitals = Hospitals::new(&contexts, &plan, None, 9);
        let all = inputs(&plan, &codec, &table, &mut Draw(2), &mut hospitals);
        let file = file(&plan, &codec, &hospitals, &all);
        let open = |agreed: &Agreed| {
            let mut reader = ResultsReader::open(&contexts, file.as_slice()).unwrap();
            reader.next_subjects::<Text>(agreed).map(|subjects| subjects.map(|own| own.len()))
        };
        assert!(open(&Agreed::new([plan.clone()], policy()).unwrap()).unwrap().is_some());

        let other = Program::parse("sum(x * x); x + y", plan.program.schema()).unwrap();
        let within = Plan::for_layout(&other, &plan.parameters, plan.layout, 16).unwrap();
        let Text(error) = open(&Agreed::new([within.clone()], policy()).unwrap()).unwrap_err();
        assert!(error.contains("the program: expected that of the plan"), "{error}");
        // One plan of those agreed on is enough.
        assert!(open(&Agreed::new([within, plan.clone()], policy()).unwrap()).is_ok());

        let (alien, ..) = example(scheme, 3, 50, "sum(x * y); x + y");
        let Text(error) = open(&Agreed::new([alien], policy()).unwrap()).unwrap_err();
        assert!(error.contains("the parameters: expected those of the agreed plan"), "{error}");

        let single = Plan::new(&plan.program, &of_parties(scheme, 1)).unwrap();
        for none in [Agreed::new([single], policy()), Agreed::new([], policy())] {
            assert!(none.unwrap_err().to_string().contains("the secret of several parties"));
        }

        // A policy without room is refused before anything is opened.
        if scheme != SchemeChoice::Ckks {
            continue;
        }
        let wide = SharingPolicy::new(80, 1 << 32).unwrap();
        let Text(error) = open(&Agreed::new([plan.clone()], wide).unwrap()).unwrap_err();
        assert!(error.contains("bits"), "{error}");
    }
}

#[test]
fn parts_of_encrypted_integers_and_of_other_schemes_do_not_add() {
    let program = Program::parse("sum(x)", &schema(5)).unwrap();
    let plan = |scheme| Plan::new(&program, &options(scheme, 10)).unwrap();
    let column = Column::integer("x", -5, 9);
    let cells = Cells::Units(vec![1, 2]);
    let mut all = Vec::new();
    for scheme in [SchemeChoice::Integers, SchemeChoice::Bfv, SchemeChoice::Bgv] {
        let contexts = Contexts::new(&plan(scheme).parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(scheme as u64);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let codec = contexts.codec(&contexts.layout(5)).unwrap();
        let part = ChunkPart { first: 3, padded: true };
        let key = EncryptionKey::Public(&public);
        let own = codec.encrypt_part((&column, None), &cells, part, key, &mut rng);
        match own {
            Ok(own) => all.push((contexts, own)),
            Err(error) => {
                assert_eq!(scheme, SchemeChoice::Integers);
                assert!(error.to_string().contains("digits have no sums"), "{error}");
            }
        }
        let far = ChunkPart { first: codec.layout().span - 1, padded: true };
        let error = codec.encrypt_part((&column, None), &cells, far, key, &mut rng).err().unwrap();
        assert!(error.to_string().contains("cells of a chunk: expected at most 1"), "{error}");
    }
    let [(bfv, one), (_, other)] = &all[..] else { panic!("two schemes have parts") };
    let error = bfv.add_rows(one, other).err().unwrap().to_string();
    assert!(error.contains("rows of several parties"), "{error}");
}

/// Sums are in every slot: whoever opens a result of an exact scheme sees all slots, and sums of fewer rows in others would give rows away.
#[test]
fn no_sum_of_fewer_rows_is_beside_a_result() {
    let program = Program::parse("mean(x); sum(x*y)", &schema(5)).unwrap();
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        let plan = Plan::new(&program, &of_parties(scheme, 3)).unwrap();
        assert_eq!(plan.layout.span, plan.parameters.slots());
        let contexts = Contexts::new(&plan.parameters).unwrap();
        assert_eq!(contexts.layout(5), plan.layout);
        assert_eq!(Plan::within(&program, &plan.parameters, 10).unwrap().layout, plan.layout);
        // A plan that says otherwise is refused, wherever it comes from.
        let short = Layout::new(5, plan.parameters.slots());
        let error = Plan::for_layout(&program, &plan.parameters, short, 10).unwrap_err().to_string();
        assert!(error.contains("all") && error.contains("slots"), "{error}");
        let mut json = serde_json::to_value(&plan).unwrap();
        json["layout"]["span"] = short.span.into();
        let read = || serde_json::from_value::<Plan>(json).unwrap_err().to_string();
        let error = accepting_insecure(read);
        assert!(error.contains("rows of a full chunk of several parties"), "{error}");
    }
}

#[test]
fn packed_tables_are_refused() {
    let packing = Packing { always: true, ..Packing::default() };
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        let text = refusal("mean(x)", &Options { packing: Some(packing.clone()), ..of_parties(scheme, 2) });
        assert!(text.contains("other slots hold sums of fewer rows"), "{text}");
        let program = Program::parse("mean(x)", &schema(300)).unwrap();
        let joint = Plan::new(&program, &of_parties(scheme, 2)).unwrap();
        let error = Plan::within_packed(&program, &joint.parameters, &packing).unwrap_err().to_string();
        assert!(error.contains("other slots hold sums of fewer rows"), "{error}");
    }
}
