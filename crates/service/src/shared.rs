//! Database and object storage that several machines share, so that they serve together.

mod bridge;
mod settings;
mod trust;

use std::path::Path;
use std::sync::Arc;

pub(crate) use self::bridge::Bridge;
pub use self::settings::Settings;
pub(crate) use self::trust::trust;

pub use crate::blobs::objects::ObjectsAddress;
pub use crate::records::postgres::DatabaseAddress;

use crate::blobs::Blobs;
use crate::blobs::objects::Objects;
use crate::records::Records;
use crate::records::postgres::Postgres;
use crate::refusal::Result;

/// Database and object storage that several machines share.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Database with the state.
    pub database: DatabaseAddress,
    /// Storage of the bytes.
    pub objects: ObjectsAddress,
}

impl Shared {
    /// Opens both, with a folder of this machine for files that come and go, among them so many bytes of stored objects.
    pub(crate) fn open(&self, data: &Path, cache: u64) -> Result<(Arc<dyn Records>, Arc<dyn Blobs>)> {
        let bridge = Bridge::start()?;
        let records = Postgres::open(&bridge, &self.database)?;
        Ok((Arc::new(records), Arc::new(Objects::open(&bridge, &self.objects, data, cache)?)))
    }
}

/// Opens the state in a database: to add, list and remove accounts, also while servers run.
///
/// # Errors
/// [`ServiceError::Unavailable`](crate::ServiceError::Unavailable), [`ServiceError::Configuration`](crate::ServiceError::Configuration).
pub fn open_records(database: &DatabaseAddress) -> Result<Arc<dyn Records>> {
    Ok(Arc::new(Postgres::open(&Bridge::start()?, database)?))
}
