//! `sunzi params`: chooses parameters and prints the reasons, kept in a file if asked for.

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

/// Explains the choice of parameters; an error if nothing fits.
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
        ParamsScheme::Bfv => finish_bfv(args, bfv_choice(args, security)?),
        ParamsScheme::Bgv => finish_bgv(args, bgv_choice(args, security)?),
        ParamsScheme::Ckks => ckks(args, security),
        ParamsScheme::Auto if args.precision.is_some() => ckks(args, security),
        ParamsScheme::Auto => exact(args, security),
    }
}

/// Returns the exact scheme with less to compute on: a ciphertext of BGV, which has a level a product, or as
/// many of BFV as there are plaintext moduli.
fn exact(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let (bfv, bgv) = (bfv_choice(args, security), bgv_choice(args, security));
    let smaller = match (&bfv, &bgv) {
        (Ok((_, bfv)), Ok((_, bgv))) => {
            let words = bfv.plain_moduli().len() * bfv.degree() * bfv.moduli().len();
            bgv.degree() * bgv.moduli().len() < words
        }
        (Err(_), Ok(_)) => true,
        _ => false,
    };
    if smaller { finish_bgv(args, bgv?) } else { finish_bfv(args, bfv?) }
}

type BfvChoice = (bfv::ParametersBuilder, bfv::CrtParameters);
type BgvChoice = (bgv::ParametersBuilder, bgv::Parameters);

fn slots(args: &ParamsArgs) -> Option<usize> {
    args.slots.map(|slots| slots.try_into().unwrap_or(usize::MAX))
}

fn bfv_choice(args: &ParamsArgs, security: Security) -> Result<BfvChoice, CliError> {
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
    if let Some(slots) = slots(args) {
        builder = builder.slots(slots);
    }
    if let Some(policy) = args.room.policy()? {
        builder = builder.sharing(policy);
    }
    // The builder says what to relax if nothing fits.
    let parameters = builder.build_crt().map_err(CliError::input)?;
    Ok((builder, parameters))
}

fn finish_bfv(args: &ParamsArgs, (builder, parameters): BfvChoice) -> Result<(), CliError> {
    let explanation = builder.explain().map_err(CliError::input)?;
    let stored = match parameters.parts().as_slice() {
        [only] => Stored::Bfv(only.clone()),
        _ => Stored::Crt(parameters),
    };
    finish(args, &explanation, &stored)
}

/// Chooses BGV parameters: what is declared for BFV as a logarithm of terms is a number of additions here.
fn bgv_choice(args: &ParamsArgs, security: Security) -> Result<BgvChoice, CliError> {
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
    if let Some(slots) = slots(args) {
        builder = builder.slots(slots);
    }
    if let Some(policy) = args.room.policy()? {
        builder = builder.sharing(policy);
    }
    let parameters = builder.build().map_err(CliError::input)?;
    Ok((builder, parameters))
}

fn finish_bgv(args: &ParamsArgs, (builder, parameters): BgvChoice) -> Result<(), CliError> {
    let explanation = builder.explain().map_err(CliError::input)?;
    let plain_moduli = vec![parameters.plain_modulus()];
    finish(args, &explanation, &Stored::Bgv(parameters, plain_moduli))
}

fn ckks(args: &ParamsArgs, security: Security) -> Result<(), CliError> {
    let mut builder = ckks::Parameters::builder().depth(args.depth).security(security);
    if let Some(bits) = args.precision {
        builder = builder.precision(bits);
    }
    if let Some(slots) = slots(args) {
        builder = builder.slots(slots);
    }
    if let Some(policy) = args.room.policy()? {
        builder = builder.sharing(policy);
    }
    let parameters = builder.build().map_err(CliError::input)?;
    let explanation = builder.explain().map_err(CliError::input)?;
    finish(args, &explanation, &Stored::Ckks(parameters))
}

/// Keeps the parameters in the file that was asked for, and prints the reasons.
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
