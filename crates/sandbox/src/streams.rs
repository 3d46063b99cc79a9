//! Open watches, and what tests do to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

/// What is to become of an open watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The body ends in good order.
    Clean,
    /// An ERROR event with code 410, then the end.
    Expired,
    /// The connection breaks.
    Reset,
    /// Half of an event's line arrives, then the connection breaks.
    MidLine,
    /// Nothing arrives any more, not even the end.
    Silent,
}

#[derive(Debug)]
struct Stream {
    resource: Arc<str>,
    namespace: Arc<str>,
    end: Option<(Instant, WatchEnd)>,
}

#[derive(Debug, Default)]
pub(crate) struct Streams {
    opened: u64,
    open: BTreeMap<u64, Stream>,
}

impl Streams {
    pub(crate) fn open(&mut self, resource: Arc<str>, namespace: Arc<str>) -> u64 {
        self.opened += 1;
        self.open.insert(self.opened, Stream { resource, namespace, end: None });
        self.opened
    }

    pub(crate) fn close(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// How many watches of a resource are open; of all with an empty name.
    pub(crate) fn count(&self, resource: &str) -> usize {
        self.of(resource).count()
    }

    fn of(&self, resource: &str) -> impl Iterator<Item = &Stream> {
        self.open.values().filter(move |stream| resource.is_empty() || *stream.resource == *resource)
    }

    /// Namespaces of the open watches of a resource; empty for all of them.
    pub(crate) fn namespaces(&self, resource: &str) -> Vec<Arc<str>> {
        self.of(resource).map(|stream| stream.namespace.clone()).collect()
    }

    /// Ends the watches of a resource (of all with an empty name) at some time.
    pub(crate) fn end(&mut self, resource: &str, at: Instant, how: WatchEnd) -> usize {
        let mut ended = 0;
        for stream in
            self.open.values_mut().filter(|stream| resource.is_empty() || *stream.resource == *resource)
        {
            stream.end = Some((at, how));
            ended += 1;
        }
        ended
    }

    /// When and how a watch ends by somebody's will.
    pub(crate) fn end_of(&self, id: u64) -> Option<(Instant, WatchEnd)> {
        self.open.get(&id)?.end
    }
}
