//! `sunzi keys set`: gives a set of keys a label and an expiry.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sunzi::program::contexts::{PARAMETERS, SECRET};
use sunzi_keystore::{Properties, Time};

use super::properties::{self, Held, PROPERTIES};
use crate::args::keys::{Expiry, SetArgs};
use crate::error::CliError;
use crate::files::{self, refuse};
use crate::output;
use crate::passphrase::opened;

/// Folders of a set of keys, that of the secret first.
const FOLDERS: [&str; 3] = ["secret", "public", "eval"];

/// Report of `sunzi keys set`.
#[derive(Serialize)]
struct Set {
    key: String,
    #[serde(flatten)]
    properties: Properties,
    files: Vec<String>,
}

/// Writes label and expiry to the folder of the secret key, and to those of the others that are beside it.
pub(super) fn run(args: &SetArgs) -> Result<(), CliError> {
    let folders = folders(&args.keys);
    let own = folders.first().map_or(&*args.keys, PathBuf::as_path);
    let of_keys = |error| files::refuse_keys(own, "secret", error);
    let contexts = files::contexts(args.accept.parameters(), &own.join(PARAMETERS)).map_err(of_keys)?;
    let secret = opened::secret(&contexts, own, &args.mode, &args.passphrase)?;
    let file = own.join(PROPERTIES);
    let before = properties::read(&file).map_err(|error| refuse(&file, error))?;
    let before = before.as_ref().map(|stored| stored.properties());
    let set = Time::now();
    let expires = match &args.expires {
        None => before.and_then(|before| before.expires),
        Some(Expiry::Never) => None,
        Some(expiry) => expiry.at(set)?,
    };
    let label = args.label.clone().or_else(|| before.and_then(|before| before.label.clone()));
    let properties = Properties { label, set, expires };
    let held = (contexts.rlwe(), &secret);
    properties::write(folders.iter().map(PathBuf::as_path), &properties, held)?;
    Held { folder: own, key: secret.id(), secret: Some(held) }.remark();
    let files = folders.iter().map(|folder| folder.join(PROPERTIES).display().to_string()).collect();
    let set = Set { key: secret.id().to_string(), properties, files };
    output::report(args.json, &set, Set::text)
}

/// Returns the folders of a set of keys that are there: of a folder that has them all, or the one that was given.
fn folders(keys: &Path) -> Vec<PathBuf> {
    let all = FOLDERS.map(|folder| keys.join(folder));
    if all[0].join(SECRET).exists() {
        return all.into_iter().filter(|folder| folder.is_dir()).collect();
    }
    vec![keys.to_owned()]
}

impl Set {
    fn text(&self) -> String {
        let Properties { label, expires, .. } = &self.properties;
        let label = label.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let expires = expires.map_or_else(|| "never".to_owned(), |end| end.to_string());
        let files = self.files.join(", ");
        format!(
            "key          {}\nlabel        {label}\nexpires      {expires}\nwritten to   {files}",
            self.key
        )
    }
}
