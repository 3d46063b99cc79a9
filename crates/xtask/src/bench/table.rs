//! The tables of one benchmark as Markdown: a column per tool, a line per figure, then ratios.

use std::fmt::Write as _;

use super::measure::Sample;
use super::tool::{Phase, Tool};

/// Two tools of which the first is divided by the second.
const RATIOS: [(Tool, Tool); 3] =
    [(Tool::Kubesettle, Tool::Floor), (Tool::Kubesettle, Tool::Kapply), (Tool::Kapply, Tool::Floor)];

/// A line of the table: what, how it is printed, and where it comes from.
struct Figure {
    title: &'static str,
    unit: &'static str,
    decimals: usize,
    of: fn(&Sample) -> f64,
}

const FIGURES: [Figure; 9] = [
    Figure { title: "wall", unit: " s", decimals: 1, of: |sample| sample.wall },
    Figure { title: "own CPU", unit: " s", decimals: 2, of: |sample| sample.cpu },
    Figure { title: "peak memory", unit: " MiB", decimals: 0, of: |sample| sample.memory },
    Figure { title: "requests", unit: "", decimals: 0, of: |sample| sample.total() as f64 },
    Figure { title: "bytes from the server", unit: " MB", decimals: 1, of: |sample| sample.received },
    Figure { title: "bytes to the server", unit: " MB", decimals: 1, of: |sample| sample.sent },
    Figure { title: "connections", unit: "", decimals: 0, of: |sample| sample.connections },
    Figure { title: "CPU of the API server", unit: " s", decimals: 1, of: |sample| sample.server_cpu },
    Figure { title: "CPU of etcd", unit: " s", decimals: 1, of: |sample| sample.etcd_cpu },
];

/// One table per phase.
pub(super) fn markdown(rows: &[(Tool, Phase, Sample)]) -> String {
    let mut text = String::new();
    for phase in Phase::ALL {
        // The same order whichever tool had the first turn.
        let samples: Vec<_> = Tool::ALL
            .into_iter()
            .filter_map(|tool| rows.iter().find(|(of, in_phase, _)| (*of, *in_phase) == (tool, phase)))
            .map(|(tool, _, sample)| (*tool, sample))
            .collect();
        if !samples.is_empty() {
            let _ = writeln!(text, "\n### {}\n", capitalised(phase.title()));
            table(&mut text, &samples);
        }
    }
    text
}

fn table(text: &mut String, samples: &[(Tool, &Sample)]) {
    let sample = |tool| samples.iter().find(|(of, _)| *of == tool).map(|(_, sample)| *sample);
    let ratios: Vec<_> =
        RATIOS.into_iter().filter_map(|(one, two)| Some(((one, two), sample(one)?, sample(two)?))).collect();

    let names = samples.iter().map(|(tool, _)| tool.to_string());
    let pairs = ratios.iter().map(|((one, two), ..)| format!("{one} ÷ {two}"));
    line(text, "", names.chain(pairs));
    line(text, "---", std::iter::repeat_n("---:".to_owned(), samples.len() + ratios.len()));
    for Figure { title, unit, decimals, of } in FIGURES {
        let figures = samples.iter().map(|(_, sample)| format!("{:.decimals$}{unit}", of(sample)));
        line(text, title, figures.chain(ratios.iter().map(|(_, one, two)| ratio(of(one), of(two)))));
    }
    text.push('\n');
    for (tool, sample) in samples {
        let verbs: Vec<String> =
            sample.requests.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
        let _ = writeln!(text, "- requests of {tool}: {}", verbs.join(", "));
    }
}

fn line(text: &mut String, title: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
}

fn ratio(one: f64, two: f64) -> String {
    if two > 0.0 { format!("{:.2}", one / two) } else { "–".to_owned() }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wall: f64) -> Sample {
        Sample { wall, cpu: wall, ..Sample::default() }
    }

    #[test]
    fn tools_stand_side_by_side_with_their_ratios() {
        let text = markdown(&[
            (Tool::Kapply, Phase::Apply, sample(80.0)),
            (Tool::Floor, Phase::Apply, sample(20.0)),
            (Tool::Kubesettle, Phase::Apply, sample(21.0)),
        ]);
        let head =
            "|  | floor | kubesettle | kapply | kubesettle ÷ floor | kubesettle ÷ kapply | kapply ÷ floor |";
        assert!(text.contains(head), "{text}");
        assert!(text.contains("| wall | 20.0 s | 21.0 s | 80.0 s | 1.05 | 0.26 | 4.00 |"), "{text}");
    }

    #[test]
    fn a_tool_that_skips_a_phase_has_no_column_in_it() {
        let text = markdown(&[(Tool::Kapply, Phase::Destroy, sample(30.0))]);
        assert!(text.contains("### Destroy\n\n|  | kapply |\n| --- | ---: |\n| wall | 30.0 s |\n"), "{text}");
    }
}
