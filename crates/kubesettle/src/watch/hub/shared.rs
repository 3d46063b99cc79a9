//! One copy of what many targets have alike: how they are looked at, the marks of their set.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Shared<T> {
    values: HashSet<Arc<T>>,
    /// So many were in use when last looked.
    used: usize,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { values: HashSet::new(), used: 0 }
    }
}

impl<T: Hash + Eq> Shared<T> {
    /// The copy that everybody has.
    pub(super) fn share(&mut self, value: T) -> Arc<T> {
        if let Some(value) = self.values.get(&value) {
            return value.clone();
        }
        if self.values.len() >= 2 * self.used + 16 {
            self.values.retain(|value| Arc::strong_count(value) > 1);
            self.values.shrink_to_fit();
            self.used = self.values.len();
        }
        let value = Arc::new(value);
        self.values.insert(value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_one_and_what_nobody_has_any_more_goes() {
        let mut shared = Shared::default();
        let kept = shared.share("a".to_owned());
        assert!(Arc::ptr_eq(&kept, &shared.share("a".to_owned())));
        for number in 0..1_000 {
            shared.share(number.to_string());
        }
        assert!(shared.values.len() < 64);
        assert!(Arc::ptr_eq(&kept, &shared.share("a".to_owned())));
    }
}
