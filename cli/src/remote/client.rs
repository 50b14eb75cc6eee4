//! Requests to a server.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::WireError;
use sunzi_service::trusted::bundle;
use ureq::http::Response;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, SendBody};

use super::kept::Login;
use crate::error::{CliError, one_line};
use crate::files::{named, refuse};

/// Longest answer in JSON, in bytes.
const LONGEST: u64 = 1 << 24;
/// Time to connect, and to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a request is sent whose answer is lost.
const TRIES: u32 = 5;
/// Pause before a request is sent again, the longer the oftener it was sent.
const PAUSE: Duration = Duration::from_millis(500);

/// Connection to a server with the token of an account.
pub(super) struct Client {
    agent: Agent,
    server: String,
    authorization: String,
}

impl Client {
    /// Makes a client of the login that is kept, or of the environment.
    pub(super) fn open() -> Result<Self, CliError> {
        Self::of(&Login::load()?)
    }

    /// Makes a client of a login.
    pub(super) fn of(login: &Login) -> Result<Self, CliError> {
        login.check()?;
        let server = &login.server;
        let agent = agent(server, login.ca.as_deref(), "the token would pass in the clear")?;
        let authorization = format!("Bearer {}", login.token);
        Ok(Self { agent, server: server.clone(), authorization })
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.server)
    }

    /// Asks for JSON.
    pub(super) fn get(&self, path: &str) -> Result<Value, CliError> {
        let request = self.agent.get(self.address(path)).header("authorization", &self.authorization);
        self.json(request.call())
    }

    /// Sends JSON with a name of this request, so that it can be sent again where the answer is lost.
    pub(super) fn post_named(&self, path: &str, value: &mut Value) -> Result<Value, CliError> {
        let seed = randomness::public_seed(&mut randomness::from_os().map_err(CliError::failure)?);
        let name: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Value::Object(value) = value {
            value.insert("request".to_owned(), name.into());
        }
        let mut tries = 1;
        loop {
            let request = self.agent.post(self.address(path)).header("authorization", &self.authorization);
            match request.content_type("application/json").send(value.to_string()) {
                Err(ureq::Error::Io(_)) if tries < TRIES => sleep(PAUSE * tries),
                answer => return self.json(answer),
            }
            tries += 1;
        }
    }

    /// Removes something.
    pub(super) fn delete(&self, path: &str) -> Result<(), CliError> {
        let request = self.agent.delete(self.address(path)).header("authorization", &self.authorization);
        self.json(request.call()).map(drop)
    }

    /// Sends so many bytes.
    pub(super) fn put(&self, path: &str, len: u64, from: &mut dyn Read) -> Result<Value, CliError> {
        let request = self.agent.put(self.address(path)).header("authorization", &self.authorization);
        let request =
            request.header("content-length", len.to_string()).content_type("application/octet-stream");
        // A server that refuses says so before the bytes are sent.
        let request = request.header("expect", "100-continue");
        self.json(request.send(SendBody::from_reader(from)))
    }

    /// Asks for bytes from a place on, of the content with this tag if there is one.
    pub(super) fn bytes(&self, path: &str, from: u64, tag: Option<&str>) -> Result<Response<Body>, CliError> {
        let mut request = self.agent.get(self.address(path)).header("authorization", &self.authorization);
        if let Some(tag) = tag {
            request = request.header("range", format!("bytes={from}-")).header("if-range", tag);
        }
        let mut response = request.call().map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() { Ok(response) } else { Err(told(&mut response)) }
    }

    fn json(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Value, CliError> {
        let mut response = answer.map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            return Err(told(&mut response));
        }
        let text = response.body_mut().with_config().limit(LONGEST).read_to_string();
        let text = text.map_err(|error| self.unreachable(&error))?;
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|_| {
            CliError::io(format!(
                "{} answers something else than a server of Sunzi: check the address",
                self.server
            ))
        })
    }

    fn unreachable(&self, error: &ureq::Error) -> CliError {
        CliError::io(format!("{}: {error}: check the address, and whether the server runs", self.server))
    }
}

/// Makes what sends requests to a server; `why` says why an address of another machine takes TLS.
pub(crate) fn agent(server: &str, ca: Option<&Path>, why: &str) -> Result<Agent, CliError> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE));
    if server.starts_with("https://") {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder().root_certs(roots(ca)?);
        config = config.tls_config(tls.unversioned_rustls_crypto_provider(provider).build());
    } else if !is_this_machine(server) {
        return Err(CliError::input(format!(
            "{}: expected an address that begins with https://, since {why}; http:// is for 127.0.0.1 and localhost",
            crate::error::quoted(server)
        )));
    }
    Ok(config.build().new_agent())
}

/// Returns the command-line error for a refusal of the server.
pub(crate) fn told(response: &mut Response<Body>) -> CliError {
    let status = response.status().as_u16();
    let text = response.body_mut().with_config().limit(LONGEST).read_to_string().unwrap_or_default();
    let refusal: Value = serde_json::from_str(&text).unwrap_or_default();
    let part = |name: &str| refusal.get(name).and_then(Value::as_str).map(one_line);
    let mut message = part("error").unwrap_or_else(|| format!("the server answered with status {status}"));
    for (before, name) in [(": expected ", "expected"), (", got ", "got"), (": ", "remedy")] {
        message.extend(part(name).map(|part| format!("{before}{part}")));
    }
    match status {
        429 | 500..=599 => {
            let seconds = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            let later = seconds.map_or(String::new(), |seconds| format!("; try again in {seconds} s"));
            CliError::io(message + &later)
        }
        409 => CliError::impossible(message),
        _ => CliError::input(message),
    }
}

/// Whether an address is that of this machine, which nothing between machines can read.
fn is_this_machine(server: &str) -> bool {
    let Some(rest) = server.strip_prefix("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

/// Reads the certificates to trust: those of a file, or of the system.
fn roots(ca: Option<&Path>) -> Result<RootCerts, CliError> {
    let none = || {
        CliError::input(
            "this system has no file of trusted certificates in a known place: give one with --ca or SUNZI_CA",
        )
    };
    let file = bundle(ca).ok_or_else(none)?;
    let text = fs::read(&file).map_err(|error| refuse(&file, WireError::Io(error)))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(CliError::input(format!(
            "{} has no certificate in PEM: give another file with --ca",
            named(&file)
        )));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_pass_in_the_clear_within_this_machine_alone() {
        for own in ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8732/x"] {
            assert!(is_this_machine(own), "{own}");
        }
        for other in [
            "http://example.org",
            "http://127.0.0.1.example.org",
            "https://localhost",
            "localhost",
            "http://localhost@example.org",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
