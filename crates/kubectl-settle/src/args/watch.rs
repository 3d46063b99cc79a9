use std::collections::BTreeSet;

use clap::Args;
use kubesettle::watch::ScopeStrategy;

/// How objects are watched.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WatchArgs {
    /// Where objects are listed and watched: auto (the narrowest scopes that need few streams), cluster
    /// (each kind once, in all namespaces), namespaces (each kind once in each namespace of the objects),
    /// or NAMESPACE[,NAMESPACE...] (as namespaces, and only in these: objects of others are unknown; one
    /// that is called like a word above takes a comma after it). What may not be watched so is looked at
    /// more narrowly [default: auto]
    #[arg(long, value_name = "SCOPE", value_parser = watch_scope)]
    pub(crate) watch_scope: Option<ScopeStrategy>,
}

/// A strategy by its word, or a list of namespaces.
pub(crate) fn watch_scope(text: &str) -> Result<ScopeStrategy, String> {
    match text {
        "auto" | "automatic" => return Ok(ScopeStrategy::Automatic),
        "cluster" => return Ok(ScopeStrategy::Cluster),
        "namespace" | "namespaces" => return Ok(ScopeStrategy::Namespaces),
        _ => {}
    }
    let names: BTreeSet<Box<str>> = text.split(',').filter(|name| !name.is_empty()).map(Into::into).collect();
    if names.is_empty() || !names.iter().all(|name| is_label(name)) {
        return Err("expected auto, cluster, namespaces, or names of namespaces".to_owned());
    }
    Ok(ScopeStrategy::Only(names))
}

/// True for what may be the name of a namespace.
fn is_label(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 63
        && name.starts_with(word)
        && name.ends_with(word)
        && name.chars().all(|c| word(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_a_word_or_a_list_of_namespaces() {
        let only = |names: &[&str]| {
            Ok(ScopeStrategy::Only(names.iter().map(|name| Box::from(*name)).collect::<BTreeSet<_>>()))
        };
        assert_eq!(watch_scope("auto"), Ok(ScopeStrategy::Automatic));
        assert_eq!(watch_scope("cluster"), Ok(ScopeStrategy::Cluster));
        assert_eq!(watch_scope("namespaces"), Ok(ScopeStrategy::Namespaces));
        assert_eq!(watch_scope("shop"), only(&["shop"]));
        assert_eq!(watch_scope("b,a,b"), only(&["a", "b"]));
        assert_eq!(watch_scope("cluster,"), only(&["cluster"]));
        for wrong in ["", ",", "Cluster", "a b", "-a", "a,B"] {
            assert!(watch_scope(wrong).is_err(), "{wrong}");
        }
    }
}
