//! Options of `lab repro`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lab::repro::{Part, akimoto, bajard, behz, kpz, takeshita};

/// Help text below the options of every paper.
macro_rules! notes {
    ($($note:literal),+) => {
        concat!(
            $($note, "\n"),+,
            "Exit codes: 0 done; 1 a result that was timed is wrong, or something failed; 2 the input was refused.\n",
            "SUNZI_ISA overrides the choice of kernels."
        )
    };
}

/// The papers that `lab repro` reproduces.
#[derive(Debug, Subcommand)]
pub(crate) enum Paper {
    /// Bajard, Eynard, Hasan, Zucca 2016: a full RNS variant of FV
    #[command(after_help = notes!(
        "With --quick fewer rounds: about a minute instead of four.",
        "The paper's parameters are for 80 bits of security by the estimates of 2014: never for data that matters."
    ))]
    Behz {
        /// Options that every paper takes.
        #[command(flatten)]
        run: RunArgs<behz::Part>,
        /// log2 of the ring degrees to time, 11 to 15
        #[arg(long, value_name = "L,...", value_delimiter = ',')]
        log_n: Vec<u32>,
    },
    /// [KPZ21], revisiting BFV and BGV: Tables 1 to 8, Figure 1
    #[command(after_help = notes!(
        "With --quick the smaller circuits; larger ones are rows that say so: less than three minutes.",
        "Many of the paper's parameters are below 128 bits by the security table of 2024: never for data that matters."
    ))]
    Kpz(RunArgs<kpz::Part>),
    /// [AS19], CKKS in full RNS and its bootstrapping, in parallel: Tables 1 and 2, Figures 1 and 2, the text
    #[command(after_help = notes!(
        "With --quick one bootstrapping of each set, and figures at N = 2^14: less than five minutes.",
        "The paper's parameters are for 80 bits of security by the estimates of 2015: never for data that matters.",
        "Bootstrapping takes about 12 GiB of memory."
    ))]
    Akimoto(RunArgs<akimoto::Part>),
    /// [BEHMSZ17], reductions in cyclotomic rings: Tables 1 to 3, Figures 1 to 3, the text
    #[command(after_help = notes!(
        "With --quick depths that decrypt and products of the smaller rings only: less than four minutes.",
        "The paper's parameters are for 80 bits of security by the estimates of 2015: never for data that matters.",
        "Keys of the largest rings take about 2 GiB of memory."
    ))]
    Bajard(RunArgs<bajard::Part>),
    /// [TSKJ20], BFV modulo 2^g - 1 by shifts: Table 1, Figures 1 to 9, the text; what can have been timed; a map over n and g
    #[command(after_help = notes!(
        "With --quick fewer rounds, and three degrees in Figures 6 and 7: two minutes.",
        "Figures 1 to 7 are at n = 1024 and up to 16384 bits, far below any security: never for data that matters."
    ))]
    Takeshita {
        /// Options that every paper takes.
        #[command(flatten)]
        run: RunArgs<takeshita::Part>,
        /// Most bits of q, 128 to 16384; 16384 unless given
        #[arg(long, value_name = "G", value_parser = clap::value_parser!(u16).range(128..=16_384))]
        bits: Option<u16>,
    },
}

/// Options of `lab repro` for any paper with parts `P`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs<P: Part> {
    /// Tables and figures to make, such as table1,figure2; all unless given
    #[arg(long, value_name = "PART,...", value_delimiter = ',', value_parser = P::parse)]
    pub(crate) only: Vec<P>,
    /// Reproduce less of the paper, in a few minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folder for the figures; repro-PAPER unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write all tables, with a verdict on every value, into this Markdown file
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the tables and figures as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Most threads that the reproduction uses; all processors unless given
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}
