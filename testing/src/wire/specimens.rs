//! Specimens of files: one object of every kind for every scheme and ring, small and from fixed seeds.

use std::error::Error;
use std::ops::Range;
use std::rc::Rc;

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand_core::SeedableRng;
use sunzi_bfv::{Algorithms, CrtParameters, FermatParameters};
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_circuits::bootstrap::{
    Blueprint, BootstrapKeys, BootstrapParameters, Bootstrapper, RealBlueprint, RealBootstrapKeys,
    RealBootstrapper, Set, SpecialModuli,
};
use sunzi_circuits::integers::IntegerParameters;
use sunzi_ckks::LevelRange;
use sunzi_encoding::EncodingError;
use sunzi_math::primes_with_bits;
use sunzi_ring::{GadgetOptions, Ring};
use sunzi_rlwe::wire::{self, Accept, CiphertextOf, Format, Kind, NoContext, StoredParameters, WireError};
use sunzi_rlwe::{
    EncapsulationKeys, GaloisKeys, KeyId, LedgerFile, PublicKey, RaisingKeys, RaisingMap, RaisingTables,
    RaisingTerm, RelinearizationKey, RingShape, SecretKey, Security, SharingLedger, SharingPolicy,
    SparseSecret,
};
use sunzi_univariate::{Reduction, UnivariateRing};

use super::{Objects, Operate, layout};

/// Error of making specimens, of which none is expected.
pub type Failure = Box<dyn Error>;

const SECURITY: Security = Security::InsecureForResearchOnly;

type Read = dyn Fn(&[u8]) -> Result<Vec<u8>, WireError>;
type Run = dyn Fn(&[u8]) -> Result<(), WireError>;

/// A specimen: a file of one object, with the operations on it.
pub struct Specimen {
    /// Name of the specimen: the subject and the object.
    pub name: String,
    /// Kind of the specimen's object.
    pub kind: Kind,
    /// Bytes of the specimen's file.
    pub bytes: Vec<u8>,
    /// Byte ranges of the specimen's records after the header, without their checksums.
    pub records: Vec<Range<usize>>,
    pub(super) read: Box<Read>,
    pub(super) run: Box<Run>,
}

impl Specimen {
    /// Makes the specimen of an object, with what runs on it.
    ///
    /// # Errors
    /// No error is expected of an object of the context.
    pub fn new<T, C>(name: &str, context: &C, object: &T, run: impl Fn(&T) + 'static) -> Result<Self, Failure>
    where
        C: Format<T> + Clone + 'static,
        T: 'static,
    {
        let bytes = wire::to_bytes(context, object)?;
        let (reader, runner) = (context.clone(), context.clone());
        Ok(Self {
            name: name.to_owned(),
            kind: C::KIND,
            bytes,
            records: layout::records(context, object)?,
            read: Box::new(move |bytes| wire::to_bytes(&reader, &wire::from_bytes::<T, C>(&reader, bytes)?)),
            run: Box::new(move |bytes| {
                run(&wire::from_bytes(&runner, bytes)?);
                Ok(())
            }),
        })
    }

    /// Makes the specimen of an object that is read without a context, on which nothing runs.
    #[must_use]
    pub fn of_reader(
        name: &str,
        kind: Kind,
        (bytes, records): (Vec<u8>, Vec<Range<usize>>),
        read: impl Fn(&[u8]) -> Result<Vec<u8>, WireError> + Clone + 'static,
    ) -> Self {
        let runner = read.clone();
        let run = Box::new(move |bytes: &[u8]| runner(bytes).map(drop));
        Self { name: name.to_owned(), kind, bytes, records, read: Box::new(read), run }
    }

    /// Reads bytes as an object of the specimen's kind, and writes it again.
    ///
    /// # Errors
    /// Every error of reading the object.
    pub fn rewritten(&self, bytes: &[u8]) -> Result<Vec<u8>, WireError> {
        (self.read)(bytes)
    }

    /// Reads bytes as an object of the specimen's kind, and runs every operation on it.
    ///
    /// # Errors
    /// Every error of reading the object.
    pub fn run(&self, bytes: &[u8]) -> Result<(), WireError> {
        (self.run)(bytes)
    }
}

/// Keys, plaintexts and ciphertexts of one owner, as specimens.
struct Owned<C: Operate> {
    context: C,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    plaintext: C::Plain,
    ciphertext: CiphertextOf<C>,
}

impl<C: Operate> Owned<C> {
    fn objects(&self) -> Objects<'_, C> {
        Objects {
            secret: &self.secret,
            public: &self.public,
            relinearization: &self.relinearization,
            galois: &self.galois,
            plaintext: &self.plaintext,
            ciphertext: &self.ciphertext,
        }
    }
}

/// Runs all operations of a scheme with one of the owner's objects exchanged.
fn with<C: Operate, T, E>(owned: &Rc<Owned<C>>, exchange: E) -> impl Fn(&T) + use<C, T, E>
where
    E: for<'a> Fn(Objects<'a, C>, &'a T) -> Objects<'a, C>,
{
    let owned = Rc::clone(owned);
    move |object| {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        owned.context.operate(&exchange(owned.objects(), object), &mut rng);
    }
}

/// Makes specimens of the keys, plaintexts and ciphertexts of a context.
///
/// # Errors
/// No error is expected of making specimens.
pub fn specimens<C>(name: &str, context: &C, seed: u64) -> Result<Vec<Specimen>, Failure>
where
    C: Operate + 'static,
    C::Plain: 'static,
{
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let rlwe = context.rlwe().clone();
    let secret = SecretKey::generate(&rlwe, &mut rng)?;
    let public = PublicKey::generate(&rlwe, &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(&rlwe, &secret, &mut rng)?;
    let (ring, index) = (rlwe.ring().ring_index(), rlwe.ring().index());
    let some = if ring.is_real() { [2, 5, index - 3] } else { [2, 3, index - 1] };
    let exponents = some.into_iter().filter(|&k| ring.is_automorphism(k));
    let galois = GaloisKeys::generate(&rlwe, &secret, exponents, &mut rng)?;
    let plaintext = context.message()?;
    let ciphertext = context.encrypt_own(&plaintext, &secret, &mut rng)?;
    let owned =
        Owned { context: context.clone(), secret, public, relinearization, galois, plaintext, ciphertext };
    let owned = Rc::new(owned);
    let Owned { secret, public, relinearization, galois, plaintext, ciphertext, .. } = &*owned;
    let asymmetric = context.encrypt_public(plaintext, public, &mut rng)?;
    let product = context.unrelinearized(&asymmetric)?;
    let several = vec![ciphertext.clone(), asymmetric.clone(), product.clone()];

    let file = |object: &str| format!("{name}-{object}");
    let ciphertext_run = || with(&owned, |objects, ciphertext| Objects { ciphertext, ..objects });
    let each = ciphertext_run();
    Ok(vec![
        Specimen::new(
            &file("secret"),
            &rlwe,
            secret,
            with(&owned, |objects, secret| Objects { secret, ..objects }),
        )?,
        Specimen::new(
            &file("public"),
            &rlwe,
            public,
            with(&owned, |objects, public| Objects { public, ..objects }),
        )?,
        Specimen::new(
            &file("relinearization"),
            &rlwe,
            relinearization,
            with(&owned, |objects, relinearization| Objects { relinearization, ..objects }),
        )?,
        Specimen::new(
            &file("galois"),
            &rlwe,
            galois,
            with(&owned, |objects, galois| Objects { galois, ..objects }),
        )?,
        Specimen::new(
            &file("plaintext"),
            context,
            plaintext,
            with(&owned, |objects, plaintext| Objects { plaintext, ..objects }),
        )?,
        Specimen::new::<CiphertextOf<C>, C>(&file("fresh"), context, ciphertext, ciphertext_run())?,
        Specimen::new::<CiphertextOf<C>, C>(&file("ciphertext"), context, &asymmetric, ciphertext_run())?,
        Specimen::new::<CiphertextOf<C>, C>(&file("product"), context, &product, ciphertext_run())?,
        Specimen::new::<Vec<CiphertextOf<C>>, C>(&file("array"), context, &several, move |several| {
            several.iter().for_each(&each)
        })?,
    ])
}

fn parameters<P: StoredParameters + 'static>(
    name: &str,
    parameters: &P,
    run: fn(&P),
) -> Result<Specimen, Failure> {
    Specimen::new(&format!("{name}-parameters"), &Accept::InsecureForResearchOnly, parameters, run)
}

pub(super) fn bfv_parameters() -> Result<sunzi_bfv::Parameters, Failure> {
    let [p, moduli @ ..] =
        <[u64; 4]>::try_from(primes_with_bits(36, 128, 4)?).map_err(|_| EncodingError::NoPlainModuli)?;
    let key_switching =
        GadgetOptions { special_moduli: vec![p], digits: Some(3), ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    Ok(sunzi_bfv::Parameters::new(6, moduli.to_vec(), 257, SECURITY).with_algorithms(algorithms))
}

pub(super) fn bgv_parameters() -> Result<sunzi_bgv::Parameters, Failure> {
    let mut moduli = primes_with_bits(36, 128, 4)?;
    let special_moduli = moduli.split_off(3);
    let key_switching = GadgetOptions { special_moduli, ..GadgetOptions::default() };
    Ok(sunzi_bgv::Parameters::new(6, moduli, 257, SECURITY).with_key_switching(key_switching))
}

/// Returns BGV parameters whose levels are sets of moduli, some of which are not nested in those above.
pub(super) fn bgv_sets_parameters() -> Result<sunzi_bgv::Parameters, Failure> {
    let builder = sunzi_bgv::Parameters::builder().depth(6).plain_modulus(549_755_817_601);
    Ok(builder.log2_degree(6).security(SECURITY).build()?)
}

pub(super) fn ckks_parameters() -> Result<sunzi_ckks::Parameters, Failure> {
    let range = LevelRange { levels: 2, scale_bits: 36 };
    Ok(sunzi_ckks::Parameters::from_ranges(6, 46, &[range], SECURITY)?.with_digits(2)?)
}

/// Returns CKKS parameters whose levels are sets of moduli, some of which are not nested in those above.
fn ckks_sets_parameters() -> Result<sunzi_ckks::Parameters, Failure> {
    let range = LevelRange { levels: 4, scale_bits: 56 };
    Ok(sunzi_ckks::Parameters::from_ranges_rational(6, 58, &[range], SECURITY)?.with_digits(3)?)
}

/// Returns CKKS parameters with real slots, whose levels are prefixes of the moduli, or sets of them.
fn ckks_real_parameters(sets: bool) -> Result<sunzi_ckks::Parameters, Failure> {
    let (ring, range) = (RingShape::RealLog2Degree(6), LevelRange { levels: 2, scale_bits: 36 });
    if sets {
        let range = LevelRange { levels: 4, scale_bits: 56 };
        return Ok(
            sunzi_ckks::Parameters::from_ranges_rational(ring, 58, &[range], SECURITY)?.with_digits(3)?
        );
    }
    Ok(sunzi_ckks::Parameters::from_ranges(ring, 46, &[range], SECURITY)?.with_digits(2)?)
}

/// Makes specimens of parameters of every kind.
///
/// # Errors
/// No error is expected of making specimens.
pub fn parameter_specimens() -> Result<Vec<Specimen>, Failure> {
    let bfv = bfv_parameters()?;
    let several = CrtParameters::new(bfv.ring(), bfv.moduli().to_vec(), vec![257, 641], SECURITY);
    let fermat = FermatParameters::new(64, 256, 769, SECURITY)?;
    Ok(vec![
        parameters("bfv", &bfv, |parameters| drop(sunzi_bfv::Context::new(parameters)))?,
        parameters("crt", &several, |parameters| {
            parameters.parts().iter().for_each(|part| drop(sunzi_bfv::Context::new(part)));
        })?,
        parameters("fermat", &fermat, |parameters| drop(parameters.context()))?,
        parameters("bootstrap", &BootstrapParameters::insecure(9)?, |parameters| {
            drop(sunzi_ckks::Context::new(parameters.ckks()));
        })?,
        parameters("integer", &IntegerParameters::insecure(9)?, |parameters| {
            drop(sunzi_ckks::Context::new(parameters.ckks()));
        })?,
        parameters("bgv", &bgv_parameters()?, |parameters| drop(sunzi_bgv::Context::new(parameters)))?,
        parameters("bgv-sets", &bgv_sets_parameters()?, |parameters| {
            drop(sunzi_bgv::Context::new(parameters))
        })?,
        parameters("ckks", &ckks_parameters()?, |parameters| drop(sunzi_ckks::Context::new(parameters)))?,
        parameters("ckks-sets", &ckks_sets_parameters()?, |parameters| {
            drop(sunzi_ckks::Context::new(parameters));
        })?,
        parameters("ckks-real", &ckks_real_parameters(false)?, |parameters| {
            drop(sunzi_ckks::Context::new(parameters));
        })?,
        parameters("ckks-real-sets", &ckks_real_parameters(true)?, |parameters| {
            drop(sunzi_ckks::Context::new(parameters));
        })?,
    ])
}

/// Makes the specimen of a ledger that has counted one shared result.
fn ledger() -> Result<Specimen, Failure> {
    let key = KeyId::from_bytes([7; 16]);
    let parameters = StoredParameters::fingerprint(&bfv_parameters()?);
    let mut ledger = LedgerFile::in_memory(SharingLedger::new(parameters, key, SharingPolicy::new(40, 2)?));
    ledger.spend(key)?;
    let run = move |ledger: &SharingLedger| {
        let mut ledger = LedgerFile::in_memory(ledger.clone());
        while ledger.spend(ledger.ledger().key()).is_ok_and(|()| ledger.ledger().used() < 9) {}
    };
    Specimen::new("sharing-ledger", &NoContext, ledger.ledger(), run)
}

/// Makes specimens of BFV over every storage of residues.
fn bfv_specimens() -> Result<Vec<Specimen>, Failure> {
    let context = sunzi_bfv::Context::new(&bfv_parameters()?)?;
    let mut all = specimens("bfv", &context, 1)?;
    let key_switching = GadgetOptions { radix_bits: Some(12), dropped_limbs: 1, ..GadgetOptions::default() };
    let dropping = Algorithms { key_switching, ..Algorithms::default() };
    let moduli = primes_with_bits(30, 128, 3)?;
    let of = |ring: Ring| sunzi_bfv::Context::with_algorithms(ring, 257, SECURITY, &dropping);
    all.extend(specimens("bfv-dropped", &of(Ring::new(128, &moduli)?)?, 2)?);
    let cyclotomic = Ring::new(45, &primes_with_bits(36, Ring::root_order(45)?, 3)?)?;
    all.extend(specimens("bfv-45", &sunzi_bfv::Context::with_ring(cyclotomic, 7, SECURITY)?, 3)?);
    let multi = MultiPrecision::ring(128, &primes_with_bits(40, 128, 3)?)?;
    all.extend(specimens("bfv-multi", &sunzi_bfv::Context::with_ring(multi, 257, SECURITY)?, 4)?);
    let big = BigRing::with_chain(128, &moduli.iter().map(|&q| q.into()).collect::<Vec<BigUint>>())?;
    all.extend(specimens("bfv-big", &sunzi_bfv::Context::with_ring(big, 257, SECURITY)?, 5)?);
    for (name, reduction) in [("bfv-barrett", Reduction::Barrett), ("bfv-mixed", Reduction::Mixed)] {
        let primes = primes_with_bits(40, UnivariateRing::root_order(45)?, 3)?;
        let context = sunzi_bfv::Context::with_ring(
            Ring::of(UnivariateRing::new(45, &primes, reduction)?),
            7,
            SECURITY,
        )?;
        all.extend(specimens(name, &context, 6)?);
    }
    all.extend(specimens("bfv-fermat", &FermatParameters::new(64, 256, 769, SECURITY)?.context()?, 7)?);
    Ok(all)
}

/// Makes the specimens of parameters, keys and ciphertexts.
pub(super) fn scheme_specimens() -> Result<Vec<Specimen>, Failure> {
    let mut all = parameter_specimens()?;
    all.extend(bfv_specimens()?);
    let parameters = bgv_parameters()?;
    all.extend(specimens("bgv", &sunzi_bgv::Context::new(&parameters)?, 11)?);
    let settings = sunzi_bgv::Settings {
        key_switching: GadgetOptions { radix_bits: Some(40), ..GadgetOptions::default() },
        ..sunzi_bgv::Settings::from(&parameters)
    };
    let chain = |moduli: &[u64]| moduli.iter().map(|&q| BigUint::from(q)).collect::<Vec<_>>();
    let big = BigRing::with_chain(128, &chain(parameters.moduli()))?;
    all.extend(specimens("bgv-big", &sunzi_bgv::Context::with_ring(big, &settings)?, 12)?);
    let parameters = bgv_sets_parameters()?;
    all.extend(specimens("bgv-sets", &sunzi_bgv::Context::new(&parameters)?, 13)?);
    let parameters = ckks_parameters()?;
    let context = sunzi_ckks::Context::new(&parameters)?;
    all.extend(specimens("ckks", &context, 21)?);
    let settings = sunzi_ckks::Settings {
        key_switching: GadgetOptions { radix_bits: Some(40), ..GadgetOptions::default() },
        ..sunzi_ckks::Settings::from(&parameters)
    };
    let big = BigRing::with_chain(128, &chain(parameters.moduli()))?;
    all.extend(specimens("ckks-big", &sunzi_ckks::Context::with_ring(big, &settings)?, 22)?);
    all.extend(encapsulation("ckks", &context)?);
    let parameters = ckks_sets_parameters()?;
    all.extend(specimens("ckks-sets", &sunzi_ckks::Context::new(&parameters)?, 23)?);
    let big = BigRing::with_rungs(128, &chain(parameters.moduli()), parameters.rungs())?;
    let settings = sunzi_ckks::Settings::from(&parameters);
    all.extend(specimens("ckks-sets-big", &sunzi_ckks::Context::with_ring(big, &settings)?, 24)?);
    let parameters = ckks_real_parameters(false)?;
    all.extend(specimens("ckks-real", &sunzi_ckks::Context::new(&parameters)?, 25)?);
    let big = BigRing::with_chain(parameters.shape(), &chain(parameters.moduli()))?;
    let settings = sunzi_ckks::Settings::from(&parameters);
    all.extend(specimens("ckks-real-big", &sunzi_ckks::Context::with_ring(big, &settings)?, 26)?);
    all.push(bootstrapping("bootstrapping-keys", SpecialModuli::Shared)?);
    all.push(bootstrapping("bootstrapping-keys-of-steps", SpecialModuli::EachStep)?);
    all.push(real_bootstrapping("bootstrapping-keys-real")?);
    all.push(ledger()?);
    Ok(all)
}

/// Returns the set of the smallest bootstrapping.
fn smallest(log2_degree: u32, special: SpecialModuli) -> Set {
    Set {
        special,
        // Contexts of both must differ, or the one file could be taken for the other.
        residual: LevelRange { levels: 1 + usize::from(special == SpecialModuli::EachStep), scale_bits: 40 },
        coeffs_to_slots: LevelRange { levels: 1, scale_bits: 47 },
        slots_to_coeffs: LevelRange { levels: 1, scale_bits: 40 },
        ..Set::insecure_for_tests(log2_degree)
    }
}

/// Makes the specimen of all keys of the smallest bootstrapping.
fn bootstrapping(name: &str, special: SpecialModuli) -> Result<Specimen, Failure> {
    let set = smallest(6, special);
    let context = sunzi_ckks::Context::new(&set.parameters()?)?;
    let mut rng = ChaCha20Rng::seed_from_u64(32);
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let blueprint = Blueprint::new(&context, &set, 2)?;
    let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
    let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {})?;
    let encoder = sunzi_ckks::Encoder::new(&context, 2)?;
    let message = encoder.encode_at(&[0.5.into(), (-0.25).into()], 0, context.scale(0)?)?;
    let exhausted = context.encrypt_secret(&message, &secret, &mut rng)?;
    let run = move |keys: &BootstrapKeys| drop(bootstrapper.bootstrap(&exhausted, keys));
    Specimen::new(name, context.rlwe(), &keys, run)
}

/// Makes the specimen of all keys of the smallest bootstrapping of a real ring.
fn real_bootstrapping(name: &str) -> Result<Specimen, Failure> {
    let set = smallest(7, SpecialModuli::Shared);
    let context = sunzi_ckks::Context::new(&set.real_parameters()?)?;
    let mut rng = ChaCha20Rng::seed_from_u64(33);
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let blueprint = RealBlueprint::new(&context, &set, 2)?;
    let keys = RealBootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
    let bootstrapper = RealBootstrapper::new(&blueprint, |_, _| {})?;
    let encoder = sunzi_ckks::Encoder::new(&context, 2)?;
    let message = encoder.encode_real_at(&[0.5, -0.25], 0, context.scale(0)?)?;
    let exhausted = context.encrypt_secret(&message, &secret, &mut rng)?;
    let run = move |keys: &RealBootstrapKeys| drop(bootstrapper.bootstrap(&exhausted, keys));
    Specimen::new(name, &blueprint, &keys, run)
}

/// Makes the specimen of keys to sparse secrets of one polynomial and of two.
fn encapsulation(name: &str, context: &sunzi_ckks::Context) -> Result<Vec<Specimen>, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(31);
    let rlwe = context.rlwe();
    let secret = SecretKey::generate(rlwe, &mut rng)?;
    let plaintext = context.message()?;
    let level = context.limbs(0)?;
    let ciphertext = context.encrypt_secret(&plaintext, &secret, &mut rng)?;
    let low = Rc::new(sunzi_ckks::Evaluator::new(context).drop_to(&ciphertext, 0)?);
    let special = primes_with_bits(52, 128, 1)?;
    let mut all = Vec::new();
    for rank in [1, 2] {
        let sparse = SparseSecret { weight: 8, rank };
        let keys =
            EncapsulationKeys::generate(rlwe, &secret, sparse, [level, rlwe.level()], &special, &mut rng)?;
        let (raised, low, own) = (Rc::clone(&low), Rc::clone(&low), rlwe.clone());
        let run = move |keys: &EncapsulationKeys| drop(keys.mod_raise(&own, &low));
        all.push(Specimen::new(&format!("{name}-encapsulation-{rank}"), rlwe, &keys, run)?);
        let map = RaisingMap {
            level: rlwe.level(),
            special_moduli: primes_with_bits(40, 128, 2)?,
            terms: [1, 5].map(|exponent| RaisingTerm { exponent, factor: vec![1 << 79; 64] }).to_vec(),
        };
        let tables = RaisingTables::new(rlwe, [level, rlwe.level()], &map)?;
        let keys = RaisingKeys::generate(rlwe, &secret, sparse, (level, &special), &map, &mut rng)?;
        let run = move |keys: &RaisingKeys| drop(keys.mod_raise(&tables, &raised));
        all.push(Specimen::new(&format!("{name}-raising-{rank}"), rlwe, &keys, run)?);
    }
    Ok(all)
}
