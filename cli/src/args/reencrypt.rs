//! Options of `sunzi reencrypt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sunzi::rlwe::reencryption::MOST_HOPS;

use super::passphrase::PassphraseArgs;
use super::program::{QUERIES, STATISTICAL_BITS};
use super::{AcceptArgs, FILE_CODES};
use crate::audit::LogArgs;
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Text of `sunzi reencrypt` on who has what.
const WHO: &str = "The new owner makes keys for the same parameters with sunzi keygen, then `public`; the old owner makes the folder of the proxy with `key`; the proxy runs `run`, \
and learns nothing. Whoever has the folder of the proxy and the new owner's secret key has the old owner's: give that folder to the proxy alone. The new owner sees all that \
the ciphertexts hold: all slots, and the totals that results are computed from.";

/// Command of `sunzi reencrypt`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHO}\n\n{FILE_CODES}"))]
pub(crate) struct ReencryptArgs {
    #[command(subcommand)]
    pub(crate) command: ReencryptCommand,
}

/// Commands of `sunzi reencrypt`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum ReencryptCommand {
    /// The new owner: make the public key that results are handed on to
    Public(PublicArgs),
    /// The old owner: make the folder of a proxy, with the key from one owner to the other
    Key(KeyArgs),
    /// The proxy: hand results on
    Run(RunArgs),
}

/// Options of an owner with a secret key.
#[derive(Debug, Args)]
pub(crate) struct OwnerArgs {
    /// The folder with the secret key
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
}

/// Options of `sunzi reencrypt public`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct PublicArgs {
    #[command(flatten)]
    pub(crate) owner: OwnerArgs,
    /// The file to write, which is public; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi reencrypt key`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct KeyArgs {
    #[command(flatten)]
    pub(crate) owner: OwnerArgs,
    /// The new owner's file, as `sunzi reencrypt public` writes it; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Refuse a public key with another fingerprint than this one, which the new owner reads out
    #[arg(long, value_name = "FINGERPRINT")]
    pub(crate) expect: Option<String>,
    /// Ask nothing
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// The folder to make for the proxy, which must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    /// At most QUERIES ciphertexts are handed on by this proxy
    #[arg(long, value_name = "QUERIES", default_value_t = QUERIES)]
    pub(crate) queries: u64,
    /// All that is handed on is within statistical distance 2^-BITS of what does not depend on the key, 1 to 80
    #[arg(long, value_name = "BITS", default_value_t = STATISTICAL_BITS)]
    pub(crate) statistical_bits: u32,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi reencrypt run`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct RunArgs {
    /// The results, as `sunzi eval` or `sunzi reencrypt run` writes them; - for standard input
    pub(crate) file: PathBuf,
    /// The folder of the proxy
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Leave room for so many further times that the results are handed on; without, all room is used to hide more
    #[arg(long, value_name = "HOPS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..i64::from(MOST_HOPS)))]
    pub(crate) further: u32,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
