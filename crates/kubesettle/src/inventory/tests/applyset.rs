use super::super::applyset::{self, Members};
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
