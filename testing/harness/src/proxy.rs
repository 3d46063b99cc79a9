//! A TCP forwarder that counts, and may fall silent for good at a given byte. TLS passes through it
//! untouched.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::error::{Context, Error};

/// A forwarder on a free loopback port. Dropping it closes its port and all connections through it.
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    state: Arc<State>,
}

/// What has passed through a proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Connections accepted so far.
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    /// Bytes from clients to the server, TLS included.
    pub sent: u64,
    /// Bytes from the server to clients, TLS included.
    pub received: u64,
}

#[derive(Debug)]
struct State {
    closed: AtomicBool,
    shut: AtomicBool,
    /// How many bytes from clients pass.
    limit: AtomicU64,
    connections: AtomicU64,
    open: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    streams: Mutex<Vec<(u64, TcpStream)>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            closed: AtomicBool::new(false),
            shut: AtomicBool::new(false),
            limit: AtomicU64::new(u64::MAX),
            connections: AtomicU64::new(0),
            open: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            streams: Mutex::default(),
        }
    }
}

impl TcpProxy {
    /// Forwards a new loopback port to `target`.
    pub fn start(target: SocketAddr) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context(|| "cannot open a port on 127.0.0.1 for the counting proxy".to_owned())?;
        let address = listener.local_addr().context(|| "the counting proxy has no address".to_owned())?;
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || accept(&listener, target, &shared));
        Ok(Self { address, state })
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as an address of an API server.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// What has passed so far.
    pub fn traffic(&self) -> Traffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        Traffic {
            connections: read(&self.state.connections),
            open: read(&self.state.open),
            sent: read(&self.state.sent),
            received: read(&self.state.received),
        }
    }

    /// From now on lets pass so many bytes from clients. Then the server gets nothing more and clients
    /// hear nothing more: what a client's death at that byte looks like to the server.
    pub fn silence_after(&self, bytes: u64) {
        let sent = self.state.sent.load(Ordering::SeqCst);
        self.state.limit.store(sent.saturating_add(bytes), Ordering::SeqCst);
    }

    /// Whether it has fallen silent.
    pub fn is_silent(&self) -> bool {
        self.state.is_silent()
    }

    /// Cuts all connections that are open now; new ones are served.
    pub fn cut(&self) {
        self.state.cut();
    }

    /// Cuts all connections that are open now, and each new one as soon as it is made, until
    /// [`open`](Self::open).
    pub fn shut(&self) {
        self.state.shut.store(true, Ordering::SeqCst);
        self.state.cut();
    }

    /// Serves again.
    pub fn open(&self) {
        self.state.shut.store(false, Ordering::SeqCst);
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(self.address);
        self.state.cut();
    }
}

impl State {
    fn cut(&self) {
        for (_, stream) in self.streams.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn is_silent(&self) -> bool {
        self.sent.load(Ordering::SeqCst) >= self.limit.load(Ordering::SeqCst)
    }

    /// Counts bytes from a client and says how many may go on.
    fn pass(&self, bytes: u64) -> u64 {
        let limit = self.limit.load(Ordering::SeqCst);
        let before = self.sent.fetch_add(bytes, Ordering::SeqCst);
        limit.saturating_sub(before).min(bytes)
    }

    fn keep(&self, number: u64, streams: [&TcpStream; 2]) {
        let mut kept = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(streams.into_iter().filter_map(|stream| Some((number, stream.try_clone().ok()?))));
    }

    fn forget(&self, number: u64) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != number);
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.closed.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        if state.is_silent() || state.shut.load(Ordering::SeqCst) {
            continue;
        }
        let number = state.connections.fetch_add(1, Ordering::SeqCst);
        let state = Arc::clone(state);
        thread::spawn(move || {
            state.open.fetch_add(1, Ordering::SeqCst);
            forward(&client, target, number, &state);
            state.forget(number);
            state.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn forward(client: &TcpStream, target: SocketAddr, number: u64, state: &State) {
    // A server that is down shows as a closed connection.
    let Ok(server) = TcpStream::connect(target) else {
        return;
    };
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    state.keep(number, [client, &server]);
    if state.shut.load(Ordering::SeqCst) {
        state.cut();
    }
    thread::scope(|scope| {
        scope.spawn(|| copy(client, &server, |bytes| state.pass(bytes)));
        copy(&server, client, |bytes| {
            state.received.fetch_add(bytes, Ordering::SeqCst);
            if state.is_silent() { 0 } else { bytes }
        });
    });
}

/// Copies one direction, and passes its end on. `pass` counts the bytes that were read and says how
/// many of them go on; fewer than there are end it.
fn copy(mut from: &TcpStream, mut to: &TcpStream, pass: impl Fn(u64) -> u64) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let passed = usize::try_from(pass(read as u64)).map_or(read, |passed| passed.min(read));
        if to.write_all(&buffer[..passed]).is_err() || passed < read {
            let _ = from.shutdown(Shutdown::Read);
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wait_until;

    /// A server that sends back what it gets.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
            }
        });
        address
    }

    #[test]
    fn bytes_and_connections_are_counted() {
        let proxy = TcpProxy::start(echo()).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(b"hello").unwrap();
        let mut back = [0; 5];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"hello");
        assert_eq!(proxy.traffic(), Traffic { connections: 1, open: 1, sent: 5, received: 5 });
        drop(stream);
        wait_until("the connection to close", Duration::from_secs(10), || proxy.traffic().open == 0);
    }

    #[test]
    fn a_silent_proxy_has_let_pass_exactly_so_many_bytes_and_serves_nobody_more() {
        let proxy = TcpProxy::start(echo()).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        proxy.silence_after(7);
        stream.write_all(b"hello").unwrap();
        stream.read_exact(&mut [0; 5]).unwrap();
        assert!(!proxy.is_silent());
        stream.write_all(b"world").unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(proxy.is_silent() && rest.len() <= 2, "{rest:?}");
        let mut next = TcpStream::connect(proxy.address()).unwrap();
        let _ = next.write_all(b"!");
        assert_eq!(next.read(&mut [0]).unwrap_or(0), 0);
    }

    #[test]
    fn a_cut_ends_open_connections_and_serves_new_ones() {
        let proxy = TcpProxy::start(echo()).unwrap();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        proxy.cut();
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(b"y").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        assert_eq!(proxy.traffic().connections, 2);
    }

    #[test]
    fn one_that_is_shut_serves_nobody_until_it_is_opened() {
        let proxy = TcpProxy::start(echo()).unwrap();
        proxy.shut();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        let _ = stream.write_all(b"x");
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
        proxy.open();
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(b"y").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        assert_eq!(proxy.traffic().connections, 1);
    }
}
