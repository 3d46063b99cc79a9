//! The process's environment and arguments. Nothing else reads them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};

use kubesettle::cluster::Environment;

/// A copy of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// The process's own.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// A variable's value; `None` when it is unset or empty, as Go tools and `NO_COLOR` have it.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// What the library may know: everything, since credential plugins and proxies look at it.
    pub(crate) fn for_library(&self) -> Environment {
        Environment::from(self.0.iter().map(|(name, value)| (name.clone(), value.clone())))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Variables {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The words of the command line, the program's own name first.
pub(crate) fn words() -> Vec<OsString> {
    std::env::args_os().collect()
}
