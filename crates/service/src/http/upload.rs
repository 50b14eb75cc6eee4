//! Bodies of requests, received into a file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use tempfile::TempPath;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::Shared;
use crate::beginning::{self, BEGINNING};
use crate::config::Limits;
use crate::name::BlobId;
use crate::records::{AccountId, Place};
use crate::refusal::{Refusal, Result};
use crate::store::Arriving;

/// Seconds after which the rate of a body is looked at.
const FIRST_MINUTE: f64 = 60.0;
/// Seconds after which a client may ask again where too many uploads of it are coming.
const RETRY: u32 = 5;

/// Number of uploads of each account that are coming now.
pub(crate) type Uploads = Arc<Mutex<HashMap<AccountId, usize>>>;

/// Upload that was received: a file, which is removed unless it is kept.
pub(super) struct Received {
    file: TempPath,
    pub(super) blob: BlobId,
    pub(super) bytes: u64,
    /// Counts the bytes until they have a name.
    _arriving: Arriving,
    _turn: Turn,
}

impl Received {
    pub(super) fn parts(&self) -> (&TempPath, &BlobId, u64) {
        (&self.file, &self.blob, self.bytes)
    }
}

/// Place among the uploads of an account, which is free again when this is dropped.
struct Turn {
    uploads: Uploads,
    account: AccountId,
}

impl Turn {
    fn take(shared: &Shared, account: AccountId) -> std::result::Result<Self, Refusal> {
        let most = shared.config.limits.uploads;
        let mut uploads = shared.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        let own = uploads.entry(account).or_default();
        if *own >= most {
            return Err(Refusal::busy("too many uploads of this account at a time", RETRY)
                .expected(format!("at most {most}"))
                .remedy("send them one after the other"));
        }
        *own += 1;
        Ok(Self { uploads: Arc::clone(&shared.uploads), account })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = uploads.get_mut(&self.account) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                uploads.remove(&self.account);
            }
        }
    }
}

/// Receives the body of a request into a file, and checks its length, its first bytes, its rate, and the quota of the account while it comes.
pub(super) async fn receive(
    shared: &Arc<Shared>,
    account: AccountId,
    place: Place,
    request: Request,
) -> Result<Received> {
    let limits = &shared.config.limits;
    let most = if place == Place::Programs { limits.program } else { limits.upload };
    let told = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if told.is_some_and(|told: u64| told > most) {
        return Err(too_long(most).into());
    }
    let turn = Turn::take(shared, account)?;
    let store = Arc::clone(&shared.store);
    let (file, arriving) = shared
        .blocking(move |shared| {
            let arriving = store.arrive(account, &shared.config.limits.account)?;
            Ok((shared.store.blobs().temporary()?, arriving))
        })
        .await?;
    let (file, path) = file.into_parts();
    let mut receiver =
        Receiver { file: File::from_std(file), hash: Sha256::new(), bytes: 0, first: Vec::new(), arriving };
    receiver.take_all(request.into_body(), place, most, limits).await?;
    shared.metrics.received(receiver.bytes);
    receiver.file.sync_all().await?;
    let blob = BlobId::from_hash(&receiver.hash.finalize().into());
    Ok(Received { file: path, blob, bytes: receiver.bytes, _arriving: receiver.arriving, _turn: turn })
}

/// File that takes a body.
struct Receiver {
    file: File,
    hash: Sha256,
    bytes: u64,
    /// First bytes, until there are enough of them to say what the body is.
    first: Vec<u8>,
    arriving: Arriving,
}

impl Receiver {
    /// Receives a body to its end.
    async fn take_all(&mut self, mut body: Body, place: Place, most: u64, limits: &Limits) -> Result<()> {
        let begin = Instant::now();
        loop {
            let Ok(next) = timeout(limits.idle, body.frame()).await else { return Err(too_slow().into()) };
            let Some(frame) = next else { break };
            let frame = frame
                .map_err(|_| Refusal::input("the body ended before its length").remedy("send it again"))?;
            let Ok(data) = frame.into_data() else { continue };
            self.take(&data, place, most).await?;
            let seconds = begin.elapsed().as_secs_f64();
            if seconds > FIRST_MINUTE && (self.bytes as f64) < seconds * limits.least_rate as f64 {
                return Err(too_slow().into());
            }
        }
        if self.bytes < BEGINNING as u64 {
            beginning::check(place, &self.first)?;
        }
        self.file.flush().await?;
        Ok(())
    }

    /// Receives a part of a body.
    async fn take(&mut self, data: &Bytes, place: Place, most: u64) -> Result<()> {
        let before = self.bytes;
        self.bytes += data.len() as u64;
        if self.bytes > most {
            return Err(too_long(most).into());
        }
        self.arriving.add(data.len() as u64)?;
        if before < BEGINNING as u64 {
            let missing = BEGINNING.saturating_sub(self.first.len());
            self.first.extend(data.iter().take(missing));
            if self.first.len() == BEGINNING {
                beginning::check(place, &self.first)?;
            }
        }
        self.hash.update(data);
        Ok(self.file.write_all(data).await?)
    }
}

fn too_long(most: u64) -> Refusal {
    Refusal::new(413, "the body is too long")
        .expected(format!("at most {most} bytes"))
        .remedy("send a smaller file, or ask the operator of the server for more")
}

fn too_slow() -> Refusal {
    Refusal::new(408, "the body came too slowly").remedy("send it again over a faster connection")
}
