//! Options of commands that read tables.

use std::path::PathBuf;

use clap::Args;

use super::{AcceptArgs, FILE_CODES};
use crate::files::mode::ModeArgs;
use crate::files::target::ForceArgs;

/// Options of a table and of how it is taken.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// A CSV file with a header line, or a Parquet file; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) table: PathBuf,
    /// A file with the schema as JSON: only its columns are taken, and cells outside of its ranges refused. Without one, ranges and labels are those of the
    /// table, and public
    #[arg(long, value_name = "FILE", conflicts_with_all = ["columns", "category"])]
    pub(crate) schema: Option<PathBuf>,
    /// Columns to take; all unless given
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// A column that stays in the clear; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) clear: Vec<String>,
    /// A column of labels, also if these are numbers; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) category: Vec<String>,
}

/// Options of `sunzi schema`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Keep the schema in this file instead of printing it; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// Options of `sunzi encrypt`.
#[derive(Debug, Args)]
#[command(after_help = FILE_CODES)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The folder with the public key, or that with the secret key: then the table takes half the bytes
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: PathBuf,
    /// A plan as `sunzi plan --json` prints it: its schema is taken, and the table is packed for it if it says so
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "columns", "clear", "category", "partition"])]
    pub(crate) plan: Option<PathBuf>,
    /// The file to write, Parquet if its name ends so; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Parquet: a category that stays in the clear and cuts the table, so that rows with one label can be taken without the others
    #[arg(long, value_name = "COLUMN")]
    pub(crate) partition: Option<String>,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    /// Refuse to start if it would take more memory than this, such as 512M or 4G
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Parses a number of bytes, with K, M, G or T for powers of 1024.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 512M or 4G".to_owned();
    let upper = text.to_ascii_uppercase();
    let short = upper.trim_end_matches('B').trim_end_matches('I');
    let digits = short.trim_end_matches(['K', 'M', 'G', 'T']);
    let shift = match short.strip_prefix(digits) {
        Some("") => 0,
        Some("K") => 10,
        Some("M") => 20,
        Some("G") => 30,
        Some("T") => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn bytes_are_read_with_their_unit() {
        for (text, bytes) in
            [("0", 0), ("17", 17), ("4G", 4 << 30), ("4GiB", 4 << 30), ("512mb", 512 << 20), ("1k", 1024)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "4GG", "4X", "99999999999T"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
