//! `sunzi serve` and `sunzi account`: a server for key holders elsewhere.

pub(crate) mod account;
pub(crate) mod job;
mod state;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use sunzi::rlwe::memory::available;
use sunzi::rlwe::words::reason;
use sunzi_service::records::Allowance;
use sunzi_service::store::{add_account, open_records};
use sunzi_service::{
    Config, Limits, Name, Page, Refusal, Server, ServiceError, Stop, Tls, Worker, is_loopback,
};

use crate::args::service::ServeArgs;
use crate::error::CliError;
use crate::{interrupt, output};

/// Name of the account that `--demo` makes.
const DEMO: &str = "demo";
/// Name of the command that computes one job.
pub(crate) const JOB: &str = "service-job";

/// Serves a folder until the process is asked to stop.
pub(crate) fn run(args: &ServeArgs, threads: Option<u16>) -> Result<(), CliError> {
    check_address(args)?;
    let stop = stop()?;
    let tls = tls(args.tls_cert.as_deref(), args.tls_key.as_deref())?;
    let temporary = match &args.data {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|error| refuse(ServiceError::Io(error)))?),
    };
    let demo = temporary.as_ref().map(|folder| folder.path().join(DEMO));
    let data = args.data.as_deref().or(demo.as_deref());
    let data = data.ok_or_else(|| CliError::input("give --data, or --demo"))?;
    let page = args.page.as_deref().map(Page::load).transpose().map_err(refuse)?;
    log();
    let (listener, address) = bind(args.listen, tls.is_some())?;
    let server = Server::open(config(args, data, threads)?).map_err(refuse)?.with_page(page);
    if args.demo {
        tell_demo(data, &address, args.page.is_some())?;
    }
    // What a demonstration prints is for a shell to read.
    let comment = if args.demo { "# " } else { "" };
    output::print(&format!("{comment}listening at {address}"))?;
    server.run(listener, tls, &stop).map_err(refuse)
}

/// Returns the handle by which a signal stops a server. Who asks twice waits for nothing: what was running is computed again after the next start.
pub(crate) fn stop() -> Result<Stop, CliError> {
    let stop = Stop::new();
    let asked = stop.clone();
    interrupt::call(move || {
        if asked.ask() {
            std::process::exit(interrupt::INTERRUPTED)
        }
    })?;
    Ok(stop)
}

/// Reads the certificate and the key of a server, if they are given.
pub(crate) fn tls(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<Tls>, CliError> {
    certificate.zip(key).map(|(certificate, key)| Tls::load(certificate, key).map_err(refuse)).transpose()
}

/// Listens at an address, and returns the URL by which clients reach it.
pub(crate) fn bind(listen: SocketAddr, has_tls: bool) -> Result<(TcpListener, String), CliError> {
    let refused = |error| {
        let why = reason(&error);
        CliError::io(format!("cannot listen at {listen}: {why}: choose another address with --listen"))
    };
    let listener = TcpListener::bind(listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let scheme = if has_tls { "https" } else { "http" };
    Ok((listener, format!("{scheme}://{address}")))
}

/// Returns the largest number of connections of an address unless one is given: what ends TLS before a server has one address for all.
pub(crate) fn connections_each(tls_elsewhere: bool) -> usize {
    if tls_elsewhere { usize::MAX } else { Limits::default().connections_each }
}

/// Fails where a token would pass from machine to machine in the clear.
fn check_address(args: &ServeArgs) -> Result<(), CliError> {
    if is_loopback(&args.listen) {
        return Ok(());
    }
    let address = args.listen;
    if args.demo {
        return Err(CliError::input(format!(
            "--demo listens at an address of this machine alone, such as 127.0.0.1:8732, not at {address}"
        )));
    }
    if args.tls_cert.is_some() || args.tls_elsewhere {
        return Ok(());
    }
    Err(CliError::input(format!(
        "other machines reach {address}, and tokens would pass in the clear: give --tls-cert and --tls-key, or --tls-elsewhere if something before this server ends TLS"
    )))
}

/// Writes what the server logs to standard error, a line of JSON for each event.
pub(crate) fn log() {
    let log = tracing_subscriber::fmt().json().with_writer(std::io::stderr).with_target(false).finish();
    // There is one already where a process serves twice: it does as well.
    drop(tracing_subscriber::util::SubscriberInitExt::try_init(log));
}

/// Makes the configuration of a server whose jobs are computed by this executable.
fn config(args: &ServeArgs, data: &Path, threads: Option<u16>) -> Result<Config, CliError> {
    let most = connections_each(args.tls_elsewhere);
    #[cfg(feature = "shared")]
    let (shared, cache) = (state::addresses(&args.shared).map_err(refuse)?, args.shared.cache);
    let args = &args.limits;
    let program = std::env::current_exe().map_err(|error| refuse(ServiceError::Io(error)))?;
    let workers = usize::from(args.workers);
    let all =
        threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let each = (all / workers).max(1).to_string();
    let limits = Limits {
        #[cfg(feature = "shared")]
        cache,
        connections_each: args.connections_each.map_or(most, usize::from),
        upload: args.upload,
        account: Allowance { bytes: args.quota, unfinished: args.queue, ..Limits::default().account },
        workers,
        job_time: Duration::from_secs(args.job_time),
        job_memory: args.job_memory.unwrap_or_else(|| share_of_memory(workers)),
        ..Limits::default()
    };
    let arguments = ["--threads", &each, JOB].map(Into::into).into();
    let config = Config::new(data.to_owned(), Worker { program, arguments }, limits);
    #[cfg(feature = "shared")]
    let config = Config { shared, ..config };
    Ok(config)
}

/// Memory that each of so many jobs may take unless it is told: what the system has free, with a quarter left for others.
fn share_of_memory(workers: usize) -> u64 {
    let free = available().unwrap_or(Limits::default().job_memory);
    free / 4 * 3 / workers.max(1) as u64
}

/// Makes the account of a demonstration, and says how it is used.
fn tell_demo(data: &Path, server: &str, has_page: bool) -> Result<(), CliError> {
    let records = open_records(data).map_err(refuse)?;
    let name = Name::new(DEMO).map_err(|refusal| refuse(refusal.into()))?;
    records.remove_account(&name).map_err(refuse)?;
    let token = add_account(&*records, &name).map_err(refuse)?;
    let token =
        token.ok_or_else(|| CliError::failure("the account of the demonstration is there already"))?.reveal();
    output::print(&format!(
        "export SUNZI_SERVER={server}\nexport SUNZI_TOKEN={token}\n# then, in another terminal: sunzi remote put keys …, put program …, put table …, run …, get …"
    ))?;
    if has_page {
        // What follows the sign stays in the browser.
        output::print(&format!("# or in a browser: {server}/page/index.html#token={token}"))?;
    }
    Ok(())
}

/// Returns the command-line error for an error of a server.
pub(crate) fn refuse(error: ServiceError) -> CliError {
    match error {
        ServiceError::Io(error) => CliError::io(format!("the folder of the server: {}", reason(&error))),
        ServiceError::Records(error) => CliError::io(format!("the state of the server: {error}")),
        ServiceError::Unavailable(why) => CliError::io(why),
        ServiceError::Refused(refusal) => CliError::input(refusal),
        other => CliError::input(other),
    }
}

/// Checks a name that is going to be sent or stored.
pub(crate) fn name(text: &str) -> Result<Name, CliError> {
    Name::new(text)
        .map_err(|refusal: Refusal| CliError::input(format!("{}: {refusal}", crate::error::quoted(text))))
}
