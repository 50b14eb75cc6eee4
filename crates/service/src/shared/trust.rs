//! TLS to other machines, whose certificates are always checked.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::refusal::{Result, ServiceError};
use crate::trusted;

/// Reads the certificates to trust: those of a file, or of the system.
pub(crate) fn trust(given: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let file = trusted::bundle(given).ok_or_else(|| {
        ServiceError::Configuration(
            "this system has no file of trusted certificates in a known place: name one in SSL_CERT_FILE"
                .to_owned(),
        )
    })?;
    let wrong = |why: &dyn std::fmt::Display| {
        ServiceError::Configuration(format!(
            "{}: {why}: give a file with certificates in PEM",
            file.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(&file).map_err(|error| wrong(&error))?;
    // As a system has it, one that cannot be read does not keep others from use.
    roots.add_parsable_certificates(certificates.filter_map(std::result::Result::ok));
    if roots.is_empty() {
        return Err(wrong(&"no certificate"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
