//! Requests to stop.

/// Ctrl-C, and on Unix also the signal by which service managers and CI systems ask to end.
pub(super) struct Signals {
    #[cfg(unix)]
    streams: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// From now on signals are told here, and do not end the process by themselves. Must be called
    /// inside the runtime.
    #[cfg(unix)]
    pub(super) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt());
        let terminate = signal(SignalKind::terminate());
        Self { streams: interrupt.ok().zip(terminate.ok()) }
    }

    /// From now on Ctrl-C is told here.
    #[cfg(not(unix))]
    pub(super) fn listen() -> Self {
        Self {}
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        match &mut self.streams {
            Some((interrupt, terminate)) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            None => std::future::pending().await,
        }
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
