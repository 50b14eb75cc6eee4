//! Options of `sunzi serve`, `sunzi account` and `sunzi remote`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::FILE_CODES;
use super::tables::parse_bytes;
use crate::files::target::ForceArgs;

/// Address at which a server listens unless told otherwise: this machine alone.
const ADDRESS: &str = "127.0.0.1:8732";

/// Text of `sunzi serve` on what a server has.
const WITHOUT_SECRET: &str = "The server has evaluation keys, programs and encrypted tables, and no secret key: files that say they are secret are refused. Its log is lines of JSON on \
standard error, without a token and without a name of anything that an account stores.";

/// Text of `sunzi remote` on where address and token come from.
const WHERE: &str = "Address and token are those of sunzi remote login, or of the environment variables SUNZI_SERVER and SUNZI_TOKEN. A file with certificates to trust in place of those of \
the system is given by --ca at the login, or by SUNZI_CA.";

/// Options of `sunzi serve`.
#[derive(Debug, Args)]
#[command(after_help = format!("{WITHOUT_SECRET}\n\n{FILE_CODES}"))]
pub(crate) struct ServeArgs {
    /// The address and port to listen at
    #[arg(long, value_name = "ADDRESS:PORT", default_value = ADDRESS)]
    pub(crate) listen: SocketAddr,
    /// The folder with accounts, what they store, and jobs; it is made if it is not there
    #[arg(long, value_name = "FOLDER", required_unless_present = "demo")]
    pub(crate) data: Option<PathBuf>,
    #[cfg(feature = "shared")]
    #[command(flatten)]
    pub(crate) shared: SharedArgs,
    /// The certificate of the server, with those that it follows from, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen without TLS at an address that other machines reach: something before this server ends TLS
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) tls_elsewhere: bool,
    /// Try it: an account whose token is printed, at an address of this machine alone; what it stores is gone at the end unless --data is given
    #[arg(long, conflicts_with = "tls_elsewhere")]
    #[cfg_attr(feature = "shared", arg(conflicts_with = "database"))]
    pub(crate) demo: bool,
    /// Also serve the page for browsers, from the folder typescript/build that cargo xtask typescript builds
    #[arg(long, value_name = "FOLDER")]
    pub(crate) page: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Options of what several servers share.
#[cfg(feature = "shared")]
#[derive(Debug, Args)]
pub(crate) struct SharedArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Object storage of what accounts store, in place of the folder: s3://BUCKET/PREFIX, https://HOST/BUCKET/PREFIX for others with the interface of S3, or
    /// file:///FOLDER that all machines have; keys and region are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION
    #[arg(long, value_name = "URL", requires = "database")]
    pub(crate) objects: Option<String>,
    /// Bytes of objects that are kept in the folder, for jobs that read them again
    #[arg(long, value_name = "BYTES", default_value = "16G", value_parser = parse_bytes, requires = "objects")]
    pub(crate) cache: u64,
}

/// Options of a database that several servers share.
#[cfg(feature = "shared")]
#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// Database of accounts and jobs, which several servers share: postgresql://USER@HOST/DATABASE; the password is SUNZI_DATABASE_PASSWORD
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// A file for you alone with passwords and keys, a line NAME=VALUE each, in place of environment variables
    #[arg(long, value_name = "FILE", requires = "database")]
    pub(crate) secrets: Option<PathBuf>,
    /// A file in PEM with the certificates of database and object storage to trust, in place of those of the system
    #[arg(long, value_name = "FILE", requires = "database")]
    pub(crate) ca: Option<PathBuf>,
}

/// Limits of a server.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Jobs that are computed at a time
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) workers: u16,
    /// Seconds that a job may take
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) job_time: u64,
    /// Memory that a job may take; three quarters of what is free at the start, shared by the workers, unless given
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) job_memory: Option<u64>,
    /// Bytes that each account may store
    #[arg(long, value_name = "BYTES", default_value = "64G", value_parser = parse_bytes)]
    pub(crate) quota: u64,
    /// Jobs of each account that may wait or run
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) queue: u64,
    /// Longest file that is taken
    #[arg(long, value_name = "BYTES", default_value = "16G", value_parser = parse_bytes)]
    pub(crate) upload: u64,
    /// Connections of each address at a time, of each network in IPv6; 64 unless given, and no limit with --tls-elsewhere or for this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) connections_each: Option<u16>,
}

/// Options of `sunzi account`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = FILE_CODES)]
pub(crate) struct AccountArgs {
    #[command(subcommand)]
    pub(crate) command: AccountCommand,
}

/// Commands of `sunzi account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Add an account and print its token, which is shown this once
    Add(OneAccountArgs),
    /// List accounts, and what each stores
    List(AccountsArgs),
    /// Remove an account with all that it stores
    Remove(OneAccountArgs),
    /// Give an account another token and print it; the one of before opens nothing any more
    Rotate(OneAccountArgs),
}

/// Options of commands for one account.
#[derive(Debug, Args)]
pub(crate) struct OneAccountArgs {
    /// The name of the account
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) accounts: AccountsArgs,
}

/// Options of commands for accounts.
#[derive(Debug, Args)]
pub(crate) struct AccountsArgs {
    /// The folder of the server, which may run meanwhile
    #[cfg_attr(not(feature = "shared"), arg(long, value_name = "FOLDER", required = true))]
    #[cfg_attr(
        feature = "shared",
        arg(long, value_name = "FOLDER", required_unless_present = "database", conflicts_with = "database")
    )]
    pub(crate) data: Option<PathBuf>,
    #[cfg(feature = "shared")]
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi remote`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, after_help = format!("{WHERE}\n\n{FILE_CODES}"))]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    pub(crate) command: RemoteCommand,
}

/// Commands of `sunzi remote`, in the order in which they are typed.
#[derive(Debug, Subcommand)]
pub(crate) enum RemoteCommand {
    /// Keep the address of a server and the token of an account, in a file for you alone
    Login(LoginArgs),
    /// Send evaluation keys, a program or an encrypted table
    #[command(subcommand_required = true)]
    Put(PutArgs),
    /// Ask the server to compute
    Run(RunArgs),
    /// Wait for the result of a job, and fetch it
    Get(GetArgs),
    /// List what the account has on the server
    List(ListArgs),
    /// Remove something from the server
    Delete(DeleteArgs),
}

/// Options of `sunzi remote login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The address of the server, such as https://compute.example.org
    pub(crate) server: String,
    /// A file with the token; standard input unless given
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) token: PathBuf,
    /// A file in PEM with the certificates to trust, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi remote put`.
#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    #[command(subcommand)]
    pub(crate) what: PutCommand,
}

/// Kinds of objects that `sunzi remote put` sends.
#[derive(Debug, Subcommand)]
pub(crate) enum PutCommand {
    /// Send evaluation keys
    Keys {
        /// The name that they get on the server
        name: String,
        /// The folder eval that `sunzi keygen` made
        folder: PathBuf,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// Send a program
    Program {
        /// The name that it gets on the server
        name: String,
        /// The program: see `sunzi help language`; @FILE takes the text of a file, - standard input
        program: String,
        /// A file with the schema of the table as JSON: the program is checked here, and files that it names go with it
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// Send an encrypted table
    Table {
        /// The name that it gets on the server
        name: String,
        /// The table, as `sunzi encrypt` writes it
        file: PathBuf,
        #[command(flatten)]
        show: ShowArgs,
    },
}

/// Options of how a command tells what it does.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options of `sunzi remote run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The name of the program on the server
    pub(crate) program: String,
    /// The name of the evaluation keys on the server
    #[arg(long, value_name = "NAME")]
    pub(crate) keys: String,
    /// The name of the table on the server, or the names of the parts of several parties
    #[arg(required = true)]
    pub(crate) tables: Vec<String>,
    /// CKKS: bits of every intermediate number that are right, 4 to 30; 16 unless given
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(4..=30))]
    pub(crate) precision: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi remote get`.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The job, as `sunzi remote run` printed it
    pub(crate) job: String,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// Kind of what an account has on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stored {
    /// Evaluation keys.
    Keys,
    /// Programs.
    Programs,
    /// Encrypted tables.
    Tables,
    /// Jobs and their results.
    Jobs,
}

impl Stored {
    /// Name of the kind in addresses.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Programs => "programs",
            Self::Tables => "tables",
            Self::Jobs => "jobs",
        }
    }
}

/// Options of `sunzi remote list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The kind of objects to list; all of them unless given
    #[arg(value_name = "keys|programs|tables|jobs", hide_possible_values = true)]
    pub(crate) what: Option<Stored>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sunzi remote delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The kind of the object to remove
    #[arg(value_name = "keys|programs|tables|jobs", hide_possible_values = true)]
    pub(crate) what: Stored,
    /// The name of it
    pub(crate) name: String,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
