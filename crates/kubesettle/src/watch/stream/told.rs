//! What a loop makes of each object: a digest, an edge, a note, or nothing.

use std::borrow::Cow;
use std::sync::Arc;

use kstatus::EventNote;

use super::{Change, Runner};
use crate::cluster::Scope;
use crate::watch::Marks;
use crate::watch::machine::older;
use crate::watch::wanted::{Keep, Sight};
use crate::watch::wire::{Item, Undecodable};

/// What an object says to be whose metadata alone was sent.
const PARTIAL: &str = "PartialObjectMetadata";

impl Runner {
    /// `listed`: by the end of a list.
    pub(super) fn told_up_to(&mut self, version: &str, listed: bool) {
        if listed && self.version.as_deref().is_some_and(|before| older(version, before)) {
            self.changes.push(Change::Rewound);
        }
        self.version = Some(version.into());
        self.changes.push(Change::Version(version.into()));
    }

    /// Takes an event of a stream.
    pub(super) fn told(&mut self, item: &Item<'_>, synced: bool, sight: Sight) {
        self.undecodable = 0;
        if synced || sight == Sight::Deleted {
            self.version = Some((*item.version).into());
        }
        self.tell(item, if synced || sight == Sight::Deleted { sight } else { Sight::Listed });
    }

    pub(super) fn tell(&mut self, item: &Item<'_>, sight: Sight) {
        self.unseen.remove(&item.namespace, &item.name);
        if !self.was_asked_for(&item.kind, &item.namespace, &item.name) {
            let (kind, namespace, name) = (&item.kind, &item.namespace, &item.name);
            return self.pass_over(&format!("{kind} {namespace}/{name}, which was not asked for"));
        }
        let uid = item.uid;
        let owner = match self.filter.keep(item, sight) {
            Keep::Digest => {
                self.digest(item);
                item.controller.as_ref().map(|controller| controller.uid)
            }
            Keep::Edge(owner) => {
                if sight != Sight::Deleted {
                    self.changes.push(Change::Stranger { uid, owner: Some(owner) });
                }
                Some(owner)
            }
            Keep::Note if sight != Sight::Deleted => {
                let note = EventNote::read(item.json.as_bytes()).filter(EventNote::may_count);
                self.changes.extend(note.map(|note| Change::Note(uid, Box::new(note))));
                return;
            }
            Keep::Note => None,
            Keep::Nothing if sight == Sight::Listed || !self.filter.has_generated() => return,
            Keep::Nothing => {
                self.changes.push(Change::Stranger { uid, owner: None });
                return;
            }
        };
        if sight == Sight::Deleted {
            self.changes.push(Change::Version((*item.version).into()));
            self.changes.push(Change::Gone { uid, owner });
        }
    }

    fn digest(&mut self, item: &Item<'_>) {
        match self.task.rules.digest_as(&self.task.kind, item.json.as_bytes()) {
            Ok(digest) => {
                self.changes.extend(marks(item).map(Change::Marks));
                self.changes.push(Change::Upsert(Arc::new(digest)));
            }
            Err(error) => {
                let who = Some((item.namespace.to_string(), item.name.to_string()));
                self.unreadable(&Undecodable { what: error.to_string(), who });
            }
        }
    }

    /// Of this kind, and in the scope of this loop.
    fn was_asked_for(&self, kind: &str, namespace: &str, name: &str) -> bool {
        let kinds = ["", PARTIAL, self.task.resource.kind()];
        kinds.contains(&kind) && in_scope(&self.task.scope, namespace, name)
    }

    /// Counts what cannot be read; of a wanted object it says that nobody can tell.
    pub(super) fn unreadable(&mut self, error: &Undecodable) {
        let Some((namespace, name)) = &error.who else { return self.pass_over(&error.what) };
        if self.filter.interest().named(namespace, name) && in_scope(&self.task.scope, namespace, name) {
            let (namespace, name) = (namespace.as_str().into(), name.as_str().into());
            let why = format!("what the server says of it cannot be read: {}", error.what).into();
            self.changes.push(Change::Unreadable { namespace, name, why });
        }
        self.pass_over(&format!("{namespace}/{name}: {}", error.what));
    }

    /// Says it the first time, the tenth, the hundredth and so on.
    pub(super) fn pass_over(&mut self, what: &str) {
        self.passed_over = self.passed_over.saturating_add(1);
        let count = self.passed_over;
        tracing::debug!(count, what, "passed over");
        if 10_u32.pow(count.ilog10()) == count {
            let times = if count == 1 { String::new() } else { format!(" ({count} times so far)") };
            let said = format!("what the server sent was passed over{times}: {what}");
            self.changes.push(Change::PassedOver(said.into()));
        }
    }
}

fn marks(item: &Item<'_>) -> Option<Box<Marks>> {
    let read = |value: &Option<Cow<'_, str>>| value.as_deref().map(Box::from);
    let marks = Marks {
        owner: read(&item.annotations.owner),
        on_remove: read(&item.annotations.on_remove),
        deletion: read(&item.annotations.deletion),
        depends_on: read(&item.annotations.depends_on),
        mutation: read(&item.annotations.mutation),
        part_of: read(&item.labels.part_of),
    };
    (marks != Marks::default()).then(|| Box::new(marks))
}

fn in_scope(scope: &Scope, namespace: &str, name: &str) -> bool {
    match scope {
        Scope::Cluster => true,
        Scope::Labels { namespace: of, .. } => of.is_empty() || namespace == &**of,
        Scope::Namespace(wanted) => *namespace == **wanted,
        Scope::Name { namespace: wanted, name: only } => *namespace == **wanted && *name == **only,
    }
}
