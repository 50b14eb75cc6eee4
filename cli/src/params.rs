//! `sunzi params`: a choice of parameters and its reasons.

mod bootstrapping;
mod galois;

use sunzi::bfv::Parameters;
use sunzi::rlwe::Security;

use crate::args::ParamsArgs;
use crate::error::CliError;
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
        return if args.json { output::print_json(&explanation) } else { output::print(&explanation.text()) };
    }
    if args.plain_exponent != 1 {
        return Err(CliError::input("--plain-exponent is for --plain: give a prime"));
    }
    let mut builder = Parameters::builder()
        .depth(args.depth)
        .additions(args.additions)
        .rotations(args.rotations)
        .batching(!args.no_batching)
        .security(security);
    builder = match args.plain_range {
        Some(magnitude) => builder.plain_range(magnitude),
        None => builder.plain_bits(args.plain_bits),
    };
    if let Some(slots) = args.slots {
        builder = builder.slots(slots.try_into().unwrap_or(usize::MAX));
    }
    // Says what to relax if nothing fits.
    builder.build_crt().map_err(CliError::input)?;
    let explanation = builder.explain().map_err(CliError::input)?;
    if args.json { output::print_json(&explanation) } else { output::print(&explanation.to_string()) }
}
