//! The requests about lock and record are repeated while their trouble may pass, as those about objects
//! are.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::ApiError;
use crate::event::WarningSource;
use crate::run::emit::Emitter;
use crate::run::retry::{self, Budgets, Context};

/// How long one thing that a run wants of its books may fail.
#[derive(Debug)]
pub(in crate::run) struct Patience {
    budget: Duration,
    since: Option<Instant>,
    attempts: u32,
}

impl Patience {
    pub(in crate::run) fn new(budget: Duration) -> Self {
        Self { budget, since: None, attempts: 0 }
    }

    /// Waits until it is time for the next attempt at `doing`; false when there is none. The first
    /// failure is told.
    pub(in crate::run) async fn bears(
        &mut self,
        error: &ApiError,
        doing: &str,
        emit: Option<&mut Emitter>,
    ) -> bool {
        if !error.class.passes() {
            return false;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        self.attempts += 1;
        let budgets = Budgets { trouble: self.budget, kind: Duration::ZERO, deletion: Duration::ZERO };
        let (context, jitter) = (Context::default(), crate::watch::jitter());
        let pause = retry::pause(error, self.attempts, since.elapsed(), &budgets, context, jitter);
        let Some(pause) = pause else { return false };
        if let Some(emit) = emit.filter(|_| self.attempts == 1) {
            emit.warn(WarningSource::Run, &format!("{doing}: {error}; it is tried again")).await;
        }
        sleep(pause).await;
        true
    }
}

/// Asks until there is an answer, or a failure that will not pass.
pub(in crate::run) async fn ask<T, F>(
    budget: Duration,
    doing: &str,
    mut emit: Option<&mut Emitter>,
    ask: impl Fn() -> F,
) -> Result<T, ApiError>
where
    F: Future<Output = Result<T, ApiError>>,
{
    let mut patience = Patience::new(budget);
    loop {
        match ask().await {
            Err(error) if patience.bears(&error, doing, emit.as_deref_mut()).await => {}
            answer => return answer,
        }
    }
}
