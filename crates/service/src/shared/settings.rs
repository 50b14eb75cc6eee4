//! Settings and secrets by their names: environment variables, and a file that its owner alone can reach.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use crate::refusal::{Result, ServiceError};

/// Settings by their names. The debug form has names alone.
#[derive(Clone, Default)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Takes the environment variables of this process.
    #[must_use]
    pub fn of_environment() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        )
    }

    /// Adds the lines `NAME=VALUE` of a file, in place of settings of the same names; empty lines and lines that begin with `#` say nothing.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] for a file that others can reach, or another line; no message shows a value.
    pub fn with_file(mut self, path: &Path) -> Result<Self> {
        let name = path.display();
        let wrong = |why: String| ServiceError::Configuration(format!("the file with secrets {name} {why}"));
        if let Some(mode) = open_mode(path) {
            return Err(wrong(format!(
                "can be read by others on this machine (mode {mode:04o}): run chmod 600 {name}"
            )));
        }
        let text =
            fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(wrong(format!("has no = in line {number}: expected NAME=VALUE")));
            };
            self.0.insert(key.trim().to_owned(), value.trim().to_owned());
        }
        Ok(self)
    }

    /// Returns the value of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns all settings whose names begin so.
    pub(crate) fn beginning(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Settings {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(settings: I) -> Self {
        Self(settings.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Returns the mode of a file that others than its owner may reach.
#[cfg(unix)]
fn open_mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Returns nothing: only Unix has these modes.
#[cfg(not(unix))]
fn open_mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn secrets_of_a_file_are_taken_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        fs::write(&path, "# for the server\n\nAWS_SECRET_ACCESS_KEY = a=b\nnonsense-4711\n").unwrap();
        let mode = |mode| fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o640);
        let error = Settings::default().with_file(&path).unwrap_err().to_string();
        assert!(error.contains("mode 0640") && error.contains("chmod 600"), "{error}");
        mode(0o600);
        let error = Settings::default().with_file(&path).unwrap_err().to_string();
        assert!(error.contains("line 4") && !error.contains("4711"), "{error}");
        fs::write(&path, "AWS_SECRET_ACCESS_KEY = a=b\n").unwrap();
        let settings =
            Settings::from_iter([("AWS_SECRET_ACCESS_KEY", "x"), ("OTHER", "y")]).with_file(&path).unwrap();
        assert_eq!(settings.get("AWS_SECRET_ACCESS_KEY"), Some("a=b"));
        assert_eq!(settings.beginning("AWS_").count(), 1);
        assert!(!format!("{settings:?}").contains("a=b"));
    }
}
