//! Which watches cover a set of targets, from the widest to the narrowest that a user's rights allow.
//!
//! ```text
//!   all namespaces ──403──► each namespace ──403──► each name ──403──► single GETs ──403──► unknown
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::Scope;

/// More namespaces than this are watched as a whole cluster.
const NAMESPACES_BY_THEMSELVES: usize = 8;
/// More names than this in one namespace are asked for one by one when the namespace may not be listed.
const NAMES_BY_THEMSELVES: usize = 16;

/// How the objects of a key are observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Means {
    /// One list and watch.
    Watch(Scope),
    /// GETs of the wanted names in this namespace, in rounds.
    Poll(Arc<str>),
}

impl Means {
    /// How much one such look covers: a wider one is to be preferred.
    pub(super) fn width(&self) -> u8 {
        match self {
            Self::Poll(_) => 0,
            Self::Watch(Scope::Name { .. }) => 1,
            Self::Watch(Scope::Namespace(_)) => 2,
            Self::Watch(Scope::Cluster) => 3,
        }
    }
}

/// Names by namespace; the empty namespace for cluster-scoped kinds.
pub(super) type Names = BTreeMap<Arc<str>, Vec<Arc<str>>>;

/// A means, and the names it covers.
pub(super) type Covered = (Means, Names);

/// The widest means that fit the names of one kind, each with the namespaces it covers.
pub(super) fn choose(names: &Names) -> Vec<Covered> {
    // A cluster-scoped kind has only the empty namespace, which is no namespace to count.
    if names.len() > NAMESPACES_BY_THEMSELVES {
        return vec![(Means::Watch(Scope::Cluster), names.clone())];
    }
    names.iter().map(|(namespace, names)| of_namespace(namespace, names)).collect()
}

fn of_namespace(namespace: &Arc<str>, names: &[Arc<str>]) -> Covered {
    let covered = Names::from([(namespace.clone(), names.to_vec())]);
    let scope = match names {
        [name] => Scope::Name { namespace: namespace.clone(), name: name.clone() },
        _ if namespace.is_empty() => Scope::Cluster,
        _ => Scope::Namespace(namespace.clone()),
    };
    (Means::Watch(scope), covered)
}

/// What to try when `means` is forbidden; empty when nothing narrower is left.
pub(super) fn narrower(means: &Means, names: &Names) -> Vec<Covered> {
    match means {
        Means::Watch(Scope::Cluster) if names.keys().any(|namespace| !namespace.is_empty()) => {
            names.iter().map(|(namespace, names)| of_namespace(namespace, names)).collect()
        }
        Means::Watch(Scope::Cluster | Scope::Namespace(_)) => {
            names.iter().flat_map(|(namespace, names)| by_name(namespace, names)).collect()
        }
        Means::Watch(Scope::Name { .. }) => {
            names.iter().map(|(namespace, names)| polled(namespace, names)).collect()
        }
        Means::Poll(_) => Vec::new(),
    }
}

fn by_name(namespace: &Arc<str>, names: &[Arc<str>]) -> Vec<Covered> {
    if names.len() > NAMES_BY_THEMSELVES {
        return vec![polled(namespace, names)];
    }
    names.iter().map(|name| of_namespace(namespace, std::slice::from_ref(name))).collect()
}

fn polled(namespace: &Arc<str>, names: &[Arc<str>]) -> Covered {
    (Means::Poll(namespace.clone()), Names::from([(namespace.clone(), names.to_vec())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[(&str, &[&str])]) -> Names {
        let list = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
        of.iter().map(|(namespace, names)| (Arc::from(*namespace), list(names))).collect()
    }

    fn means(of: &[Covered]) -> Vec<Means> {
        of.iter().map(|(means, _)| means.clone()).collect()
    }

    fn name(namespace: &str, name: &str) -> Means {
        Means::Watch(Scope::Name { namespace: namespace.into(), name: name.into() })
    }

    fn namespace(of: &str) -> Means {
        Means::Watch(Scope::Namespace(of.into()))
    }

    #[test]
    fn one_object_is_watched_by_name() {
        assert_eq!(means(&choose(&names(&[("a", &["x"])]))), [name("a", "x")]);
        assert_eq!(means(&choose(&names(&[("", &["x"])]))), [name("", "x")]);
    }

    #[test]
    fn up_to_eight_namespaces_have_a_watch_each_and_more_share_one() {
        let few = names(&[("a", &["x", "y"]), ("b", &["x", "y"])]);
        assert_eq!(means(&choose(&few)), [namespace("a"), namespace("b")]);
        let many: Vec<String> = (0..9).map(|n| format!("n{n}")).collect();
        let many: Vec<(&str, &[&str])> = many.iter().map(|n| (n.as_str(), &["x"][..])).collect();
        assert_eq!(means(&choose(&names(&many))), [Means::Watch(Scope::Cluster)]);
    }

    #[test]
    fn cluster_scoped_objects_do_not_widen_anything() {
        assert_eq!(means(&choose(&names(&[("", &["x", "y"])]))), [Means::Watch(Scope::Cluster)]);
    }

    #[test]
    fn forbidden_steps_down_from_cluster_to_namespace_to_name_to_get() {
        let all = names(&[("a", &["x", "y"]), ("b", &["z"])]);
        let second = narrower(&Means::Watch(Scope::Cluster), &all);
        assert_eq!(means(&second), [namespace("a"), name("b", "z")]);
        let third = narrower(&second[0].0, &second[0].1);
        assert_eq!(means(&third), [name("a", "x"), name("a", "y")]);
        let fourth = narrower(&third[0].0, &third[0].1);
        assert_eq!(means(&fourth), [Means::Poll("a".into())]);
        assert!(narrower(&fourth[0].0, &fourth[0].1).is_empty());
    }

    #[test]
    fn many_names_are_polled_rather_than_watched_one_by_one() {
        let many: Vec<String> = (0..30).map(|n| format!("x{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let step = narrower(&namespace("a"), &names(&[("a", &many)]));
        assert_eq!(means(&step), [Means::Poll("a".into())]);
    }
}
