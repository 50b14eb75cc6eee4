//! `sunzi keygen`: keys for parameters, in three folders for three parties.

mod bootstrapped;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sunzi::encoding::{row_rotation_exponent, row_swap_exponent};
use sunzi::program::Plan;
use sunzi::program::analysis::Parameters;
use sunzi::ring::Ring;
use sunzi::ring::sampling::SeededRng;
use sunzi::rlwe::wire::{SecurityClaim, WireError, create, evaluation_keys_len, store, to_bytes};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{
    GaloisKeys, LedgerFile, PublicKey, RelinearizationKey, RlweContext, SecretKey, memory, randomness,
};
use sunzi::{bfv, bgv, ckks};
use sunzi_keystore::{Properties, Time};
use zeroize::Zeroizing;

use super::folder::{Entry, whole};
use super::input::InputFile;
use super::stored::Stored;
use super::{check_parent, named, refuse};
use crate::args::{KeygenArgs, PRECISION, Rotations};
use crate::audit::Audit;
use crate::error::CliError;
use crate::keys::properties::{self, PROPERTIES};
use crate::passphrase::asked;
use crate::passphrase::lock::Lock;
use crate::progress::Progress;
use crate::{output, program};

/// Files of the owner of the data, who counts what is shared, and of whoever encrypts, in the folder of keys beside the parameters.
const OWN_FILES: [&str; 3] = ["secret/secret.sz", "secret/sharing.sz", "public/public.sz"];
/// Files of whoever computes.
const EVALUATION_FILES: [&str; 2] = ["eval/relinearization.sz", GALOIS_FILE];
/// File of the keys of rotations.
const GALOIS_FILE: &str = "eval/galois.sz";
const FOLDERS: [&str; 3] = [SECRET, "public", "eval"];
/// Folder of the owner, which nobody else can enter.
const SECRET: &str = "secret";
/// File of the parameters in each folder.
const PARAMETERS: &str = "parameters.sz";

/// Report of `sunzi keygen`: the folder of keys that it wrote.
#[derive(Debug, Serialize)]
struct Made {
    folder: String,
    key: String,
    security: SecurityClaim,
    rotations: usize,
    /// Bytes of the keys of those who compute: the number of the plan.
    key_bytes: u64,
    files: Vec<Written>,
}

/// One file that `sunzi keygen` wrote.
#[derive(Debug, Serialize)]
struct Written {
    file: String,
    bytes: u64,
}

/// Makes all keys of `sunzi keygen` in a folder that is not there yet: all of them, or none.
pub(crate) fn run(args: &KeygenArgs) -> Result<(), CliError> {
    let input = InputFile::open(&args.params)?;
    let parameters =
        Stored::load(args.accept.parameters(), input.path()).map_err(|error| refuse(&args.params, error))?;
    check_new(&args.directory)?;
    // Memory is checked before any work, tables included.
    let planned = args.plan.is_some() || args.program.is_some();
    let rotations = (!planned).then_some(&args.rotations);
    let needed = parameters.table_bytes().saturating_add(least_keys(&parameters, rotations));
    memory::require(needed).map_err(CliError::input)?;
    super::tell_tables(parameters.table_bytes());
    let make = |context: &RlweContext| make(context, &parameters, rotations, args, input.path());
    match &parameters {
        Stored::Bfv(own) => make(of(bfv::Context::new(own))?.rlwe()),
        // All plaintext moduli share one ring and its keys.
        Stored::Crt(own) => match own.parts().first() {
            Some(first) => make(of(bfv::Context::new(first))?.rlwe()),
            None => Err(CliError::input("parameters without a plaintext modulus")),
        },
        Stored::Bgv(own, _) => make(of(bgv::Context::new(own))?.rlwe()),
        Stored::Ckks(own) => make(of(ckks::Context::new(own))?.rlwe()),
        Stored::Fermat(own) => make(of(own.context())?.rlwe()),
        Stored::Integers(own) => {
            bootstrapped::of_integers(&Parameters::Integers(own.clone()), &parameters, args)
        }
        Stored::Bootstrapped(own) => {
            let all = Parameters::Bootstrapped(own.clone());
            bootstrapped::of_reals(&all, &parameters, rotations, args, input.path())
        }
    }
}

/// Fails if the folder for keys is there already, or has no folder to be in.
pub(crate) fn check_new(folder: &Path) -> Result<(), CliError> {
    if folder.exists() {
        let name = named(folder);
        let message = "is there already: keys are never overwritten; choose another folder";
        return Err(CliError::input(format!("{name} {message}")));
    }
    check_parent(folder)
}

/// The least bytes that keys take together: without `rotations`, which a plan or program says later, the
/// relinearisation key alone.
fn least_keys(parameters: &Stored, rotations: Option<&Rotations>) -> u64 {
    let degree = parameters.claim().degree.max(2);
    let rotations = match rotations {
        // Those of sums are at the lowest levels.
        _ if matches!(parameters, Stored::Bootstrapped(_)) => 0,
        Some(Rotations::Steps(steps)) => steps.len(),
        Some(Rotations::Sums) if degree.is_power_of_two() => degree.ilog2() as usize,
        _ => 0,
    };
    parameters.switch_key_bytes().saturating_mul(rotations.max(1) as u64)
}

fn of<C, E: std::error::Error>(context: Result<C, E>) -> Result<C, CliError> {
    context.map_err(CliError::input)
}

fn make(
    context: &RlweContext,
    parameters: &Stored,
    rotations: Option<&Rotations>,
    args: &KeygenArgs,
    file: &Path,
) -> Result<(), CliError> {
    let exponents = needed(match rotations {
        None => planned(args, file)?,
        Some(rotations) => {
            let exponents = exponents(context.ring(), parameters, rotations)?;
            exponents.into_iter().map(|k| (k, context.level())).collect()
        }
    });
    // Memory is checked before any work: all keys are in memory together.
    let mut levels = exponents.iter().map(|&(_, level)| level).chain([context.level()]);
    let needed = levels
        .try_fold(0_u64, |sum, level| context.switch_key_bytes(level).map(|bytes| sum.saturating_add(bytes)));
    memory::require(needed.map_err(CliError::input)?).map_err(CliError::input)?;
    let levels = exponents.iter().map(|&(_, level)| level);
    let key_bytes = evaluation_keys_len(context.gadget(), levels).map_err(CliError::input)?;
    if !args.json {
        output::print(&announcement(parameters, exponents.len(), key_bytes))?;
    }
    in_folder(args, |place, progress| {
        let key = write(context, parameters, &exponents, place, progress)?;
        let rotations = exponents.len();
        Ok(Made { rotations, ..Made::new(args, (key, parameters.claim()), key_bytes, &EVALUATION_FILES) })
    })
}

/// Folder that keys are written to, what locks its secret key, and label and expiry, if it has any.
struct Place<'a> {
    folder: &'a Path,
    lock: Option<Lock>,
    properties: Option<Properties>,
}

/// Makes a folder of keys as `make` fills it, and prints the report: all of it, or nothing.
fn in_folder(
    args: &KeygenArgs,
    make: impl FnOnce(&Place<'_>, &Progress) -> Result<Made, CliError>,
) -> Result<(), CliError> {
    let new = &args.new_passphrase;
    let is_asked = args.passphrase
        || new.new_passphrase_file.is_some()
        || new.new_passphrase_command.is_some()
        || new.new_wrap_command.is_some();
    let secret = args.directory.join(OWN_FILES[0]);
    let lock = is_asked.then(|| asked::lock(new, &secret)).transpose()?;
    let properties = properties(args)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let fill = |folder: &Path| make(&Place { folder, lock, properties }, &progress);
    let mut made = whole(&args.directory, Entry::Usual, fill)?;
    drop(progress);
    for file in &mut made.files {
        let path = args.directory.join(&file.file);
        let metadata = fs::metadata(&path).map_err(|error| refuse(&path, WireError::Io(error)))?;
        file.bytes = metadata.len();
    }
    output::report(args.json, &made, Made::text)
}

/// Returns label and expiry that are asked for, if any is.
fn properties(args: &KeygenArgs) -> Result<Option<Properties>, CliError> {
    let set = Time::now();
    let expires = args.expires.map_or(Ok(None), |expiry| expiry.at(set))?;
    let properties = Properties { label: args.label.clone(), set, expires };
    if properties.is_expired(set) {
        return Err(CliError::input("--expires: expected a time to come, got one that is over"));
    }
    Ok((args.label.is_some() || expires.is_some()).then_some(properties))
}

/// Writes parameters for all parties, and the keys that evaluation keys are not: the secret key, its ledger and the public key.
fn write_own(
    context: &RlweContext,
    parameters: &Stored,
    place: &Place<'_>,
    rng: &mut SeededRng,
) -> Result<SecretKey, CliError> {
    let folder = place.folder;
    for party in FOLDERS {
        let own = folder.join(party);
        make_folder(&own, party == SECRET).map_err(|error| refuse(&own, WireError::Io(error)))?;
        let file = own.join(PARAMETERS);
        create(&file, false, |out| parameters.write(out)).map_err(|error| refuse(&file, error))?;
    }
    let [secret_file, ledger_file, public_file] = OWN_FILES.map(|file| folder.join(file));
    let secret = SecretKey::generate(context, rng).map_err(CliError::failure)?;
    write_secret(context, &secret, &secret_file, place.lock.as_ref())?;
    LedgerFile::prepare(&ledger_file, context.fingerprint(), secret.id())
        .map_err(|error| refuse(&ledger_file, error))?;
    Audit::begin(&folder.join(SECRET), secret.id())?;
    if let Some(properties) = &place.properties {
        let folders = FOLDERS.map(|party| folder.join(party));
        properties::write(folders.iter().map(PathBuf::as_path), properties, (context, &secret))?;
    }
    let public = PublicKey::generate(context, &secret, rng).map_err(CliError::failure)?;
    store(context, &public, &public_file).map_err(|error| refuse(&public_file, error))?;
    Ok(secret)
}

/// Writes a secret key to a new file, whose own bytes never reach the disk where something locks it.
fn write_secret(
    context: &RlweContext,
    secret: &SecretKey,
    file: &Path,
    lock: Option<&Lock>,
) -> Result<(), CliError> {
    let mut bytes = Zeroizing::new(to_bytes(context, secret).map_err(CliError::failure)?);
    if let Some(lock) = lock {
        bytes = Zeroizing::new(lock.locked(file, &bytes)?);
    }
    let contents = |out: &mut File| out.write_all(&bytes).map_err(WireError::Io);
    create(file, true, contents).map_err(|error| refuse(file, error))
}

/// Writes all keys of `sunzi keygen`, the secret key first: the others are made of it.
fn write(
    context: &RlweContext,
    parameters: &Stored,
    exponents: &[(u64, usize)],
    place: &Place<'_>,
    progress: &Progress,
) -> Result<String, CliError> {
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let [relinearization_file, galois_file] = EVALUATION_FILES.map(|file| place.folder.join(file));
    progress.begin(exponents.len() + 2);
    progress.say("public and relinearisation key");
    let secret = write_own(context, parameters, place, &mut rng)?;
    let key = RelinearizationKey::generate(context, &secret, &mut rng).map_err(CliError::failure)?;
    store(context, &key, &relinearization_file).map_err(|error| refuse(&relinearization_file, error))?;
    drop(key);
    progress.say("keys for rotations");
    let keys =
        GaloisKeys::generate_levels(context, &secret, exponents.iter().copied(), &mut rng, |done, total| {
            progress.at(done + 2, total + 2);
        });
    let keys = keys.map_err(CliError::input)?;
    store(context, &keys, &galois_file).map_err(|error| refuse(&galois_file, error))?;
    Ok(secret.id().to_string())
}

/// Makes a folder; a secret one is for its owner alone.
pub(crate) fn make_folder(path: &Path, secret: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = secret;
    builder.create(path)
}

/// The automorphisms of the plan or program that keys are for, and the moduli that ciphertexts have where they are applied; the parameters are in
/// `file`.
fn planned(args: &KeygenArgs, file: &Path) -> Result<Vec<(u64, usize)>, CliError> {
    let contexts = super::contexts(args.accept.parameters(), file);
    let contexts = contexts.map_err(|error| refuse(&args.params, error))?;
    let plan = match (&args.plan, &args.program, &args.schema) {
        (Some(plan), ..) => program::planned(plan, contexts.parameters())?,
        (None, Some(program), Some(schema)) => {
            let schema = program::plan::of_file(schema)?;
            let program = program::parse(program, &schema)?;
            let parts = program::parts(&schema, args.partition.as_ref())?;
            let layout = contexts.parameters().layout(schema.rows as usize, parts);
            let plan = |precision| Plan::for_layout(&program, contexts.parameters(), layout, precision);
            // Which rotations there are does not depend on the precision; what is compared may need some.
            plan(4).or_else(|_| plan(PRECISION)).map_err(program::refuse)?
        }
        _ => return Ok(Vec::new()),
    };
    let exponents = contexts.exponents_of(&plan.rotations).map_err(CliError::input)?;
    Ok(exponents.into_iter().map(|exponent| (exponent, plan.rotation_limbs)).collect())
}

/// Returns each automorphism that needs a key once, in order: the identity needs none.
fn needed(mut exponents: Vec<(u64, usize)>) -> Vec<(u64, usize)> {
    exponents.sort_unstable();
    exponents.dedup();
    exponents.retain(|&(exponent, _)| exponent != 1);
    exponents
}

/// Returns the exponents of the automorphisms that the options ask keys for.
fn exponents(ring: &Ring, parameters: &Stored, rotations: &Rotations) -> Result<Vec<u64>, CliError> {
    let (degree, index) = (ring.degree(), ring.index());
    if !index.is_power_of_two() {
        let none = matches!(rotations, Rotations::None | Rotations::Sums);
        let message = format!("steps of slots are for rings of a power of two, not of index {index}");
        return if none { Ok(Vec::new()) } else { Err(CliError::input(message)) };
    }
    let reals = matches!(parameters, Stored::Ckks(_) | Stored::Bootstrapped(_));
    let exponent = |steps: i64| {
        if reals {
            ckks::rotation::rotation_exponent(steps, index)
        } else {
            row_rotation_exponent(degree, steps)
        }
    };
    Ok(match rotations {
        Rotations::None => Vec::new(),
        Rotations::Steps(steps) => steps.iter().map(|&steps| exponent(steps)).collect(),
        Rotations::Sums => {
            // Real slots are in one row, which nothing conjugates.
            let is_real = ring.ring_index().is_real();
            let row = if is_real { degree } else { degree / 2 };
            let doublings = (0..row.ilog2()).map(|power| exponent(1 << power));
            let last =
                if reals { ckks::rotation::conjugation_exponent(index) } else { row_swap_exponent(degree) };
            doublings.chain((!is_real).then_some(last)).collect()
        }
    })
}

/// Returns the text that says which keys are going to be made.
fn announcement(parameters: &Stored, rotations: usize, key_bytes: u64) -> String {
    format!(
        "{}\nmaking a secret key, a public key, and {} of keys for products and {}",
        parameters.claim(),
        bytes(key_bytes),
        counted(rotations, "rotation", "rotations"),
    )
}

impl Made {
    /// Begins the report of a folder with these files of whoever computes.
    fn new(
        args: &KeygenArgs,
        (key, security): (String, SecurityClaim),
        key_bytes: u64,
        evaluation: &[&str],
    ) -> Self {
        let parameters = FOLDERS.map(|party| format!("{party}/{PARAMETERS}"));
        let others = OWN_FILES.iter().chain(evaluation).map(|&file| file.to_owned());
        let described = args.label.is_some() || args.expires.is_some();
        let properties = FOLDERS.iter().filter(|_| described).map(|party| format!("{party}/{PROPERTIES}"));
        let files =
            parameters.into_iter().chain(others).chain(properties).map(|file| Written { file, bytes: 0 });
        let folder = args.directory.display().to_string();
        Self { folder, key, security, rotations: 0, key_bytes, files: files.collect() }
    }

    fn text(&self) -> String {
        let mut text = format!("key {} in {}\n", self.key, self.folder);
        for Written { file, bytes: size } in &self.files {
            let keep = match file.as_str() {
                "secret/secret.sz" => "  keep it from others",
                "secret/sharing.sz" => "  keep it with the secret key: it counts what is shared",
                _ => "",
            };
            text.push_str(&format!("  {file:<26} {}{keep}\n", bytes(*size)));
        }
        text
    }
}
