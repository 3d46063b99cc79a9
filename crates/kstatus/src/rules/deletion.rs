//! What is said of an object that is being deleted: who still holds it.

use super::Telling;
use crate::cause::CauseCode;
use crate::outcome::Finding;
use crate::text::clipped;
use crate::view::View;

/// The conditions a namespace writes while it empties, each with what it means when it is True.
const NAMESPACE_CONDITIONS: &[&str] = &[
    "NamespaceFinalizersRemaining",
    "NamespaceContentRemaining",
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
];

pub(super) fn tell(view: &View<'_>) -> Option<Telling> {
    if !is_deleting(view) {
        return None;
    }
    let mut message = String::from("Resource scheduled for deletion");
    for finding in findings(view) {
        message.push_str("; ");
        message.push_str(finding.detail());
    }
    Some(Telling::new(clipped(&message)))
}

fn is_deleting(view: &View<'_>) -> bool {
    view.deletion.is_some() && view.deletion.text().is_none_or(|at| !at.is_empty())
}

/// What holds an object that is being deleted; nothing for others.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    if !is_deleting(view) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if view.kind.is("", "Namespace") {
        let remaining = NAMESPACE_CONDITIONS.iter().filter_map(|name| {
            view.conditions()
                .alarm(name)
                .map(|condition| Finding::new(CauseCode::NamespaceContentRemaining, &condition.said()))
        });
        findings.extend(remaining);
    }
    let names: Vec<_> = view.finalizers.items().iter().filter_map(|name| name.text()).collect();
    if !names.is_empty() {
        let detail = format!("waiting for finalizers: {}", names.join(", "));
        findings.push(Finding::new(CauseCode::FinalizerPending, &detail));
    }
    findings
}
