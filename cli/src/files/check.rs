//! `sunzi check`: whether a file is whole and belongs to parameters. Everything in it is read.

use std::io::BufReader;
use std::path::Path;

use serde::Serialize;
use sunzi::circuits::bootstrap::{BootstrapKeys, BootstrapParameters, RealBlueprint, RealBootstrapKeys};
use sunzi::program::Contexts;
use sunzi::program::results::ResultsReader;
use sunzi::rlwe::wire::{
    CiphertextOf, Ciphertexts, Format, Kind, SchemeFormat, Scope, WireError, load, open_regular,
};
use sunzi::rlwe::{
    EncapsulationKeys, GaloisKeys, PublicKey, RaisingKeys, ReencryptionKey, ReencryptionPublicKey,
    RekeyingKey, RelinearizationKey, SecretKey,
};
use sunzi::{bfv, ckks};

use super::input::InputFile;
use super::stored::{self, Stored};
use super::{mode, named, refuse, refuse_table};
use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output;

/// Name of the bootstrapping set of a real ring, which the check of its bootstrapping keys needs beside the parameters of ciphertexts.
const REAL_SET: &str =
    "bootstrapping set of a real ring, as sunzi params --bootstrapping SET --real-slots keeps it";

/// Report of `sunzi check` on a file that is whole, as it is printed.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    object: String,
    /// Number of ciphertexts or rotations in the file, or one.
    count: u64,
    bytes: u64,
}

/// Reads all of a file, and prints what it is.
pub(crate) fn run(args: &CheckArgs) -> Result<(), CliError> {
    let refused = |error| refuse(&args.file, error);
    let input = InputFile::open(&args.file)?;
    let file = input.path();
    mode::check(file, &args.mode)?;
    let accept = args.accept.parameters();
    let of_params = |error| refuse(&args.params, error);
    let given = InputFile::open(&args.params)?;
    let contexts = || super::contexts(accept, given.path()).map_err(of_params);
    let (count, object, bytes) = if stored::is_table(file, &args.file)? {
        let contexts = contexts()?;
        let mut table = stored::table(file, &args.file)?;
        let count = table.check(&contexts).map_err(|error| refuse_table(&args.file, error))?;
        let len = std::fs::metadata(file).map_err(|error| refused(WireError::Io(error)))?.len();
        (count, table.kind(), len)
    } else {
        let (header, bytes) = stored::header(file).map_err(refused)?;
        let kind = Kind::of(header.kind);
        if matches!(kind, Some(Kind::LockedSecret | Kind::WrappedSecret)) {
            let name = named(&args.file);
            return Err(CliError::input(format!(
                "{name} is a secret under a passphrase, whole if that opens it: check what sunzi passphrase remove makes of a copy"
            )));
        }
        let count = if kind == Some(Kind::Results) {
            let contexts = contexts()?;
            results(&contexts, file).map_err(refused)?
        } else {
            let parameters = Stored::load(accept, given.path()).map_err(of_params)?;
            super::tell_tables(parameters.table_bytes());
            count(&parameters, file).map_err(refused)? as u64
        };
        (count, kind, bytes)
    };
    let object = object.map(|kind| kind.to_string()).unwrap_or_default();
    let checked = Checked { file: input.name().to_owned(), object, count, bytes };
    output::report(args.json, &checked, |Checked { object, count, bytes, .. }| {
        let whole = output::verdict(true, "whole");
        format!("{whole}: {object}, {count} in {bytes} bytes, for these parameters")
    })
}

/// Reads a file of any kind in the context of these parameters; returns the number of its objects.
fn count(parameters: &Stored, path: &Path) -> Result<usize, WireError> {
    match parameters {
        Stored::Bfv(parameters) => in_scheme::<_, bfv::Plaintext>(&of(bfv::Context::new(parameters))?, path),
        Stored::Ckks(parameters) => {
            in_scheme::<_, ckks::Plaintext>(&of(ckks::Context::new(parameters))?, path)
        }
        Stored::Bootstrapped(parameters) => bootstrapped(parameters, path),
        Stored::Integers(parameters) => {
            in_scheme::<_, ckks::Plaintext>(&of(ckks::Context::new(parameters.ckks()))?, path)
        }
        Stored::Fermat(parameters) => in_scheme::<_, bfv::Plaintext>(&of(parameters.context())?, path),
        Stored::Bgv(parameters, plain_moduli) => {
            in_scheme::<_, bfv::Plaintext>(its(&of(parameters.contexts(plain_moduli))?, path)?, path)
        }
        Stored::Crt(parameters) => {
            in_scheme::<_, bfv::Plaintext>(its(&of(parameters.contexts())?, path)?, path)
        }
    }
}

/// Reads a file in the context of parameters with bootstrapping: keys of a real ring take the tables of the whole ring too.
fn bootstrapped(parameters: &BootstrapParameters, path: &Path) -> Result<usize, WireError> {
    let context = of(ckks::Context::new(parameters.ckks()))?;
    let kind = Kind::of(stored::open(path)?.header().kind);
    if !parameters.is_real() || kind != Some(Kind::RealBootstrapKeys) {
        return in_scheme::<_, ckks::Plaintext>(&context, path);
    }
    // Other parameters are refused before any table of the whole ring is made.
    if let Some(expected) = context.rlwe().expected() {
        expected.check(&stored::open(path)?.header().parameters)?;
    }
    let blueprint = of(RealBlueprint::new(&context, parameters.set(), context.max_slots()))?;
    one::<RealBootstrapKeys, _>(&blueprint, path)
}

/// Returns the context that a file was made in: a message belongs to one of the plaintext moduli, keys to all
/// of them.
fn its<'a, C: SchemeFormat>(contexts: &'a [C], path: &Path) -> Result<&'a C, WireError> {
    let header = stored::open(path)?.header().parameters;
    let own = contexts.iter().find(|context| context.message_fingerprint() == header);
    own.or(contexts.first()).ok_or(WireError::value("plaintext moduli", "at least one", 0))
}

/// Returns the context of parameters that were validated; if there is none, the error says why.
fn of<C, E: std::error::Error + Send + Sync + 'static>(context: Result<C, E>) -> Result<C, WireError> {
    context.map_err(WireError::scheme)
}

fn in_scheme<C: SchemeFormat + Format<P>, P>(context: &C, path: &Path) -> Result<usize, WireError> {
    let reader = stored::open(path)?;
    let kind = Kind::of(reader.header().kind);
    if kind == Some(C::CIPHERTEXTS) {
        // Ciphertexts are read one after the other: there may be more than memory holds.
        return Ciphertexts::new(context, reader)?
            .try_fold(0, |count, ciphertext| ciphertext.map(|_| count + 1));
    }
    if kind == Some(<C as Format<P>>::KIND) {
        return load::<P, C>(context, path).map(|_| 1);
    }
    let rlwe = context.rlwe();
    match kind {
        Some(Kind::SecretKey) => one::<SecretKey, _>(rlwe, path),
        Some(Kind::PublicKey) => one::<PublicKey, _>(rlwe, path),
        Some(Kind::ReencryptionPublicKey) => one::<ReencryptionPublicKey, _>(rlwe, path),
        Some(Kind::ReencryptionKey) => one::<ReencryptionKey, _>(rlwe, path),
        Some(Kind::RekeyingKey) => one::<RekeyingKey, _>(rlwe, path),
        Some(Kind::RelinearizationKey) => one::<RelinearizationKey, _>(rlwe, path),
        Some(Kind::EncapsulationKeys) => one::<EncapsulationKeys, _>(rlwe, path),
        Some(Kind::RaisingKeys) => one::<RaisingKeys, _>(rlwe, path),
        Some(Kind::GaloisKeys) => Ok(load::<GaloisKeys, _>(rlwe, path)?.exponents().count()),
        Some(Kind::BootstrapKeys) => one::<BootstrapKeys, _>(rlwe, path),
        // What they bootstrap with is not in parameters of CKKS alone.
        Some(Kind::RealBootstrapKeys) => Err(WireError::Parameters { what: REAL_SET }),
        // An object that is not of this scheme is named by the error.
        _ => one::<CiphertextOf<C>, C>(context, path),
    }
}

/// Reads all of a file of results, chunk by chunk, and counts them.
fn results(contexts: &Contexts, path: &Path) -> Result<u64, WireError> {
    let file = BufReader::new(open_regular(path)?);
    let (mut reader, mut count) = (ResultsReader::open(contexts, file)?, 0);
    while reader.next_answer()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn one<T, C: Format<T>>(context: &C, path: &Path) -> Result<usize, WireError> {
    load::<T, C>(context, path).map(|_| 1)
}
