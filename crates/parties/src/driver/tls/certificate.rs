//! Certificates of parties: made from their identities, and taken for their keys alone.
//!
//! Names, dates and issuers of certificates say nothing here: a party is whoever has the key on its card. So certificates are made anew at every start, and nothing is renewed.

use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{CertificateParams, DnType, PKCS_ED25519, PublicKeyData, SerialNumber};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName,
    Error, ServerConfig, ServerConnection, SignatureAlgorithm, SignatureScheme,
};
use webpki::EndEntityCert;

use crate::digest::hex;
use crate::{ChannelFault, Contacts, Identity, PartiesError, Party};

/// What stands before an Ed25519 key in a certificate [RFC 8410].
const KEY_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The one way to sign that parties take.
const SCHEME: SignatureScheme = SignatureScheme::ED25519;

/// What a party shows of itself in all its connections.
pub(super) struct Credentials {
    contacts: Arc<Contacts>,
    me: Party,
    provider: Arc<CryptoProvider>,
    own: Arc<SingleCertAndKey>,
}

/// The key of an identity, as certificates and TLS take it.
#[derive(Clone, Debug)]
struct Key {
    identity: Arc<Identity>,
    public: [u8; 32],
}

/// Verifies the certificate of the other end of one connection, and keeps whose it was or why it was refused.
#[derive(Debug)]
pub(super) struct Pinned {
    contacts: Arc<Contacts>,
    provider: Arc<CryptoProvider>,
    me: Party,
    expected: Option<Party>,
    found: Mutex<Option<Result<Party, ChannelFault>>>,
}

impl Credentials {
    /// Makes the certificate of an identity.
    ///
    /// # Errors
    /// [`PartiesError::Channel`] where it cannot be made.
    pub(super) fn new(identity: Identity, contacts: Arc<Contacts>, me: Party) -> Result<Self, PartiesError> {
        let public = contacts.card(me).map(|card| *card.signing()).unwrap_or_default();
        let key = Key { identity: Arc::new(identity), public };
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, key.identity.name());
        parameters.serial_number = Some(SerialNumber::from(1_u64));
        let certificate = parameters.self_signed(&key).map_err(failed)?;
        let own = CertifiedKey::new(vec![certificate.der().clone()], Arc::new(key));
        let provider = Arc::new(ring::default_provider());
        Ok(Self { contacts, me, provider, own: Arc::new(SingleCertAndKey::from(own)) })
    }

    fn pinned(&self, expected: Option<Party>) -> Arc<Pinned> {
        let Self { contacts, me, provider, .. } = self;
        let (contacts, provider) = (Arc::clone(contacts), Arc::clone(provider));
        Arc::new(Pinned { contacts, provider, me: *me, expected, found: Mutex::new(None) })
    }

    /// Begins a connection to a party.
    pub(super) fn dial(&self, to: Party) -> Result<(Connection, Arc<Pinned>), Error> {
        let pinned = self.pinned(Some(to));
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::<Pinned>::clone(&pinned))
            .with_client_cert_resolver(Arc::<SingleCertAndKey>::clone(&self.own));
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        // A name is asked for, and not looked at.
        let name = ServerName::try_from("party").map_err(|_| Error::General("no name".to_owned()))?;
        Ok((ClientConnection::new(Arc::new(config), name)?.into(), pinned))
    }

    /// Takes a connection of a party that is not known yet.
    pub(super) fn accept(&self) -> Result<(Connection, Arc<Pinned>), Error> {
        let pinned = self.pinned(None);
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::<Pinned>::clone(&pinned))
            .with_cert_resolver(Arc::<SingleCertAndKey>::clone(&self.own));
        config.send_tls13_tickets = 0;
        Ok((ServerConnection::new(Arc::new(config))?.into(), pinned))
    }
}

impl Pinned {
    /// The party at the other end, or why it was refused; `None` before it showed a certificate.
    pub(super) fn found(&self) -> Option<Result<Party, ChannelFault>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn verify(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let found = self.party(certificate);
        let refused = found.as_ref().is_err();
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        if refused { Err(CertificateError::ApplicationVerificationFailure.into()) } else { Ok(()) }
    }

    /// Returns the party that has the key of a certificate.
    fn party(&self, certificate: &CertificateDer<'_>) -> Result<Party, ChannelFault> {
        let unknown = |key: &[u8]| ChannelFault::UnknownKey { key: hex(key.get(..8).unwrap_or(key)) };
        let read = EndEntityCert::try_from(certificate).map_err(|_| unknown(&[]))?;
        let info = read.subject_public_key_info();
        let key = info.strip_prefix(&KEY_PREFIX[..]).ok_or_else(|| unknown(&info))?;
        let found = self.contacts.with_key(key).ok_or_else(|| unknown(key))?;
        let name = |party| self.contacts.roster().name(party).to_owned();
        match self.expected {
            Some(expected) if expected != found => {
                Err(ChannelFault::OtherParty { expected: name(expected), got: name(found) })
            }
            None if found == self.me => {
                Err(ChannelFault::OtherParty { expected: "another party".to_owned(), got: name(found) })
            }
            _ => Ok(found),
        }
    }

    fn signed(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }
}

/// TLS 1.2 is not spoken.
fn too_old() -> Error {
    Error::General("TLS 1.2 is not taken".to_owned())
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verify(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(too_old())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SCHEME]
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.verify(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(too_old())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SCHEME]
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        &PKCS_ED25519
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(self.identity.sign_bytes(message).to_vec())
    }
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&SCHEME).then(|| Box::new(self.clone()) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ED25519
    }
}

impl Signer for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.identity.sign_bytes(message).to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SCHEME
    }
}

fn failed(error: rcgen::Error) -> PartiesError {
    PartiesError::Channel(std::io::Error::other(error))
}
