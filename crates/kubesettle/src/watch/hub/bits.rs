//! Sets of targets, a bit for each target of the hub.

use crate::watch::slab::Place;

#[derive(Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    count: usize,
}

impl Bits {
    /// True when it was not in yet.
    pub(super) fn insert(&mut self, place: Place) -> bool {
        let (word, bit) = at(place);
        if word >= self.words.len() {
            self.words.reserve_exact(word + word / 4 + 1 - self.words.len());
            self.words.resize(word + 1, 0);
        }
        let Some(bits) = self.words.get_mut(word) else { return false };
        let new = *bits & bit == 0;
        *bits |= bit;
        self.count += usize::from(new);
        new
    }

    /// True when it was in.
    pub(super) fn remove(&mut self, place: Place) -> bool {
        let (word, bit) = at(place);
        let Some(bits) = self.words.get_mut(word).filter(|bits| **bits & bit != 0) else { return false };
        *bits &= !bit;
        self.count -= 1;
        true
    }

    pub(super) fn contains(&self, place: Place) -> bool {
        let (word, bit) = at(place);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// From the first place to the last.
    pub(super) fn iter(&self) -> impl Iterator<Item = Place> {
        self.words.iter().enumerate().flat_map(|(word, bits)| {
            let rest = std::iter::successors(Some(*bits), |bits| Some(bits & bits.wrapping_sub(1)));
            rest.take_while(|bits| *bits != 0)
                .map(move |bits| Place::new(word * 64 + bits.trailing_zeros() as usize))
        })
    }
}

fn at(place: Place) -> (usize, u64) {
    (place.index() / 64, 1 << (place.index() % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_in_once_and_in_order_until_it_is_taken_out() {
        let mut bits = Bits::default();
        let indices = [200, 0, 63, 64, 65, 127, 128];
        assert!(indices.iter().all(|index| bits.insert(Place::new(*index))));
        assert!(!bits.insert(Place::new(63)));
        assert_eq!(bits.iter().map(Place::index).collect::<Vec<_>>(), [0, 63, 64, 65, 127, 128, 200]);
        assert!(bits.remove(Place::new(64)) && !bits.remove(Place::new(64)) && !bits.remove(Place::new(999)));
        assert!(bits.contains(Place::new(65)) && !bits.contains(Place::new(64)));
        assert_eq!((bits.len(), bits.is_empty()), (6, false));
        assert_eq!(indices.iter().filter(|index| bits.remove(Place::new(**index))).count(), 6);
        assert!(bits.is_empty() && bits.iter().next().is_none());
    }
}
