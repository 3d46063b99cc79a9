//! Numbered places: what is put in keeps its number until it is taken out. A number is a quarter of a
//! uid and half a pointer, and tables of numbers are the smallest there are.

use std::num::NonZeroU32;

/// The number of a place. An `Option` of it is no larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place(NonZeroU32);

impl Place {
    pub(super) fn new(index: usize) -> Self {
        let number = u32::try_from(index).map_or(u32::MAX, |index| index.saturating_add(1));
        Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Values by number. The numbers of values that are gone are given out again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<Place>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, value: T) -> Place {
        if let Some(free) = self.free.pop()
            && let Some(place) = self.places.get_mut(free.index())
        {
            *place = Some(value);
            return free;
        }
        let place = Place::new(self.places.len());
        if self.places.len() == self.places.capacity() {
            // A quarter: of what doubles, half may stay empty.
            self.places.reserve_exact(self.places.len() / 4 + 4);
        }
        self.places.push(Some(value));
        place
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<T> {
        let value = self.places.get_mut(place.index())?.take()?;
        self.free.push(place);
        Some(value)
    }

    pub(super) fn get(&self, place: Place) -> Option<&T> {
        self.places.get(place.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        self.places.get_mut(place.index())?.as_mut()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, &T)> {
        let numbered = self.places.iter().enumerate();
        numbered.filter_map(|(index, value)| Some((Place::new(index), value.as_ref()?)))
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// True when most places are empty.
    pub(super) fn is_sparse(&self) -> bool {
        self.places.len() > 64 && self.places.len() / 4 > self.len()
    }

    /// Gives back the room at the end that nothing needs.
    pub(super) fn trim(&mut self) {
        let used = self.places.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        if used < self.places.len() {
            self.places.truncate(used);
            self.free.retain(|place| place.index() < used);
            self.free.shrink_to_fit();
        }
        self.places.shrink_to(used + used / 16);
    }

    /// Every value with the number that it had.
    pub(super) fn into_values(self) -> impl Iterator<Item = (Place, T)> {
        let numbered = self.places.into_iter().enumerate();
        numbered.filter_map(|(index, value)| value.map(|value| (Place::new(index), value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_until_its_value_goes_and_is_given_out_again() {
        let mut slab = Slab::default();
        let places: Vec<Place> = ["a", "b", "c"].into_iter().map(|value| slab.insert(value)).collect();
        assert_eq!(slab.remove(places[1]), Some("b"));
        assert_eq!((slab.get(places[0]), slab.get(places[1])), (Some(&"a"), None));
        assert_eq!(slab.remove(places[1]), None);
        assert_eq!((slab.insert("d"), slab.len()), (places[1], 3));
        assert_eq!(slab.into_values().map(|(_, value)| value).collect::<Vec<_>>(), ["a", "d", "c"]);
    }

    #[test]
    fn the_room_behind_the_last_value_is_given_back() {
        let mut slab = Slab::default();
        let places: Vec<Place> = (0..1_000).map(|value| slab.insert(value)).collect();
        assert!(slab.places.capacity() < 1_300);
        for place in places.iter().skip(10) {
            slab.remove(*place);
        }
        assert!(slab.is_sparse());
        slab.trim();
        assert!(!slab.is_sparse() && slab.places.capacity() < 20 && slab.free.is_empty());
        assert_eq!((slab.insert(7).index(), slab.len()), (10, 11));
    }
}
