//! ApplySet (KEP-3659): the marks by which kubectl and others find the members of a set.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

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

/// The tool that parents name. kubectl refuses a set of any other, and this is a plugin of it that keeps
/// its rules, so that either can go on where the other left off.
pub const TOOL: &str = "kubectl";

/// A parent as the cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
    /// What it says of its members.
    pub members: Members,
    /// True for a ConfigMap or Secret that is nothing but a parent.
    pub bare: bool,
}

#[derive(Deserialize)]
struct Wire {
    metadata: WireMeta,
    #[serde(default)]
    data: Option<BTreeMap<String, IgnoredAny>>,
    #[serde(default, rename = "binaryData")]
    binary_data: Option<BTreeMap<String, IgnoredAny>>,
    #[serde(default)]
    spec: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMeta {
    uid: String,
    resource_version: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
    #[serde(default)]
    finalizers: Option<Vec<String>>,
}

impl Parent {
    /// Reads the JSON of the object that is to be the parent of the set with this id.
    ///
    /// # Errors
    /// Why it is none, or not one for us, with the next step.
    pub fn read(json: &[u8], id: &str) -> Result<Self, String> {
        let wire: Wire = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let annotations = wire.metadata.annotations.unwrap_or_default();
        match wire.metadata.labels.unwrap_or_default().get(ID) {
            None => {
                return Err(format!(
                    "it exists and has no label {ID}: it is no ApplySet; choose another name"
                ));
            }
            Some(found) if found != id => {
                return Err(format!("its label {ID} is {found:?} and should be {id:?}; mend the label"));
            }
            Some(_) => {}
        }
        match annotations.get(TOOLING).map(|tooling| (tool(tooling), tooling)) {
            None => return Err(format!("it has no annotation {TOOLING}, so nobody knows whose it is")),
            Some((TOOL, _)) => {}
            Some((_, other)) => {
                return Err(format!(
                    "{other} looks after it ({TOOLING}); set the annotation to {TOOL:?} to take it over"
                ));
            }
        }
        let get = |key: &str| annotations.get(key).map(String::as_str);
        let members = Members::parse(get)
            .ok_or_else(|| format!("it has no annotation {GROUP_KINDS}, so its members cannot be found"))?;
        let empty = |data: &Option<BTreeMap<_, _>>| data.as_ref().is_none_or(BTreeMap::is_empty);
        let bare = empty(&wire.data)
            && empty(&wire.binary_data)
            && wire.spec.is_none()
            && wire.metadata.finalizers.unwrap_or_default().is_empty();
        let (uid, resource_version) = (wire.metadata.uid, wire.metadata.resource_version);
        Ok(Self { uid, resource_version, members, bare })
    }
}

/// The body of the server-side apply that makes an object the parent of these members; with none, of the
/// one that makes it an object as any other again. `uid` is that of the parent, if it exists.
pub fn parent_body(
    parent: &ObjectId,
    api_version: &str,
    uid: Option<&str>,
    members: Option<&Members>,
) -> Bytes {
    let mut metadata = serde_json::json!({ "name": parent.name() });
    if !parent.namespace().is_empty() {
        metadata["namespace"] = parent.namespace().into();
    }
    match uid {
        Some(uid) => metadata["uid"] = uid.into(),
        // No object has this version: what appeared meanwhile is not made a parent.
        None => metadata["resourceVersion"] = "1".into(),
    }
    if let Some(members) = members {
        let version = concat!("settle-v", env!("CARGO_PKG_VERSION"));
        let annotations = members.annotations(TOOL, version);
        metadata["labels"] = serde_json::json!({ (ID): id(parent) });
        metadata["annotations"] =
            annotations.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect();
    }
    let body = serde_json::json!({ "apiVersion": api_version, "kind": parent.kind(), "metadata": metadata });
    body.to_string().into()
}

/// The names of the members in a list of one kind. What a controller made carries copies of the labels of
/// what it was made from, and is none.
///
/// # Errors
/// A text that is no list of objects.
pub fn listed(kind: &GroupKind, list: &[u8]) -> Result<Vec<ObjectId>, serde_json::Error> {
    #[derive(Deserialize)]
    struct List {
        items: Option<Vec<Item>>,
    }
    #[derive(Deserialize)]
    struct Item {
        metadata: ItemMeta,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ItemMeta {
        name: String,
        #[serde(default)]
        namespace: String,
        #[serde(default)]
        owner_references: Vec<Owner>,
    }
    #[derive(Deserialize)]
    struct Owner {
        #[serde(default)]
        controller: bool,
    }
    let list: List = serde_json::from_slice(list)?;
    let items = list.items.unwrap_or_default().into_iter().map(|item| item.metadata);
    let made = |item: &ItemMeta| item.owner_references.iter().any(|owner| owner.controller);
    let members = items.filter(|item| !made(item));
    Ok(members.map(|item| ObjectId::new(kind.clone(), &item.namespace, &item.name)).collect())
}
