//! Rows of the table of reliability, and the commands that measure them.

/// A row of the table of reliability.
pub(super) struct Row {
    pub(super) number: u8,
    /// Figure that the row of reliability measures, in words.
    pub(super) figure: &'static str,
    /// Bar that the figure of a row of reliability must hold, in words.
    pub(super) bar: &'static str,
    /// Arguments of the cargo commands that measure a row of reliability.
    pub(super) commands: &'static [&'static str],
}

/// Number of the row of other libraries in the table of reliability; the libraries are built for it.
pub(super) const RIVALS: u8 = 3;
/// Number of the row of the fuzz targets in the table of reliability.
pub(super) const FUZZED: u8 = 10;

const fn row(number: u8, figure: &'static str, bar: &'static str, commands: &'static [&'static str]) -> Row {
    Row { number, figure, bar, commands }
}

pub(super) const ROWS: [Row; 26] = [
    row(
        1,
        "every key of every shipped parameter set against the 2024 table",
        "0 over; one bit more is refused",
        &["test -p sunzi-testing --test testing parameters:: -- --include-ignored"],
    ),
    row(
        2,
        "transforms, base conversions, divisions and key switches against big integers",
        "10^6 coefficients each, 0 wrong, the ends of every range among them",
        &["test -p sunzi-testing --test testing oracle:: -- --include-ignored"],
    ),
    row(
        RIVALS,
        "decrypted results against other libraries on the same circuit",
        "10^3 random circuits, 0 differ",
        &["xtask peers --circuits 1000"],
    ),
    row(
        4,
        "Horner's, factored and rotated forms of one polynomial",
        "10^4 polynomials, 0 differ",
        &["test -p sunzi-testing --test testing metamorphic:: -- --include-ignored"],
    ),
    row(
        5,
        "both noise bounds against measured noise, operands that depend on each other",
        "10^4 random circuits, 0 above, median gap of the variance bound at most 3 bits",
        &["test -p sunzi-testing --test testing circuits:: -- --include-ignored"],
    ),
    row(
        6,
        "failures of decryption at inflated noise against the stated deviation",
        "200 failures inside the 99 % interval",
        &["test -p sunzi-testing --test testing failures::"],
    ),
    row(
        7,
        "probability that a bootstrapping overflows",
        "stated for every set, at most 2^-128",
        &["test -p sunzi-testing --test testing parameters::sets_for_bootstrapping"],
    ),
    row(
        8,
        "precision of CKKS: worst, mean and deviation, random and adversarial messages",
        "worst case published, deviation as asked for",
        &["test -p sunzi-testing --test testing precision:: -- --include-ignored"],
    ),
    row(
        9,
        "moments and tails of the samplers",
        "10^7 draws, p > 10^-4",
        &["test -p sunzi-testing --test testing samplers:: -- --include-ignored"],
    ),
    row(
        FUZZED,
        "mutated files of every type, a million by rules and the others by coverage",
        "10^7 or more, 0 panics, at most four times the input and 1 MiB allocated",
        &[
            "test --release -p sunzi-testing --test memory wire_hostile:: -- --include-ignored",
            "test --release -p sunzi-testing --test memory hostile_parameters::",
            "test -p sunzi-testing --test memory parquet_hostile:: -- --include-ignored",
        ],
    ),
    row(
        11,
        "mutants that are accepted, put through every operation",
        "0 panics",
        &["test --release -p sunzi-testing --test memory wire_hostile:: -- --include-ignored"],
    ),
    row(
        12,
        "golden files of every released version of the format",
        "all are read",
        &["test -p sunzi-testing --test testing for_ever"],
    ),
    row(
        13,
        "mismatches: type by parameters by level by key",
        "0 silent",
        &["test -p sunzi-testing --test testing -- wire::nothing_is_taken wire::every_mismatch"],
    ),
    row(
        14,
        "constant time of samplers, key generation and decryption",
        "|t| below 5 over 10^6 runs",
        &[
            "test --release -p sunzi-testing --test testing constant_time:: -- --include-ignored --test-threads=1",
        ],
    ),
    row(
        15,
        "ranges of butterfly, Barrett, Shoup and lazy sums",
        "all small inputs, and the ends of every size of modulus, in range",
        &["test -p sunzi-testing --test testing edges::", "test -p sunzi-kernels"],
    ),
    row(16, "checkers of memory and threads", "clean; what ran is named", &[]),
    row(
        17,
        "1 to 8 threads and every instruction set",
        "identical bits; 10^3 runs sharing one context",
        &["test -p sunzi-testing --test testing identical:: -- --include-ignored"],
    ),
    row(
        18,
        "killed writers and full disks at every write",
        "the old file or the new one",
        &["test -p sunzi-testing --test testing wire_kill:: -- --include-ignored"],
    ),
    row(
        19,
        "attacks on decryptions that are shared",
        "they find the key from plain ones, and not from shared ones",
        &["test -p sunzi-testing --test testing sharing::"],
    ),
    row(
        20,
        "random operations through Rust and Python",
        "8000, 0 wrong, memory flat",
        &["test -p sunzi-testing --test memory soak:: -- --include-ignored", "xtask python"],
    ),
    row(
        21,
        "time of any file or program: the worst over a second and a second for each MB",
        "10^6 mutants, crafted files and texts of programs of every kind, at most 1",
        &[
            "test --release -p sunzi-testing --test memory wire_hostile:: -- --include-ignored",
            "test -p sunzi-program --test program -- limits:: results::",
            "test -p sunzi-cli --test cli -- crafted:: hostile::",
            "test -p sunzi-testing --test memory parquet_hostile:: -- --include-ignored",
        ],
    ),
    row(
        22,
        "memory of any file: the worst over four times its bytes, 24 times for descriptions in JSON and tables in Parquet, and 1 MiB",
        "10^6 mutants and crafted files of every kind, at most 1",
        &[
            "test --release -p sunzi-testing --test memory wire_hostile:: -- --include-ignored",
            "test -p sunzi-testing --test memory parquet_hostile:: -- --include-ignored",
        ],
    ),
    row(
        23,
        "printed intervals of random programs on columns that mislead, BFV, BGV and CKKS, through files",
        "10^4 programs, 0 intervals without the truth, at most 10 % refused",
        &["test -p sunzi-testing --test testing truth:: -- --include-ignored"],
    ),
    row(
        24,
        "noise bounds after bootstrapping: random and adversarial messages, every shipped set",
        "10^3 messages a set in small rings and some at the real degrees, 0 above, gap of the bound at most 12 bits",
        &["test -p sunzi-testing --test testing bootstrapped:: -- --include-ignored --test-threads=1"],
    ),
    row(
        25,
        "security of whatever is loaded: parameters without any, or with less than they claim, over all kinds and ways in",
        "0 accepted unless asked for by name",
        &["test -p sunzi-testing --test testing loading::"],
    ),
    row(
        26,
        "private retrieval: entries by number, values by keyword, absent keywords",
        "every number of a database and 10^4 keywords, 0 wrong",
        &["test -p sunzi-testing --test testing retrieval:: -- --include-ignored"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_in_order() {
        assert!(ROWS.iter().zip(1..).all(|(row, number)| row.number == number));
    }
}
