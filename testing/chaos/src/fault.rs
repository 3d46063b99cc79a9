//! What can be done to a request, and how often each was done.

use std::time::Duration;

use crate::random::Random;

/// What a request is about, as far as faults care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// What the server serves.
    Discovery,
    /// A GET of an object or a list.
    Read,
    /// Anything that changes an object.
    Write,
    /// A watch.
    Watch,
    /// A watch that begins with the whole state.
    StreamingList,
}

/// An answer that the server did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the answers")]
pub enum Canned {
    Unauthorized,
    Forbidden,
    NotServed,
    Expired,
    Throttled,
    ThrottledUntil,
    Internal,
    BadGateway,
    Unavailable,
    GatewayTimeout,
    TooLargeVersion,
    NoStreaming,
}

/// How a watch goes wrong after some of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In good order.
    Clean,
    /// In good order, in the middle of a line.
    MidLine,
    /// The stream is reset, its connection stays.
    StreamReset,
    /// The connection is reset.
    ConnectionReset,
    /// An ERROR event: 410.
    Expired,
    /// An ERROR event: too large resource version.
    TooLargeVersion,
    /// Not at all: one line that is no JSON.
    OneBadLine,
    /// Three such lines.
    BadLines,
}

/// One thing done to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The answer comes later.
    Late(Duration),
    /// The connection is reset before the server sees the request.
    Reset,
    /// The server does the work; then the connection is reset.
    LostAnswer,
    /// Half of the answer arrives; then the connection is reset.
    HalfAnswer,
    /// The server's connection is drained as before a restart; the request itself is answered.
    GoAway,
    /// From now on nothing passes on this connection, which stays open.
    BlackHole,
    /// All connections are reset and new ones refused for this long.
    Outage(Duration),
    /// An answer instead of the server's.
    Answer(Canned),
    /// The server does the work; then this answer instead of its own.
    AnswerAfter(Canned),
    /// A watch that is over at once.
    Empty,
    /// Every line of the watch comes twice.
    Twice,
    /// Every line comes this much later.
    Slow(Duration),
    /// After so many lines, or so long, the watch goes wrong.
    Watch {
        /// So many lines still come.
        lines: u64,
        /// After so long it ends in any case.
        time: Duration,
        /// How.
        ending: Ending,
    },
    /// The watch goes wrong in the place of the first line that has this in it.
    At(&'static str, Ending),
}

/// A line of the menu that schedules are made from.
pub(crate) struct Dish {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&mut Random) -> Fault,
    /// On what it may be served.
    on: &'static [About],
    /// On what else, at the price that the run may then end without success.
    costly: &'static [About],
    /// At most once in a phase, since it takes long.
    pub(crate) rare: bool,
}

use About::{Discovery, Read, StreamingList, Watch, Write};

const ALL: &[About] = &[Discovery, Read, Write, Watch, StreamingList];
const WATCHES: &[About] = &[Watch, StreamingList];

const fn dish(name: &'static str, on: &'static [About], make: fn(&mut Random) -> Fault) -> Dish {
    Dish { name, make, on, costly: &[], rare: false }
}

const fn costly(
    name: &'static str,
    on: &'static [About],
    costly: &'static [About],
    make: fn(&mut Random) -> Fault,
) -> Dish {
    Dish { name, make, on, costly, rare: false }
}

fn millis(random: &mut Random, low: u64, high: u64) -> Duration {
    Duration::from_millis(random.between(low, high))
}

fn watch(random: &mut Random, ending: Ending) -> Fault {
    Fault::Watch { lines: random.between(0, 12), time: millis(random, 50, 4_000), ending }
}

/// Everything that is done, by name.
pub(crate) const MENU: &[Dish] = &[
    dish("late answer", ALL, |random| Fault::Late(millis(random, 50, 1_500))),
    dish("connection reset", ALL, |_| Fault::Reset),
    dish("answer lost after the work", &[Read, Write], |_| Fault::LostAnswer),
    dish("half an answer, then reset", &[Discovery, Read, Write], |_| Fault::HalfAnswer),
    dish("GOAWAY", ALL, |_| Fault::GoAway),
    // It takes most of a write's budget to notice it.
    Dish { rare: true, ..costly("black hole", WATCHES, &[Write], |_| Fault::BlackHole) },
    Dish { rare: true, ..dish("outage", ALL, |random| Fault::Outage(millis(random, 200, 4_000))) },
    costly("401", WATCHES, &[Read, Write], |_| Fault::Answer(Canned::Unauthorized)),
    costly("403", WATCHES, &[Read, Write], |_| Fault::Answer(Canned::Forbidden)),
    costly("404 in text", WATCHES, &[Read, Write], |_| Fault::Answer(Canned::NotServed)),
    dish("410", WATCHES, |_| Fault::Answer(Canned::Expired)),
    dish("429, seconds", ALL, |_| Fault::Answer(Canned::Throttled)),
    dish("429, date", ALL, |_| Fault::Answer(Canned::ThrottledUntil)),
    costly("500", WATCHES, &[Read, Write], |_| Fault::Answer(Canned::Internal)),
    dish("502", ALL, |_| Fault::Answer(Canned::BadGateway)),
    dish("503", ALL, |_| Fault::Answer(Canned::Unavailable)),
    dish("504", ALL, |_| Fault::Answer(Canned::GatewayTimeout)),
    costly("500 after the work", &[], &[Write], |_| Fault::AnswerAfter(Canned::Internal)),
    dish("502 after the work", &[Write], |_| Fault::AnswerAfter(Canned::BadGateway)),
    dish("504 after the work", &[Write], |_| Fault::AnswerAfter(Canned::GatewayTimeout)),
    dish("too large version", WATCHES, |_| Fault::Answer(Canned::TooLargeVersion)),
    dish("streaming list refused", &[StreamingList], |_| Fault::Answer(Canned::NoStreaming)),
    dish("watch empty", WATCHES, |_| Fault::Empty),
    dish("watch ends", WATCHES, |random| watch(random, Ending::Clean)),
    dish("watch ends in mid-line", WATCHES, |random| watch(random, Ending::MidLine)),
    dish("watch stream reset", WATCHES, |random| watch(random, Ending::StreamReset)),
    dish("watch connection reset", WATCHES, |random| watch(random, Ending::ConnectionReset)),
    dish("ERROR event 410", WATCHES, |random| watch(random, Ending::Expired)),
    dish("ERROR event too large version", WATCHES, |random| watch(random, Ending::TooLargeVersion)),
    dish("one bad line", WATCHES, |random| watch(random, Ending::OneBadLine)),
    dish("three bad lines", WATCHES, |random| watch(random, Ending::BadLines)),
    dish("events twice", WATCHES, |_| Fault::Twice),
    dish("events late", WATCHES, |random| Fault::Slow(millis(random, 5, 200))),
];

impl Dish {
    /// May it be served on this?
    pub(crate) fn fits(&self, about: About) -> bool {
        self.on.contains(&about) || self.costly.contains(&about)
    }

    /// Served on this, it may cost the run its success.
    pub(crate) fn costs(&self, about: About) -> bool {
        self.costly.contains(&about)
    }
}
