//! Options of `sunzi keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sunzi_keystore::{Label, Time};

use super::passphrase::PassphraseArgs;
use super::{AcceptArgs, FILE_CODES};
use crate::error::CliError;
use crate::files::mode::ModeArgs;

/// Options of `sunzi keys`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = FILE_CODES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

/// Commands of `sunzi keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Show what was opened with a secret key, and check that no line was changed or removed
    Log(ShowLogArgs),
    /// Give a set of keys a label and an expiry
    Set(SetArgs),
}

/// Options of `sunzi keys log`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct ShowLogArgs {
    /// The audit log, or the folder of the secret key that it is in
    pub(crate) log: PathBuf,
    /// Refuse a log that has no line with this hash: the head that an earlier look showed, and that was noted elsewhere
    #[arg(long, value_name = "SHA-256")]
    pub(crate) expect: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi keys set`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
#[group(id = "properties", required = true, multiple = true, args = ["label", "expires"])]
pub(crate) struct SetArgs {
    /// The folder that `sunzi keygen` made, or the one of the secret key in it
    pub(crate) keys: PathBuf,
    /// Label of the keys: up to 64 letters, digits, spaces and punctuation of ASCII
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<Label>,
    /// First day, in UTC, on which nothing is encrypted under these keys any more, or a time such as 2027-06-01T12:00:00Z, a duration from now such as 90d, 12w or 48h,
    /// now, or never
    #[arg(long, value_name = "DATE|DURATION|now|never", value_parser = parse_expiry)]
    pub(crate) expires: Option<Expiry>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Expiry of keys as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// At this time.
    At(Time),
    /// So many seconds from now on.
    In(u64),
    /// None.
    Never,
}

impl Expiry {
    /// Returns the time of an expiry that is asked for now.
    pub(crate) fn at(self, now: Time) -> Result<Option<Time>, CliError> {
        match self {
            Self::At(time) => Ok(Some(time)),
            Self::Never => Ok(None),
            Self::In(seconds) => match now.later(seconds) {
                Some(time) => Ok(Some(time)),
                None => Err(CliError::input(
                    "--expires: expected a time before the year 10000, got a longer duration",
                )),
            },
        }
    }
}

/// Parses a date, a time, a duration, now or never.
pub(crate) fn parse_expiry(text: &str) -> Result<Expiry, String> {
    match text {
        "now" => return Ok(Expiry::In(0)),
        "never" => return Ok(Expiry::Never),
        _ => {}
    }
    let duration = text.char_indices().last().and_then(|(at, unit)| {
        let seconds = match unit {
            'h' => 3600,
            'd' => 24 * 3600,
            'w' => 7 * 24 * 3600,
            _ => return None,
        };
        let digits = text.get(..at).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse::<u64>().ok()?.checked_mul(seconds)
    });
    duration.map_or_else(|| text.parse().map(Expiry::At), |seconds| Ok(Expiry::In(seconds))).map_err(
        |expected: String| format!("{expected}; a duration from now such as 90d, 12w or 48h; now, or never"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_are_dates_durations_or_words() {
        for (text, expiry) in [
            ("90d", Expiry::In(90 * 86_400)),
            ("12w", Expiry::In(12 * 604_800)),
            ("48h", Expiry::In(172_800)),
            ("now", Expiry::In(0)),
            ("never", Expiry::Never),
            ("2027-06-01", Expiry::At("2027-06-01".parse().unwrap())),
        ] {
            assert_eq!(parse_expiry(text), Ok(expiry), "{text}");
        }
        for text in [
            "",
            "d",
            "-1d",
            "1.5d",
            "90",
            "90y",
            "90 d",
            "99999999999999999999d",
            "tomorrow",
            "2027-02-30",
            "é",
        ] {
            assert!(parse_expiry(text).unwrap_err().contains("90d"), "{text}");
        }
        assert!(Expiry::In(u64::MAX).at(Time::now()).is_err());
    }
}
