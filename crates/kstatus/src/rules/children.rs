//! Which descendants speak for an object.

use std::borrow::Cow;

use crate::cause::CauseCode;
use crate::digest::Digest;
use crate::findings::Found;
use crate::kind::Kind;
use crate::outcome::Own;
use crate::view::View;

/// Annotation by which a Deployment and its ReplicaSets count revisions.
const DEPLOYMENT_REVISION: &str = "deployment.kubernetes.io/revision";
const ROLLOUT_REVISION: &str = "rollout.argoproj.io/revision";
/// Annotation and pod label by which a DaemonSet counts its templates.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
const POD_TEMPLATE_GENERATION: &str = "pod-template-generation";
/// Pod label that names the revision of a StatefulSet's pod.
const CONTROLLER_REVISION: &str = "controller-revision-hash";

/// A number that tells whether two objects are of one revision; 0: not known. For ReplicaSets it
/// also tells which is newer.
pub(crate) fn revision_of(view: &View<'_>) -> u64 {
    let number = |text: Option<Cow<'_, str>>| text.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let by_hand = || {
        let strategy = view.spec().path(&["updateStrategy", "type"]).text();
        strategy.as_deref() == Some("OnDelete")
    };
    match (view.kind.group(), view.kind.kind()) {
        ("apps" | "extensions", "Deployment" | "ReplicaSet") | ("argoproj.io", "Rollout") => {
            let annotations = view.annotations.fields([DEPLOYMENT_REVISION, ROLLOUT_REVISION]);
            annotations.into_iter().map(|text| number(text.text())).max().unwrap_or(0)
        }
        // Pods that are replaced by hand are all of a wanted revision.
        ("apps", "DaemonSet" | "StatefulSet") if by_hand() => 0,
        ("apps", "DaemonSet") => number(view.annotation(TEMPLATE_GENERATION)),
        ("apps", "StatefulSet") => view.status.text("updateRevision").map_or(0, |name| hash(&name)),
        ("", "Pod") => {
            let [generation, revision] = view.labels.fields([POD_TEMPLATE_GENERATION, CONTROLLER_REVISION]);
            match number(generation.text()) {
                0 => revision.text().map_or(0, |name| hash(&name)),
                generation => generation,
            }
        }
        _ => 0,
    }
}

fn hash(name: &str) -> u64 {
    let bits = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    bits.max(1)
}

/// Whether a StatefulSet makes and replaces its pods one after the other.
pub(crate) fn replaces_in_order(view: &View<'_>) -> bool {
    view.kind.is("apps", "StatefulSet")
        && view.spec().text("podManagementPolicy").as_deref() != Some("Parallel")
}

/// Progress a child makes by itself, for the holds on it.
pub(crate) fn steps_of(view: &View<'_>) -> u16 {
    if view.kind.is("", "Pod") { super::containers::steps(view) } else { 0 }
}

fn rolls_out_by_replica_sets(kind: &Kind) -> bool {
    [("apps", "Deployment"), ("extensions", "Deployment"), ("argoproj.io", "Rollout")]
        .iter()
        .any(|(group, name)| kind.is(group, name))
}

/// The children that speak for their owner: of a Deployment the newest ReplicaSet, of a DaemonSet
/// the pods of its newest template, of others all.
pub(crate) fn relevant<'c>(owner: &Digest, children: Vec<&'c Digest>) -> Vec<&'c Digest> {
    if rolls_out_by_replica_sets(owner.kind()) {
        let is_set = |child: &&Digest| child.kind().kind() == "ReplicaSet";
        let newest = children
            .iter()
            .copied()
            .filter(is_set)
            .max_by_key(|set| (set.revision(), set.created(), set.name()));
        // The ReplicaSet of a revision that was asked for just now may not be there yet.
        let current = newest.filter(|set| set.revision() >= owner.revision());
        return current.into_iter().collect();
    }
    if owner.kind().is("apps", "DaemonSet") {
        return children.into_iter().filter(|child| !is_old(owner, child)).collect();
    }
    if owner.kind().is("apps", "StatefulSet") && !owner.is_ordered() {
        return children.into_iter().filter(|child| !is_old(owner, child)).collect();
    }
    children
}

fn is_old(owner: &Digest, child: &Digest) -> bool {
    owner.revision() != 0 && child.revision() != 0 && owner.revision() != child.revision()
}

/// A StatefulSet that replaces its pods in order waits for a broken pod of the old revision and
/// never replaces it (kubernetes/kubernetes#67250). The remedy, when `child` is such a pod.
pub(crate) fn old_revision_matters(owner: &Digest, child: &Digest) -> Option<&'static str> {
    let stuck = owner.kind().is("apps", "StatefulSet") && is_old(owner, child);
    stuck.then_some("it is of the previous revision and blocks the rollout; delete the pod to go on")
}

/// Whether a cause found on `child` is its owner's to judge: a Job counts the failures of its pods
/// itself and says when they are too many.
pub(crate) fn owner_judges(owner: &Digest, code: CauseCode) -> bool {
    owner.kind().is("batch", "Job") && code == CauseCode::CrashLoopBackOff
}

/// Whether what the object says is about its present generation. Before that its descendants are
/// those of the generation before.
pub(crate) fn is_observed(own: &Own) -> bool {
    !matches!(&*own.reason(), "LatestGenerationNotObserved" | "NoObservedGeneration")
}

/// A note beside the verdict of an object that is current: the last Job of a CronJob, if it failed.
pub(crate) fn note<'a>(target: &'a Digest, children: &[&'a Digest]) -> Option<Found<'a>> {
    let uid = target.uid().filter(|_| target.kind().is("batch", "CronJob"))?;
    let jobs = children.iter().copied().filter(|child| child.controller() == Some(uid));
    let last = jobs.max_by_key(|job| (job.created(), job.name()))?;
    let finding = last.own().findings().first()?;
    Some(Found::new(vec![target, last], target, Cow::Borrowed(finding)))
}

/// Whether it says that a child could not be made.
pub(crate) fn is_refusal(code: CauseCode) -> bool {
    matches!(code, CauseCode::FailedCreate | CauseCode::QuotaExceeded | CauseCode::AdmissionDenied)
}

/// Whether an event still speaks of the state its object is in now. `alone`: the object is the
/// judged one, and nothing else was found on it.
pub(crate) fn event_counts(code: CauseCode, object: &Digest, alone: bool) -> bool {
    match code {
        CauseCode::WarningEvent => alone,
        CauseCode::FailedMount | CauseCode::FailedAttachVolume | CauseCode::FailedCreatePodSandBox => {
            object.steps() == 0
        }
        CauseCode::ProbeFailed => object.steps() > 0,
        // The condition says the same, and only as long as it is true.
        CauseCode::Unschedulable => false,
        _ => true,
    }
}
