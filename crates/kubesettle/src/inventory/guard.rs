//! Keeps a wrong folder or an empty input from deleting what people live on.

use std::fmt;

use crate::id::{GroupKind, ObjectId};

/// How much one run may prune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneMax {
    /// Half of the set, and always ten objects.
    Default,
    /// This many objects.
    Count(usize),
    /// This part of the set, in percent.
    Percent(u8),
    /// Everything. For a destroy, which says so itself.
    All,
}

const ALWAYS: usize = 10;
const PERCENT: u8 = 50;

impl PruneMax {
    /// Reads the value of `--prune-max`: `20` or `80%`.
    ///
    /// # Errors
    /// Another text, with what it should be.
    pub fn parse(text: &str) -> Result<Self, InvalidPruneMax> {
        let fail = || InvalidPruneMax { text: text.into() };
        match text.strip_suffix('%') {
            Some(percent) => match percent.parse() {
                Ok(percent) if percent <= 100 => Ok(Self::Percent(percent)),
                _ => Err(fail()),
            },
            None => text.parse().map(Self::Count).map_err(|_| fail()),
        }
    }

    fn allows(self, candidates: usize, total: usize) -> bool {
        let share = |percent: u8| candidates * 100 <= total * usize::from(percent);
        match self {
            Self::Default => candidates <= ALWAYS || share(PERCENT),
            Self::Count(max) => candidates <= max,
            Self::Percent(percent) => share(percent),
            Self::All => true,
        }
    }
}

/// `50 % when more than 10`, `20 objects`, `80 %`.
impl fmt::Display for PruneMax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "{PERCENT} % when more than {ALWAYS}"),
            Self::Count(max) => write!(f, "{max} objects"),
            Self::Percent(percent) => write!(f, "{percent} %"),
            Self::All => f.write_str("everything"),
        }
    }
}

/// A value that `--prune-max` does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no prune limit: give a number of objects (20) or a part of the set (80%)")]
pub struct InvalidPruneMax {
    text: Box<str>,
}

/// Kinds whose deletion takes other things along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProtectedKind {
    /// Takes everything that lives in it along.
    Namespace,
    /// Takes all objects of its kind along.
    CustomResourceDefinition,
    /// Takes stored data along.
    PersistentVolume,
    /// Takes stored data along.
    PersistentVolumeClaim,
}

/// Group, kind, plural and short name of each.
const PROTECTED: [(ProtectedKind, &str, &str, &str, &str); 4] = [
    (ProtectedKind::Namespace, "", "Namespace", "namespaces", "ns"),
    (
        ProtectedKind::CustomResourceDefinition,
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd",
    ),
    (ProtectedKind::PersistentVolume, "", "PersistentVolume", "persistentvolumes", "pv"),
    (ProtectedKind::PersistentVolumeClaim, "", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc"),
];

impl ProtectedKind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Namespace,
        Self::CustomResourceDefinition,
        Self::PersistentVolume,
        Self::PersistentVolumeClaim,
    ];

    /// The protected kind that this one is, if it is one.
    pub fn of(kind: &GroupKind) -> Option<Self> {
        PROTECTED.iter().find(|row| kind.is(row.1, row.2)).map(|row| row.0)
    }

    /// Reads the value of `--prune-allow` as kubectl reads kinds: `Namespace`, `namespaces`, `ns`.
    ///
    /// # Errors
    /// A kind that needs no permission.
    pub fn parse(text: &str) -> Result<Self, InvalidKind> {
        let same = |known: &str| known.eq_ignore_ascii_case(text);
        let row = PROTECTED.iter().find(|(_, _, kind, plural, short)| {
            same(kind) || same(plural) || same(short) || same(&format!("{short}s"))
        });
        row.map(|row| row.0).ok_or_else(|| InvalidKind { text: text.into() })
    }

    /// The kind.
    pub fn as_str(self) -> &'static str {
        PROTECTED.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }
}

/// A kind that `--prune-allow` does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no protected kind: \
     Namespace, CustomResourceDefinition, PersistentVolume and PersistentVolumeClaim are"
)]
pub struct InvalidKind {
    text: Box<str>,
}

/// What else would go with an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// Nothing, or only objects of the set.
    #[default]
    OnlyOurs,
    /// Something else, in words: `3 objects of others, such as pod/db-0`.
    Foreign(Box<str>),
    /// It could not be found out, in words: `no right to list pods`.
    Unknown(Box<str>),
}

/// One object that is to be pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneCandidate {
    /// The object.
    pub id: ObjectId,
    /// What it holds; looked at only for [`ProtectedKind`]s.
    pub holds: Holds,
}

/// What a run may prune.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneGuard {
    /// How much.
    pub max: PruneMax,
    /// Protected kinds that may go although they hold something else.
    pub allow: Vec<ProtectedKind>,
}

impl Default for PruneGuard {
    fn default() -> Self {
        Self { max: PruneMax::Default, allow: Vec::new() }
    }
}

/// Why a run must not prune. Nothing is to be deleted then, not only the objects named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardRefusal {
    too_many: Option<TooMany>,
    held: Vec<(PruneCandidate, ProtectedKind)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TooMany {
    candidates: usize,
    total: usize,
    max: PruneMax,
}

impl PruneGuard {
    /// Whether these objects may go, out of a set that had `total` before.
    ///
    /// # Errors
    /// Everything that speaks against it.
    pub fn check(&self, candidates: &[PruneCandidate], total: usize) -> Result<(), GuardRefusal> {
        let count = candidates.len();
        let too_many =
            (!self.max.allows(count, total)).then_some(TooMany { candidates: count, total, max: self.max });
        let held: Vec<_> = candidates
            .iter()
            .filter(|candidate| candidate.holds != Holds::OnlyOurs)
            .filter_map(|candidate| Some((candidate.clone(), ProtectedKind::of(candidate.id.group_kind())?)))
            .filter(|(_, kind)| !self.allow.contains(kind))
            .collect();
        match too_many.is_none() && held.is_empty() {
            true => Ok(()),
            false => Err(GuardRefusal { too_many, held }),
        }
    }
}

/// One line for each reason, each with the flag that allows it.
impl fmt::Display for GuardRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(TooMany { candidates, total, max }) = &self.too_many {
            write!(
                f,
                "refused to prune {candidates} of {total} objects (limit: {max}): \
                 if they are really to go, repeat with --prune-max {candidates}"
            )?;
        }
        for (nth, (candidate, kind)) in self.held.iter().enumerate() {
            if nth > 0 || self.too_many.is_some() {
                f.write_str("\n")?;
            }
            let why = match &candidate.holds {
                Holds::Unknown(why) => format!("what it holds is not known ({why})"),
                Holds::Foreign(what) => format!("it holds {what}"),
                Holds::OnlyOurs => String::new(),
            };
            write!(
                f,
                "refused to prune {:#}: {why}; to delete it all the same, repeat with --prune-allow {}",
                candidate.id,
                kind.as_str()
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for GuardRefusal {}
