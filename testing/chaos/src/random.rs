//! Numbers that follow from a seed: the same on every machine and in every build.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    #[cfg(test)]
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for one thing, whatever the others have used up.
    pub(crate) fn of(seed: u64, thing: &str) -> Self {
        // FNV-1a: spreads names; the generator mixes further.
        let name = thing.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Self(seed ^ name).next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of several; `None` of nothing.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let index = self.next().checked_rem(of.len() as u64)?;
        of.get(usize::try_from(index).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn things_of_one_seed_are_independent() {
        let (mut one, mut other) = (Random::of(7, "a"), Random::of(7, "b"));
        assert_ne!(one.next(), other.next());
        assert_eq!(Random::of(7, "a").next(), Random::of(7, "a").next());
    }
}
