//! Names that somebody may have meant.

/// The candidates close to `name`, best first, at most three. Case does not count.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = candidates
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, left) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&above, j + 1) + 1).min(at(&row, j) + 1);
            cost = cost.min(at(&above, j) + usize::from(left != *right));
            let swapped = j > 0 && last == Some(*right) && b.get(j - 1) == Some(&left);
            if swapped {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut above, row);
        last = Some(left);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, wanted) in [
            ("", "", 0),
            ("", "ab", 2),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("kitten", "sitting", 3),
            ("ab", "", 2),
        ] {
            assert_eq!(distance(a, b), wanted, "{a} {b}");
        }
    }

    #[test]
    fn the_best_few_come_first() {
        let kinds = ["Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob", "Pod"];
        let near = |name| nearest(name, kinds.into_iter());
        assert_eq!(near("Deploymnet"), ["Deployment"]);
        assert_eq!(near("deployment"), ["Deployment"]);
        assert_eq!(near("Jov"), ["Job"]);
        assert_eq!(near("Widget"), [""; 0]);
    }
}
