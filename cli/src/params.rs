//! `sunzi params`: a choice of parameters and its reasons, kept in a file if asked for.

mod bootstrapping;
mod galois;

use std::fmt::Display;

use serde::Serialize;
use sunzi::rlwe::Security;
use sunzi::{bfv, bgv, ckks};

use crate::args::{ParamsArgs, ParamsScheme};
use crate::error::CliError;
use crate::files::stored::Stored;
use crate::output;

/// Explains the choice; refused if nothing fits.
pub(crate) fn run(args: &ParamsArgs) -> Result<(), CliError> {
    if args.bootstrapping {
        return bootstrapping::run(args.json);
    }
    let security = match args.security.as_str() {
        "192" => Security::Bits192,
        "256" => Security::Bits256,
        _ => Security::Bits128,
    };
    if let Some(prime) = args.plain {
        let explanation = galois::explain(args, prime, security)?;
        return finish(args, &explanation, &Stored::Bfv(explanation.parameters().clone()));
    }
    if args.plain_exponent != 1 {
        return Err(CliError::input("--plain-exponent is for --plain: give a prime"));
    }
    match args.scheme {
        ParamsScheme::Bfv => bfv(args, security),
        ParamsScheme::Bgv => bgv(args, security),
        ParamsScheme::Ckks => ckks(args, security),
        ParamsScheme::Auto if args.precision.is_some() => ckks(args, security),
        ParamsScheme::Auto => exact(args, security),
    }
}

/// The exact scheme with less to compute on: a ciphertext of BGV, which has a level a product, or one of BFV.
fn exact(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let words = |degree: usize, moduli: usize| degree * moduli;
    let bfv_words = bfv_builder(args, security).build_crt();
    let bgv_words = bgv_builder(args, security).build();
    match (bfv_words, bgv_words) {
        (Ok(bfv), Ok(bgv))
            if words(bgv.degree(), bgv.moduli().len())
                < bfv.plain_moduli().len() * words(bfv.degree(), bfv.moduli().len()) =>
        {
            self::bgv(args, security)
        }
        (Err(_), Ok(_)) => self::bgv(args, security),
        _ => self::bfv(args, security),
    }
}

fn slots(args: &ParamsArgs) -> Option<usize> {
    args.slots.map(|slots| slots.try_into().unwrap_or(usize::MAX))
}

fn bfv_builder(args: &ParamsArgs, security: Security) -> bfv::ParametersBuilder {
    let mut builder = bfv::Parameters::builder()
        .depth(args.depth)
        .additions(args.additions)
        .rotations(args.rotations)
        .batching(!args.no_batching)
        .security(security);
    builder = match args.plain_range {
        Some(magnitude) => builder.plain_range(magnitude),
        None => builder.plain_bits(args.plain_bits),
    };
    slots(args).map_or(builder.clone(), |slots| builder.slots(slots))
}

fn bfv(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let builder = bfv_builder(args, security);
    // Says what to relax if nothing fits.
    let parameters = builder.build_crt().map_err(CliError::input)?;
    let explanation = builder.explain().map_err(CliError::input)?;
    let mut parts = parameters.parts();
    let stored = match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => Stored::Bfv(only),
        _ => Stored::Crt(parameters),
    };
    finish(args, &explanation, &stored)
}

/// What is declared for BFV as a logarithm of terms is a number of additions here.
fn bgv_builder(args: &ParamsArgs, security: Security) -> bgv::ParametersBuilder {
    let additions = 1_u64.checked_shl(args.additions).unwrap_or(u64::MAX) - 1;
    let rotations = u64::from(args.rotations);
    let mut builder = bgv::Parameters::builder()
        .depth(args.depth)
        .fresh_additions(additions)
        .additions_per_level(additions)
        .fresh_rotations(rotations)
        .rotations_per_level(rotations)
        .batching(!args.no_batching)
        .security(security);
    builder = match args.plain_range {
        Some(magnitude) => builder.plain_range(magnitude),
        None => builder.plain_bits(args.plain_bits),
    };
    slots(args).map_or(builder.clone(), |slots| builder.slots(slots))
}

fn bgv(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let builder = bgv_builder(args, security);
    let parameters = builder.build().map_err(CliError::input)?;
    let explanation = builder.explain().map_err(CliError::input)?;
    finish(args, &explanation, &Stored::Bgv(parameters))
}

fn ckks(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let mut builder = ckks::Parameters::builder().depth(args.depth).security(security);
    builder = args.precision.map_or(builder.clone(), |bits| builder.precision(bits));
    builder = slots(args).map_or(builder.clone(), |slots| builder.slots(slots));
    let parameters = builder.build().map_err(CliError::input)?;
    let explanation = builder.explain().map_err(CliError::input)?;
    finish(args, &explanation, &Stored::Ckks(parameters))
}

/// Keeps the parameters where they were asked for, and prints the reasons.
fn finish<E: Serialize + Display>(
    args: &ParamsArgs,
    explanation: &E,
    parameters: &Stored,
) -> Result<(), CliError> {
    if let Some(path) = &args.output {
        parameters.store(path)?;
    }
    if args.json { output::print_json(explanation) } else { output::print(&explanation.to_string()) }
}
