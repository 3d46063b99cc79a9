//! Objects that are named on the command line.

use std::ffi::OsString;
use std::path::Path;

use kubesettle::run::{Named, Selection};

use crate::args::{Role, StatusArgs};
use crate::exit::Failure;

/// Objects that are named; the namespace, unless all are meant, is that of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    named: Vec<Named>,
    everywhere: bool,
    selector: Option<Box<str>>,
}

impl Asked {
    /// With the namespace that is meant without a word.
    pub(crate) fn selection(&self, namespace: &str) -> Selection {
        Selection {
            named: self.named.clone(),
            namespace: (!self.everywhere).then(|| namespace.into()),
            selector: self.selector.clone(),
        }
    }

    /// The labels that they are selected by.
    pub(crate) fn selector(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// Where they were looked for, in words.
    pub(crate) fn place(&self, namespace: &str) -> String {
        if self.everywhere { String::from("any namespace") } else { format!("namespace {namespace}") }
    }
}

/// Takes the words that name objects out of the arguments.
pub(super) fn asked(args: &mut StatusArgs, role: Role) -> Result<Option<Asked>, Failure> {
    let words: Vec<OsString> = args.input.directory.iter().chain(&args.named).cloned().collect();
    let named = match words.as_slice() {
        [] => Vec::new(),
        [one] if role == Role::Kapply || is_folder(one) => Vec::new(),
        words => named(words)?,
    };
    let everywhere = args.all_namespaces.unwrap_or(false);
    if named.is_empty() {
        let flag = [("-A", everywhere), ("-l", args.selector.is_some())];
        return match flag.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::usage(format!("{flag} is given, and no kind of object"))
                .hint(format!("name one: kubectl settle status deploy {flag} ..."))),
            None => Ok(None),
        };
    }
    args.input.directory = None;
    if !args.input.filename.is_empty() || args.input.kustomize.is_some() || args.set.is_some() {
        return Err(Failure::usage("objects are named, and -f or --set is given: which are meant?")
            .hint("leave one of the two out"));
    }
    let single = named.iter().any(|named| !named.names.is_empty());
    match (single, everywhere, args.selector.is_some()) {
        (true, true, _) => {
            return Err(Failure::usage("an object cannot be named in all namespaces")
                .hint("leave the name or -A out"));
        }
        (true, _, true) => {
            return Err(Failure::usage("an object cannot be named and selected by its labels")
                .hint("leave the name or -l out"));
        }
        _ => {}
    }
    Ok(Some(Asked { named, everywhere, selector: args.selector.take().map(Into::into) }))
}

fn named(words: &[OsString]) -> Result<Vec<Named>, Failure> {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    Named::parse(&texts).map_err(|error| {
        Failure::usage(error.to_string()).hint("such as deploy/web, deploy web, or pods,svc")
    })
}

/// True for what is there on disk, and for what can only be meant as a path.
fn is_folder(word: &OsString) -> bool {
    let text = word.to_string_lossy();
    Path::new(word).exists() || text.starts_with(['.', '/', '~', '-']) || text.contains("://")
}
