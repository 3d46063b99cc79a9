//! The part of docs/performance.md that a benchmark owns.

use std::error::Error;
use std::fs;

use super::scenario::Scenario;
use crate::workspace;

/// What is said before the tables.
pub(super) fn preface(scenario: Scenario, counts: &[usize], rounds: usize) -> String {
    let turns = if rounds == 1 { "one run each".to_owned() } else { format!("medians of {rounds} runs") };
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!(
        "\
{}, {turns}; the tools take turns on one control plane
(`cargo xtask bench {} --count {} --rounds {rounds}`). *floor* is the least a client can do: one apply per
object, 16 in flight, and one watch where objects take time to settle (`testing/peers/floor`). *kapply* is the
one that `testing/peers/go.mod` pins. Requests are those of the API server's audit log, bytes those on the wire.
",
        machine(),
        scenario.name(),
        counts.join(",")
    )
}

pub(super) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    match model.trim_start_matches([' ', '\t', ':']) {
        "" => format!("{cores} cores"),
        model => format!("{cores} cores of {model}"),
    }
}

/// Puts `text` between the markers of `bench` in docs/performance.md.
pub(super) fn write(bench: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let path = workspace::root().join("docs").join("performance.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|_| "# Performance\n".to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, placed(&page, bench, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// The page with `text` between the markers, which are added at the end when they are missing.
fn placed(page: &str, bench: &str, text: &str) -> String {
    let (start, end) = (format!("<!-- bench:{bench} -->"), format!("<!-- /bench:{bench} -->"));
    match (page.split_once(&start), page.split_once(&end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{start}\n{text}\n{end}{after}"),
        _ => format!("{}\n\n{start}\n{text}\n{end}\n", page.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = "a\n<!-- bench:s1 -->\nold\n<!-- /bench:s1 -->\nb\n";
        assert_eq!(placed(page, "s1", "new"), "a\n<!-- bench:s1 -->\nnew\n<!-- /bench:s1 -->\nb\n");
        assert_eq!(placed(page, "s2", "x"), format!("{page}\n<!-- bench:s2 -->\nx\n<!-- /bench:s2 -->\n"));
    }
}
