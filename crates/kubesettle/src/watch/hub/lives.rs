//! Which targets an object is, by its uid: nearly always one, but a server may serve one object
//! under several groups.

use std::collections::HashMap;

use kstatus::Uid;

use crate::id::ObjectId;

#[derive(Debug, Default)]
pub(super) struct Lives {
    first: HashMap<Uid, ObjectId>,
    more: HashMap<Uid, Vec<ObjectId>>,
}

impl Lives {
    pub(super) fn insert(&mut self, uid: Uid, target: ObjectId) {
        if self.of(uid).any(|known| *known == target) {
            return;
        }
        match self.first.get(&uid) {
            None => drop(self.first.insert(uid, target)),
            Some(_) => self.more.entry(uid).or_default().push(target),
        }
    }

    pub(super) fn remove(&mut self, uid: Uid, target: &ObjectId) {
        if let Some(more) = self.more.get_mut(&uid) {
            more.retain(|known| known != target);
            if more.is_empty() {
                self.more.remove(&uid);
            }
        }
        if self.first.get(&uid) != Some(target) {
            return;
        }
        self.first.remove(&uid);
        if let Some(next) = self.more.get_mut(&uid).and_then(Vec::pop) {
            self.first.insert(uid, next);
        }
    }

    pub(super) fn of(&self, uid: Uid) -> impl Iterator<Item = &ObjectId> {
        self.first.get(&uid).into_iter().chain(self.more.get(&uid).into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::GroupKind;

    fn event(group: &str) -> ObjectId {
        ObjectId::new(GroupKind::new(group, "Event"), "n", "e")
    }

    #[test]
    fn an_object_may_be_several_targets_and_each_goes_by_itself() {
        let (uid, groups) = (Uid::parse("u"), ["", "events.k8s.io", "other"]);
        for gone in groups {
            let mut lives = Lives::default();
            for group in groups.iter().chain(&groups) {
                lives.insert(uid, event(group));
            }
            lives.remove(uid, &event(gone));
            let mut left: Vec<_> = lives.of(uid).map(ObjectId::group).collect();
            left.sort_unstable();
            assert_eq!(left, groups.into_iter().filter(|group| *group != gone).collect::<Vec<_>>());
            for group in groups {
                lives.remove(uid, &event(group));
            }
            assert!(lives.first.is_empty() && lives.of(uid).next().is_none());
        }
    }
}
