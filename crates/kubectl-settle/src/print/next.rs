//! The command to try next.

use kstatus::{Cause, CauseCode};
use kubesettle::error::ErrorClass;
use kubesettle::event::{Action, ObjectSummary};
use kubesettle::id::ObjectId;

use super::words::main_cause;

/// A command that shows more about what went wrong with the object, if there is a good one.
pub(super) fn step(kubectl: &str, object: &ObjectSummary) -> Option<String> {
    let id = &object.id;
    let arguments = if let Some((action, error)) = object.error() {
        for_error(id, action, error.class)?
    } else {
        match object.verdict.as_ref().and_then(main_cause) {
            Some(cause) => for_cause(id, cause),
            None => format!("describe {}", named(id)),
        }
    };
    Some(format!("{kubectl} {arguments}"))
}

fn for_error(id: &ObjectId, action: Action, class: ErrorClass) -> Option<String> {
    let (kind, namespace) = (id.group_kind(), in_namespace(id));
    let verb = if matches!(action, Action::Delete | Action::Prune) { "delete" } else { "patch" };
    Some(match class {
        ErrorClass::Forbidden => format!("auth can-i {verb} {kind}{namespace}"),
        ErrorClass::FieldConflict => format!("get {} -o yaml --show-managed-fields", named(id)),
        ErrorClass::QuotaExceeded => format!("describe resourcequota{namespace}"),
        ErrorClass::NotServed => format!("api-resources --api-group={}", quoted(id.group())),
        ErrorClass::NamespaceMissing => format!("create namespace {}", id.namespace()),
        ErrorClass::Terminating if !id.namespace().is_empty() => {
            format!("describe namespace {}", id.namespace())
        }
        _ => return None,
    })
}

fn for_cause(id: &ObjectId, cause: &Cause) -> String {
    let namespace = in_namespace(id);
    let pod = cause.object.kind.is("", "Pod").then_some(&*cause.object.name);
    match (cause.code, pod, &cause.container) {
        (CauseCode::CrashLoopBackOff, Some(pod), Some(container)) => {
            format!("logs {pod} -c {container}{namespace} --previous")
        }
        (CauseCode::Error, Some(pod), Some(container)) => format!("logs {pod} -c {container}{namespace}"),
        (CauseCode::QuotaExceeded, ..) => format!("describe resourcequota{namespace}"),
        (CauseCode::NotPermitted, ..) => format!("auth can-i watch {}{namespace}", id.group_kind()),
        (CauseCode::FinalizerPending, ..) => {
            format!("get {} -o jsonpath={{.metadata.finalizers}}", named(id))
        }
        (_, Some(pod), _) => format!("describe pod/{pod}{namespace}"),
        _ => format!("describe {}", named(id)),
    }
}

fn named(id: &ObjectId) -> String {
    format!("{id}{}", in_namespace(id))
}

fn in_namespace(id: &ObjectId) -> String {
    if id.namespace().is_empty() { String::new() } else { format!(" -n {}", id.namespace()) }
}

/// `kubectl` with the flags that lead to the same cluster.
pub(crate) fn kubectl<'a>(flags: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut command = "kubectl".to_owned();
    for (flag, value) in flags {
        command.push_str(&format!(" {flag} {}", quoted(value)));
    }
    command
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_that_is_asked_about_is_the_one_that_was_missing() {
        let id = ObjectId::new(kubesettle::id::GroupKind::new("apps", "Deployment"), "shop", "web");
        let next = |action| for_error(&id, action, ErrorClass::Forbidden).unwrap_or_default();
        assert_eq!(next(Action::Apply), "auth can-i patch deployment.apps -n shop");
        assert_eq!(next(Action::Prune), "auth can-i delete deployment.apps -n shop");
    }

    #[test]
    fn flags_are_quoted_where_a_shell_needs_it() {
        let flags = [("--context", "prod@eu"), ("--kubeconfig", "/home/a b/c")];
        assert_eq!(kubectl(flags), "kubectl --context prod@eu --kubeconfig '/home/a b/c'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
