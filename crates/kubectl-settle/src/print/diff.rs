//! Two states of an object as a unified diff of their YAML.

use bytes::Bytes;
use kubesettle::id::ObjectId;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::style::{Palette, Tone};

/// An object as it is and as it would be, as JSON.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) id: ObjectId,
    /// `apps/v1`.
    pub(crate) version: String,
    pub(crate) live: Option<Bytes>,
    pub(crate) merged: Bytes,
}

/// Lines around each change.
const CONTEXT: usize = 3;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The diff; empty when nothing would change.
pub(crate) fn diff(sides: &Sides, palette: Palette) -> String {
    let read = |json: &Bytes| serde_json::from_slice::<Value>(json).unwrap_or_default();
    let (mut live, mut merged) = (sides.live.as_ref().map(read), Some(read(&sides.merged)));
    for side in [&mut live, &mut merged].into_iter().flatten() {
        tidy(side);
    }
    if sides.id.group_kind().is("", "Secret") {
        mask(live.as_mut(), merged.as_mut());
    }
    let text = |side: &Option<Value>| {
        side.as_ref().map(|value| serde_saphyr::to_string(value).unwrap_or_default()).unwrap_or_default()
    };
    let (old, new) = (text(&live), text(&merged));
    if old == new {
        return String::new();
    }
    let name = file_name(&sides.id, &sides.version);
    let mut page = String::new();
    let mut line = |tone, text: &str| {
        page.push_str(&palette.paint(tone, text));
        page.push('\n');
    };
    line(Tone::Strong, &format!("diff -u -N LIVE/{name} MERGED/{name}"));
    line(Tone::Strong, &format!("--- LIVE/{name}"));
    line(Tone::Strong, &format!("+++ MERGED/{name}"));
    let diff = TextDiff::from_lines(&old, &new);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        line(Tone::Faint, &hunk.header().to_string());
        for change in hunk.iter_changes() {
            let (sign, tone) = match change.tag() {
                ChangeTag::Delete => ("-", Tone::Bad),
                ChangeTag::Insert => ("+", Tone::Good),
                ChangeTag::Equal => (" ", Tone::Plain),
            };
            line(tone, &format!("{sign}{}", change.value().trim_end_matches('\n')));
        }
    }
    page
}

/// `apps.v1.Deployment.shop.web`, as kubectl names the files that it compares.
fn file_name(id: &ObjectId, version: &str) -> String {
    format!("{}.{}.{}.{}", version.replace('/', "."), id.kind(), id.namespace(), id.name())
}

/// Without what changes with every write.
fn tidy(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
        metadata.remove("generation");
    }
}

/// Values give way to stars; those that differ say on which side they are.
fn mask<'a>(mut live: Option<&'a mut Value>, mut merged: Option<&'a mut Value>) {
    for place in ["data", "stringData"] {
        let (was, is) = (texts(live.as_deref(), place), texts(merged.as_deref(), place));
        for (side, other, word) in [(&mut live, &is, "before"), (&mut merged, &was, "after")] {
            let values = side.as_deref_mut().and_then(|object| object.get_mut(place));
            for (key, value) in values.and_then(Value::as_object_mut).into_iter().flatten() {
                let stars = match other.get(key) {
                    Some(other) if other != value => format!("*** ({word})"),
                    _ => "***".to_owned(),
                };
                *value = stars.into();
            }
        }
    }
    for side in [live, merged].into_iter().flatten() {
        let annotation = side.pointer_mut("/metadata/annotations").and_then(|all| all.get_mut(LAST_APPLIED));
        if let Some(value) = annotation {
            *value = "***".into();
        }
    }
}

fn texts(object: Option<&Value>, place: &str) -> Map<String, Value> {
    object.and_then(|object| object.get(place)?.as_object().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kubesettle::id::GroupKind;
    use serde_json::json;

    use super::*;

    fn sides(kind: &str, live: Option<Value>, merged: Value) -> String {
        let id = ObjectId::new(GroupKind::new("", kind), "shop", "a");
        let bytes = |value: Value| Bytes::from(value.to_string());
        let sides = Sides { id, version: "v1".into(), live: live.map(bytes), merged: bytes(merged) };
        diff(&sides, Palette::new(false))
    }

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let object = |value: &str| json!({ "kind": "ConfigMap", "data": { "a": value, "b": "same" } });
        let text = sides("ConfigMap", Some(object("old")), object("new"));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "diff -u -N LIVE/v1.ConfigMap.shop.a MERGED/v1.ConfigMap.shop.a",
                "--- LIVE/v1.ConfigMap.shop.a",
                "+++ MERGED/v1.ConfigMap.shop.a",
                "@@ -1,4 +1,4 @@",
            ]
        );
        assert!(text.contains("-  a: old\n+  a: new\n"), "{text}");
        assert!(text.contains("   b: same\n"), "{text}");
    }

    #[test]
    fn bookkeeping_of_the_server_is_no_difference() {
        let object = |version: &str| json!({ "metadata": { "resourceVersion": version, "name": "a" } });
        assert_eq!(sides("ConfigMap", Some(object("1")), object("2")), "");
    }

    #[test]
    fn a_new_object_is_all_new() {
        let text = sides("ConfigMap", None, json!({ "kind": "ConfigMap" }));
        assert!(text.contains("@@ -0,0 +1 @@\n+kind: ConfigMap\n"), "{text}");
    }

    #[test]
    fn values_of_secrets_are_masked_and_still_told_apart() {
        let object = |value: &str| {
            json!({
                "kind": "Secret", "data": { "same": "canary", "other": value }, "stringData": { "x": value },
                "metadata": { "annotations": { LAST_APPLIED: format!("{{canary {value}}}") } },
            })
        };
        let text = sides("Secret", Some(object("canary1")), object("canary2"));
        assert!(!text.contains("canary"), "{text}");
        assert!(text.contains("-  other: \"*** (before)\"\n+  other: \"*** (after)\"\n"), "{text}");
        assert!(!sides("Secret", None, object("canary")).contains("canary"));
    }
}
