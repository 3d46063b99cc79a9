//! Which client requests go through.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Client;

/// The client of the moment. The first one has to find out what the server speaks, and opens a
/// connection for each request that waits for one. Where that is HTTP/2, it is replaced when it connects
/// anew (the server sent GOAWAY, or the connection broke), so that all share one connection again.
pub(super) struct Requests {
    client: Client,
    /// The attempts to connect of this client.
    dials: Arc<AtomicUsize>,
    /// How many there had been when the server was found to speak HTTP/2.
    settled: Option<usize>,
}

impl Requests {
    pub(super) fn new(client: Client, dials: Arc<AtomicUsize>) -> Self {
        Self { client, dials, settled: None }
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The server speaks HTTP/2, as the answer to a request of this client tells.
    pub(super) fn is_multiplexed(&mut self) {
        self.settled = Some(self.dials.load(Ordering::Relaxed));
    }

    /// The client for the next request; one that `make` makes for HTTP/2 alone when it is time.
    pub(super) fn renewed(&mut self, make: impl FnOnce() -> Self) -> Client {
        if self.settled.is_some_and(|settled| self.dials.load(Ordering::Relaxed) > settled) {
            *self = make();
        }
        self.client()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::silent;

    #[test]
    fn a_client_that_had_to_find_out_is_replaced_when_it_connects_again() {
        let dials = Arc::new(AtomicUsize::new(0));
        let mut requests = Requests::new(silent(), dials.clone());
        let mut made = 0;
        let mut next = |requests: &mut Requests| {
            requests.renewed(|| {
                made += 1;
                Requests::new(silent(), Arc::default())
            });
            made
        };
        dials.fetch_add(3, Ordering::Relaxed);
        assert_eq!(next(&mut requests), 0, "nobody knows yet what the server speaks");
        requests.is_multiplexed();
        assert_eq!(next(&mut requests), 0);
        dials.fetch_add(1, Ordering::Relaxed);
        assert_eq!((next(&mut requests), next(&mut requests)), (1, 1));
    }
}
