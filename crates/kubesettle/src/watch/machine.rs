//! What a list+watch loop does next, as a pure function of what happened.
//!
//! ```text
//!       refused, no end bookmark, crowded
//!   Stream ───────────────────────────► List ─► List … ─► Watch ─┐
//!     │ ▲                                ▲                  │ ▲  │ clean end: resume
//!     │ └──────── 410 (streaming works) ─┴── 410 ───────────┘ └──┘
//!     └─ initial events, end bookmark, then live events: it goes on as Watch
//!
//!   any of them ── trouble that may pass ──► Pause ──► the same again, from the same version
//!               ── 403, 404 ───────────────► Stop: the hub decides (narrower scope, discovery)
//! ```
//!
//! The driver in [`super::stream`] does the I/O, this module the thinking; every row of the fault
//! table is a test below that needs neither clock nor socket.

use std::time::Duration;

use crate::error::{ApiError, ErrorClass};

/// The next thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Open a streaming list: initial state, then live events, in one response.
    Stream,
    /// Fetch one page of a list.
    List {
        /// The token of the page; `None` for the first.
        token: Option<String>,
        /// The whole list in one page, because paging failed.
        whole: bool,
    },
    /// Open a watch from this version.
    Watch {
        /// The last version seen.
        version: String,
    },
    /// Ask for the server's version: it may be another server than before, or one whose data was
    /// restored. A watch from a version in its future would be silent.
    Probe,
    /// Wait, then ask again with [`Outcome::Rested`].
    Pause(Duration),
    /// Nothing more can be done here.
    Stop(ApiError),
}

/// What came of the last step.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A page arrived and was delivered.
    Page {
        /// The token of the next page, if there is one.
        next: Option<String>,
        /// The version of the list.
        version: String,
    },
    /// The request got no usable answer.
    Refused(ApiError),
    /// The stream is over.
    Closed(Closed),
    /// The server is at this version.
    Version(String),
    /// The pause is over.
    Rested,
}

/// How a stream went.
#[derive(Debug)]
pub(super) struct Closed {
    /// Why it is over.
    pub why: Why,
    /// The initial state was delivered completely (always true for a watch).
    pub synced: bool,
    /// The last version seen on it.
    pub version: Option<String>,
    /// How long it was open.
    pub lived: Duration,
}

/// Why a stream is over.
#[derive(Debug)]
pub(super) enum Why {
    /// The server ended it in an orderly way.
    Clean,
    /// It broke, or the server sent an ERROR event.
    Error(ApiError),
    /// The initial events did not end within the guard time.
    NoEndBookmark,
    /// The initial events are so many that a list, which comes compressed, is the shorter way.
    Crowded,
    /// Nothing came for longer than a server stays silent.
    Silent,
    /// The first event after a resumption was older than what it resumed from.
    WentBack,
    /// Too many lines in a row could not be decoded.
    Undecodable(String),
}

/// What the hub should know beside the step.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Notes {
    /// Contact is lost (or refused) for long enough to say so.
    pub gap: Option<ApiError>,
    /// This server does not do streaming lists for this kind.
    pub no_streaming: bool,
}

/// First pause after a failure, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(800);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A stream that ends sooner than this is no sign of health.
const HEALTHY_LIFE: Duration = Duration::from_secs(1);
/// A server that left so many requests in a row without a usable answer was away for seconds: long
/// enough for its data to be put back and to get further than what we know.
const UNANSWERED_BEFORE_ANEW: u32 = 2;
/// A server that has just been started refuses everybody for a moment: so many refusals after contact
/// was lost mean nothing yet.
const REFUSALS_OF_A_NEWCOMER: u32 = 3;
/// After so many failures in a row the hub is told.
const FAILURES_BEFORE_GAP: u32 = 3;

/// The state of one list+watch loop.
#[derive(Debug)]
pub(super) struct Machine {
    streaming: bool,
    /// What to do after a pause.
    resume: Step,
    version: Option<String>,
    failures: u32,
    /// How many requests in a row the server did not answer.
    unanswered: u32,
    /// How often it refused what it may allow since.
    refused: u32,
    /// How often in a row a version was too old without an event between.
    expired: u32,
    gap_told: bool,
    /// Contact was lost: whoever answers next may be another server.
    stranger: bool,
}

impl Machine {
    /// A loop that starts from nothing. `streaming` tells if streaming lists may be tried.
    pub(super) fn new(streaming: bool) -> Self {
        let mut machine = Self {
            streaming,
            resume: Step::Stream,
            version: None,
            failures: 0,
            unanswered: 0,
            refused: 0,
            expired: 0,
            gap_told: false,
            stranger: false,
        };
        machine.resume = machine.fresh();
        machine
    }

    /// The first step.
    pub(super) fn start(&self) -> Step {
        self.resume.clone()
    }

    /// The step after `outcome`. `jitter` is a random number in 0..1.
    pub(super) fn next(&mut self, outcome: Outcome, jitter: f64) -> (Step, Notes) {
        match &outcome {
            Outcome::Rested => {}
            Outcome::Refused(error) if is_absence(error.class) => {
                self.unanswered += 1;
                if self.unanswered >= UNANSWERED_BEFORE_ANEW && matches!(self.resume, Step::Watch { .. }) {
                    self.forget();
                }
            }
            Outcome::Refused(error)
                if error.class == ErrorClass::Forbidden
                    && self.stranger
                    && self.refused < REFUSALS_OF_A_NEWCOMER =>
            {
                self.refused += 1;
                // Contact is good; whether there is a right is told when it is certain.
                let told = self.gap_told;
                let (step, _) = self.pause(error.clone(), jitter);
                self.gap_told = told;
                return (step, Notes::default());
            }
            _ => (self.unanswered, self.refused) = (0, 0),
        }
        match outcome {
            Outcome::Rested if self.stranger && matches!(self.resume, Step::Watch { .. }) => {
                (Step::Probe, Notes::default())
            }
            Outcome::Rested => (self.resume.clone(), Notes::default()),
            Outcome::Version(version) => (self.after_probe(&version), Notes::default()),
            Outcome::Page { next, version } => (self.after_page(next, version), Notes::default()),
            Outcome::Refused(error) => self.after_error(error, jitter),
            Outcome::Closed(closed) => self.after_stream(closed, jitter),
        }
    }

    fn fresh(&self) -> Step {
        if self.streaming { Step::Stream } else { Step::List { token: None, whole: false } }
    }

    fn after_page(&mut self, next: Option<String>, version: String) -> Step {
        self.healthy();
        self.resume = match next {
            Some(token) => Step::List { token: Some(token), whole: false },
            None => {
                self.version = Some(version.clone());
                Step::Watch { version }
            }
        };
        self.resume.clone()
    }

    fn after_probe(&mut self, version: &str) -> Step {
        self.stranger = false;
        if self.version.as_deref().is_some_and(|ours| older(version, ours)) {
            self.forget();
        }
        self.resume.clone()
    }

    fn after_stream(&mut self, closed: Closed, jitter: f64) -> (Step, Notes) {
        if closed.synced {
            if closed.version.is_some() {
                self.version = closed.version;
            }
            if let Some(version) = &self.version {
                self.resume = Step::Watch { version: version.clone() };
            }
            if closed.lived >= HEALTHY_LIFE {
                self.healthy();
            }
        }
        match closed.why {
            Why::Clean if closed.synced && closed.lived >= HEALTHY_LIFE => {
                (self.resume.clone(), Notes::default())
            }
            Why::Clean => {
                let error = ApiError::local(ErrorClass::Unreachable, "the watch ended at once");
                self.pause(error, jitter)
            }
            Why::Error(error) => self.after_error(error, jitter),
            Why::NoEndBookmark => self.without_streaming(),
            Why::Crowded => {
                self.streaming = false;
                self.forget();
                (self.resume.clone(), Notes::default())
            }
            Why::Silent => self.anew(ErrorClass::Unreachable, "the watch fell silent".into(), jitter),
            Why::WentBack => self.anew(ErrorClass::Protocol, "the server's data went back".into(), jitter),
            Why::Undecodable(what) => self.anew(ErrorClass::Protocol, what, jitter),
        }
    }

    fn after_error(&mut self, error: ApiError, jitter: f64) -> (Step, Notes) {
        match error.class {
            ErrorClass::Expired => self.after_expiry(error, jitter),
            ErrorClass::Forbidden | ErrorClass::NotServed => (Step::Stop(error), Notes::default()),
            ErrorClass::BadRequest | ErrorClass::Invalid if self.resume == Step::Stream => {
                self.without_streaming()
            }
            _ => self.pause(error, jitter),
        }
    }

    /// A version is too old: the state must be read anew. Once is ordinary, twice in a row is trouble.
    fn after_expiry(&mut self, error: ApiError, jitter: f64) -> (Step, Notes) {
        self.version = None;
        self.expired += 1;
        self.resume = match &self.resume {
            Step::List { token: Some(_), .. } => Step::List { token: None, whole: true },
            _ => self.fresh(),
        };
        if self.expired > 1 { self.pause(error, jitter) } else { (self.resume.clone(), Notes::default()) }
    }

    /// What is known is doubtful: the state is read anew, after a pause.
    fn anew(&mut self, class: ErrorClass, what: String, jitter: f64) -> (Step, Notes) {
        self.forget();
        self.pause(ApiError::local(class, what), jitter)
    }

    fn without_streaming(&mut self) -> (Step, Notes) {
        self.streaming = false;
        self.resume = self.fresh();
        (self.resume.clone(), Notes { no_streaming: true, ..Notes::default() })
    }

    fn pause(&mut self, error: ApiError, jitter: f64) -> (Step, Notes) {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(8)).min(LONGEST_PAUSE);
        self.failures += 1;
        self.stranger |= error.class.passes();
        let pause = error
            .retry_after
            .map_or_else(|| doubled.mul_f64(0.5 + jitter / 2.0), |asked| asked.min(LONGEST_PAUSE));
        let tell = !self.gap_told && self.failures >= FAILURES_BEFORE_GAP;
        self.gap_told |= tell;
        (Step::Pause(pause), Notes { gap: tell.then_some(error), ..Notes::default() })
    }

    fn healthy(&mut self) {
        self.stranger = false;
        self.failures = 0;
        self.expired = 0;
        self.gap_told = false;
    }

    /// Starts from nothing with the next step: more is wanted than was read.
    pub(super) fn forget(&mut self) {
        self.version = None;
        self.resume = self.fresh();
    }

    /// The driver saw the initial state end or an event arrive: contact is good.
    pub(super) fn contact(&mut self) {
        self.expired = 0;
        self.gap_told = false;
    }
}

/// Whoever answers so is not the server at work. One that asks for patience is.
fn is_absence(class: ErrorClass) -> bool {
    class == ErrorClass::ServerError || (class.passes() && class != ErrorClass::Throttled)
}

/// As numbers, where both are.
pub(super) fn older(one: &str, other: &str) -> bool {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one < other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(class: ErrorClass) -> ApiError {
        ApiError::local(class, "test")
    }

    fn watching(version: &str) -> Machine {
        let mut machine = Machine::new(false);
        machine.next(Outcome::Page { next: None, version: version.into() }, 0.0);
        machine
    }

    fn closed(why: Why, seconds: u64, version: &str) -> Outcome {
        let version = Some(version.into());
        Outcome::Closed(Closed { why, synced: true, version, lived: Duration::from_secs(seconds) })
    }

    /// The step after a pause, and after a look at a server that has not gone back.
    fn rest(machine: &mut Machine) -> Step {
        match machine.next(Outcome::Rested, 0.0).0 {
            Step::Probe => machine.next(Outcome::Version("1000".into()), 0.0).0,
            step => step,
        }
    }

    #[test]
    fn a_clean_end_resumes_from_the_last_version() {
        let mut machine = watching("5");
        let (step, _) = machine.next(closed(Why::Clean, 300, "9"), 0.0);
        assert_eq!(step, Step::Watch { version: "9".into() });
    }

    #[test]
    fn a_watch_that_ends_at_once_backs_off_and_keeps_the_version() {
        let mut machine = watching("5");
        let mut last = Duration::ZERO;
        for _ in 0..4 {
            let (step, _) = machine.next(closed(Why::Clean, 0, "5"), 1.0);
            let Step::Pause(pause) = step else { panic!("{step:?}") };
            assert!(pause > last);
            last = pause;
            assert_eq!(rest(&mut machine), Step::Watch { version: "5".into() });
        }
    }

    #[test]
    fn an_expired_version_reads_the_state_anew_and_the_second_time_waits_first() {
        let mut machine = watching("5");
        let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Expired)), 0.0);
        assert_eq!(step, Step::List { token: None, whole: false });
        let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Expired)), 0.0);
        assert!(matches!(step, Step::Pause(_)));
        assert_eq!(rest(&mut machine), Step::List { token: None, whole: false });
    }

    #[test]
    fn an_expired_error_event_is_treated_like_an_expired_answer() {
        let mut machine = watching("5");
        let (step, _) = machine.next(closed(Why::Error(error(ErrorClass::Expired)), 30, "5"), 0.0);
        assert_eq!(step, Step::List { token: None, whole: false });
    }

    #[test]
    fn a_continue_token_that_expires_in_mid_list_gives_one_whole_list() {
        let mut machine = Machine::new(false);
        machine.next(Outcome::Page { next: Some("t".into()), version: "1".into() }, 0.0);
        let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Expired)), 0.0);
        assert_eq!(step, Step::List { token: None, whole: true });
    }

    #[test]
    fn trouble_that_may_pass_repeats_the_same_step_after_a_pause() {
        for class in [
            ErrorClass::Unreachable,
            ErrorClass::TimedOut,
            ErrorClass::Unavailable,
            ErrorClass::Throttled,
            ErrorClass::ServerError,
            ErrorClass::Unauthorized,
        ] {
            let mut machine = watching("5");
            let (step, _) = machine.next(closed(Why::Error(error(class)), 10, "8"), 0.0);
            assert!(matches!(step, Step::Pause(_)), "{class:?}");
            assert_eq!(rest(&mut machine), Step::Watch { version: "8".into() });
        }
    }

    #[test]
    fn after_lost_contact_a_server_that_is_behind_is_read_anew() {
        for (server, fresh) in [("4", true), ("8", false), ("9", false), ("x", false)] {
            let mut machine = watching("5");
            machine.next(closed(Why::Error(error(ErrorClass::Unreachable)), 10, "8"), 0.0);
            assert_eq!(machine.next(Outcome::Rested, 0.0).0, Step::Probe);
            // It is asked again as long as it does not answer.
            let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Unavailable)), 0.0);
            assert!(matches!(step, Step::Pause(_)));
            assert_eq!(machine.next(Outcome::Rested, 0.0).0, Step::Probe);
            let (step, _) = machine.next(Outcome::Version(server.into()), 0.0);
            assert_eq!(matches!(step, Step::List { token: None, .. }), fresh, "{server}");
        }
    }

    /// Its version may have overtaken ours by then, and yet its history is another.
    #[test]
    fn a_server_that_was_away_for_seconds_is_read_anew_whatever_its_version() {
        for class in
            [ErrorClass::Unreachable, ErrorClass::TimedOut, ErrorClass::Unavailable, ErrorClass::ServerError]
        {
            let mut machine = watching("5");
            machine.next(closed(Why::Error(error(ErrorClass::Unreachable)), 10, "8"), 0.0);
            assert_eq!(machine.next(Outcome::Rested, 0.0).0, Step::Probe);
            machine.next(Outcome::Refused(error(class)), 0.0);
            assert_eq!(machine.next(Outcome::Rested, 0.0).0, Step::Probe, "once is no absence");
            machine.next(Outcome::Refused(error(class)), 0.0);
            assert_eq!(machine.next(Outcome::Rested, 0.0).0, Step::List { token: None, whole: false });
        }
    }

    #[test]
    fn a_refusal_after_an_absence_is_believed_when_it_is_repeated() {
        let mut machine = watching("5");
        machine.next(Outcome::Refused(error(ErrorClass::Unreachable)), 0.0);
        for _ in 0..REFUSALS_OF_A_NEWCOMER {
            let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Forbidden)), 0.0);
            assert!(matches!(step, Step::Pause(_)), "{step:?}");
            machine.next(Outcome::Rested, 0.0);
        }
        let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Forbidden)), 0.0);
        assert!(matches!(step, Step::Stop(_)), "{step:?}");
    }

    #[test]
    fn a_server_that_asks_for_patience_or_ends_watches_at_once_was_not_away() {
        let mut machine = watching("5");
        for _ in 0..5 {
            machine.next(Outcome::Refused(error(ErrorClass::Throttled)), 0.0);
            assert_eq!(rest(&mut machine), Step::Watch { version: "5".into() });
            machine.next(closed(Why::Clean, 0, "5"), 0.0);
            assert_eq!(rest(&mut machine), Step::Watch { version: "5".into() });
        }
    }

    #[test]
    fn a_silent_watch_and_one_that_went_back_are_read_anew_after_a_pause() {
        for why in [Why::Silent, Why::WentBack, Why::Undecodable("three in a row".into())] {
            let mut machine = watching("5");
            let (step, _) = machine.next(closed(why, 300, "8"), 0.0);
            assert!(matches!(step, Step::Pause(_)));
            assert_eq!(rest(&mut machine), Step::List { token: None, whole: false });
        }
    }

    #[test]
    fn the_server_decides_the_pause_when_it_names_one() {
        let mut machine = watching("5");
        let asked = ApiError { retry_after: Some(Duration::from_secs(7)), ..error(ErrorClass::Throttled) };
        let (step, _) = machine.next(Outcome::Refused(asked), 0.3);
        assert_eq!(step, Step::Pause(Duration::from_secs(7)));
    }

    #[test]
    fn pauses_grow_to_thirty_seconds_and_no_further() {
        let mut machine = watching("5");
        for _ in 0..20 {
            let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Unreachable)), 1.0);
            let Step::Pause(pause) = step else { panic!("{step:?}") };
            assert!(pause <= LONGEST_PAUSE);
        }
    }

    #[test]
    fn the_third_failure_in_a_row_is_a_gap_and_is_told_once() {
        let mut machine = watching("5");
        let told: Vec<bool> = (0..5)
            .map(|_| machine.next(Outcome::Refused(error(ErrorClass::Unreachable)), 0.0).1.gap.is_some())
            .collect();
        assert_eq!(told, [false, false, true, false, false]);
    }

    #[test]
    fn a_refused_streaming_list_falls_back_to_lists_for_good() {
        for class in [ErrorClass::Invalid, ErrorClass::BadRequest] {
            let mut machine = Machine::new(true);
            assert_eq!(machine.start(), Step::Stream);
            let (step, notes) = machine.next(Outcome::Refused(error(class)), 0.0);
            assert_eq!(step, Step::List { token: None, whole: false });
            assert!(notes.no_streaming);
        }
    }

    #[test]
    fn a_streaming_list_without_end_bookmark_falls_back_to_lists() {
        let mut machine = Machine::new(true);
        let outcome =
            Closed { why: Why::NoEndBookmark, synced: false, version: None, lived: Duration::from_secs(10) };
        let (step, notes) = machine.next(Outcome::Closed(outcome), 0.0);
        assert_eq!(step, Step::List { token: None, whole: false });
        assert!(notes.no_streaming);
    }

    #[test]
    fn a_crowded_streaming_list_is_given_up_for_lists_at_once_and_stays_so_after_an_expiry() {
        let mut machine = Machine::new(true);
        let outcome = Closed { why: Why::Crowded, synced: false, version: None, lived: Duration::ZERO };
        let (step, notes) = machine.next(Outcome::Closed(outcome), 0.0);
        assert_eq!(step, Step::List { token: None, whole: false });
        assert_eq!(notes, Notes::default(), "other scopes of the kind may hold few");
        machine.next(Outcome::Page { next: None, version: "5".into() }, 0.0);
        let (step, _) = machine.next(Outcome::Refused(error(ErrorClass::Expired)), 0.0);
        assert_eq!(step, Step::List { token: None, whole: false });
    }

    #[test]
    fn a_stream_that_breaks_before_it_was_complete_starts_from_nothing() {
        let mut machine = Machine::new(true);
        let outcome = Closed {
            why: Why::Error(error(ErrorClass::Unreachable)),
            synced: false,
            version: Some("4".into()),
            lived: Duration::from_secs(10),
        };
        machine.next(Outcome::Closed(outcome), 0.0);
        assert_eq!(rest(&mut machine), Step::Stream);
    }

    #[test]
    fn forbidden_and_not_served_stop_the_loop() {
        for class in [ErrorClass::Forbidden, ErrorClass::NotServed] {
            let mut machine = watching("5");
            let (step, _) = machine.next(Outcome::Refused(error(class)), 0.0);
            assert!(matches!(step, Step::Stop(_)));
        }
    }
}
