//! Which fault meets which request, as a function of the seed.
//!
//! A request is known by its method and path and how often the same was asked before, not by its place
//! among all: so a replay meets the same faults though requests overtake each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::fault::{About, Dish, Fault, MENU};
use crate::random::Random;

/// How often one request may fail in a row: less than any budget of the product gives up after.
const PER_REQUEST: u32 = 3;

/// The plan of one phase of one seed.
#[derive(Debug)]
pub(crate) struct Schedule {
    seed: u64,
    phase: &'static str,
    /// Places in the menu.
    dishes: Vec<usize>,
    /// In percent.
    probability: u64,
    /// Nothing that may cost a run its success.
    mild: bool,
    /// So many are left.
    budget: u32,
    asked: HashMap<String, u64>,
    served: HashMap<String, u32>,
    rare: HashSet<usize>,
    report: Report,
}

/// What came of a schedule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) requests: u64,
    pub(crate) faults: BTreeMap<&'static str, u64>,
    /// Faults that a run need not survive with success.
    pub(crate) costly: Vec<String>,
}

impl Report {
    pub(crate) fn total(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        for (name, count) in &other.faults {
            *self.faults.entry(name).or_default() += count;
        }
        self.costly.extend(other.costly.iter().cloned());
    }
}

impl Schedule {
    pub(crate) fn quiet() -> Self {
        Self {
            seed: 0,
            phase: "",
            dishes: Vec::new(),
            probability: 0,
            mild: true,
            budget: 0,
            asked: HashMap::new(),
            served: HashMap::new(),
            rare: HashSet::new(),
            report: Report::default(),
        }
    }

    pub(crate) fn of(seed: u64, phase: &'static str) -> Self {
        let mut random = Random::of(seed, phase);
        let share = random.between(15, 60);
        let mut dishes: Vec<usize> = (0..MENU.len()).filter(|_| random.chance(share)).collect();
        if dishes.is_empty() {
            dishes = (0..MENU.len()).collect();
        }
        let (probability, budget) = (random.between(5, 40), random.between(4, 30));
        let (budget, mild) = (u32::try_from(budget).unwrap_or_default(), random.chance(60));
        Self { seed, phase, dishes, probability, mild, budget, ..Self::quiet() }
    }

    /// One of these, on `probability` percent of all requests, without end.
    pub(crate) fn steady(seed: u64, names: &[&str], probability: u64) -> Self {
        let dishes = (0..MENU.len()).filter(|place| names.contains(&MENU[*place].name)).collect();
        Self { seed, phase: "steady", dishes, probability, budget: u32::MAX, ..Self::quiet() }
    }

    /// The fate of the next request.
    pub(crate) fn decide(&mut self, method: &str, path: &str, about: About) -> Option<Fault> {
        self.report.requests += 1;
        let name = format!("{method} {path}");
        let asked = self.asked.entry(name.clone()).or_default();
        let ordinal = std::mem::replace(asked, *asked + 1);
        let enough = self.served.get(&name).is_some_and(|served| *served >= PER_REQUEST);
        if self.budget == 0 || (enough && self.budget < u32::MAX / 2) {
            return None;
        }
        let mut random = Random::of(self.seed, &format!("{} {name} {ordinal}", self.phase));
        if !random.chance(self.probability) {
            return None;
        }
        let fits = |place: &usize| {
            let dish = &MENU[*place];
            dish.fits(about) && !(self.mild && dish.costs(about)) && !self.rare.contains(place)
        };
        let fitting: Vec<usize> = self.dishes.iter().copied().filter(fits).collect();
        let place = *random.pick(&fitting)?;
        let dish: &Dish = &MENU[place];
        if dish.rare {
            self.rare.insert(place);
        }
        self.budget -= 1;
        *self.served.entry(name.clone()).or_default() += 1;
        *self.report.faults.entry(dish.name).or_default() += 1;
        if dish.costs(about) {
            self.report.costly.push(format!("{} on {name}", dish.name));
        }
        Some((dish.make)(&mut random))
    }

    pub(crate) fn report(&self) -> &Report {
        &self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(seed: u64) -> Vec<Option<Fault>> {
        let mut schedule = Schedule::of(seed, "apply");
        let paths = (0..200).map(|number| format!("/api/v1/namespaces/n/configmaps/{}", number % 20));
        paths.map(|path| schedule.decide("PATCH", &path, About::Write)).collect()
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(served(3), served(3));
        assert!((0..20).any(|seed| served(seed) != served(3)));
    }

    #[test]
    fn no_request_fails_more_often_than_a_client_can_bear() {
        for seed in 0..200 {
            let mut schedule = Schedule::of(seed, "apply");
            let faults = (0..100).filter(|_| schedule.decide("GET", "/x", About::Read).is_some()).count();
            assert!(faults <= PER_REQUEST as usize, "seed {seed}: {faults}");
        }
    }

    #[test]
    fn every_dish_is_served_by_some_seed() {
        let mut seen = HashSet::new();
        for seed in 0..400 {
            let mut schedule = Schedule::of(seed, "apply");
            for number in 0..60 {
                for about in [About::Discovery, About::Read, About::Write, About::Watch, About::StreamingList]
                {
                    schedule.decide("X", &format!("/{number}/{about:?}"), about);
                }
            }
            seen.extend(schedule.report().faults.keys().copied());
        }
        assert_eq!(seen.len(), MENU.len());
    }
}
