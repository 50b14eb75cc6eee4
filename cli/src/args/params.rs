//! Options of `sunzi params`, and which of them go together.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sunzi::rlwe::Security;

use super::{FILE_CODES, RoomArgs};
use crate::error::CliError;
use crate::files::target::ForceArgs;

/// Bits of the plaintext modulus unless given.
const PLAIN_BITS: u32 = 17;

/// Scheme that `sunzi params` chooses for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ParamsScheme {
    /// The BFV scheme.
    Bfv,
    /// The BGV scheme.
    Bgv,
    /// The CKKS scheme.
    Ckks,
    /// The scheme that the other options ask for.
    Auto,
}

/// Options of `sunzi params`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct ParamsArgs {
    /// Multiplications of ciphertexts in a row
    #[arg(long, value_name = "D", default_value_t = 1)]
    pub(crate) depth: usize,
    /// BFV and BGV: bits of the plaintext modulus, 1 to 60; 17 unless given
    #[arg(long, value_name = "B", conflicts_with = "plain_range")]
    plain_bits: Option<u32>,
    /// Instead: room for integers from -M to M, over several plaintext moduli if need be
    #[arg(long, value_name = "M")]
    pub(crate) plain_range: Option<u128>,
    /// Instead, in BFV: slots of GF(P^d), for a prime P that may be as small as 2; the ring index is chosen
    #[arg(long, value_name = "P", conflicts_with_all = ["plain_bits", "plain_range", "no_batching", "share", "reencryptions"])]
    pub(crate) plain: Option<u64>,
    /// With --plain: slots modulo P^R
    #[arg(long, value_name = "R", default_value_t = 1, requires = "plain", value_parser = clap::value_parser!(u32).range(1..=59))]
    pub(crate) plain_exponent: u32,
    /// Instead, in BFV: a modulus 2^g - 1 for ciphertexts, as [TSKJ20] has them; the plaintext modulus is 786433
    #[arg(long, conflicts_with_all = [
        "plain_bits", "plain_range", "plain", "precision", "real_slots", "additions", "rotations", "slots", "no_batching", "share",
        "reencryptions", "bootstrapping"
    ])]
    pub(crate) fermat: bool,
    /// BFV and BGV: log2 of the terms that are summed at each level
    #[arg(long, value_name = "A", default_value_t = 0)]
    pub(crate) additions: u32,
    /// BFV and BGV: rotate-and-add steps at each level
    #[arg(long, value_name = "R", default_value_t = 0)]
    pub(crate) rotations: u32,
    /// The scheme: BFV and BGV for integers, CKKS for real numbers; auto takes the exact one with smaller ciphertexts, and CKKS with --precision
    #[arg(long, value_name = "bfv|bgv|ckks|auto", default_value = "bfv", hide_possible_values = true)]
    pub(crate) scheme: ParamsScheme,
    /// CKKS: bits behind the binary point that results keep, 1 to 45
    #[arg(long, value_name = "BITS", conflicts_with_all = ["plain_bits", "plain_range", "plain", "additions", "rotations", "no_batching", "reencryptions"])]
    pub(crate) precision: Option<u32>,
    /// CKKS: real slots, as many as the ring degree instead of half as many complex ones; with --bootstrapping the real ring whose ciphertexts a set bootstraps
    #[arg(long, conflicts_with_all = ["plain_bits", "plain_range", "plain", "additions", "rotations", "no_batching"])]
    pub(crate) real_slots: bool,
    /// Keep the parameters in this file; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) room: RoomArgs,
    /// At least so many numbers in a ciphertext
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(crate) slots: Option<u64>,
    /// BFV and BGV: one number a coefficient instead of slots
    #[arg(long)]
    pub(crate) no_batching: bool,
    /// Security in bits: 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = ["128", "192", "256"])]
    security: String,
    /// Instead: the sets that CKKS bootstraps with, what each keeps, leaves and costs; or one of them, as n16-128-fast, or n16-128-fast-8 for 8 levels left; with --real-slots for messages of the real ring of half the degree, with --output kept in a file
    #[arg(long, value_name = "SET", num_args = 0..=1, conflicts_with_all = [
        "depth", "plain_bits", "plain_range", "plain", "plain_exponent", "additions", "rotations", "slots", "no_batching", "security",
        "scheme", "precision", "share", "reencryptions"
    ])]
    pub(crate) bootstrapping: Option<Option<String>>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl ParamsArgs {
    /// Checks that the options mean something for the scheme that was asked for.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let refused = |message: &str| Err(CliError::input(message));
        let of_ckks = self.scheme == ParamsScheme::Ckks
            || (self.scheme == ParamsScheme::Auto && self.precision.is_some());
        if self.real_slots && !of_ckks {
            return refused(
                "--real-slots is for CKKS: give --scheme ckks, or --scheme auto with --precision, or leave --real-slots away",
            );
        }
        match self.scheme {
            ParamsScheme::Bfv | ParamsScheme::Bgv if self.precision.is_some() => refused(
                "--precision is for CKKS, and BFV and BGV compute exactly: give --scheme ckks or auto, or leave --precision away",
            ),
            ParamsScheme::Bgv | ParamsScheme::Ckks if self.fermat => refused(
                "--fermat asks for moduli 2^g - 1, which are in BFV alone: give --scheme bfv or auto, or leave --fermat away",
            ),
            ParamsScheme::Bgv | ParamsScheme::Ckks if self.plain.is_some() => refused(
                "--plain asks for slots of GF(p^d), which are in BFV alone: give --scheme bfv or auto, or leave --plain away",
            ),
            ParamsScheme::Ckks => match self.of_integers() {
                None => Ok(()),
                Some(option) => Err(CliError::input(format!(
                    "{option} is for the integers of BFV and BGV, and CKKS has real numbers: leave {option} away, or take another --scheme"
                ))),
            },
            _ => Ok(()),
        }
    }

    /// Returns an option that was given and means something for integers alone.
    fn of_integers(&self) -> Option<&'static str> {
        let given = [
            ("--plain-bits", self.plain_bits.is_some()),
            ("--plain-range", self.plain_range.is_some()),
            ("--additions", self.additions != 0),
            ("--rotations", self.rotations != 0),
            ("--no-batching", self.no_batching),
            ("--reencryptions", self.room.reencryptions.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Bits of the plaintext modulus.
    pub(crate) fn plain_bits(&self) -> u32 {
        self.plain_bits.unwrap_or(PLAIN_BITS)
    }

    /// Security level that the parameters must reach.
    pub(crate) fn security(&self) -> Security {
        security(&self.security)
    }
}

/// Returns the security level of an option that takes 128, 192 or 256.
pub(crate) fn security(bits: &str) -> Security {
    match bits {
        "192" => Security::Bits192,
        "256" => Security::Bits256,
        _ => Security::Bits128,
    }
}
