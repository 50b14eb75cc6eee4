//! The wire format: every object of every scheme over every ring comes back, in its size, and is not taken for another.

use std::collections::HashSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{Context, Parameters};
use sunzi_math::primes_with_bits;
use sunzi_program::analysis::SchemeChoice;
use sunzi_rlwe::wire::{
    self, Accept, CiphertextOf, Ciphertexts, Fault, GaloisFile, HEADER_LEN, Kind, Reader, WireError,
};
use sunzi_rlwe::{GaloisKeys, PublicKey, RlweError, SecretKey, Security};
use sunzi_testing::Figure;
use sunzi_testing::wire::{Operate, Specimen, every_specimen, packed_numbers};

fn specimens() -> Vec<Specimen> {
    every_specimen().unwrap()
}

#[test]
fn what_is_written_comes_back() {
    let mut kinds = HashSet::new();
    for specimen in specimens() {
        assert_eq!(specimen.rewritten(&specimen.bytes).unwrap(), specimen.bytes, "{}", specimen.name);
        specimen.run(&specimen.bytes).unwrap();
        let header = *Reader::new(&specimen.bytes[..]).unwrap().header();
        // Results are several objects.
        let whole = header.body_len as usize + HEADER_LEN;
        assert_eq!(whole == specimen.bytes.len(), specimen.kind != Kind::Results, "{}", specimen.name);
        assert_eq!(Kind::of(header.kind), Some(specimen.kind));
        kinds.insert(specimen.kind);
        // Tables and results have objects behind their records.
        if !specimen.kind.is_table() && specimen.kind != Kind::Results {
            let end = specimen.records.last().map_or(HEADER_LEN, |record| record.end + 8);
            assert_eq!(end, specimen.bytes.len(), "{}: records without gaps", specimen.name);
        }
    }
    // Objects of the Python package have tests in Python, those of several parties in `crates/parties`, encrypted secrets and properties of keys in
    // `crates/keystore`.
    let here = Kind::ALL.iter().filter(|kind| !kind.is_of_python() && !kind.is_of_parties());
    let here =
        here.filter(|kind| !matches!(kind, Kind::LockedSecret | Kind::WrappedSecret | Kind::KeyProperties));
    assert_eq!(kinds.len(), here.count());
}

/// Checks that an object read has not only equal bytes: ciphertexts decrypt, and keys work.
fn works<C: Operate>(context: &C, seed: u64) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let rlwe = context.rlwe();
    let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
    let public = PublicKey::generate(rlwe, &secret, &mut rng).unwrap();
    let message = context.message().unwrap();
    let again: SecretKey = wire::from_bytes(rlwe, &wire::to_bytes(rlwe, &secret).unwrap()).unwrap();
    let public: PublicKey = wire::from_bytes(rlwe, &wire::to_bytes(rlwe, &public).unwrap()).unwrap();
    assert_eq!(again.id(), public.id());
    let plaintext = wire::from_bytes(context, &wire::to_bytes(context, &message).unwrap()).unwrap();
    for fresh in [
        context.encrypt_own(&plaintext, &again, &mut rng).unwrap(),
        context.encrypt_public(&plaintext, &public, &mut rng).unwrap(),
    ] {
        let bytes = wire::to_bytes::<CiphertextOf<C>, C>(context, &fresh).unwrap();
        let read = wire::from_bytes::<CiphertextOf<C>, C>(context, &bytes).unwrap();
        assert_eq!(
            (read.key(), read.noise(), read.metadata()),
            (fresh.key(), fresh.noise(), fresh.metadata())
        );
        assert_eq!(read.seed(), fresh.seed());
        assert!(context.opens(&read, &secret, &message).unwrap());
        assert!(context.opens(&read, &again, &message).unwrap());
    }
}

#[test]
fn what_comes_back_works() {
    let moduli = primes_with_bits(36, 128, 3).unwrap();
    let parameters = Parameters::new(6, moduli.clone(), 257, Security::InsecureForResearchOnly);
    works(&Context::new(&parameters).unwrap(), 1);
    let parameters = sunzi_bgv::Parameters::new(6, moduli, 257, Security::InsecureForResearchOnly);
    works(&sunzi_bgv::Context::new(&parameters).unwrap(), 2);
    let range = sunzi_ckks::LevelRange { levels: 2, scale_bits: 36 };
    let security = Security::InsecureForResearchOnly;
    let parameters = sunzi_ckks::Parameters::from_ranges(6, 46, &[range], security).unwrap();
    works(&sunzi_ckks::Context::new(&parameters).unwrap(), 3);
    let real = sunzi_rlwe::RingShape::RealLog2Degree(6);
    let parameters = sunzi_ckks::Parameters::from_ranges(real, 46, &[range], security).unwrap();
    works(&sunzi_ckks::Context::new(&parameters).unwrap(), 5);
    let fermat = sunzi_bfv::FermatParameters::new(64, 256, 769, security).unwrap();
    works(&fermat.context().unwrap(), 4);
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1")
}

/// Checks files of version 1, which are never written again. `SUNZI_GOLDEN=write` adds those that are missing.
#[test]
fn files_of_version_1_are_read_for_ever() {
    for specimen in specimens() {
        let path = golden().join(format!("{}.sz", specimen.name));
        if !path.exists() && std::env::var_os("SUNZI_GOLDEN").is_some() {
            fs::write(&path, &specimen.bytes).unwrap();
        }
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let again = specimen.rewritten(&bytes);
        assert!(again.as_ref().is_ok_and(|again| *again == bytes), "{}: {:?}", specimen.name, again.err());
        specimen.run(&bytes).unwrap();
    }
    let count = specimens().len();
    Figure::new(12, "golden files of version 1 that are not read").cases(count, count).none_wrong(0);
}

/// Checks that old messages decrypt: seeds give the polynomials that they gave.
#[test]
fn old_files_hold_what_they_held() {
    let read = |name: &str| fs::read(golden().join(name)).unwrap();
    let parameters: Parameters =
        wire::from_bytes(&Accept::InsecureForResearchOnly, &read("bfv-parameters.sz")).unwrap();
    let context = Context::new(&parameters).unwrap();
    let secret: SecretKey = wire::from_bytes(context.rlwe(), &read("bfv-secret.sz")).unwrap();
    let expected = context.message().unwrap();
    for name in ["bfv-fresh.sz", "bfv-ciphertext.sz"] {
        let ciphertext: CiphertextOf<Context> = wire::from_bytes(&context, &read(name)).unwrap();
        assert_eq!(context.decrypt(&ciphertext, &secret).unwrap(), expected, "{name}");
    }
    let galois: GaloisKeys = wire::from_bytes(context.rlwe(), &read("bfv-galois.sz")).unwrap();
    let fresh: CiphertextOf<Context> = wire::from_bytes(&context, &read("bfv-fresh.sz")).unwrap();
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let turned = evaluator.automorphism(&fresh, 3, &galois).unwrap();
    assert_ne!(context.decrypt(&turned, &secret).unwrap(), expected);
    let back = evaluator.automorphism(&turned, 127, &galois).unwrap();
    context.decrypt(&back, &secret).unwrap();
    let parameters: sunzi_ckks::Parameters =
        wire::from_bytes(&Accept::InsecureForResearchOnly, &read("ckks-parameters.sz")).unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let secret: SecretKey = wire::from_bytes(context.rlwe(), &read("ckks-secret.sz")).unwrap();
    let fresh: CiphertextOf<sunzi_ckks::Context> =
        wire::from_bytes(&context, &read("ckks-fresh.sz")).unwrap();
    assert!(context.opens(&fresh, &secret, &context.message().unwrap()).unwrap());
}

/// Checks that old results of a packed run decrypt to their numbers: 5·(1 + 0 + 2), 4·3 and 6·3, and 18 rows in the south.
#[test]
fn old_packed_results_hold_what_they_held() {
    for (name, scheme) in
        [("bfv-packed-results", SchemeChoice::Bfv), ("bgv-packed-results", SchemeChoice::Bgv)]
    {
        let bytes = fs::read(golden().join(format!("{name}.sz"))).unwrap();
        assert_eq!(packed_numbers(scheme, &bytes).unwrap(), [15.0, 12.0, 18.0, 18.0], "{name}");
    }
}

/// Checks types × parameters: an object read as another kind is refused, and the error says so.
#[test]
fn nothing_is_taken_for_something_else() {
    let specimens = specimens();
    let mut refused = 0;
    for reader in &specimens {
        for other in &specimens {
            let read = reader.rewritten(&other.bytes);
            if reader.kind != other.kind {
                let expected = matches!(&read, Err(WireError::Kind { .. }));
                assert!(expected, "{} as {}", other.name, reader.name);
                assert_eq!(read.unwrap_err().fault(), Fault::Mismatch);
                refused += 1;
            } else if subject(&reader.name) != subject(&other.name) && !reader.name.ends_with("parameters") {
                let expected = matches!(&read, Err(WireError::Parameters { .. }));
                assert!(expected, "{} as {}: {:?}", other.name, reader.name, read.err());
                refused += 1;
            }
        }
    }
    Figure::new(13, "objects read as those of another type or other parameters")
        .cases(refused, refused)
        .none_wrong(0);
}

/// Returns the part of a name before the object; packed runs and tables with missing cells have the parameters of others.
fn subject(name: &str) -> &str {
    let name = name.trim_end_matches("-1").trim_end_matches("-2");
    name.rsplit_once('-')
        .map_or(name, |(subject, _)| subject.trim_end_matches("-packed").trim_end_matches("-missing"))
}

/// Checks the errors for keys, levels, lengths, and all fields of a header.
#[test]
fn every_mismatch_has_its_error() {
    let parameters =
        Parameters::new(6, primes_with_bits(36, 128, 3).unwrap(), 257, Security::InsecureForResearchOnly);
    let context = Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let [secret, other] = [(); 2].map(|()| SecretKey::generate(context.rlwe(), &mut rng).unwrap());
    let message = context.message().unwrap();
    let fresh = context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    let bytes = wire::to_bytes(&context, &fresh).unwrap();

    let reader = Reader::new(&bytes[..]).unwrap();
    let refused = reader.for_key(other.id()).err().unwrap();
    assert!(matches!(refused, WireError::Key { .. }) && refused.fault() == Fault::Mismatch);
    assert!(refused.to_string().contains(&other.id().to_string()), "{refused}");
    let stranger = context.encrypt_secret(&message, &other, &mut rng).unwrap();
    let mixed = wire::to_bytes(&context, &vec![fresh.clone(), stranger]);
    assert!(matches!(mixed, Err(WireError::MixedKeys)));

    let twin = context.with_plain_modulus(641).unwrap();
    let read = wire::from_bytes::<CiphertextOf<Context>, _>(&twin, &bytes);
    assert!(matches!(read, Err(WireError::Parameters { what }) if what.contains("plaintext modulus")));
    let key = wire::to_bytes(context.rlwe(), &secret).unwrap();
    wire::from_bytes::<SecretKey, _>(twin.rlwe(), &key).unwrap();
    let read = wire::from_bytes::<PublicKey, _>(context.rlwe(), &key);
    assert!(read.is_err_and(|error| error.to_string().contains("SECRET")));

    let read = |bytes: &[u8]| wire::from_bytes::<CiphertextOf<Context>, _>(&context, bytes).err().unwrap();
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] ^= byte;
        read(&bytes)
    };
    assert!(matches!(changed(0, 0x80), WireError::Magic { .. }));
    assert!(matches!(changed(6, 0x01), WireError::Magic { .. }), "ends of lines");
    assert!(matches!(changed(8, 0x03), WireError::Version { got: 2 }));
    for at in 10..HEADER_LEN {
        assert!(matches!(changed(at, 1), WireError::Checksum { what: "the header" }), "{at}");
    }
    for at in HEADER_LEN..bytes.len() {
        assert!(matches!(changed(at, 1).fault(), Fault::Damage), "{at}");
    }
    for cut in 0..bytes.len() {
        assert!(matches!(read(&bytes[..cut]), WireError::Truncated), "{cut}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(read(&longer), WireError::Trailing { extra: 1 }));
    // A stream is read up to the end of the object.
    let mut stream = &longer[..];
    let _: CiphertextOf<Context> = Reader::new(&mut stream).unwrap().read(&context).unwrap();
    assert_eq!(stream, [0]);
    let changes = 2 * bytes.len();
    Figure::new(13, "changed bytes and cuts of a file that are not seen")
        .cases(changes, changes)
        .none_wrong(0);
}

#[test]
fn one_rotation_of_many_is_read_alone() {
    let parameters =
        Parameters::new(6, primes_with_bits(36, 128, 3).unwrap(), 257, Security::InsecureForResearchOnly);
    let context = Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(10);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let levels = [(3, 3), (9, 1), (27, 2), (127, 3)];
    let keys = GaloisKeys::generate_levels(context.rlwe(), &secret, levels, &mut rng, |_, _| {}).unwrap();
    let mut bytes = wire::to_bytes(context.rlwe(), &keys).unwrap();
    // Damage to one key does not touch the others.
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let mut file = GaloisFile::open(context.rlwe(), Cursor::new(&bytes[..])).unwrap();
    assert_eq!((file.id(), file.exponents().collect::<Vec<_>>()), (secret.id(), vec![3, 9, 27, 127]));
    let two = file.read(&[27, 3, 27, 1]).unwrap();
    assert_eq!(two.exponents().collect::<Vec<_>>(), [3, 27]);
    assert_eq!((two.get(27).unwrap().level(), two.get(3).unwrap().level()), (2, 3));
    assert!(matches!(file.read(&[127]), Err(WireError::Checksum { .. })));
    let missing = file.read(&[5]).err().unwrap();
    assert!(matches!(missing, WireError::Rlwe(RlweError::MissingGaloisKey { exponent: 5, .. })));
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let fresh = context.encrypt_secret(&context.message().unwrap(), &secret, &mut rng).unwrap();
    let [ours, theirs] = [&keys, &two].map(|keys| {
        let turned = evaluator.automorphism(&fresh, 3, keys).unwrap();
        context.decrypt(&turned, &secret).unwrap()
    });
    assert_eq!(ours, theirs);
}

#[test]
fn arrays_are_read_one_at_a_time() {
    let parameters =
        Parameters::new(6, primes_with_bits(36, 128, 3).unwrap(), 257, Security::InsecureForResearchOnly);
    let context = Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let message = context.message().unwrap();
    let fresh = |_| context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    let several: Vec<_> = (0..5).map(fresh).collect();
    let bytes = wire::to_bytes(&context, &several).unwrap();
    let read = Ciphertexts::new(&context, Reader::new(&bytes[..]).unwrap()).unwrap();
    let read: Vec<CiphertextOf<Context>> = read.collect::<Result<_, _>>().unwrap();
    assert_eq!(read.len(), 5);
    assert!(read.iter().all(|one| context.decrypt(one, &secret).unwrap() == message));
    let cut = &bytes[..bytes.len() - 1];
    let mut damaged = Ciphertexts::new(&context, Reader::new(cut).unwrap()).unwrap();
    assert_eq!(damaged.by_ref().filter(Result::is_ok).count(), 4);
    assert!(damaged.next().is_none());
    let none: Vec<CiphertextOf<Context>> = Vec::new();
    let bytes = wire::to_bytes(&context, &none).unwrap();
    assert!(wire::from_bytes::<Vec<CiphertextOf<Context>>, _>(&context, &bytes).unwrap().is_empty());
}

/// Checks that a file is replaced as a whole, or not at all.
#[test]
fn files_are_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let parameters =
        Parameters::new(6, primes_with_bits(36, 128, 3).unwrap(), 257, Security::InsecureForResearchOnly);
    let context = Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let [secret_path, public_path] = ["secret.sz", "public.sz"].map(|name| folder.path().join(name));
    wire::store(context.rlwe(), &secret, &secret_path).unwrap();
    wire::store(context.rlwe(), &public, &public_path).unwrap();
    let read: SecretKey = wire::load(context.rlwe(), &secret_path).unwrap();
    assert_eq!(read.id(), secret.id());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secret_path), 0o600);
        assert_eq!(mode(&public_path) & 0o600, 0o600);
    }
    // A write that fails half way leaves the old file, and nothing beside it.
    let old = fs::read(&public_path).unwrap();
    let failed = wire::replace(&public_path, false, |file| {
        std::io::Write::write_all(file, &old[..100])?;
        Err(WireError::Truncated)
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(&public_path).unwrap(), old);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    fs::write(&public_path, [&old[..], &[0]].concat()).unwrap();
    let read = wire::load::<PublicKey, _>(context.rlwe(), &public_path);
    assert!(matches!(read, Err(WireError::Trailing { .. })));
    assert!(matches!(
        wire::load::<PublicKey, _>(context.rlwe(), folder.path().join("none")),
        Err(WireError::Io(_))
    ));
}
