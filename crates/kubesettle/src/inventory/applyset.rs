//! ApplySet (KEP-3659): the marks by which kubectl and others find the members of a set.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::hash;
use crate::id::{GroupKind, ObjectId};

/// The label of a parent; its value is the set's id.
pub const ID: &str = "applyset.kubernetes.io/id";
/// The label of every member; its value is the set's id.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";
/// The annotation of a parent that names the tool which looks after the set, and its version.
pub const TOOLING: &str = "applyset.kubernetes.io/tooling";
/// The annotation of a parent that lists the kinds of its members.
pub const GROUP_KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// The annotation of a parent that lists the namespaces of its members other than its own.
pub const ADDITIONAL_NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// The id of the set whose parent is this object.
pub fn id(parent: &ObjectId) -> String {
    let text = [parent.name(), parent.namespace(), parent.kind(), parent.group()].join(".");
    format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(hash::of(&text)))
}

/// What a parent says of its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Their kinds.
    pub kinds: BTreeSet<GroupKind>,
    /// The namespaces of those that are not in the parent's own.
    pub namespaces: BTreeSet<String>,
}

impl Members {
    /// What the parent of these members has to say.
    pub fn of<'a>(members: impl IntoIterator<Item = &'a ObjectId>, parent: &ObjectId) -> Self {
        let mut all = Self::default();
        for id in members {
            all.kinds.insert(id.group_kind().clone());
            if !id.namespace().is_empty() && id.namespace() != parent.namespace() {
                all.namespaces.insert(id.namespace().to_owned());
            }
        }
        all
    }

    /// Both together: what a parent must say before a run, so that an interrupted one is found again.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.kinds.extend(other.kinds);
        self.namespaces.extend(other.namespaces);
        self
    }

    /// Reads the two annotations of a parent. `None` when it has no list of kinds.
    pub fn parse<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let listed = |text: &'a str| text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let kinds = listed(annotation(GROUP_KINDS)?).map(|item| {
            let (kind, group) = item.split_once('.').unwrap_or((item, ""));
            GroupKind::new(group, kind)
        });
        let namespaces = annotation(ADDITIONAL_NAMESPACES).map(listed);
        Some(Self {
            kinds: kinds.collect(),
            namespaces: namespaces.into_iter().flatten().map(str::to_owned).collect(),
        })
    }

    /// The annotations of the parent. A parent without members in other namespaces has an empty value
    /// there, so that an earlier one is taken back.
    pub fn annotations(&self, tool: &str, version: &str) -> [(&'static str, String); 3] {
        let mut kinds: Vec<String> = self.kinds.iter().map(kind_text).collect();
        kinds.sort();
        let namespaces: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
        [
            (TOOLING, format!("{tool}/{version}")),
            (GROUP_KINDS, kinds.join(",")),
            (ADDITIONAL_NAMESPACES, namespaces.join(",")),
        ]
    }
}

/// `Deployment.apps`, `Secret`.
fn kind_text(kind: &GroupKind) -> String {
    match kind.group() {
        "" => kind.kind().to_owned(),
        group => format!("{}.{group}", kind.kind()),
    }
}

/// The tool in the tooling annotation, without its version. Another tool's set is not to be touched.
pub fn tool(tooling: &str) -> &str {
    tooling.rsplit_once('/').map_or(tooling, |(tool, _)| tool)
}
