//! Address of an object storage.

use std::fmt;
use std::net::IpAddr;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use rustls::ClientConfig;

use super::connection::Connector;
use crate::name::BlobId;
use crate::refusal::{Result, ServiceError};
use crate::shared::{Settings, trust};

/// Beginning of the names of settings of S3, such as `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`.
const SETTINGS: &str = "AWS_";
/// Number of further attempts for a request that failed.
const ATTEMPTS: usize = 3;
/// Time after which no further attempt begins.
const ATTEMPTS_END: Duration = Duration::from_secs(10);

/// Address of an object storage, with what it takes to connect. Its text and its debug form have no secret.
#[derive(Clone)]
pub struct ObjectsAddress {
    kind: Kind,
    /// Beginning of the names of all objects.
    prefix: Path,
    settings: Settings,
    trust: Option<Arc<ClientConfig>>,
}

/// Kind of storage.
#[derive(Clone)]
enum Kind {
    /// Bucket of S3, or of what has its interface at another address.
    S3 { endpoint: Option<String>, bucket: String },
    /// Folder that all machines have.
    Folder(String),
}

impl ObjectsAddress {
    /// Reads an address: `s3://BUCKET/PREFIX` for AWS, `https://HOST/BUCKET/PREFIX` for others with the interface of S3, `file:///FOLDER` for a folder that all
    /// machines have. Keys and region are the settings `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` and others that AWS knows. The certificates
    /// to trust are those of a file, or of the system.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] for another text, or an address of another machine without TLS.
    pub fn new(url: &str, settings: &Settings, ca: Option<&FilePath>) -> Result<Self> {
        let wrong =
            |why: &str| ServiceError::Configuration(format!("the address of the object storage {why}"));
        let expected =
            "cannot be read: expected s3://BUCKET/PREFIX, https://HOST/BUCKET/PREFIX or file:///FOLDER";
        if let Some(folder) = url.strip_prefix("file://") {
            let kind = Kind::Folder(folder.to_owned());
            let is_path = folder.starts_with('/');
            let all = Self { kind, prefix: Path::default(), settings: Settings::default(), trust: None };
            return is_path.then_some(all).ok_or_else(|| wrong(expected));
        }
        let uri = url.parse::<Uri>().ok();
        let parts = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.authority()?, uri.path())));
        let (scheme, authority, path) = parts.ok_or_else(|| wrong(expected))?;
        if authority.as_str().contains('@') || uri.as_ref().is_some_and(|uri| uri.query().is_some()) {
            return Err(wrong(
                "has more than host, bucket and prefix: give keys by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the environment or by --secrets",
            ));
        }
        let path = path.trim_matches('/');
        let (endpoint, bucket, prefix) = match scheme {
            "s3" => (None, authority.as_str(), path),
            "http" | "https" => {
                let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
                (Some(format!("{scheme}://{authority}")), bucket, prefix)
            }
            _ => return Err(wrong(expected)),
        };
        let host = authority.host().trim_matches(['[', ']']);
        let is_here =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if scheme == "http" && !is_here {
            return Err(wrong(
                "begins with http, and names another machine: give one that begins with https",
            ));
        }
        if bucket.is_empty() {
            return Err(wrong(expected));
        }
        let trust = if scheme == "http" { None } else { Some(trust(ca)?) };
        let kind = Kind::S3 { endpoint, bucket: bucket.to_owned() };
        let prefix = Path::parse(prefix).map_err(|_| wrong(expected))?;
        Ok(Self { kind, prefix, settings: settings.clone(), trust })
    }

    /// Makes what sends requests to the storage.
    pub(super) fn connect(&self) -> Result<Arc<dyn ObjectStore>> {
        let wrong = |error: object_store::Error| {
            ServiceError::Configuration(format!("the object storage {self} cannot be used: {error}"))
        };
        let (endpoint, bucket) = match &self.kind {
            Kind::S3 { endpoint, bucket } => (endpoint, bucket),
            Kind::Folder(folder) => {
                let store = LocalFileSystem::new_with_prefix(folder).map_err(wrong)?;
                return Ok(Arc::new(store.with_fsync(true)));
            }
        };
        let mut builder = AmazonS3Builder::new();
        for (name, value) in self.settings.beginning(SETTINGS) {
            // Names that the interface does not know are those of other programs.
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        if let Some(endpoint) = endpoint {
            builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
        }
        let retry =
            RetryConfig { max_retries: ATTEMPTS, retry_timeout: ATTEMPTS_END, ..RetryConfig::default() };
        let store = builder
            .with_bucket_name(bucket)
            .with_client_options(ClientOptions::new().with_allow_http(self.trust.is_none()))
            .with_retry(retry)
            .with_http_connector(Connector(self.trust.clone()))
            .build()
            .map_err(wrong)?;
        Ok(Arc::new(store))
    }

    /// Beginning of the names of all objects.
    pub(super) fn prefix(&self) -> Path {
        self.prefix.clone().join("blobs")
    }

    /// Name of an object.
    pub(super) fn path(&self, id: &BlobId) -> Path {
        self.prefix().join(id.beginning()).join(id.as_str())
    }
}

impl fmt::Display for ObjectsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::S3 { endpoint: Some(endpoint), bucket } => write!(f, "{endpoint}/{bucket}/{}", self.prefix),
            Kind::S3 { endpoint: None, bucket } => write!(f, "s3://{bucket}/{}", self.prefix),
            Kind::Folder(folder) => write!(f, "file://{folder}"),
        }
    }
}

impl fmt::Debug for ObjectsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_secrets() {
        let secret = Settings::from_iter([("AWS_SECRET_ACCESS_KEY", "tiger-4711")]);
        let read = |url: &str| ObjectsAddress::new(url, &secret, None);
        for url in ["http://127.0.0.1:9000/bucket/", "http://[::1]:9000/bucket/a/b", "file:///srv/objects"] {
            let address = read(url).unwrap();
            assert_eq!(address.to_string(), url);
            assert!(!format!("{address:?}").contains("4711"));
        }
        let id = BlobId::from_hash(&[0xab; 32]);
        let path = read("http://127.0.0.1:9000/bucket/a/b").unwrap().path(&id).to_string();
        assert_eq!(path, format!("a/b/blobs/ab/{}", id.as_str()));
        for wrong in [
            "http://storage.example.org/bucket",
            "https://tiger:tiger@storage.example.org/bucket",
            "https://storage.example.org/bucket?key=tiger",
            "http://127.0.0.1:9000/",
            "ftp://127.0.0.1/tiger",
            "file://folder",
            "bucket",
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(!error.contains("tiger"), "{error}");
        }
    }
}
