//! Which watches cover a set of targets, from the widest to the narrowest that a user's rights allow.
//!
//! ```text
//!   all namespaces ──403──► each namespace ──403──► each name ──403──► single GETs ──403──► unknown
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::Scope;

/// More namespaces than this are watched as a whole cluster.
const NAMESPACES_BY_THEMSELVES: usize = 8;
/// More names than this in one namespace are asked for one by one when the namespace may not be listed.
const NAMES_BY_THEMSELVES: usize = 16;

/// In which scopes the objects of a subscription are listed and watched.
///
/// Whatever was chosen, a scope that the user may not list or watch is looked at more narrowly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ScopeStrategy {
    /// For each kind the narrowest scopes that need few streams: one object by its name, up to eight
    /// namespaces each by itself, more as the whole cluster.
    #[default]
    Automatic,
    /// Each kind once, in all namespaces.
    Cluster,
    /// Each kind once in each namespace of its targets.
    Namespaces,
    /// As [`Namespaces`](Self::Namespaces), and nothing outside of these: an object of another
    /// namespace is unknown, with that as the reason. Objects of no namespace are observed.
    Only(BTreeSet<Box<str>>),
}

impl ScopeStrategy {
    /// True when objects of this namespace (empty for cluster-scoped ones) may be observed.
    pub fn admits(&self, namespace: &str) -> bool {
        match self {
            Self::Only(namespaces) => namespace.is_empty() || namespaces.contains(namespace),
            Self::Automatic | Self::Cluster | Self::Namespaces => true,
        }
    }

    /// What is left of it once every target is known to be admitted.
    pub(super) fn width(&self) -> Width {
        match self {
            Self::Automatic => Width::Fitting,
            Self::Cluster => Width::Cluster,
            Self::Namespaces | Self::Only(_) => Width::Namespaces,
        }
    }
}

/// How wide a watch is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Width {
    /// As fits the names.
    Fitting,
    /// All namespaces, or all objects of a cluster-scoped kind.
    Cluster,
    /// A whole namespace.
    Namespaces,
}

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
            Self::Watch(Scope::Labels { namespace, .. }) if !namespace.is_empty() => 2,
            Self::Watch(Scope::Namespace(_)) => 2,
            Self::Watch(Scope::Cluster | Scope::Labels { .. }) => 3,
        }
    }

    /// Of a whole namespace or cluster only what has these labels.
    pub(super) fn labelled(self, selector: &str) -> Self {
        match self {
            Self::Watch(scope) => Self::Watch(scope.labelled(selector)),
            Self::Poll(namespace) => Self::Poll(namespace),
        }
    }
}

/// Names by namespace; the empty namespace for cluster-scoped kinds.
pub(super) type Names = BTreeMap<Arc<str>, Vec<Arc<str>>>;

/// A means, and the names it covers.
pub(super) type Covered = (Means, Names);

/// The means by which the names of one kind are observed, each with the namespaces it covers.
/// `open` are those that observe other objects of the kind already.
pub(super) fn choose(names: &Names, width: Width, open: &[&Means]) -> Vec<Covered> {
    match width {
        Width::Cluster => vec![(Means::Watch(Scope::Cluster), names.clone())],
        Width::Namespaces => names.iter().map(|(namespace, names)| whole(namespace, names)).collect(),
        // A cluster-scoped kind has only the empty namespace, which is no namespace to count.
        Width::Fitting if names.len() > NAMESPACES_BY_THEMSELVES => {
            vec![(Means::Watch(Scope::Cluster), names.clone())]
        }
        Width::Fitting => names.iter().map(|(namespace, names)| fitting(namespace, names, open)).collect(),
    }
}

/// A stream that is open anyway is widened; many names one by one are a namespace.
fn fitting(namespace: &Arc<str>, names: &[Arc<str>], open: &[&Means]) -> Covered {
    let covers = |means: &&&Means| match means {
        Means::Watch(Scope::Cluster) => true,
        Means::Watch(Scope::Namespace(other)) => other == namespace,
        Means::Watch(Scope::Name { .. } | Scope::Labels { .. }) | Means::Poll(_) => false,
    };
    if let Some(means) = open.iter().find(covers) {
        return ((**means).clone(), Names::from([(namespace.clone(), names.to_vec())]));
    }
    let one_of_here =
        |means: &&&Means| matches!(means, Means::Watch(Scope::Name { namespace: of, .. }) if of == namespace);
    if open.iter().filter(one_of_here).count() >= NAMES_BY_THEMSELVES {
        return whole(namespace, names);
    }
    of_namespace(namespace, names)
}

fn whole(namespace: &Arc<str>, names: &[Arc<str>]) -> Covered {
    (Means::Watch(Scope::of_namespace(namespace)), Names::from([(namespace.clone(), names.to_vec())]))
}

fn of_namespace(namespace: &Arc<str>, names: &[Arc<str>]) -> Covered {
    let [name] = names else { return whole(namespace, names) };
    let scope = Scope::Name { namespace: namespace.clone(), name: name.clone() };
    (Means::Watch(scope), Names::from([(namespace.clone(), names.to_vec())]))
}

/// What to try when `means` is forbidden; empty when nothing narrower is left.
pub(super) fn narrower(means: &Means, names: &Names) -> Vec<Covered> {
    match means {
        Means::Watch(Scope::Labels { namespace, selector }) => {
            let whole = Means::Watch(Scope::of_namespace(namespace));
            narrower(&whole, names)
                .into_iter()
                .map(|(means, names)| (means.labelled(selector), names))
                .collect()
        }
        Means::Watch(Scope::Cluster) if names.keys().any(|namespace| !namespace.is_empty()) => {
            names.iter().map(|(namespace, names)| of_namespace(namespace, names)).collect()
        }
        Means::Watch(Scope::Cluster | Scope::Namespace(_)) => {
            names.iter().flat_map(|(namespace, names)| by_name(namespace, names)).collect()
        }
        Means::Watch(Scope::Name { .. }) => one_by_one(names),
        Means::Poll(_) => Vec::new(),
    }
}

/// What is left where a kind cannot be watched at all.
pub(super) fn one_by_one(names: &Names) -> Vec<Covered> {
    names.iter().map(|(namespace, names)| polled(namespace, names)).collect()
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

    fn fitting(of: &[(&str, &[&str])]) -> Vec<Means> {
        means(&choose(&names(of), Width::Fitting, &[]))
    }

    #[test]
    fn one_object_is_watched_by_name() {
        assert_eq!(fitting(&[("a", &["x"])]), [name("a", "x")]);
        assert_eq!(fitting(&[("", &["x"])]), [name("", "x")]);
    }

    #[test]
    fn up_to_eight_namespaces_have_a_watch_each_and_more_share_one() {
        let few = names(&[("a", &["x", "y"]), ("b", &["x", "y"])]);
        assert_eq!(means(&choose(&few, Width::Fitting, &[])), [namespace("a"), namespace("b")]);
        let many: Vec<String> = (0..9).map(|n| format!("n{n}")).collect();
        let many: Vec<(&str, &[&str])> = many.iter().map(|n| (n.as_str(), &["x"][..])).collect();
        assert_eq!(fitting(&many), [Means::Watch(Scope::Cluster)]);
    }

    #[test]
    fn cluster_scoped_objects_do_not_widen_anything() {
        assert_eq!(fitting(&[("", &["x", "y"])]), [Means::Watch(Scope::Cluster)]);
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

    #[test]
    fn what_is_forced_is_neither_narrowed_to_a_name_nor_widened() {
        let many: Vec<String> = (0..9).map(|n| format!("n{n}")).collect();
        let many: Vec<(&str, &[&str])> = many.iter().map(|n| (n.as_str(), &["x"][..])).collect();
        let each: Vec<Means> = many.iter().map(|(of, _)| namespace(of)).collect();
        assert_eq!(means(&choose(&names(&many), Width::Namespaces, &[])), each);
        let one = names(&[("a", &["x"])]);
        assert_eq!(means(&choose(&one, Width::Cluster, &[])), [Means::Watch(Scope::Cluster)]);
        assert_eq!(means(&choose(&one, Width::Namespaces, &[])), [namespace("a")]);
        let none = names(&[("", &["x"])]);
        assert_eq!(means(&choose(&none, Width::Namespaces, &[])), [Means::Watch(Scope::Cluster)]);
    }

    #[test]
    fn a_stream_that_is_open_is_used_before_another_is_opened() {
        let one = names(&[("a", &["x"])]);
        let chosen = |open: &[&Means]| means(&choose(&one, Width::Fitting, open));
        assert_eq!(chosen(&[&name("a", "y"), &namespace("a")]), [namespace("a")]);
        assert_eq!(chosen(&[&Means::Watch(Scope::Cluster)]), [Means::Watch(Scope::Cluster)]);
        assert_eq!(chosen(&[&name("a", "y"), &namespace("b")]), [name("a", "x")]);
        let many: Vec<Means> = (0..NAMES_BY_THEMSELVES).map(|n| name("a", &format!("y{n}"))).collect();
        assert_eq!(chosen(&many.iter().collect::<Vec<_>>()), [namespace("a")]);
    }

    #[test]
    fn only_the_namespaces_of_a_list_are_admitted_and_objects_of_none() {
        let only = ScopeStrategy::Only(BTreeSet::from(["a".into()]));
        assert!(only.admits("a") && only.admits("") && !only.admits("b"));
        assert!(ScopeStrategy::Namespaces.admits("b"));
    }
}
