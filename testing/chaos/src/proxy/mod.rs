//! A proxy in front of the real API server that does to requests what a schedule says.
//!
//! TLS ends here, with the server's own certificate; HTTP/2 or HTTP/1.1 on this side, HTTP/2 on the
//! other. Faults of a connection (resets, GOAWAY, silence, refusal) are real ones of its socket.

mod answers;
mod connection;
mod handle;
mod lines;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use harness::{ControlPlane, Port};
use http::HeaderValue;
use http::header::AUTHORIZATION;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::direct::{BoxError, Direct};
use crate::fault::{About, Fault};
use crate::schedule::Schedule;

/// A request, as far as a script may care.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// `GET`, `PATCH` …
    pub method: &'a str,
    /// The path, without its query.
    pub path: &'a str,
    /// The query; empty without one.
    pub query: &'a str,
    /// What it is about.
    pub about: About,
}

type Script = Box<dyn FnMut(Asked<'_>) -> Option<Fault> + Send>;

/// A running proxy. Dropping it closes its port and its connections.
#[derive(Debug)]
pub struct Proxy {
    port: Port,
    shared: Arc<Shared>,
    closed: CancellationToken,
}

struct Shared {
    upstream: Direct,
    tls: TlsAcceptor,
    schedule: Mutex<Schedule>,
    /// What a test says, in the place of the schedule.
    script: Mutex<Option<Script>>,
    log: Mutex<Vec<String>>,
    began: Instant,
    connections: Mutex<HashMap<u64, Control>>,
    accepted: AtomicU64,
    outages: mpsc::Sender<Duration>,
    /// The only `Authorization` that is let through, when one was chosen.
    pass: Mutex<Option<HeaderValue>>,
    /// Requests that came with another.
    turned_away: AtomicU64,
}

/// How a connection is put to an end, or to silence.
#[derive(Clone, Default)]
struct Control {
    /// Reset it.
    reset: CancellationToken,
    /// Say GOAWAY, finish what is under way.
    drain: CancellationToken,
    /// Nothing passes any more.
    silent: Arc<AtomicBool>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").finish_non_exhaustive()
    }
}

impl Proxy {
    /// Starts one that lets everything pass. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Without a free port, or when the server's certificate cannot be read.
    pub async fn start(plane: &ControlPlane, http1: bool) -> Result<Self, BoxError> {
        let port = Port::reserve().map_err(|error| error.to_string())?;
        let (outages, receiver) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            upstream: Direct::new(plane)?,
            tls: acceptor(plane, http1)?,
            schedule: Mutex::new(Schedule::quiet()),
            script: Mutex::default(),
            log: Mutex::default(),
            began: Instant::now(),
            connections: Mutex::default(),
            accepted: AtomicU64::new(0),
            outages,
            pass: Mutex::default(),
            turned_away: AtomicU64::new(0),
        });
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.number()));
        let closed = CancellationToken::new();
        let listener = TcpListener::bind(address).await?;
        tokio::spawn(accept(listener, address, shared.clone(), receiver, closed.clone()));
        Ok(Self { port, shared, closed })
    }

    /// Its address as that of an API server.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port.number())
    }

    /// From now on this is done; what was done before is returned.
    pub(crate) fn follow(&self, schedule: Schedule) -> Schedule {
        std::mem::replace(&mut *self.shared.schedule(), schedule)
    }

    /// From now on this says what is done to each request.
    pub fn script(&self, script: impl FnMut(Asked<'_>) -> Option<Fault> + Send + 'static) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(script));
    }

    /// Says GOAWAY on every connection; what is under way goes on.
    pub fn drain(&self) {
        self.shared.connections().values().for_each(|control| control.drain.cancel());
    }

    /// Connections that were accepted so far.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// From now on only this token is accepted, in the place of the administrator's.
    pub(crate) fn accept_only(&self, token: &str) -> Result<(), BoxError> {
        let header = HeaderValue::try_from(format!("Bearer {token}"))?;
        *self.shared.pass.lock().unwrap_or_else(PoisonError::into_inner) = Some(header);
        Ok(())
    }

    /// How many requests came with a token that is not accepted.
    pub(crate) fn turned_away(&self) -> u64 {
        self.shared.turned_away.load(Ordering::SeqCst)
    }

    /// Connections that are open and not silenced.
    pub fn open(&self) -> usize {
        let connections = self.shared.connections();
        connections.values().filter(|control| !control.silent.load(Ordering::SeqCst)).count()
    }

    /// Adds a line to the log.
    pub(crate) fn note(&self, line: &str) {
        self.shared.note(line);
    }

    /// What happened, in order.
    pub fn log(&self) -> Vec<String> {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.closed.cancel();
        self.shared.reset_all();
    }
}

impl Shared {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fate of the next request.
    fn decide(&self, asked: Asked<'_>) -> Option<Fault> {
        if let Some(script) = &mut *self.script.lock().unwrap_or_else(PoisonError::into_inner) {
            return script(asked);
        }
        self.schedule().decide(asked.method, asked.path, asked.about)
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Control>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges the token that is accepted here for the server's; false for any other.
    fn admit(&self, headers: &mut http::HeaderMap) -> bool {
        let pass = self.pass.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(pass) = pass else { return true };
        let known = headers.get(AUTHORIZATION) == Some(&pass);
        if known {
            headers.insert(AUTHORIZATION, self.upstream.token());
        } else {
            self.turned_away.fetch_add(1, Ordering::SeqCst);
        }
        known
    }

    fn note(&self, line: &str) {
        let line = format!("{:8.3} {line}", self.began.elapsed().as_secs_f64());
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn reset_all(&self) {
        self.connections().values().for_each(|control| control.reset.cancel());
    }
}

/// Accepts connections, except in an outage.
async fn accept(
    first: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    mut outages: mpsc::Receiver<Duration>,
    closed: CancellationToken,
) {
    let mut listener = Some(first);
    loop {
        let Some(open) = &listener else { return };
        tokio::select! {
            () = closed.cancelled() => return,
            accepted = open.accept() => {
                let Ok((socket, _)) = accepted else { continue };
                let number = shared.accepted.fetch_add(1, Ordering::SeqCst);
                let control = Control::default();
                shared.connections().insert(number, control.clone());
                let shared = shared.clone();
                tokio::spawn(async move {
                    connection::serve(socket, &shared, &control).await;
                    shared.connections().remove(&number);
                });
            }
            Some(time) = outages.recv() => {
                drop(listener.take());
                shared.reset_all();
                shared.note(&format!("outage of {time:?}"));
                tokio::time::sleep(time).await;
                listener = TcpListener::bind(address).await.ok();
                shared.note("outage over");
            }
        }
    }
}

fn acceptor(plane: &ControlPlane, http1: bool) -> Result<TlsAcceptor, BoxError> {
    let (certificate, key) = plane.serving_identity();
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let mut settings = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key)?;
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    if !http1 {
        settings.alpn_protocols.insert(0, b"h2".to_vec());
    }
    Ok(TlsAcceptor::from(Arc::new(settings)))
}
