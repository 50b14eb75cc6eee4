//! A page for browsers: files of a folder, the same for everybody.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::refusal::{Result, ServiceError};

/// Largest number of files of a page, and of their bytes: all of them are in memory.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 1 << 26;
/// Deepest folder of a page below its own.
const DEEPEST: usize = 8;
/// Types of files that are served, by the endings of their names; others stay unseen.
const TYPES: [(&str, &str); 6] = [
    ("html", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
];
/// Scripts and styles of the server alone, WebAssembly, and nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Address that the root leads to, where the page has it.
const ENTRY: &str = "/page/index.html";

/// Files of a page, read once at the start.
#[derive(Debug)]
pub struct Page {
    files: BTreeMap<String, File>,
}

/// File of a page.
#[derive(Debug)]
struct File {
    kind: HeaderValue,
    tag: HeaderValue,
    plain: Bytes,
    compressed: Bytes,
}

impl Page {
    /// Reads all files of a folder that browsers take: HTML, CSS, JavaScript, WebAssembly and pictures; links are not followed.
    ///
    /// # Errors
    /// [`ServiceError::Io`]; [`ServiceError::Configuration`] for a folder without `page/index.html`, with more than 512 files or with more than 64 MiB.
    pub fn load(folder: &Path) -> Result<Self> {
        let (mut files, mut left) = (BTreeMap::new(), MOST_BYTES);
        read(folder, "", DEEPEST, &mut files, &mut left)?;
        if files.contains_key(ENTRY) {
            return Ok(Self { files });
        }
        let name = folder.display();
        Err(ServiceError::Configuration(format!(
            "{name} has no file page/index.html: give the folder typescript/build that cargo xtask typescript builds"
        )))
    }

    /// Returns the answer to a request for a file; `None` where the page has none of this address.
    pub(crate) fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
        if path == "/" {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response.headers_mut().insert(LOCATION, HeaderValue::from_static(ENTRY));
            return Some(response);
        }
        let file = self.files.get(path)?;
        let says = |name: HeaderName, word: &str| {
            let all = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
            // A quality of zero means that it is not taken.
            let refused = |rest: Option<&str>| {
                rest.is_some_and(|rest| rest.trim().trim_end_matches(['0', '.']) == "q=")
            };
            all.flat_map(|list| list.split(',')).any(|own| {
                let mut parts = own.split(';');
                parts.next().map(str::trim) == Some(word) && !refused(parts.next())
            })
        };
        let known = file.tag.to_str().is_ok_and(|tag| says(IF_NONE_MATCH, tag));
        let compresses = says(ACCEPT_ENCODING, "gzip");
        let body = match (known, compresses) {
            (true, _) => Bytes::new(),
            (false, true) => file.compressed.clone(),
            (false, false) => file.plain.clone(),
        };
        let mut response = Response::new(Body::from(body));
        if known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let told = response.headers_mut();
        if compresses && !known {
            told.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        told.insert(CONTENT_TYPE, file.kind.clone());
        told.insert(ETAG, file.tag.clone());
        for (name, value) in [
            (VARY, "accept-encoding"),
            (CACHE_CONTROL, "no-cache"),
            (CONTENT_SECURITY_POLICY, POLICY),
            (REFERRER_POLICY, "no-referrer"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ] {
            told.insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }
}

/// Reads the files of a folder; `below` is its address.
fn read(
    folder: &Path,
    below: &str,
    deepest: usize,
    files: &mut BTreeMap<String, File>,
    left: &mut u64,
) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let address = format!("{below}/{name}");
        if kind.is_dir() && deepest > 0 {
            read(&path, &address, deepest - 1, files, left)?;
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        let served = TYPES.iter().find(|(own, _)| ending == Some(own));
        let Some((_, kind)) = served.filter(|_| kind.is_file()) else { continue };
        *left = left.saturating_sub(entry.metadata()?.len());
        if *left == 0 || files.len() == MOST_FILES {
            return Err(ServiceError::Configuration(format!(
                "{} has more than {MOST_FILES} files or 64 MiB for a page: give a folder of a page alone",
                folder.display()
            )));
        }
        files.insert(address, File::new(fs::read(&path)?, kind)?);
    }
    Ok(())
}

impl File {
    fn new(bytes: Vec<u8>, kind: &'static str) -> Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes)?;
        let hash: String = Sha256::digest(&bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let tag = HeaderValue::from_str(&format!("\"{hash}\"")).map_err(std::io::Error::other)?;
        let (plain, compressed) = (Bytes::from(bytes), Bytes::from(encoder.finish()?));
        Ok(Self { kind: HeaderValue::from_static(kind), tag, plain, compressed })
    }
}
