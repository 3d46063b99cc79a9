//! Hand-made events for the tests of this module.

use std::time::{Duration, SystemTime};

use kstatus::{Cause, CauseCode, Kind, ObjectRef, Progress, Status, Timestamp, Verdict};

use super::{Body, Event, Operation, Start};
use crate::id::{GroupKind, ObjectId};

/// Numbers bodies from 0, one second apart, from 2025-01-01T00:00:00.250Z.
pub(super) fn stream(bodies: impl IntoIterator<Item = Body>) -> Vec<Event> {
    (0..)
        .zip(bodies)
        .map(|(seq, body)| {
            let elapsed = Duration::from_secs(seq);
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_735_689_600_250) + elapsed;
            Event { seq, elapsed, time, body }
        })
        .collect()
}

pub(super) fn event(body: Body) -> Event {
    stream([body]).remove(0)
}

pub(super) fn start(operation: Operation, objects: usize) -> Body {
    Body::Start(Start { operation, dry_run: None, set: None, objects, namespaces: 1 })
}

pub(super) fn deployment(name: &str) -> ObjectId {
    ObjectId::new(GroupKind::new("apps", "Deployment"), "shop", name)
}

pub(super) fn namespace(name: &str) -> ObjectId {
    ObjectId::new(GroupKind::new("", "Namespace"), "", name)
}

pub(super) fn verdict(status: Status, message: &str) -> Verdict {
    Verdict { status, message: message.to_owned(), ..Verdict::not_found() }
}

/// A rollout that waits for an image.
pub(super) fn image_missing() -> Verdict {
    let link = |api_version, kind, name: &str| ObjectRef {
        kind: Kind::new(api_version, kind),
        name: name.into(),
        uid: None,
    };
    let chain = vec![
        link("apps/v1", "Deployment", "web"),
        link("apps/v1", "ReplicaSet", "web-7c9d"),
        link("v1", "Pod", "web-7c9d-x2"),
    ];
    let message = "ImagePullBackOff: pod web-7c9d-x2, container app: \"shop/web:1.4.x\" not found";
    Verdict {
        causes: vec![Cause {
            code: CauseCode::ImagePullBackOff,
            object: chain[2].clone(),
            chain,
            container: Some("app".into()),
            message: message.to_owned(),
            since: Some(Timestamp::from_seconds(1_735_689_600)),
            fatal: false,
            count: 1,
            fails_at: Some(Timestamp::from_seconds(1_735_689_660)),
        }],
        progress: Some(Progress { have: 1, want: 3, what: "available" }),
        ..verdict(Status::InProgress, message)
    }
}
