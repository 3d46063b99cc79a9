//! A plan that was agreed to, and writes that are only meant for the objects it is about.

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::oneshot;

use super::record::Stop;
use crate::error::ExitClass;
use crate::plan::{Moved, Pin, SavedPlan};

/// A version that no object has: the first that the server gives is larger. The server ignores it when
/// it creates the object, and finds a conflict when there is one.
const NO_VERSION: &str = "1";

/// The body of a server-side apply, made to meet a conflict with any other life of the object.
pub(super) fn pinned(body: Bytes, pin: Option<&Pin>) -> Bytes {
    let (key, value) = match pin {
        None => return body,
        Some(Pin::Absent) => ("resourceVersion", NO_VERSION),
        Some(Pin::Uid(uid)) => ("uid", &**uid),
    };
    let Ok(mut object) = serde_json::from_slice::<Value>(&body) else { return body };
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return body };
    metadata.insert(key.to_owned(), value.into());
    object.to_string().into()
}

/// Compares a plan with the one that was agreed to, and hands it to whoever wants to keep it.
pub(super) fn hold_to(
    agreed: Option<&SavedPlan>,
    keep: Option<oneshot::Sender<SavedPlan>>,
    now: impl FnOnce() -> SavedPlan,
) -> Result<(), Stop> {
    if agreed.is_none() && keep.is_none() {
        return Ok(());
    }
    let now = now();
    let moved = agreed.map(|agreed| agreed.moved(&now)).unwrap_or_default();
    if !moved.is_empty() {
        return Err(Stop { class: ExitClass::Refused, message: stale(&moved) });
    }
    if let Some(keep) = keep {
        // Nobody wants it any more when the run was let go.
        let _ = keep.send(now);
    }
    Ok(())
}

/// Why a saved plan is not carried out.
fn stale(moved: &[Moved]) -> String {
    let things = if moved.len() == 1 { "one thing has" } else { "several things have" };
    let mut text = format!("the plan is stale: {things} moved since it was made, and nothing was written");
    for one in moved {
        text.push_str(&format!("\n  {one}"));
    }
    text.push_str("\nmake a new plan and look at it again");
    text
}
