//! Address of a server and token of an account: of the environment, or of a file.

use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sunzi_service::Token;

use crate::error::CliError;
use crate::files::input::read_text;
use crate::files::named;

/// Environment variable with the address of a server.
const SERVER: &str = "SUNZI_SERVER";
/// Environment variable with a token.
const TOKEN: &str = "SUNZI_TOKEN";
/// Environment variable with a file of certificates to trust.
const CA: &str = "SUNZI_CA";
/// Longest file of a login, in bytes.
pub(super) const LONGEST: u64 = 1 << 16;

/// Address of a server and token of an account, as they are kept.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    pub(super) server: String,
    pub(super) token: String,
    pub(super) ca: Option<PathBuf>,
}

/// Path of the file with the login.
pub(super) fn file() -> Result<PathBuf, CliError> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder =
        of("XDG_CONFIG_HOME").or_else(|| Some(of("HOME").or_else(|| of("USERPROFILE"))?.join(".config")));
    let none = || {
        CliError::input(format!("there is no home folder for the login: set {SERVER} and {TOKEN} instead"))
    };
    Ok(folder.ok_or_else(none)?.join("sunzi").join("remote.json"))
}

impl Login {
    /// Returns the login of the environment, or the one that was kept.
    pub(super) fn load() -> Result<Self, CliError> {
        let ca = env::var_os(CA).map(PathBuf::from);
        match (env::var(SERVER), env::var(TOKEN)) {
            (Ok(server), Ok(token)) => {
                Ok(Self { server: server.trim_end_matches('/').to_owned(), token, ca })
            }
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => Err(CliError::input(format!(
                "one of {SERVER} and {TOKEN} is set: set both of them, or neither"
            ))),
            _ => Self::kept(&file()?),
        }
    }

    fn kept(file: &Path) -> Result<Self, CliError> {
        if !file.exists() {
            return Err(CliError::input(
                "there is no login: run sunzi remote login, or set SUNZI_SERVER and SUNZI_TOKEN",
            ));
        }
        let text = read_text(file, "a login", LONGEST)?;
        serde_json::from_str(&text).map_err(|_| {
            CliError::damaged(format!("{} is no login: run sunzi remote login again", named(file)))
        })
    }

    /// Fails for a text that is no token, before it is sent anywhere.
    pub(super) fn check(&self) -> Result<(), CliError> {
        match Token::parse(&self.token) {
            Some(_) => Ok(()),
            None => Err(CliError::input(
                "this is no token: expected sunzi-, 16 digits, - and 64 digits, as sunzi account add printed it",
            )),
        }
    }
}
