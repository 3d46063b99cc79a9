//! Which connection a watch goes over.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Client;

/// Streams on one connection. kube-apiserver allows 100; hyper never opens a second connection for
/// what is above the server's limit but lets it wait until another stream ends.
const BUDGET: usize = 80;

/// Clients for watches, each with one connection.
#[derive(Default)]
pub(in crate::cluster) struct Watches {
    slots: Mutex<Vec<Slot>>,
}

struct Slot {
    client: Client,
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    open: AtomicUsize,
    /// How many there may be; less than the budget where the server turned out to allow less.
    most: AtomicUsize,
}

impl Places {
    fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// One stream's place; dropping it gives the place back.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Stream(Option<Arc<Places>>);

impl Stream {
    /// Tells that no answer came: what else is open may be all that the server lets through.
    pub(super) fn unanswered(self) {
        if let Some(places) = &self.0 {
            places.most.store(places.open().saturating_sub(1).max(1), Ordering::Relaxed);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(places) = &self.0 {
            places.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Watches {
    /// A client with room for one more stream. Without multiplexing each stream has a connection of
    /// its own anyway, and one client does for all.
    pub(super) fn acquire(&self, multiplexed: bool, make: impl FnOnce() -> Client) -> (Client, Stream) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // What an idle connection was seen to allow is forgotten with it: the server may just have
        // been slow.
        slots.retain(|slot| slot.places.open() > 0 || slot.places.most() == BUDGET);
        let room = |slot: &&Slot| !multiplexed || slot.places.open() < slot.places.most();
        let (client, places) = match slots.iter().find(room) {
            Some(slot) => (slot.client.clone(), slot.places.clone()),
            None => {
                let places = Places { open: AtomicUsize::new(0), most: AtomicUsize::new(BUDGET) };
                let slot = Slot { client: make(), places: Arc::new(places) };
                let new = (slot.client.clone(), slot.places.clone());
                slots.push(slot);
                new
            }
        };
        places.open.fetch_add(1, Ordering::Relaxed);
        // Later connections close when nothing needs them any more.
        let mut first = true;
        slots.retain(|slot| std::mem::take(&mut first) || slot.places.open() > 0);
        (client, Stream(Some(places)))
    }

    pub(super) fn forget(&self) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_list().entries(slots.iter().map(|slot| slot.places.open())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::silent;

    #[test]
    fn a_connection_carries_at_most_its_budget() {
        let watches = Watches::default();
        let made = AtomicUsize::new(0);
        let open = |count: usize, multiplexed: bool| -> Vec<Stream> {
            let make = || {
                made.fetch_add(1, Ordering::Relaxed);
                silent()
            };
            (0..count).map(|_| watches.acquire(multiplexed, make).1).collect()
        };
        let mut streams = open(2 * BUDGET + 1, true);
        assert_eq!(made.load(Ordering::Relaxed), 3);
        assert_eq!(format!("{watches:?}"), "[80, 80, 1]");

        streams.drain(0..10);
        streams.extend(open(10, true));
        assert_eq!(made.load(Ordering::Relaxed), 3, "places are given back");

        streams.clear();
        let one = open(1, true);
        assert_eq!(format!("{watches:?}"), "[1]", "idle connections go");
        drop(one);
        let _many = open(500, false);
        assert_eq!(format!("{watches:?}"), "[500]", "HTTP/1.1 has no streams to count");
    }

    #[test]
    fn a_server_that_allows_fewer_streams_gets_more_connections() {
        let watches = Watches::default();
        let open =
            |count: usize| -> Vec<Stream> { (0..count).map(|_| watches.acquire(true, silent).1).collect() };
        let mut streams = open(50);
        for unanswered in streams.drain(32..) {
            unanswered.unanswered();
        }
        assert_eq!(format!("{watches:?}"), "[32]");
        let more = open(18);
        assert_eq!(format!("{watches:?}"), "[32, 18]");
        drop((streams, more));
        let _all = open(BUDGET);
        assert_eq!(format!("{watches:?}"), "[80]", "forgotten with the connection");
    }
}
