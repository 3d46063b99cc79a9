//! What a run of `cargo test` says about itself.

/// Tests of one step, over all its test binaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) ignored: usize,
    /// Names of failed tests.
    pub(super) failures: Vec<String>,
}

impl Counts {
    /// Takes in one line of output.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += number_before(counts, " passed");
            self.failed += number_before(counts, " failed");
            self.ignored += number_before(counts, " ignored");
        } else if let Some(failed) = line.strip_suffix(" failed").filter(|line| line.contains(" passed, ")) {
            // The last line of a program of ours.
            self.passed += number_before(line, " passed");
            self.failed += failed.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }

    /// The counts of a step that failed: one failure at least, also when no test was reached.
    pub(super) fn with_failure(mut self) -> Self {
        self.failed = self.failed.max(1);
        self
    }
}

/// The number that stands right before `word`.
fn number_before(text: &str, word: &str) -> usize {
    text.split_once(word)
        .and_then(|(before, _)| before.rsplit(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_binaries_add_up() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test b::c ... FAILED",
            "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.26s",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.26s",
            "48 passed, 2 failed",
        ] {
            counts.read(line);
        }
        let failures = vec!["b::c".to_owned()];
        assert_eq!(counts, Counts { passed: 61, failed: 3, ignored: 1, failures });
    }

    #[test]
    fn a_failed_step_without_tests_counts_as_one_failure() {
        assert_eq!(Counts::default().with_failure().failed, 1);
        assert_eq!(Counts { failed: 3, ..Counts::default() }.with_failure().failed, 3);
    }
}
