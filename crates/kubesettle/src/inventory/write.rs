//! From a wish to the requests that make it true, in an order that loses nothing when it breaks off.

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;

use super::document::Document;
use super::hash;
use super::layout::{self, Bin, Limits};
use super::model::{Entries, Inventory, Location, Part};
use super::{ID_LABEL, PART_OF, PARTS, RUN};

/// How an inventory is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// How much one ConfigMap may hold.
    pub limits: Limits,
    /// Whether the status of each object is written (kapply's command line leaves it out).
    pub statuses: bool,
    /// The run that writes, put on the first ConfigMap. With it every run writes at least once, so
    /// that of two runs without a lease one meets a conflict.
    pub run: Option<String>,
    /// Names that new parts must not take, because a create met an object there.
    pub avoid: BTreeSet<String>,
}

/// One request of a writer.
#[derive(Clone, Debug)]
pub struct Write {
    kind: WriteKind,
    target: Location,
    body: Bytes,
    /// What the part is when the server has said yes; `None` when it is gone then.
    after: Option<Part>,
}

/// Which request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// POST of a ConfigMap. A conflict means that the name is taken: the first ConfigMap by another
    /// run, any other part by whatever it is ([`WriteOptions::avoid`] it and ask for the writes again).
    Create,
    /// PUT with uid and resourceVersion. A conflict means that another run wrote in between. Not
    /// server-side apply: that could not take lines away which another writer put there.
    Replace,
    /// DELETE with uid and resourceVersion as preconditions. Not found is as good as done.
    Delete,
}

impl Write {
    /// Which request it is.
    pub fn kind(&self) -> WriteKind {
        self.kind
    }

    /// The ConfigMap that it writes.
    pub fn target(&self) -> &Location {
        &self.target
    }

    /// The request's body, compact JSON: the ConfigMap, or the options of a DELETE.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// A write after which there is no part.
    fn new(kind: WriteKind, document: &Document) -> Self {
        let target = Location::new(&document.namespace, &document.name);
        let body = match kind {
            WriteKind::Create | WriteKind::Replace => document.body(),
            WriteKind::Delete => document.delete_body(),
        };
        Self { kind, target, body, after: None }
    }
}

/// `replace ConfigMap default/shop (1204 entries)`.
impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.kind {
            WriteKind::Create => "create",
            WriteKind::Replace => "replace",
            WriteKind::Delete => "delete",
        };
        write!(f, "{verb} ConfigMap {}", self.target)?;
        match &self.after {
            Some(part) => write!(f, " ({} entries)", part.entries.len()),
            None => Ok(()),
        }
    }
}

/// When a part is written. The order is what makes an interrupted writer harmless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// New parts hold new objects, and those that an overfull part will give up.
    New,
    /// So do parts that gain. From here on every object stands in its new place.
    Gain,
    /// The first ConfigMap names the parts from now on.
    First,
    /// Only now may a part lose what stands elsewhere or is gone.
    Shrink,
    /// And only now may a part go.
    Delete,
}

impl Inventory {
    /// The requests that turn what the cluster holds into `target`, to be sent one after the other.
    /// Empty when the cluster holds exactly that.
    ///
    /// After any number of them the parts together name every object that is both in the record and
    /// in `target`, also for a reader that only follows the names in the first ConfigMap.
    pub fn writes(&self, target: &Entries, options: &WriteOptions) -> Vec<Write> {
        let has_first = self.first().is_some();
        let stored: Vec<&Entries> = self.parts.iter().map(|part| &part.entries).collect();
        let bins = layout::lay_out(&stored, has_first, target, options.limits, options.statuses);
        let names = self.part_names(&bins, target, options);

        let index: Vec<&str> = bins
            .iter()
            .zip(&names)
            .skip(1)
            .filter(|(bin, _)| !bin.entries.is_empty())
            .map(|(_, name)| name.as_str())
            .collect();
        let index = index.join(",");
        let mut writes: Vec<(Phase, Write)> = Vec::new();
        for (at, (bin, name)) in bins.into_iter().zip(&names).enumerate() {
            let before = bin.stored.and_then(|at| self.parts.get(at));
            let (phase, write) = match (before, at) {
                (before, 0) => (Phase::First, self.write_first(before, bin, &index, options)),
                (Some(before), _) if bin.entries.is_empty() => {
                    (Phase::Delete, Some(Write::new(WriteKind::Delete, &before.document)))
                }
                (None, _) if bin.entries.is_empty() => continue,
                (Some(before), _) => {
                    let gains = bin.lines.keys().any(|key| !before.document.data.contains_key(key));
                    let phase = if gains { Phase::Gain } else { Phase::Shrink };
                    (phase, self.write_part(before.document.clone(), Some(before), bin))
                }
                (None, _) => {
                    let document = Document::new(self.location.namespace(), name);
                    (Phase::New, self.write_part(document, None, bin))
                }
            };
            writes.extend(write.map(|write| (phase, write)));
        }
        writes.sort_by_key(|(phase, _)| *phase);
        writes.into_iter().map(|(_, write)| write).collect()
    }

    /// The requests that remove the inventory itself, the first ConfigMap last.
    pub fn removal(&self) -> Vec<Write> {
        let parts = self.parts.iter().rev();
        parts.map(|part| Write::new(WriteKind::Delete, &part.document)).collect()
    }

    /// Takes note that the server accepted a write, with the uid and the resourceVersion of its answer
    /// (both unused for a DELETE).
    pub fn wrote(&mut self, write: &Write, uid: &str, resource_version: &str) {
        let is_written = |part: &Part| *part.document.name == *write.target.name();
        let at = self.parts.iter().position(is_written);
        let after = write.after.clone().map(|mut part| {
            part.document.uid = uid.into();
            part.document.resource_version = resource_version.into();
            part
        });
        match (at, after) {
            (Some(at), Some(part)) => self.parts[at] = part,
            (Some(at), None) => {
                self.parts.remove(at);
            }
            (None, Some(part)) if *write.target.name() == *self.location.name() => self.parts.insert(0, part),
            (None, Some(part)) => self.parts.push(part),
            (None, None) => {}
        }
        self.refresh_entries();
    }

    fn first(&self) -> Option<&Part> {
        self.parts.first().filter(|part| *part.document.name == *self.location.name())
    }

    fn write_first(
        &self,
        before: Option<&Part>,
        bin: Bin,
        index: &str,
        options: &WriteOptions,
    ) -> Option<Write> {
        let mut document = before.map_or(&self.fresh, |part| &part.document).clone();
        match index {
            "" => document.annotations.remove(PARTS),
            names => document.annotations.insert(PARTS.to_owned(), names.to_owned()),
        };
        if let Some(run) = &options.run {
            document.annotations.insert(RUN.to_owned(), run.clone());
        }
        self.write(document, before, bin)
    }

    fn write_part(&self, mut document: Document, before: Option<&Part>, bin: Bin) -> Option<Write> {
        document.annotations.insert(PART_OF.to_owned(), self.location.name().to_owned());
        self.write(document, before, bin)
    }

    /// `None` when the cluster holds that already.
    fn write(&self, mut document: Document, before: Option<&Part>, bin: Bin) -> Option<Write> {
        document.labels.insert(ID_LABEL.to_owned(), self.id.to_string());
        document.data = bin.lines;
        if before.is_some_and(|part| part.document == document) {
            return None;
        }
        let kind = if document.exists() { WriteKind::Replace } else { WriteKind::Create };
        let write = Write::new(kind, &document);
        Some(Write { after: Some(Part { document, entries: bin.entries }), ..write })
    }

    /// The name of each bin: its own, or for a new one the next that nothing else has.
    fn part_names(&self, bins: &[Bin], target: &Entries, options: &WriteOptions) -> Vec<String> {
        let set = &self.location;
        let taken = |name: &str| {
            let here = |id: &crate::id::ObjectId| {
                id.name() == name && id.namespace() == set.namespace() && id.group_kind().is("", "ConfigMap")
            };
            self.parts.iter().any(|part| *part.document.name == *name)
                || options.avoid.contains(name)
                || target.keys().any(here)
        };
        let mut fresh = (1..).map(|number| part_name(set.name(), number)).filter(|name| !taken(name));
        bins.iter()
            .enumerate()
            .map(|(at, bin)| match bin.stored.and_then(|stored| self.parts.get(stored)) {
                Some(part) => part.document.name.to_string(),
                None if at == 0 => set.name().to_owned(),
                None => fresh.next().unwrap_or_default(),
            })
            .collect()
    }
}

/// `NAME-3`; a name that leaves no room for that is cut and told apart by a digest.
fn part_name(set: &str, number: usize) -> String {
    const MAX: usize = 253;
    let whole = format!("{set}-{number}");
    if whole.len() <= MAX {
        return whole;
    }
    let digest = &hash::hex(&hash::of(set))[..8];
    let cut: String = set.chars().take(MAX - 24).collect();
    format!("{}-{digest}-{number}", cut.trim_end_matches(['-', '.']))
}
