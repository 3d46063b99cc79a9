//! One connection from a client: served until its end, a reset, or silence.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::{Control, Shared, handle};

/// A silent connection is let go after so long: a client that has not noticed by then is stuck.
const SILENCE: Duration = Duration::from_secs(60);

pub(super) async fn serve(socket: TcpStream, shared: &Arc<Shared>, control: &Control) {
    let _ = socket.set_nodelay(true);
    let muted = || control.silent.load(Ordering::SeqCst);
    let stream = Mute { inner: socket, silent: control.silent.clone() };
    let serving = async {
        let Ok(stream) = shared.tls.accept(stream).await else { return };
        let service = service_fn(|request| handle::request(shared.clone(), control.clone(), request));
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http2().max_concurrent_streams(100);
        let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            _ = connection.as_mut() => return,
            () = control.drain.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    };
    let silence = async {
        while !muted() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        tokio::time::sleep(SILENCE).await;
    };
    tokio::select! {
        () = serving => {}
        () = silence => {}
        () = control.reset.cancelled() => {}
    }
}

/// A socket that can be made a black hole: what the client sends is not read, and nothing is sent. One
/// that is dropped with bytes unread is reset by the system, as after a crash.
struct Mute {
    inner: TcpStream,
    silent: Arc<AtomicBool>,
}

impl Mute {
    fn silent(&self) -> bool {
        self.silent.load(Ordering::SeqCst)
    }
}

impl AsyncRead for Mute {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.silent() {
            return Poll::Pending;
        }
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        // What arrived in the meantime is not answered either.
        if self.silent() { Poll::Pending } else { read }
    }
}

impl AsyncWrite for Mute {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.silent() {
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.silent() {
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
