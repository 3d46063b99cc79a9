use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use kubesettle::cluster::{Propagation, Validation};

use crate::duration;

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Lines for people, good for logs
    #[default]
    #[value(alias = "table")]
    Plain,
    /// One JSON object a line
    Json,
    /// kapply's lines, word for word
    Events,
    /// Nothing but the names of objects, as kubectl prints them
    Name,
}

/// Who says what would be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRunArg {
    /// Nobody: it is done
    None,
    /// We ourselves, by what exists
    Client,
    /// The server, which stores nothing
    Server,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// When the output is a terminal and the environment does not object
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// When a status run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// Every state is known
    #[default]
    Known,
    /// Every object has settled
    #[value(alias = "current")]
    Settled,
    /// Every object is gone
    Deleted,
    /// Not by itself
    Forever,
}

/// What to do about unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Validate {
    #[default]
    Strict,
    Warn,
    Ignore,
}

/// What becomes of what an object owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cascade {
    #[default]
    Background,
    Foreground,
    Orphan,
}

impl From<Validate> for Validation {
    fn from(validate: Validate) -> Self {
        match validate {
            Validate::Strict => Self::Strict,
            Validate::Warn => Self::Warn,
            Validate::Ignore => Self::Ignore,
        }
    }
}

impl From<Cascade> for Propagation {
    fn from(cascade: Cascade) -> Self {
        match cascade {
            Cascade::Background => Self::Background,
            Cascade::Foreground => Self::Foreground,
            Cascade::Orphan => Self::Orphan,
        }
    }
}

/// kubectl's words for `--validate`, older ones included.
pub(crate) fn validate(text: &str) -> Result<Validate, String> {
    const WORDS: &[(&str, Validate)] = &[
        ("strict", Validate::Strict),
        ("warn", Validate::Warn),
        ("ignore", Validate::Ignore),
        ("true", Validate::Strict),
        ("false", Validate::Ignore),
    ];
    one_of(text, WORDS, "strict, warn or ignore")
}

/// The word for it.
pub(crate) fn validate_word(validation: Validation) -> &'static str {
    match validation {
        Validation::Strict => "strict",
        Validation::Warn => "warn",
        Validation::Ignore => "ignore",
    }
}

/// kubectl's words for `--cascade` and kapply's for its propagation policies.
pub(crate) fn cascade(text: &str) -> Result<Cascade, String> {
    const WORDS: &[(&str, Cascade)] = &[
        ("background", Cascade::Background),
        ("foreground", Cascade::Foreground),
        ("orphan", Cascade::Orphan),
        ("true", Cascade::Background),
        ("false", Cascade::Orphan),
    ];
    one_of(text, WORDS, "background, foreground or orphan")
}

/// Booleans as Go reads them.
pub(crate) fn go_bool(text: &str) -> Result<bool, String> {
    const WORDS: &[(&str, bool)] =
        &[("true", true), ("false", false), ("t", true), ("f", false), ("1", true), ("0", false)];
    one_of(text, WORDS, "true or false")
}

fn one_of<T: Copy>(text: &str, words: &[(&str, T)], expected: &str) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or_else(|| format!("expected {expected}"))
}

/// A duration as Go writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoDuration(pub(crate) Duration);

impl FromStr for GoDuration {
    type Err = duration::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        duration::parse(text).map(Self)
    }
}

/// As [`GoDuration`]; a bare number means seconds, as kubectl has it for this one flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestTimeout(pub(crate) Duration);

impl FromStr for RequestTimeout {
    type Err = duration::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(seconds) => Ok(Self(Duration::from_secs(seconds))),
            Err(_) => duration::parse(text).map(Self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_timeout_may_be_bare_seconds() {
        assert_eq!("30".parse(), Ok(RequestTimeout(Duration::from_secs(30))));
        assert_eq!("1m".parse(), Ok(RequestTimeout(Duration::from_secs(60))));
        assert_eq!("0".parse(), Ok(RequestTimeout(Duration::ZERO)));
        assert!("30".parse::<GoDuration>().is_err());
    }

    #[test]
    fn words_are_taken_in_any_case_and_errors_name_the_choice() {
        assert_eq!(cascade("Background"), Ok(Cascade::Background));
        assert_eq!(go_bool("TRUE"), Ok(true));
        assert_eq!(validate("loose"), Err("expected strict, warn or ignore".to_owned()));
    }
}
