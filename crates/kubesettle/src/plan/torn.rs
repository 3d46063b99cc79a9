//! Objects that stay and need one that left the input: neither of the two is touched.

use std::collections::HashMap;

use super::{Decision, Live, Step};
use crate::event::Skip;
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{Fate, Strategy};

/// Decides about them. `strict`: an object is left alone also where the one that it needs is kept for
/// some other reason.
pub(super) fn part(wanted: &mut [Step], leaving: &mut [Step], live: &HashMap<ObjectId, Live>, strict: bool) {
    let index: HashMap<ObjectId, usize> =
        leaving.iter().enumerate().map(|(at, step)| (step.id().clone(), at)).collect();
    if index.is_empty() {
        return;
    }
    let definitions: HashMap<&GroupKind, usize> = leaving
        .iter()
        .enumerate()
        .filter_map(|(at, step)| Some((live.get(step.id())?.defines.as_ref()?, at)))
        .collect();
    let mut needed: Vec<(usize, ObjectId)> = Vec::new();
    for step in wanted {
        let found = needs(step).filter_map(|id| index.get(&id).copied());
        let found = found.chain(definitions.get(step.id().group_kind()).copied());
        let torn: Vec<usize> = found.filter(|at| strict || leaving[*at].decision == Decision::Go).collect();
        let Some(first) = torn.first() else { continue };
        if step.decision == Decision::Go {
            let skip = Skip::Leaving { needs: leaving[*first].id().clone() };
            step.decision = Decision::Skip { skip, fate: Fate::Skipped(Strategy::Apply) };
        }
        needed.extend(torn.into_iter().map(|at| (at, step.id().clone())));
    }
    for (at, by) in needed {
        if leaving[at].decision == Decision::Go {
            let skip = Skip::Needed { by };
            leaving[at].decision = Decision::Skip { skip, fate: Fate::Skipped(Strategy::Delete) };
        }
    }
}

/// What an object says it needs, and the namespace it lives in.
fn needs(step: &Step) -> impl Iterator<Item = ObjectId> {
    let namespace = match step.id().namespace() {
        "" => None,
        name => Some(ObjectId::new(GroupKind::new("", "Namespace"), "", name)),
    };
    let object = step.object.iter();
    let declared = object.flat_map(|object| {
        let sources = object.substitutions().iter().map(|substitution| substitution.source.clone());
        object.depends_on().iter().cloned().chain(sources)
    });
    declared.chain(namespace)
}
