use std::collections::BTreeSet;

use super::super::{Entries, Fate, Limits, Outcomes, WriteOptions, after, before};
use super::*;

/// A cluster with objects of ours and their record, and a process that may be killed.
#[derive(Clone, Default)]
struct World {
    server: Server,
    live: BTreeSet<ObjectId>,
    /// Requests until the process is killed.
    left: usize,
}

struct Killed;

impl World {
    /// One request; before and after each, everything that lives must be on record.
    fn step(&mut self, act: impl FnOnce(&mut Self)) -> Result<(), Killed> {
        self.left = self.left.checked_sub(1).ok_or(Killed)?;
        act(self);
        let record = self.server.read(&set("inv"));
        for id in &self.live {
            assert!(record.entries().contains_key(id), "{id} lives and is on no record");
        }
        Ok(())
    }

    fn write(&mut self, inventory: &mut Inventory, target: &Entries) -> Result<(), Killed> {
        let limits = Limits { entries: 3, bytes: usize::MAX };
        let options = WriteOptions { limits, run: Some("r".to_owned()), ..WriteOptions::default() };
        for write in inventory.writes(target, &options) {
            self.step(|world| {
                let (uid, version) = world.server.send(&write);
                inventory.wrote(&write, &uid, &version);
            })?;
        }
        Ok(())
    }

    fn apply(&mut self, input: &[ObjectId]) -> Result<(), Killed> {
        let mut inventory = self.server.read(&set("inv"));
        let old = inventory.entries().clone();
        let written = before(&old, input);
        self.write(&mut inventory, &written)?;
        let mut outcomes = Outcomes::new();
        for id in input {
            self.step(|world| {
                world.live.insert(id.clone());
            })?;
            outcomes.tell(id, Fate::Applied);
        }
        for id in old.keys().filter(|id| !input.contains(id)) {
            self.step(|world| {
                world.live.remove(id);
            })?;
            outcomes.tell(id, Fate::Gone);
        }
        self.write(&mut inventory, &after(&old, &written, &outcomes))
    }
}

#[test]
fn a_run_killed_after_any_request_is_made_good_by_the_next() {
    let first: Vec<ObjectId> = (0..8).map(|n| cm(&format!("o{n}"))).collect();
    // Two more, one changed, two fewer; and a set that shrinks from three parts to one.
    let second: Vec<ObjectId> = (2..10).map(|n| cm(&format!("o{n}"))).collect();
    let third = second[..2].to_vec();
    let mut start = World { left: usize::MAX, ..World::default() };
    assert!(start.apply(&first).is_ok());
    for input in [&second, &third] {
        for kill in 0..100 {
            let mut world = World { left: kill, ..start.clone() };
            let survived = world.apply(input).is_ok();
            world.left = usize::MAX;
            assert!(world.apply(input).is_ok());
            assert_eq!(world.live, input.iter().cloned().collect());
            assert!(world.server.read(&set("inv")).entries().keys().eq(input.iter()));
            assert!(world.server.read(&set("inv")).notes().is_empty());
            if survived {
                assert!(kill > input.len(), "the runs were killed at every request before");
                break;
            }
            assert!(kill < 99);
        }
    }
}
