//! Which failed requests are worth repeating, when, and for how long.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::{ApiError, ErrorClass};

/// What the set tells about a failure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Context {
    /// The object's namespace, or the object itself, is being deleted and the set wants it back.
    pub comes_back: bool,
    /// Only one life of the object may be written.
    pub pinned: bool,
    /// It is to be deleted.
    pub removal: bool,
    /// The server was away a moment ago: one that has just been started refuses everybody for a while.
    pub newcomer: bool,
}

/// Failures that are repeated for one budget of time; an outage before a conflict does not make the
/// time for the conflict shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// With the connection or the server.
    Contact,
    /// The kind is not served (yet).
    Kind,
    /// The object is being deleted, and comes back.
    Deletion,
    /// Somebody else was quicker.
    Race,
    /// The server does not know yet who may do what.
    Rights,
}

impl Trouble {
    fn of(error: &ApiError, context: Context) -> Option<Self> {
        match error.class {
            class if class.passes() => Some(Self::Contact),
            ErrorClass::NotServed => Some(Self::Kind),
            ErrorClass::Terminating if context.comes_back => Some(Self::Deletion),
            ErrorClass::Replaced if !context.pinned => Some(Self::Race),
            ErrorClass::Forbidden if context.newcomer => Some(Self::Rights),
            _ => None,
        }
    }
}

/// Since when an object has each kind of trouble.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Failing([Option<Instant>; 5]);

impl Failing {
    /// For how long, with this error; `None` when it is not worth a repetition.
    pub(super) fn with(&mut self, error: &ApiError, context: Context, now: Instant) -> Option<Duration> {
        let trouble = Trouble::of(error, context)?;
        let since = self.0.get_mut(trouble as usize)?.get_or_insert(now);
        Some(now.saturating_duration_since(*since))
    }
}

/// How long failures of one kind may be repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budgets {
    /// For trouble of the connection and the server.
    pub trouble: Duration,
    /// For a kind that is not served yet.
    pub kind: Duration,
    /// For an object that is being deleted.
    pub deletion: Duration,
}

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);
/// How long a server that has just been started may take to learn who may do what.
const RIGHTS: Duration = Duration::from_secs(10);
/// Looking whether a kind is served costs no request of ours: the hub asks.
const LOOK: Duration = Duration::from_millis(500);

/// The pause before the next attempt, or `None` when it is of no use.
pub(super) fn pause(
    error: &ApiError,
    attempt: u32,
    failing_for: Duration,
    budgets: &Budgets,
    context: Context,
    jitter: f64,
) -> Option<Duration> {
    let growing =
        FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(8)).min(LONGEST).mul_f64(0.5 + jitter / 2.0);
    let (budget, pause) = match Trouble::of(error, context)? {
        Trouble::Contact => (budgets.trouble, error.retry_after.map_or(growing, |asked| asked.min(LONGEST))),
        Trouble::Kind => (budgets.kind, LOOK),
        Trouble::Deletion => (budgets.deletion, growing.min(Duration::from_secs(2))),
        // Who has the name now is told by the watch, which may be out of touch itself.
        Trouble::Race if context.removal => (budgets.trouble, growing),
        Trouble::Rights => (RIGHTS, growing),
        // Somebody created the object between the server's look and its write.
        Trouble::Race => (budgets.trouble.min(Duration::from_secs(5)), growing),
    };
    (failing_for < budget).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGETS: Budgets = Budgets {
        trouble: Duration::from_secs(30),
        kind: Duration::from_secs(60),
        deletion: Duration::from_secs(120),
    };

    fn tried(class: ErrorClass, failing_for: u64, comes_back: bool) -> Option<Duration> {
        let error = ApiError::local(class, "test");
        pause(
            &error,
            3,
            Duration::from_secs(failing_for),
            &BUDGETS,
            Context { comes_back, ..Context::default() },
            1.0,
        )
    }

    #[test]
    fn trouble_that_may_pass_is_repeated_within_its_budget() {
        for class in
            [ErrorClass::Unreachable, ErrorClass::TimedOut, ErrorClass::Throttled, ErrorClass::Unavailable]
        {
            assert!(tried(class, 29, false).is_some(), "{class:?}");
            assert!(tried(class, 30, false).is_none(), "{class:?}");
        }
    }

    #[test]
    fn what_the_server_refuses_is_never_repeated() {
        for class in [
            ErrorClass::Forbidden,
            ErrorClass::Denied,
            ErrorClass::Invalid,
            ErrorClass::Immutable,
            ErrorClass::Schema,
            ErrorClass::TooLarge,
            ErrorClass::FieldConflict,
            ErrorClass::QuotaExceeded,
            ErrorClass::NamespaceMissing,
            ErrorClass::ServerError,
            ErrorClass::Unauthorized,
        ] {
            assert_eq!(tried(class, 0, true), None, "{class:?}");
        }
    }

    #[test]
    fn an_object_being_deleted_is_waited_for_only_when_the_set_wants_it_back() {
        assert!(tried(ErrorClass::Terminating, 100, true).is_some());
        assert!(tried(ErrorClass::Terminating, 0, false).is_none());
    }

    #[test]
    fn a_conflict_is_final_when_only_one_life_of_the_object_may_be_written() {
        let error = ApiError::local(ErrorClass::Replaced, "test");
        for (pinned, again) in [(false, true), (true, false)] {
            let context = Context { pinned, ..Context::default() };
            assert_eq!(pause(&error, 1, Duration::ZERO, &BUDGETS, context, 1.0).is_some(), again);
        }
    }

    #[test]
    fn each_kind_of_trouble_has_its_own_time() {
        let (mut failing, began) = (Failing::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut with = |class, seconds| {
            failing
                .with(&ApiError::local(class, ""), Context::default(), at(seconds))
                .map(|time| time.as_secs())
        };
        assert_eq!(with(ErrorClass::Unreachable, 0), Some(0));
        assert_eq!(with(ErrorClass::Replaced, 20), Some(0));
        assert_eq!(with(ErrorClass::Throttled, 25), Some(25));
        assert_eq!(with(ErrorClass::NotServed, 26), Some(0));
        assert_eq!(with(ErrorClass::Replaced, 27), Some(7), "taking turns makes it no longer");
        assert_eq!(with(ErrorClass::Forbidden, 28), None);
    }

    #[test]
    fn the_server_names_the_pause() {
        let error = ApiError {
            retry_after: Some(Duration::from_secs(3)),
            ..ApiError::local(ErrorClass::Throttled, "")
        };
        let pause = pause(&error, 1, Duration::ZERO, &BUDGETS, Context::default(), 0.0);
        assert_eq!(pause, Some(Duration::from_secs(3)));
    }
}
