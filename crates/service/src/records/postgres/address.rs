//! Address of a database.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::refusal::{Result, ServiceError};
use crate::shared::{Settings, trust};

/// Name of the setting with the password of the database.
const PASSWORD: &str = "SUNZI_DATABASE_PASSWORD";
/// Time that a connection may take to be made, for each address that a name has.
const CONNECT: Duration = Duration::from_secs(5);
/// Time after which a connection counts as broken whose other side takes nothing.
const BROKEN: Duration = Duration::from_secs(15);

/// Address of a database, with what it takes to connect. Its text and its debug form have no password.
#[derive(Clone)]
pub struct DatabaseAddress {
    config: Config,
    trust: Option<Arc<ClientConfig>>,
}

impl DatabaseAddress {
    /// Reads an address such as `postgresql://sunzi@db.example.org/sunzi`. The password is the setting `SUNZI_DATABASE_PASSWORD`, the certificates to trust
    /// are those of a file, or of the system. Another machine is reached over TLS alone.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] for another text, or one with a password.
    pub fn new(url: &str, settings: &Settings, ca: Option<&Path>) -> Result<Self> {
        let wrong = |why: &str| ServiceError::Configuration(format!("the address of the database {why}"));
        let is_url = url.starts_with("postgresql://") || url.starts_with("postgres://");
        let config = url.parse::<Config>().ok().filter(|_| is_url);
        let mut config =
            config.ok_or_else(|| wrong("cannot be read: expected postgresql://USER@HOST/DATABASE"))?;
        if config.get_password().is_some() {
            return Err(wrong(&format!(
                "has a password, which other processes of this machine can see: give it in the environment variable {PASSWORD} or in a file, by --secrets"
            )));
        }
        if config.get_hosts().is_empty() {
            return Err(wrong("names no host: expected postgresql://USER@HOST/DATABASE"));
        }
        if let Some(password) = settings.get(PASSWORD) {
            config.password(password);
        }
        let is_here = config.get_hosts().iter().all(is_this_machine);
        let mode = config.get_ssl_mode();
        if mode == SslMode::Disable && !is_here {
            return Err(wrong(
                "has sslmode=disable, and names another machine: leave it out, TLS is taken then",
            ));
        }
        let has_tls = !is_here || mode == SslMode::Require;
        config.ssl_mode(if has_tls { SslMode::Require } else { SslMode::Disable });
        config
            .application_name("sunzi")
            .connect_timeout(CONNECT)
            .tcp_user_timeout(BROKEN)
            .keepalives_idle(BROKEN);
        let trust = if has_tls { Some(trust(ca)?) } else { None };
        Ok(Self { config, trust })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn trust(&self) -> Option<Arc<ClientConfig>> {
        self.trust.clone()
    }
}

/// Whether a host is this machine, so that nothing between machines can read.
fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        f.write_str("postgresql://")?;
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            if let Some(port) = ports.get(at).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_secrets() {
        let secret = Settings::from_iter([(PASSWORD, "tiger-4711")]);
        let read = |url: &str| DatabaseAddress::new(url, &secret, None);
        let address = read("postgresql://scott@127.0.0.1:5433/sunzi").unwrap();
        assert_eq!(address.to_string(), "postgresql://127.0.0.1:5433/sunzi");
        assert!(!format!("{address:?}").contains("4711"));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(address.config.get_password(), Some("tiger-4711".as_bytes()));
        for (wrong, words) in [
            ("postgresql://scott:tiger-42@127.0.0.1/sunzi", "has a password"),
            ("postgresql://scott@db.example.org/sunzi?sslmode=disable", "sslmode=disable"),
            ("postgresql:///sunzi", "names no host"),
            ("mysql://scott:tiger-42@127.0.0.1/sunzi", "cannot be read"),
            ("host=127.0.0.1 password=tiger-42", "cannot be read"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("tiger"), "{error}");
        }
    }
}
