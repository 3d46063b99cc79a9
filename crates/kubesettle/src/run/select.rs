//! Objects that a person names instead of giving their manifests.

use std::borrow::Cow;

use serde::Deserialize;

use crate::cluster::{Cluster, Content, ListPage, Resource, Scope};
use crate::error::ApiError;
use crate::id::ObjectId;
use crate::watch::Target;

/// Objects per page of a list.
const PAGE: u32 = 500;

/// A kind, in any of the words that people have for it, and names of its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Such as `deploy`, `deployments.apps`, `widgets.v1.example.com`; or a category: `all`.
    pub kind: Box<str>,
    /// Names of objects; none for every object of the kind.
    pub names: Vec<Box<str>>,
}

/// Words that name no objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWords {
    /// `kind/name` and words without a slash in one line.
    #[error("{0:?} stands among words of the form TYPE/NAME: either all have a slash or none has")]
    Mixed(String),
    /// Nothing stands before or behind a slash, or there are two.
    #[error("{0:?} is neither TYPE nor TYPE/NAME")]
    Malformed(String),
}

impl Named {
    /// Reads `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…`, as kubectl does.
    ///
    /// # Errors
    /// [`BadWords`].
    pub fn parse(words: &[&str]) -> Result<Vec<Self>, BadWords> {
        if !words.iter().any(|word| word.contains('/')) {
            let [kinds, names @ ..] = words else { return Ok(Vec::new()) };
            let names: Vec<Box<str>> = names.iter().map(|name| Box::from(*name)).collect();
            let kinds = kinds.split(',').filter(|kind| !kind.is_empty());
            let named: Vec<Self> =
                kinds.map(|kind| Self { kind: kind.into(), names: names.clone() }).collect();
            return match named.is_empty() {
                true => Err(BadWords::Malformed(words.concat())),
                false => Ok(named),
            };
        }
        words
            .iter()
            .map(|word| match word.split('/').collect::<Vec<_>>()[..] {
                [_] => Err(BadWords::Mixed((*word).to_owned())),
                [kind, name] if !kind.is_empty() && !name.is_empty() => {
                    Ok(Self { kind: kind.into(), names: vec![name.into()] })
                }
                _ => Err(BadWords::Malformed((*word).to_owned())),
            })
            .collect()
    }
}

/// Which objects are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Kinds and names.
    pub named: Vec<Named>,
    /// The namespace of those that are in one; `None`: all namespaces, for kinds without names only.
    pub namespace: Option<Box<str>>,
    /// A label selector as the API server takes it, for kinds without names only. It is asked once:
    /// an object that loses the label later is looked at all the same, one that gets it is not. Give it to
    /// [`SubscribeOptions::labels`](crate::watch::SubscribeOptions::labels) too.
    pub selector: Option<Box<str>>,
}

/// Why objects that were named cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// The server has no kind of that name.
    #[error("the server has no kind called {kind:?}")]
    UnknownKind {
        /// As it was named.
        kind: Box<str>,
    },
    /// Its objects may not be listed, or the server does not say.
    #[error("{kind} cannot be listed: {error}")]
    List {
        /// As it was named.
        kind: Box<str>,
        /// The server's words.
        error: ApiError,
    },
}

/// Finds the objects. Kinds without names are listed, names are taken as they are: there may be no such
/// object (yet).
///
/// # Errors
/// [`SelectError`].
pub async fn select(cluster: &Cluster, selection: &Selection) -> Result<Vec<Target>, SelectError> {
    let mut targets: Vec<Target> = Vec::new();
    for named in &selection.named {
        for resource in resources(cluster, &named.kind)? {
            let mut add = |namespace: &str, name: &str| {
                let id = ObjectId::new(resource.group_kind().clone(), namespace, name);
                let version = Some(resource.version().into());
                targets.push(Target { id, version });
            };
            let home = selection.namespace.as_deref().filter(|_| resource.namespaced());
            if !named.names.is_empty() {
                named.names.iter().for_each(|name| add(home.unwrap_or_default(), name));
                continue;
            }
            let mut scope = Scope::of_namespace(home.unwrap_or_default());
            if let Some(selector) = &selection.selector {
                scope = scope.labelled(selector);
            }
            let listed = list(cluster, &resource, &scope).await;
            let listed = listed.map_err(|error| SelectError::List { kind: named.kind.clone(), error })?;
            listed.iter().for_each(|(namespace, name)| add(namespace, name));
        }
    }
    let mut seen = std::collections::HashSet::new();
    targets.retain(|target| seen.insert(target.id.clone()));
    Ok(targets)
}

/// The kind of this name, or those of a category that can be watched.
fn resources(cluster: &Cluster, word: &str) -> Result<Vec<Resource>, SelectError> {
    if let Some(resource) = cluster.resources_named(word).into_iter().next() {
        return Ok(vec![resource]);
    }
    let category = |resource: &Resource| resource.categories().any(|category| category == word);
    let mut found = cluster.resources();
    found.retain(|resource| {
        category(resource) && resource.verbs().has("list") && resource.verbs().has("watch")
    });
    if found.is_empty() {
        return Err(SelectError::UnknownKind { kind: word.into() });
    }
    Ok(found)
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    metadata: Head<'a>,
    /// An empty list of metadata has `null` there.
    #[serde(borrow, default)]
    items: Option<Vec<Item<'a>>>,
}

#[derive(Deserialize, Default)]
struct Head<'a> {
    #[serde(borrow, default, rename = "continue")]
    next: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
}

/// Namespace and name of every object.
async fn list(
    cluster: &Cluster,
    resource: &Resource,
    scope: &Scope,
) -> Result<Vec<(String, String)>, ApiError> {
    let mut found = Vec::new();
    let mut token: Option<String> = None;
    loop {
        let page = ListPage { limit: Some(PAGE), continue_token: token.as_deref(), ..ListPage::default() };
        let body = cluster.list(resource, scope, page, Content::MetadataOnly).await?;
        let page: Page<'_> = serde_json::from_slice(&body)
            .map_err(|error| ApiError::local(crate::error::ErrorClass::Protocol, error.to_string()))?;
        let pairs = page.items.into_iter().flatten().map(|item| item.metadata);
        found.extend(pairs.map(|meta| (meta.namespace.into_owned(), meta.name.into_owned())));
        token = page.metadata.next.map(Cow::into_owned).filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kind: &str, names: &[&str]) -> Named {
        Named { kind: kind.into(), names: names.iter().map(|name| Box::from(*name)).collect() }
    }

    #[test]
    fn words_are_read_as_kubectl_reads_them() {
        type Row<'a> = (&'a [&'a str], Result<Vec<Named>, BadWords>);
        let rows: [Row<'_>; 9] = [
            (&["deploy/web"], Ok(vec![named("deploy", &["web"])])),
            (&["deploy/web", "svc/web"], Ok(vec![named("deploy", &["web"]), named("svc", &["web"])])),
            (&["deploy", "web", "db"], Ok(vec![named("deploy", &["web", "db"])])),
            (&["deploy,svc"], Ok(vec![named("deploy", &[]), named("svc", &[])])),
            (&["deploy,svc", "web"], Ok(vec![named("deploy", &["web"]), named("svc", &["web"])])),
            (&["widgets.v1.example.com"], Ok(vec![named("widgets.v1.example.com", &[])])),
            (&["deploy/web", "db"], Err(BadWords::Mixed("db".into()))),
            (&["deploy/"], Err(BadWords::Malformed("deploy/".into()))),
            (&[","], Err(BadWords::Malformed(",".into()))),
        ];
        for (words, expected) in rows {
            assert_eq!(Named::parse(words), expected, "{words:?}");
        }
    }
}
