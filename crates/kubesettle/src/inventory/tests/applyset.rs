use super::super::applyset::{self, Members, Parent};
use super::super::{Mark, MarkForm};
use super::*;

#[test]
fn the_id_is_the_one_that_kubectl_computes() {
    let parent = id("", "Secret", "test", "my-set");
    assert_eq!(applyset::id(&parent), "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1");
}

#[test]
fn a_parent_lists_the_kinds_and_the_other_namespaces_of_its_members() {
    let parent = id("", "Secret", "test", "mySet");
    let members = [
        id("apps", "Deployment", "test", "a"),
        id("", "Namespace", "", "b"),
        id("", "Secret", "z", "c"),
        id("", "Secret", "b", "d"),
    ];
    let members = Members::of(&members, &parent);
    assert_eq!(
        members.annotations("kubesettle", "v0.1.0"),
        [
            ("applyset.kubernetes.io/tooling", "kubesettle/v0.1.0".to_owned()),
            ("applyset.kubernetes.io/contains-group-kinds", "Deployment.apps,Namespace,Secret".to_owned()),
            ("applyset.kubernetes.io/additional-namespaces", "b,z".to_owned()),
        ]
    );
    let annotations = members.annotations("kubesettle", "v0.1.0");
    let read = Members::parse(|key| {
        annotations.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    });
    assert_eq!(read, Some(members.clone()));
    let empty = Members::parse(|key| (key == applyset::GROUP_KINDS).then_some("")).unwrap();
    assert_eq!(empty, Members::default());
    assert_eq!(empty.union(members.clone()), members);
    assert_eq!(Members::parse(|_| None), None);
}

#[test]
fn the_tool_is_told_without_its_version() {
    assert_eq!(applyset::tool("kubectl/v1.36.3"), "kubectl");
    assert_eq!(applyset::tool("example.com/tool/v1"), "example.com/tool");
    assert_eq!(applyset::tool("tool"), "tool");
    assert_eq!(applyset::ID, "applyset.kubernetes.io/id");
    assert_eq!(applyset::PART_OF, "applyset.kubernetes.io/part-of");
}

/// A parent's JSON with changes.
fn parent(change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let mut parent = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": "set", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
            "labels": { (applyset::ID): "x" },
            "annotations": { (applyset::TOOLING): "kubectl/v1.36", (applyset::GROUP_KINDS): "ConfigMap" },
        },
    });
    change(&mut parent);
    parent.to_string().into_bytes()
}

#[test]
fn a_parent_that_is_not_for_us_says_why() {
    let read = Parent::read(&parent(|_| {}), "x").unwrap();
    assert_eq!((&*read.uid, &*read.resource_version, read.bare), ("u1", "7", true));
    let bare = |key: &str| {
        let json = parent(|parent| parent[key] = serde_json::json!({ "a": "b" }));
        Parent::read(&json, "x").unwrap().bare
    };
    assert!(!bare("data") && !bare("spec") && !bare("binaryData"));
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 5] = [
        ("it is no ApplySet", |parent| parent["metadata"]["labels"] = serde_json::Value::Null),
        ("should be \"x\"", |parent| parent["metadata"]["labels"][applyset::ID] = "y".into()),
        ("nobody knows whose it is", |parent| {
            parent["metadata"]["annotations"] = serde_json::json!({ (applyset::GROUP_KINDS): "" });
        }),
        ("helm/v3 looks after it", |parent| {
            parent["metadata"]["annotations"][applyset::TOOLING] = "helm/v3".into();
        }),
        ("its members cannot be found", |parent| {
            parent["metadata"]["annotations"] = serde_json::json!({ (applyset::TOOLING): "kubectl/v1" });
        }),
    ];
    for (why, change) in cases {
        let error = Parent::read(&parent(change), "x").unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_parent_is_only_written_in_the_life_that_was_read() {
    let set = id("", "Secret", "shop", "set");
    let members = Members::of(&[id("", "ConfigMap", "shop", "a")], &set);
    let body = |uid, members| -> serde_json::Value {
        serde_json::from_slice(&applyset::parent_body(&set, "v1", uid, members)).unwrap()
    };
    let known = body(Some("u1"), Some(&members));
    assert_eq!(known["metadata"]["uid"], "u1");
    assert_eq!(known["metadata"]["labels"][applyset::ID], applyset::id(&set));
    assert_eq!(known["metadata"]["annotations"][applyset::GROUP_KINDS], "ConfigMap");
    assert_eq!(body(None, Some(&members))["metadata"]["resourceVersion"], "1");
    assert_eq!(body(Some("u1"), None)["metadata"].get("labels"), None);
}

#[test]
fn of_two_marks_the_one_of_the_same_form_counts_and_else_the_other() {
    let both = |key: &str| Some(if key == applyset::PART_OF { "applyset" } else { "owner" });
    assert_eq!(MarkForm::Owner.owner(both), Some("owner"));
    assert_eq!(MarkForm::PartOf.owner(both), Some("applyset"));
    let one = |key: &str| (key == applyset::PART_OF).then_some("applyset");
    assert_eq!(MarkForm::Owner.owner(one), Some("applyset"));
    assert_eq!(MarkForm::PartOf.owner(|_| None), None);
    let patch = Mark::new(MarkForm::PartOf, "x").off("u1");
    let patch = std::str::from_utf8(&patch).unwrap();
    assert!(patch.contains("/metadata/labels/applyset.kubernetes.io~1part-of"), "{patch}");
}
