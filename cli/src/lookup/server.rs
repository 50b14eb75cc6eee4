//! A server of lookups, as a client sees it.

use std::path::Path;

use sha2::{Digest, Sha256};
use ureq::Agent;

use crate::error::CliError;
use crate::remote::client::{agent, told};

/// Why an address of another machine takes TLS.
const WHY: &str = "whoever is between could change the answer";

/// A server of lookups.
pub(crate) struct Server<'a> {
    agent: Agent,
    address: &'a str,
}

impl<'a> Server<'a> {
    /// Makes a client of the server at an address.
    pub(crate) fn new(address: &'a str, ca: Option<&Path>) -> Result<Self, CliError> {
        let address = address.trim_end_matches('/');
        Ok(Self { agent: agent(address, ca, WHY)?, address })
    }

    /// The address of the server.
    pub(crate) fn address(&self) -> &'a str {
        self.address
    }

    /// Sends a query, and the keys where the server does not have them: returns an answer of at most so many bytes.
    pub(crate) fn answer(&self, keys: &[u8], query: &[u8], most: u64) -> Result<Vec<u8>, CliError> {
        let hash: String = Sha256::digest(keys).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("/v1/answers/{hash}");
        if let Some(answer) = self.posted(&path, query, most)? {
            return Ok(answer);
        }
        // A server that refuses says so before the bytes are sent.
        let sent =
            self.agent.put(format!("{}/v1/keys/{hash}", self.address)).header("expect", "100-continue");
        let sent = sent.send(keys);
        let mut sent = sent.map_err(|error| self.unreachable(&error))?;
        if !sent.status().is_success() {
            return Err(told(&mut sent));
        }
        let none =
            || CliError::io(format!("{} forgets keys as soon as it has them: try again later", self.address));
        self.posted(&path, query, most)?.ok_or_else(none)
    }

    /// Sends bytes: returns at most so many; `None` where the server does not have what the path names.
    pub(crate) fn posted(&self, path: &str, bytes: &[u8], most: u64) -> Result<Option<Vec<u8>>, CliError> {
        let request = self.agent.post(format!("{}{path}", self.address)).header("expect", "100-continue");
        let mut answer = request.send(bytes).map_err(|error| self.unreachable(&error))?;
        if answer.status().as_u16() == 404 {
            return Ok(None);
        }
        if !answer.status().is_success() {
            return Err(told(&mut answer));
        }
        let bytes = answer.body_mut().with_config().limit(most).read_to_vec();
        bytes.map(Some).map_err(|error| self.unreachable(&error))
    }

    fn unreachable(&self, error: &ureq::Error) -> CliError {
        CliError::io(format!("{}: {error}: check the address, and whether the server runs", self.address))
    }
}
