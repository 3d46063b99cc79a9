use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variables with a meaning here; all others are dropped at once, so that no secret of somebody
/// else is kept or shown.
const KNOWN: [&str; 12] = [
    "KUBECONFIG",
    "HOME",
    "USERPROFILE",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "POD_NAMESPACE",
];

/// The environment variables that matter for reaching a cluster, handed in by the caller: the
/// library never reads the process's environment itself.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Vec<(&'static str, OsString)>,
}

impl<I: IntoIterator<Item = (OsString, OsString)>> From<I> for Environment {
    fn from(variables: I) -> Self {
        let known = |(name, value): (OsString, OsString)| {
            let name = KNOWN.into_iter().find(|known| name == *known)?;
            Some((name, value))
        };
        Self { variables: variables.into_iter().filter_map(known).collect() }
    }
}

/// Names only: proxy URLs may hold passwords.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}

impl Environment {
    /// The value of `name` unless it is absent or empty.
    pub(super) fn get(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.variables.iter().find(|(known, _)| *known == name)?;
        (!value.is_empty()).then_some(value.as_os_str())
    }

    /// As [`get`](Self::get), for text; what is not UTF-8 counts as absent.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// The person's home directory.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.get("HOME").or_else(|| self.get("USERPROFILE")).map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_what_it_knows_and_shows_no_values() {
        let given = [("HOME", "/h"), ("AWS_SECRET", "canary"), ("KUBECONFIG", "")];
        let environment = Environment::from(given.map(|(n, v)| (n.into(), v.into())));
        assert_eq!(environment.home(), Some(PathBuf::from("/h")));
        assert_eq!(environment.get("AWS_SECRET"), None);
        assert_eq!(environment.get("KUBECONFIG"), None, "empty is absent");
        assert_eq!(format!("{environment:?}"), r#"["HOME", "KUBECONFIG"]"#);
    }
}
