//! Which object stands in which part.
//!
//! An object stays where it is: a change of the set rewrites the parts that change and no other. Only
//! two things move objects between parts, and both are ordered so that the object is written to its
//! new place before it leaves the old one: a part over the limit gives up its last objects, and the
//! objects of a late part go to earlier ones when they fit there.

use std::collections::{BTreeMap, HashMap};

use super::key;
use super::model::{Entries, Entry};
use crate::id::ObjectId;

/// How much one ConfigMap may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects.
    pub entries: usize,
    /// Bytes of `data` as compact JSON. The server stores about as much again as managed fields, and
    /// takes 1.5 MiB in all.
    pub bytes: usize,
}

impl Default for Limits {
    /// 2,000 objects and 700,000 bytes.
    fn default() -> Self {
        Self { entries: 2_000, bytes: 700_000 }
    }
}

impl Limits {
    /// Everything in one ConfigMap, as kapply has it; too large a set is then refused by the server.
    /// For giving an inventory back.
    pub const ONE_OBJECT: Self = Self { entries: usize::MAX, bytes: usize::MAX };
}

/// The lines of one part.
pub(super) type Lines = BTreeMap<String, String>;

/// One part as it should be.
#[derive(Debug)]
pub(super) struct Bin {
    /// The position among the parts that are stored; `None` for a new one. The first bin is always the
    /// first ConfigMap.
    pub(super) stored: Option<usize>,
    pub(super) entries: Entries,
    pub(super) lines: Lines,
    bytes: usize,
    /// Gives objects away, so that it must not receive any in the same round of writes.
    closed: bool,
}

impl Bin {
    fn new(stored: Option<usize>) -> Self {
        Self { stored, entries: Entries::new(), lines: Lines::new(), bytes: 2, closed: false }
    }

    fn fits(&self, item: &Item, limits: Limits) -> bool {
        let room = self.lines.len() < limits.entries && self.bytes + item.bytes() <= limits.bytes;
        !self.closed && (room || self.lines.is_empty())
    }

    fn over(&self, limits: Limits) -> bool {
        self.lines.len() > 1 && (self.lines.len() > limits.entries || self.bytes > limits.bytes)
    }

    fn put(&mut self, item: Item) {
        self.bytes += item.bytes();
        self.entries.insert(item.id, item.entry);
        self.lines.insert(item.key, item.value);
    }

    fn take_last(&mut self, statuses: bool) -> Option<Item> {
        let (id, entry) = self.entries.pop_last()?;
        let item = Item::new(id, entry, statuses);
        self.lines.remove(&item.key);
        self.bytes -= item.bytes();
        Some(item)
    }

    fn items(&self, statuses: bool) -> Vec<Item> {
        self.entries.iter().map(|(id, entry)| Item::new(id.clone(), *entry, statuses)).collect()
    }
}

struct Item {
    id: ObjectId,
    entry: Entry,
    key: String,
    value: String,
}

impl Item {
    fn new(id: ObjectId, entry: Entry, statuses: bool) -> Self {
        let (key, value) = key::line(&id, &entry, statuses);
        Self { id, entry, key, value }
    }

    /// `"key":"value",` with the escapes that the value needs.
    fn bytes(&self) -> usize {
        let escapes = self.value.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        self.key.len() + self.value.len() + escapes + 6
    }
}

/// Distributes `target` over the stored parts (given by what each holds; `first` says whether the
/// first of them is the first ConfigMap) and as many new ones as it takes. Empty bins other than the
/// first are parts that are no longer needed.
pub(super) fn lay_out(
    stored: &[&Entries],
    first: bool,
    target: &Entries,
    limits: Limits,
    statuses: bool,
) -> Vec<Bin> {
    let mut bins: Vec<Bin> = (0..stored.len()).map(|at| Bin::new(Some(at))).collect();
    let shift = usize::from(!first);
    if !first {
        bins.insert(0, Bin::new(None));
    }
    let mut homes: HashMap<&ObjectId, usize> = HashMap::new();
    for (at, entries) in stored.iter().enumerate() {
        for id in entries.keys() {
            homes.entry(id).or_insert(at + shift);
        }
    }

    let mut homeless = Vec::new();
    for (id, entry) in target {
        let item = Item::new(id.clone(), *entry, statuses);
        match homes.get(id) {
            Some(home) => bins[*home].put(item),
            None => homeless.push(item),
        }
    }
    for bin in &mut bins {
        while bin.over(limits) {
            bin.closed = true;
            homeless.extend(bin.take_last(statuses));
        }
    }
    homeless.sort_by(|a, b| a.id.cmp(&b.id));
    let mut at = 0;
    for item in homeless {
        while bins.get(at).is_some_and(|bin| !bin.fits(&item, limits)) {
            at += 1;
        }
        if at == bins.len() {
            bins.push(Bin::new(None));
        }
        bins[at].put(item);
    }
    for late in (1..bins.len()).rev() {
        empty_into_earlier(&mut bins, late, limits, statuses);
    }
    bins
}

/// Moves all objects of a late bin to earlier ones that are in use, if they all fit there.
fn empty_into_earlier(bins: &mut [Bin], late: usize, limits: Limits, statuses: bool) {
    let (earlier, rest) = bins.split_at_mut(late);
    let Some(bin) = rest.first_mut() else { return };
    let mut open: Vec<usize> = (0..earlier.len())
        .filter(|at| *at == 0 || !earlier[*at].lines.is_empty())
        .filter(|at| !earlier[*at].closed)
        .collect();
    let room = |at: &usize| {
        let bin = &earlier[*at];
        (limits.entries.saturating_sub(bin.lines.len()), limits.bytes.saturating_sub(bin.bytes))
    };
    let mut rooms: Vec<(usize, usize)> = open.iter().map(room).collect();
    let items = bin.items(statuses);
    let mut places = Vec::with_capacity(items.len());
    for item in &items {
        let fitting = rooms.iter().position(|(entries, bytes)| *entries > 0 && *bytes >= item.bytes());
        let Some(place) = fitting else { return };
        rooms[place].0 -= 1;
        rooms[place].1 -= item.bytes();
        places.push(open[place]);
        // Full bins in front are not looked at again.
        if place == 0 && rooms[0].0 == 0 {
            rooms.remove(0);
            open.remove(0);
        }
    }
    for (item, place) in items.into_iter().zip(places) {
        earlier[place].put(item);
    }
    // What it gave away stays there until the last write of the round, which deletes it.
    let stored = bin.stored;
    *bin = Bin { closed: true, ..Bin::new(stored) };
}
