//! Where a server has its state: in its folder, or in a database and an object storage that several servers share.

use std::sync::Arc;

use sunzi_service::records::Records;
use sunzi_service::store::open_records;
#[cfg(feature = "shared")]
use sunzi_service::{
    Result, ServiceError,
    shared::{self, DatabaseAddress, ObjectsAddress, Settings, Shared},
};

use super::refuse;
use crate::args::service::AccountsArgs;
#[cfg(feature = "shared")]
use crate::args::service::{DatabaseArgs, SharedArgs};
use crate::error::CliError;

/// Opens the state of a server, to change its accounts.
pub(crate) fn records(args: &AccountsArgs) -> std::result::Result<Arc<dyn Records>, CliError> {
    #[cfg(feature = "shared")]
    if let Some(database) =
        settings(&args.database).and_then(|settings| database(&args.database, &settings)).map_err(refuse)?
    {
        return shared::open_records(&database).map_err(refuse);
    }
    let data = args.data.as_deref().ok_or_else(|| CliError::input("give --data"))?;
    open_records(data).map_err(refuse)
}

/// Returns what a server shares with others, if it does.
#[cfg(feature = "shared")]
pub(super) fn addresses(args: &SharedArgs) -> Result<Option<Shared>> {
    if args.database.database.is_some() && args.objects.is_none() {
        return Err(ServiceError::Configuration(
            "--database needs --objects: what accounts store must be where all servers reach it".to_owned(),
        ));
    }
    let settings = settings(&args.database)?;
    let objects = args.objects.as_deref();
    let objects =
        objects.map(|url| ObjectsAddress::new(url, &settings, args.database.ca.as_deref())).transpose()?;
    Ok(database(&args.database, &settings)?
        .zip(objects)
        .map(|(database, objects)| Shared { database, objects }))
}

/// Returns the address of a database, if it is given.
#[cfg(feature = "shared")]
fn database(args: &DatabaseArgs, settings: &Settings) -> Result<Option<DatabaseAddress>> {
    let url = args.database.as_deref();
    url.map(|url| DatabaseAddress::new(url, settings, args.ca.as_deref())).transpose()
}

/// Returns passwords and keys: those of the environment, and those of a file in their place.
#[cfg(feature = "shared")]
fn settings(args: &DatabaseArgs) -> Result<Settings> {
    let settings = Settings::of_environment();
    match &args.secrets {
        Some(file) => settings.with_file(file),
        None => Ok(settings),
    }
}
