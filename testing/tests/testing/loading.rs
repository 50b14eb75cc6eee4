//! Security of loaded parameters: those without any, or with less than they claim, are refused by every reader.

use std::fs;
use std::path::Path;

use sunzi_bfv::{CrtParameters, FermatParameters};
use sunzi_math::primes_with_bits;
use sunzi_program::analysis::Parameters;
use sunzi_program::contexts::PARAMETERS;
use sunzi_program::{Contexts, Plan, Program, Schema};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::security::{accepting_insecure, max_log2_modulus};
use sunzi_rlwe::wire::{
    self, Accept, CHECKSUM_LEN, Fault, HEADER_LEN, NoContext, Reader, StoredParameters, WireError,
};
use sunzi_rlwe::{RlweError, SecretDistribution, Security};
use sunzi_testing::Figure;

const RESEARCH: Security = Security::InsecureForResearchOnly;
const CLAIMS: [Security; 4] = [RESEARCH, Security::Bits128, Security::Bits192, Security::Bits256];

/// Makes a function that returns whether a text reads as parameters of a type.
macro_rules! reads {
    ($kind:ty) => {
        |json: &str| serde_json::from_str::<$kind>(json).is_ok()
    };
}

/// Readers that accepted parameters which they should have refused.
type Taken = Vec<String>;

/// One set of parameters with all readers, of text too where there is such a format.
struct Subject<'a, P> {
    name: String,
    parameters: &'a P,
    json: Option<String>,
    from_json: fn(&str) -> bool,
}

impl<P: StoredParameters> Subject<'_, P> {
    /// Returns the number of readers, and those that accept it.
    fn ways(&self, folder: &Path) -> (usize, Taken) {
        let bytes = wire::to_bytes(&NoContext, self.parameters).unwrap();
        let path = folder.join(PARAMETERS);
        fs::write(&path, &bytes).unwrap();
        let stream = Reader::new(&bytes[..]).and_then(|reader| reader.read_next::<P, _>(&NoContext));
        let mut ways = vec![
            ("from_bytes", wire::from_bytes::<P, _>(&NoContext, &bytes).is_ok()),
            ("from_bytes, named", wire::from_bytes::<P, _>(&Accept::default(), &bytes).is_ok()),
            ("load", wire::load::<P, _>(&NoContext, &path).is_ok()),
            ("stream", stream.is_ok()),
            ("program read", Parameters::read(&bytes[..]).is_ok()),
            ("program load", Parameters::load(&path).is_ok()),
            ("contexts load", Contexts::load(&path).is_ok()),
            ("contexts open", Contexts::open(folder).is_ok()),
        ];
        if let Some(json) = &self.json {
            ways.push(("JSON", (self.from_json)(json)));
        }
        let taken = ways.iter().filter(|(_, taken)| *taken).map(|(way, _)| format!("{}: {way}", self.name));
        (ways.len(), taken.collect())
    }

    /// Checks the typed error, and the effect of the opt-out.
    fn checked(&self) {
        let bytes = wire::to_bytes(&NoContext, self.parameters).unwrap();
        let claim = self.parameters.claim();
        let error = wire::from_bytes::<P, _>(&NoContext, &bytes).err().unwrap();
        let open = wire::from_bytes::<P, _>(&Accept::InsecureForResearchOnly, &bytes);
        if claim.security == RESEARCH {
            assert!(matches!(&error, WireError::Insecure { claim: got } if *got == claim), "{error}");
            assert_eq!(error.fault(), Fault::Refused);
            assert!(error.to_string().contains("--insecure-for-research-only"), "{error}");
            assert!(error.to_string().contains(&format!("n = {}", claim.degree)), "{error}");
            assert_eq!(open.unwrap().claim(), claim);
        } else {
            // The opt-out is for parameters that declare themselves insecure, not for false claims.
            assert!(matches!(claim.check(), Err(WireError::Rlwe(RlweError::Insecure { .. }))), "{claim}");
            assert!(open.is_err(), "{claim}");
        }
    }
}

/// Returns moduli of a degree that exceed a limit by little, the last `special` of them for keys.
fn moduli(log2_degree: u32, limit: u32) -> Vec<u64> {
    let count = (limit / 45 + 1).max(2);
    let bits = limit / count + 1;
    primes_with_bits(bits.max(log2_degree + 10), 2 << log2_degree, count as usize).unwrap()
}

/// Tries every kind of parameters, above the limit of a claim.
fn each(log2_degree: u32, security: Security, folder: &Path) -> (usize, Taken) {
    let limit = max_log2_modulus(log2_degree, security).unwrap_or(27);
    let all = moduli(log2_degree, limit);
    let (last, first) = all.split_last().unwrap();
    let key_switching = GadgetOptions { special_moduli: vec![*last], ..GadgetOptions::default() };
    let levels: Vec<usize> = (1..=first.len()).collect();
    let mut sum = (0, Taken::new());
    let mut add = |(ways, taken): (usize, Taken)| {
        sum.0 += ways;
        sum.1.extend(taken);
    };
    macro_rules! subject {
        ($kind:ty, $parameters:expr) => {{
            let parameters: $kind = $parameters;
            let json = Some(serde_json::to_string(&parameters).unwrap());
            let name = format!("{} of n = 2^{log2_degree}, {security:?}", stringify!($kind));
            let subject = Subject { name, parameters: &parameters, json, from_json: reads!($kind) };
            subject.checked();
            add(subject.ways(folder));
        }};
    }
    subject!(sunzi_bfv::Parameters, sunzi_bfv::Parameters::new(log2_degree, all.clone(), 257, security));
    let algorithms =
        sunzi_bfv::Algorithms { key_switching: key_switching.clone(), ..sunzi_bfv::Algorithms::default() };
    subject!(
        sunzi_bfv::Parameters,
        sunzi_bfv::Parameters::new(log2_degree, first.to_vec(), 257, security).with_algorithms(algorithms)
    );
    subject!(CrtParameters, CrtParameters::new(log2_degree, all.clone(), vec![257, 263], security));
    subject!(sunzi_bgv::Parameters, {
        let parameters = sunzi_bgv::Parameters::new(log2_degree, first.to_vec(), 257, security);
        parameters.with_levels(levels.clone()).with_key_switching(key_switching.clone())
    });
    for secrets in [SecretDistribution::Ternary, SecretDistribution::FixedWeight(192)] {
        subject!(sunzi_ckks::Parameters, {
            let bits = (first[0].ilog2()).saturating_sub(2);
            sunzi_ckks::Parameters::new(log2_degree, first.to_vec(), levels.clone(), bits, security)
                .with_key_switching(key_switching.clone())
                .with_secrets(secrets)
        });
    }
    sum
}

/// Tries moduli 2^g − 1, which check themselves when made: only bytes can claim too much.
fn fermat(folder: &Path) -> (usize, Taken) {
    let research = FermatParameters::new(1 << 10, 256, 769, RESEARCH).unwrap();
    let bytes = wire::to_bytes(&NoContext, &research).unwrap();
    let end = bytes.len() - CHECKSUM_LEN;
    let (mut ways, mut taken) = (0, Taken::new());
    for claim in CLAIMS {
        let mut forged = bytes.clone();
        forged[end - 8..end].copy_from_slice(&u64::from(claim.bits()).to_le_bytes());
        let checksum = wire::checksum(&forged[HEADER_LEN..end]);
        forged[end..].copy_from_slice(&checksum.to_le_bytes());
        let path = folder.join("fermat.sz");
        fs::write(&path, &forged).unwrap();
        let found = [
            wire::from_bytes::<FermatParameters, _>(&NoContext, &forged).is_ok(),
            wire::load::<FermatParameters, _>(&NoContext, &path).is_ok(),
            claim != RESEARCH
                && wire::from_bytes::<FermatParameters, _>(&Accept::InsecureForResearchOnly, &forged).is_ok(),
        ];
        ways += found.len();
        taken.extend(found.iter().filter(|&&found| found).map(|_| format!("Fermat, {claim:?}")));
    }
    let open: FermatParameters = wire::from_bytes(&Accept::InsecureForResearchOnly, &bytes).unwrap();
    assert_eq!(open, research);
    (ways, taken)
}

/// Tries plans, which carry parameters too.
fn plans() -> (usize, Taken) {
    let schema = Schema::new(9, vec![sunzi_program::Column::decimal("x", 0, 0, 100)]).unwrap();
    let program = Program::parse("sum(x)", &schema).unwrap();
    let options = sunzi_program::analysis::Options {
        security: RESEARCH,
        log2_degree: Some(11),
        ..sunzi_program::analysis::Options::default()
    };
    let json = serde_json::to_string(&Plan::new(&program, &options).unwrap()).unwrap();
    assert!(accepting_insecure(|| serde_json::from_str::<Plan>(&json)).is_ok());
    let mut taken = Taken::new();
    for claim in CLAIMS {
        let forged = json.replace("InsecureForResearchOnly", &format!("{claim:?}"));
        // 2^11 takes 53 bits: a sum of 9 numbers needs more with keys.
        if serde_json::from_str::<Plan>(&forged).is_ok() {
            taken.push(format!("plan, {claim:?}"));
        }
    }
    (CLAIMS.len(), taken)
}

#[test]
fn nothing_insecure_is_loaded_unless_asked_for_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (mut ways, mut taken) = (0, Taken::new());
    let mut add = |(more, found): (usize, Taken)| {
        ways += more;
        taken.extend(found);
    };
    for log2_degree in 10..=14 {
        CLAIMS.into_iter().for_each(|security| add(each(log2_degree, security, folder.path())));
    }
    add(fermat(folder.path()));
    add(plans());
    assert!(ways > 1000, "{ways}");
    println!("{ways} ways");
    Figure::new(25, "insecure or falsely claiming parameters accepted, over kinds, claims and ways in")
        .cases(ways, ways)
        .none_wrong(taken.len());
    assert!(taken.is_empty(), "{taken:?}");
}

/// Checks the opposite: a test that refuses everything would hold, too.
#[test]
fn what_is_secure_is_loaded_by_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let bfv = sunzi_bfv::Parameters::builder().depth(1).build().unwrap();
    let json = Some(serde_json::to_string(&bfv).unwrap());
    let subject =
        Subject { name: "BFV".into(), parameters: &bfv, json, from_json: reads!(sunzi_bfv::Parameters) };
    let (ways, taken) = subject.ways(folder.path());
    assert_eq!(ways, taken.len(), "{taken:?}");
    let ckks = sunzi_ckks::Parameters::builder().depth(2).build().unwrap();
    let json = Some(serde_json::to_string(&ckks).unwrap());
    let subject =
        Subject { name: "CKKS".into(), parameters: &ckks, json, from_json: reads!(sunzi_ckks::Parameters) };
    let (ways, taken) = subject.ways(folder.path());
    assert_eq!(ways, taken.len(), "{taken:?}");
    // The scope of the opt-out ends, also by a panic.
    let text = serde_json::to_string(&RESEARCH).unwrap();
    assert!(std::panic::catch_unwind(|| accepting_insecure(|| panic!("in the scope"))).is_err());
    assert!(serde_json::from_str::<Security>(&text).is_err());
}
