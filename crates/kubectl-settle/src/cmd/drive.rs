//! Shows a run from its first event to its last, and passes requests to stop on to it.

use std::time::Duration;

use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Summary};
use kubesettle::plan::SavedPlan;
use kubesettle::run::Run;
use tokio::time::{Instant, MissedTickBehavior};

use super::signals::Signals;
use crate::print::out::Out;
use crate::print::{Page, Printer};

/// How often a printer may say what it holds back.
const TICK: Duration = Duration::from_millis(250);

const FIRST_SIGNAL: &str = "interrupted: nothing new is started, requests under way finish \
                            (once more to leave at once)\n";
const SECOND_SIGNAL: &str = "left at once: whether requests under way were carried out is not known\n";
const NO_END: &str = "internal error: the run ended without saying how\n";

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) class: ExitClass,
    pub(super) summary: Summary,
    /// The run said more about its end than its objects tell.
    pub(super) message: bool,
    /// What was planned, of a run that was asked to keep it.
    pub(super) plan: Option<SavedPlan>,
}

/// Shows the run.
pub(super) async fn drive(
    mut run: Run,
    printer: &mut dyn Printer,
    out: &mut Out,
    signals: &mut Signals,
) -> Ended {
    let cancel = run.cancel_handle();
    let mut began = Instant::now();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut page = Page::default();
    let mut interrupted = false;
    let mut summary = Summary::default();
    let mut end = None;
    loop {
        tokio::select! {
            biased;
            () = signals.next() => {
                if interrupted {
                    page.err.push_str(SECOND_SIGNAL);
                    out.write(&mut page);
                    return Ended { class: ExitClass::Interrupted, summary, message: true, plan: None };
                }
                interrupted = true;
                cancel.cancel();
                page.err.push_str(FIRST_SIGNAL);
            }
            event = run.next() => {
                let Some(event) = event else { break };
                began = Instant::now().checked_sub(event.elapsed).unwrap_or(began);
                match &event.body {
                    Body::Summary(totals) => summary = totals.clone(),
                    Body::End { class, message } => end = Some((*class, message.is_some())),
                    _ => {}
                }
                printer.event(&event, &mut page);
            }
            _ = tick.tick() => printer.idle(began.elapsed(), &mut page),
        }
        out.write(&mut page);
        if out.is_closed() {
            // Nobody reads any more: as when interrupted, but without a word.
            cancel.cancel();
        }
    }
    let (class, message) = end.unwrap_or_else(|| {
        page.err.push_str(NO_END);
        out.write(&mut page);
        (ExitClass::Internal, true)
    });
    Ended { class, summary, message, plan: run.take_plan() }
}
