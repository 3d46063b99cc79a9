//! The same server behind a socket: HTTP/1.1 and HTTP/2 in clear text.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::sandbox::Sandbox;
use crate::service::Service;

/// As many streams share a connection of the real server.
const STREAMS: u32 = 100;

/// A sandbox that listens until this is dropped; all connections end then.
#[derive(Debug)]
pub struct Listening {
    address: SocketAddr,
    task: JoinHandle<()>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    made: AtomicUsize,
    open: AtomicUsize,
    /// Changes when all connections are to break.
    cut: watch::Sender<u64>,
}

impl Sandbox {
    /// Serves clients at an address such as `127.0.0.1:0`. Under a paused clock the sandbox's time stands
    /// still while a socket is waited for.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn listen(&self, address: &str) -> io::Result<Listening> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            made: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            cut: watch::Sender::new(0),
        });
        let task = tokio::spawn(accept(listener, self.service(), shared.clone()));
        Ok(Listening { address, task, shared })
    }
}

impl Listening {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://` and the address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections were made so far.
    pub fn connections_made(&self) -> usize {
        self.shared.made.load(Ordering::Relaxed)
    }

    /// How many connections are open.
    pub fn connections_open(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Breaks all connections; new ones can be made.
    pub fn cut(&self) {
        self.shared.cut.send_modify(|count| *count += 1);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, service: Service, shared: Arc<Shared>) {
    loop {
        // An error is about one client that has gone again.
        let Ok((stream, _)) = listener.accept().await else { continue };
        shared.made.fetch_add(1, Ordering::Relaxed);
        shared.open.fetch_add(1, Ordering::Relaxed);
        let cut = shared.cut.subscribe();
        let (service, shared) = (service.clone(), shared.clone());
        tokio::spawn(async move {
            serve(stream, service, cut).await;
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn serve(stream: TcpStream, service: Service, mut cut: watch::Receiver<u64>) {
    let _ = stream.set_nodelay(true);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(STREAMS);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    tokio::select! {
        // What went wrong with a connection is the client's to see.
        _ = connection => {}
        _ = cut.changed() => {}
    }
}
