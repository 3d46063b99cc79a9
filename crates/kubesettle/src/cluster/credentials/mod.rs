//! The `Authorization` header, kept fresh.

mod plugin;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::config::{Auth, Exec, Identity, read_file};
use super::transport::{ClientCertificate, basic_header};
use crate::error::{ApiError, ErrorClass};

/// How long a token file's content is believed.
const FILE_LIFE: Duration = Duration::from_secs(60);
/// Credentials are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(10);
/// Credentials this young that a server rejects are wrong rather than old.
const YOUNG: Duration = Duration::from_secs(10);

/// Where the header comes from, and what it is now.
#[derive(Debug)]
pub(super) struct Credentials {
    source: Source,
    state: Mutex<State>,
}

#[derive(Debug)]
enum Source {
    /// Never changes.
    Fixed(Option<HeaderValue>),
    File(PathBuf),
    Plugin {
        exec: Box<Exec>,
        cluster: Option<serde_json::Value>,
        certificate: Arc<ClientCertificate>,
    },
}

#[derive(Debug, Default)]
struct State {
    header: Option<HeaderValue>,
    /// When the present ones were obtained; `None` before the first time.
    since: Option<Instant>,
    /// When they are to be renewed.
    until: Option<Instant>,
    serial: u64,
    certificate: Option<Identity>,
}

/// A header with the serial number of the credentials it came from.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub(super) header: Option<HeaderValue>,
    pub(super) serial: u64,
    /// There is a new client certificate, which only new connections show.
    pub(super) recertified: bool,
}

/// What a rejection led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// There is nothing newer: the rejection stands.
    Pointless,
    /// The next header is worth a try.
    Worth,
}

impl Credentials {
    pub(super) fn new(auth: Auth, certificate: Arc<ClientCertificate>) -> Result<Self, String> {
        let source = match auth {
            Auth::None => Source::Fixed(None),
            Auth::Basic { user, password } => {
                let header = basic_header(&user, password.expose());
                Source::Fixed(Some(header.ok_or("user name and password cannot be sent")?))
            }
            Auth::Token(token) => Source::Fixed(Some(bearer(token.expose())?)),
            Auth::TokenFile(path) => Source::File(path),
            Auth::Plugin { exec, cluster } => Source::Plugin { exec, cluster, certificate },
        };
        Ok(Self { source, state: Mutex::default() })
    }

    /// For a service without authentication.
    pub(super) fn none() -> Self {
        Self { source: Source::Fixed(None), state: Mutex::default() }
    }

    /// The header to send now. Runs the plugin or reads the file when it is time to; callers in the
    /// meantime wait for that one run.
    pub(super) async fn pass(&self) -> Result<Pass, ApiError> {
        if let Source::Fixed(header) = &self.source {
            return Ok(Pass { header: header.clone(), serial: 0, recertified: false });
        }
        let mut state = self.state.lock().await;
        let due = match state.until {
            _ if state.since.is_none() => true,
            Some(until) => Instant::now() >= until,
            None => false,
        };
        let recertified = due && self.renew(&mut state).await?;
        Ok(Pass { header: state.header.clone(), serial: state.serial, recertified })
    }

    /// Tells that the server rejected the credentials of `serial`.
    pub(super) async fn rejected(&self, serial: u64) -> Renewal {
        if matches!(self.source, Source::Fixed(_)) {
            return Renewal::Pointless;
        }
        let mut state = self.state.lock().await;
        if state.serial != serial {
            return Renewal::Worth;
        }
        // A file may have been rewritten the moment after it was read; looking costs nothing.
        let unchanged = match &self.source {
            Source::File(path) => read_token(path).is_none_or(|now| Some(&now) == state.header.as_ref()),
            Source::Fixed(_) | Source::Plugin { .. } => true,
        };
        if unchanged && state.since.is_some_and(|since| since.elapsed() < YOUNG) {
            return Renewal::Pointless;
        }
        state.until = Some(Instant::now());
        Renewal::Worth
    }

    /// True when there is another client certificate than before.
    async fn renew(&self, state: &mut State) -> Result<bool, ApiError> {
        let now = Instant::now();
        let mut recertified = false;
        match &self.source {
            Source::Fixed(_) => {}
            Source::File(path) => {
                match read_file(path) {
                    Ok(token) => {
                        let token = String::from_utf8_lossy(&token);
                        state.header = Some(bearer(token.trim()).map_err(|error| unusable(&error))?);
                    }
                    // Some programs remove the file after the start; what was read then still counts.
                    Err(_) if state.header.is_some() => {}
                    Err(error) => {
                        return Err(unusable(&format!("cannot read token file {}: {error}", path.display())));
                    }
                }
                state.until = Some(now + FILE_LIFE);
            }
            Source::Plugin { exec, cluster, certificate } => {
                let given =
                    plugin::run(exec.clone(), cluster.clone()).await.map_err(|error| unusable(&error))?;
                state.header = match &given.token {
                    Some(token) => Some(bearer(token.expose()).map_err(|error| unusable(&error))?),
                    None => None,
                };
                if let Some(identity) = given.identity.filter(|new| state.certificate.as_ref() != Some(new)) {
                    certificate.set(&identity).map_err(|error| unusable(&error))?;
                    recertified = state.certificate.replace(identity).is_some();
                }
                state.until = given.life.map(|life| now + life.saturating_sub(MARGIN).max(MARGIN / 2));
            }
        }
        state.since = Some(now);
        state.serial += 1;
        Ok(recertified)
    }
}

fn read_token(path: &Path) -> Option<HeaderValue> {
    let token = read_file(path).ok()?;
    bearer(String::from_utf8_lossy(&token).trim()).ok()
}

fn bearer(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the token has characters that cannot be sent".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

fn unusable(message: &str) -> ApiError {
    ApiError::local(ErrorClass::Unauthorized, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn token_files_are_read_again_but_may_vanish() {
        let folder = crate::cluster::testing::Folder::new("token-file");
        let path = folder.write("token", "one\n");
        let credentials = Credentials::new(Auth::TokenFile(path.clone()), Arc::default()).unwrap();
        let header = async || credentials.pass().await.unwrap().header.unwrap();
        assert_eq!(header().await, "Bearer one");
        folder.write("token", "two");
        assert_eq!(header().await, "Bearer one", "believed for a minute");
        tokio::time::advance(FILE_LIFE).await;
        assert_eq!(header().await, "Bearer two");
        folder.remove("token");
        tokio::time::advance(FILE_LIFE).await;
        assert_eq!(header().await, "Bearer two");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rejection_renews_once() {
        let folder = crate::cluster::testing::Folder::new("rejection");
        let path = folder.write("token", "one");
        let credentials = Credentials::new(Auth::TokenFile(path), Arc::default()).unwrap();
        let first = credentials.pass().await.unwrap();
        assert_eq!(credentials.rejected(first.serial).await, Renewal::Pointless, "just read");
        tokio::time::advance(YOUNG).await;
        folder.write("token", "two");
        assert_eq!(credentials.rejected(first.serial).await, Renewal::Worth);
        let second = credentials.pass().await.unwrap();
        assert_eq!(second.header.unwrap(), "Bearer two");
        assert_eq!(credentials.rejected(first.serial).await, Renewal::Worth, "of an older request");
        assert_eq!(credentials.pass().await.unwrap().serial, second.serial, "not read again for it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_rewritten_right_after_it_was_read_is_read_again() {
        let folder = crate::cluster::testing::Folder::new("rewritten");
        let path = folder.write("token", "one");
        let credentials = Credentials::new(Auth::TokenFile(path), Arc::default()).unwrap();
        let first = credentials.pass().await.unwrap();
        folder.write("token", "two");
        assert_eq!(credentials.rejected(first.serial).await, Renewal::Worth);
        let second = credentials.pass().await.unwrap();
        assert_eq!(second.header.unwrap(), "Bearer two");
        assert_eq!(credentials.rejected(second.serial).await, Renewal::Pointless, "it is what the file has");
        folder.remove("token");
        assert_eq!(credentials.rejected(second.serial).await, Renewal::Pointless);
    }

    #[tokio::test]
    async fn fixed_credentials_cannot_be_renewed() {
        let credentials =
            Credentials::new(Auth::Token(crate::cluster::secret::Secret::new("t")), Arc::default());
        let credentials = credentials.unwrap();
        let pass = credentials.pass().await.unwrap();
        assert!(pass.header.as_ref().unwrap().is_sensitive());
        assert_eq!(credentials.rejected(pass.serial).await, Renewal::Pointless);
        assert!(
            Credentials::new(Auth::Token(crate::cluster::secret::Secret::new("a\nb")), Arc::default())
                .is_err()
        );
    }
}
