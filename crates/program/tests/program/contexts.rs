//! Tests of columns through encryption, files and back, in every scheme.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_program::analysis::{Options, Parameters, Plan, SchemeChoice};
use sunzi_program::contexts::{
    Contexts, EncryptionKey, GALOIS, PARAMETERS, RELINEARIZATION, SECRET, SecretKey,
};
use sunzi_program::run::Cells;
use sunzi_program::{Column, Program, Schema};
use sunzi_rlwe::wire::{Accept, WireError, store};
use sunzi_rlwe::{PublicKey, RelinearizationKey, Security};

/// Insecure parameters are accepted, since test rings are small.
const ACCEPT: Accept = Accept::InsecureForResearchOnly;

fn schema() -> Schema {
    let columns = vec![
        Column::decimal("cost", 2, -5_000_000, 90_000_000),
        Column::real("bmi", 10.0, 60.0),
        Column::category("region", &["a", "b", "c"]),
    ];
    Schema::new(9, columns).unwrap()
}

fn contexts(scheme: SchemeChoice) -> Contexts {
    let program = Program::parse("var(cost) by region", &schema()).unwrap();
    let options = Options {
        scheme: Some(scheme),
        security: Security::InsecureForResearchOnly,
        log2_degree: Some(12),
        ..Options::default()
    };
    Contexts::new(&Plan::new(&program, &options).unwrap().parameters).unwrap()
}

#[test]
fn cells_go_through_encryption_and_bytes() {
    let schema = schema();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let contexts = contexts(scheme);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let layout = contexts.layout(schema.rows);
        assert_eq!((layout.span, layout.chunks), (16, 1));
        let codec = contexts.codec(&layout).unwrap();
        let numbers = vec![0, -5_000_000, 90_000_000, 1, -1, 77, 12_345_678, 2, 3];
        let labels = Cells::Labels(vec![0, 1, 2, 2, 1, 0, 1, 1, 1]);
        for (column, label, cells, expected) in [
            (&schema.columns[0], None, Cells::Units(numbers.clone()), numbers),
            (&schema.columns[2], Some(1), labels, vec![0, 1, 0, 0, 1, 0, 1, 1, 1]),
        ] {
            for key in [EncryptionKey::Public(&public), EncryptionKey::Secret(&secret)] {
                let chunk = codec.encrypt(column, label, &cells, key, &mut rng).unwrap();
                assert_eq!(chunk.count(), contexts.parameters().plain_moduli().len().max(1));
                let bytes = contexts.to_bytes(&chunk).unwrap();
                let chunk = contexts.from_bytes(&bytes, Some(secret.id())).unwrap();
                let slots = codec.decrypt(&chunk, &secret).unwrap();
                match codec.cells(column, label, &slots, 9).unwrap() {
                    Cells::Reals(reals) => {
                        let unit = if label.is_none() { 100.0 } else { 1.0 };
                        let pairs = reals.iter().zip(&expected);
                        let worst = pairs.map(|(v, &e)| (v * unit - e as f64).abs()).fold(0.0, f64::max);
                        assert!(worst < 2000.0, "{worst}");
                    }
                    units => assert_eq!(units, Cells::Units(expected.clone())),
                }
                assert!(matches!(contexts.from_bytes(&bytes[1..], None), Err(WireError::Magic { .. })));
                let twice = [bytes.clone(), bytes].concat();
                assert!(matches!(contexts.from_bytes(&twice, None), Err(WireError::Trailing { .. })));
            }
        }
    }
}

#[test]
fn cells_that_do_not_fit_are_refused() {
    let schema = schema();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let contexts = contexts(SchemeChoice::Bfv);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let codec = contexts.codec(&contexts.layout(schema.rows)).unwrap();
    let key = EncryptionKey::Secret(&secret);
    for (column, label, cells, part) in [
        (0, None, Cells::Units(vec![90_000_001]), "row 0"),
        (0, None, Cells::Units(vec![0; 17]), "at most 16"),
        (0, Some(1), Cells::Units(vec![0]), "kind"),
        (1, None, Cells::Reals(vec![20.0]), "take CKKS"),
        (2, None, Cells::Labels(vec![0]), "kind"),
        (2, Some(0), Cells::Labels(vec![3]), "row 0"),
        (2, Some(0), Cells::Unknown, "another"),
    ] {
        let refused = codec.encrypt(&schema.columns[column], label, &cells, key, &mut rng);
        let message = refused.err().unwrap().to_string();
        assert!(message.contains(part) || message.contains("declare its decimals"), "{message}");
    }
}

#[test]
fn parameters_and_keys_go_through_folders() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let made = contexts(scheme);
        let folder = tempfile::tempdir().unwrap();
        made.parameters().store(&folder.path().join(PARAMETERS)).unwrap();
        let refused = Contexts::open(folder.path()).err().unwrap();
        assert!(matches!(refused, WireError::Insecure { .. }), "{refused}");
        let contexts = Contexts::open_as(ACCEPT, folder.path()).unwrap();
        assert_eq!(contexts.parameters(), made.parameters());
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        store(contexts.rlwe(), &secret, folder.path().join(SECRET)).unwrap();
        assert_eq!(contexts.load_secret(folder.path()).unwrap().id(), secret.id());
        let rotations: Vec<_> = [1, 2, 4].map(sunzi_circuits::Rotation::Rows).into();
        let keys = contexts.evaluation_keys(&secret, &rotations, 1, &mut rng).unwrap();
        let relinearization: &RelinearizationKey = keys.relinearization.as_ref().unwrap();
        store(contexts.rlwe(), relinearization, folder.path().join(RELINEARIZATION)).unwrap();
        store(contexts.rlwe(), keys.galois.as_ref().unwrap(), folder.path().join(GALOIS)).unwrap();
        let wanted = contexts.exponents_of(&rotations[1..]).unwrap();
        let loaded = contexts.load_evaluation(folder.path(), &wanted).unwrap();
        assert_eq!(loaded.galois.unwrap().exponents().collect::<Vec<_>>(), wanted);
        assert!(contexts.load_evaluation(folder.path(), &[77]).is_err());
        // One after the other they are no parameters, but for BGV of another plaintext modulus.
        let mut bytes = Vec::new();
        made.parameters().write(&mut bytes).unwrap();
        let twice = [bytes.clone(), bytes.clone()].concat();
        if let Parameters::Bgv { plain_moduli, .. } = Parameters::read_as(ACCEPT, &bytes[..]).unwrap() {
            assert!(plain_moduli.len() > 1);
            assert!(Contexts::new(&Parameters::read_as(ACCEPT, &twice[..]).unwrap()).is_err());
        } else {
            assert!(Parameters::read_as(ACCEPT, &twice[..]).is_err());
        }
        assert!(Parameters::read_as(ACCEPT, &bytes[..bytes.len() - 1]).is_err());
    }
}
