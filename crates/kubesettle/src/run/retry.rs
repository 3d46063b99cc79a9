//! Which failed requests are worth repeating, when, and for how long.

use std::time::Duration;

use crate::error::{ApiError, ErrorClass};

/// What the set tells about a failure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Context {
    /// The object's namespace, or the object itself, is being deleted and the set wants it back.
    pub comes_back: bool,
    /// Only one life of the object may be written.
    pub pinned: bool,
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
    let (budget, pause) = match error.class {
        class if class.passes() => {
            (budgets.trouble, error.retry_after.map_or(growing, |asked| asked.min(LONGEST)))
        }
        ErrorClass::NotServed => (budgets.kind, LOOK),
        ErrorClass::Terminating if context.comes_back => {
            (budgets.deletion, growing.min(Duration::from_secs(2)))
        }
        // Somebody created the object between the server's look and its write.
        ErrorClass::Replaced if !context.pinned => (budgets.trouble.min(Duration::from_secs(5)), growing),
        _ => return None,
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
            Context { comes_back, pinned: false },
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
    fn the_server_names_the_pause() {
        let error = ApiError {
            retry_after: Some(Duration::from_secs(3)),
            ..ApiError::local(ErrorClass::Throttled, "")
        };
        let pause = pause(&error, 1, Duration::ZERO, &BUDGETS, Context::default(), 0.0);
        assert_eq!(pause, Some(Duration::from_secs(3)));
    }
}
