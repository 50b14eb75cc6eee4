//! Where a system has the certificates that it trusts.

use std::path::{Path, PathBuf};

/// Files in which systems keep the certificates that they trust.
const KNOWN: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Finds the file of certificates to trust: the one that is given, that of the variable `SSL_CERT_FILE`, or that of the system.
#[must_use]
pub fn bundle(given: Option<&Path>) -> Option<PathBuf> {
    let named = given.map(Path::to_owned).or_else(|| std::env::var_os("SSL_CERT_FILE").map(PathBuf::from));
    named.or_else(|| KNOWN.iter().map(PathBuf::from).find(|file| file.exists()))
}
