use std::collections::HashMap;
use std::sync::Arc;

use super::Resource;
use crate::id::GroupKind;

/// All served kinds, in the server's order: core group first, preferred versions first.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Table {
    groups: Vec<Group>,
    kinds: HashMap<GroupKind, Vec<Resource>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: Arc<str>,
    pub(super) versions: Vec<Version>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) name: Arc<str>,
    /// `None`: the server could not tell.
    pub(super) resources: Option<Vec<Resource>>,
}

impl Table {
    /// A table of `groups`, in which versions that the server could not tell about keep what
    /// `before` knew.
    pub(super) fn new(mut groups: Vec<Group>, before: &Self) -> Self {
        for group in &mut groups {
            for version in &mut group.versions {
                if version.resources.is_none() {
                    version.resources = before.version(&group.name, &version.name).cloned();
                }
            }
        }
        let mut kinds: HashMap<GroupKind, Vec<Resource>> = HashMap::new();
        let known =
            groups.iter().flat_map(|group| &group.versions).filter_map(|version| version.resources.as_ref());
        for resource in known.flatten() {
            let versions = kinds.entry(resource.group_kind().clone()).or_default();
            // Two resources of one kind in one version: the first one is the real one.
            if versions.iter().all(|other| other.version() != resource.version()) {
                versions.push(resource.clone());
            }
        }
        Self { groups, kinds }
    }

    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.groups == other.groups
    }

    /// Groups for which `core` is true or false: what `/api` and what `/apis` told.
    pub(super) fn half(&self, core: bool) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.name.is_empty() == core)
    }

    /// False when some version's content is unknown.
    pub(super) fn is_complete(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.versions).all(|version| version.resources.is_some())
    }

    fn version(&self, group: &str, version: &str) -> Option<&Vec<Resource>> {
        let group = self.groups.iter().find(|known| &*known.name == group)?;
        group.versions.iter().find(|known| &*known.name == version)?.resources.as_ref()
    }

    /// The kind in the wanted version, else in the preferred one.
    pub(in crate::cluster) fn get(&self, kind: &GroupKind, version: Option<&str>) -> Option<&Resource> {
        let versions = self.kinds.get(kind)?;
        match version {
            Some(wanted) => versions.iter().find(|resource| resource.version() == wanted),
            None => versions.first(),
        }
    }

    /// Every kind in its preferred version, in the server's order.
    pub(in crate::cluster) fn preferred(&self) -> impl Iterator<Item = &Resource> {
        self.groups
            .iter()
            .flat_map(|group| &group.versions)
            .filter_map(|version| version.resources.as_ref())
            .flatten()
            .filter(|resource| self.get(resource.group_kind(), None) == Some(resource))
    }

    /// What a person may mean by `deploy`, `deployments.apps` or `deployments.v1.apps`, best first.
    pub(in crate::cluster) fn named(&self, word: &str) -> Vec<Resource> {
        let word = word.to_ascii_lowercase();
        let (name, rest) =
            word.split_once('.').map_or((word.as_str(), None), |(name, rest)| (name, Some(rest)));
        let called = || self.preferred().filter(|resource| resource.is_called(name));
        let Some(rest) = rest else {
            return called().cloned().collect();
        };
        let in_group: Vec<Resource> = called().filter(|resource| resource.group() == rest).cloned().collect();
        if !in_group.is_empty() {
            return in_group;
        }
        let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
        called()
            .filter(|resource| resource.group() == group)
            .filter_map(|resource| self.get(resource.group_kind(), Some(version)))
            .cloned()
            .collect()
    }

    /// Kinds like `kind`, best first: the same name in another group, another name of the same, a
    /// slip of the pen.
    pub(in crate::cluster) fn near(&self, kind: &GroupKind) -> Vec<String> {
        let wanted = kind.kind().to_ascii_lowercase();
        let mut found: Vec<(usize, &Resource)> = self
            .preferred()
            .filter(|resource| resource.group_kind() != kind)
            .filter_map(|resource| {
                let distance = match resource.is_called(&wanted) {
                    true => 0,
                    false => edit_distance(&wanted, &resource.kind().to_ascii_lowercase(), 2)?,
                };
                let elsewhere = usize::from(resource.group() != kind.group());
                Some((distance * 2 + elsewhere, resource))
            })
            .filter(|(score, _)| *score == 0 || wanted.len() > 3 || *score <= 1)
            .collect();
        found.sort_by_key(|(score, _)| *score);
        found.truncate(3);
        let shown =
            |(_, resource): (usize, &Resource)| format!("{} ({})", resource.kind(), resource.api_version());
        found.into_iter().map(shown).collect()
    }
}

/// Levenshtein's distance if it is at most `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(b.bytes()) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            before = replaced.min(before + 1).min(*cell + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}
