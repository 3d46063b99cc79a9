//! `help`: a command, or a topic that is also a page of the documentation.

use clap::Command;
use kubesettle::error::ExitClass;

use super::Stop;
use crate::exit::Failure;
use crate::print::Page;

const TOPICS: &[(&str, &str)] = &[
    ("exit-codes", include_str!("../../../../docs/exit-codes.md")),
    ("events", include_str!("../../../../docs/events.md")),
    ("custom-rules", include_str!("../../../../docs/custom-rules.md")),
    ("dumps", include_str!("../../../../docs/dumps.md")),
];

/// The help of the program, of a command, or a topic.
pub(crate) fn run(mut program: Command, words: &[String], page: &mut Page) -> Result<ExitClass, Stop> {
    page.out = match words {
        [] => program.render_long_help().to_string(),
        [topic, ..] => match TOPICS.iter().find(|(name, _)| name == topic) {
            Some((_, text)) => (*text).to_owned(),
            None => command(&mut program, topic)?,
        },
    };
    Ok(ExitClass::Ok)
}

fn command(program: &mut Command, name: &str) -> Result<String, Failure> {
    program.build();
    match program.find_subcommand_mut(name) {
        Some(found) => Ok(found.render_long_help().to_string()),
        None => {
            let topics: Vec<_> = TOPICS.iter().map(|(name, _)| *name).collect();
            Err(Failure::usage(format!("there is no help for \"{name}\""))
                .hint(format!("a command, or one of these topics: {}", topics.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use kubesettle::error::ExitClass;

    use super::*;
    use crate::args;

    fn help(words: &[&str]) -> Result<String, Stop> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut page = Page::default();
        run(args::definition(Some(&"kubectl-settle".into())), &words, &mut page).map(|_| page.out)
    }

    #[test]
    fn topics_are_pages_of_the_documentation() {
        let text = help(&["exit-codes"]).expect("a topic");
        for class in [
            ExitClass::Ok,
            ExitClass::Failed,
            ExitClass::Usage,
            ExitClass::TimedOut,
            ExitClass::Unknown,
            ExitClass::Refused,
            ExitClass::Unreachable,
            ExitClass::Interrupted,
            ExitClass::Internal,
        ] {
            let row = format!("| {} | {} |", class.code(), class.as_str());
            assert!(text.contains(&row), "{row}");
        }
    }

    #[test]
    fn commands_have_their_help_under_the_name_they_are_called_by() {
        let text = help(&["apply"]).expect("a command");
        assert!(text.contains("Usage: kubectl settle apply"), "{text}");
        assert!(matches!(help(&["nonsense"]), Err(Stop::Failure(_))));
    }
}
