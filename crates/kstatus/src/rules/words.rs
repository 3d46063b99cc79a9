//! What words usually mean: the names of conditions, and the words of phases and states.

/// What a word for a state means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// The wanted state.
    Good,
    /// The wanted state of things that serve; on its way for things that run to completion.
    Running,
    /// On its way, or broken in a way that may heal.
    Waiting,
    /// Will not get there by itself.
    Failed,
}

/// State words, in lower case without separators.
pub(super) const STATES: &[(&str, Word)] = &[
    ("accepted", Word::Good),
    ("active", Word::Good),
    ("applied", Word::Good),
    ("assigned", Word::Good),
    ("available", Word::Good),
    ("bound", Word::Good),
    ("complete", Word::Good),
    ("compliant", Word::Good),
    ("connected", Word::Good),
    ("created", Word::Good),
    ("current", Word::Good),
    ("deployed", Word::Good),
    ("done", Word::Good),
    ("enabled", Word::Good),
    ("exists", Word::Good),
    ("finished", Word::Good),
    ("green", Word::Good),
    ("healthok", Word::Good),
    ("healthy", Word::Good),
    ("insync", Word::Good),
    ("live", Word::Good),
    ("normal", Word::Good),
    ("ok", Word::Good),
    ("online", Word::Good),
    ("open", Word::Good),
    ("passed", Word::Good),
    ("ready", Word::Good),
    ("initialized", Word::Good),
    ("running", Word::Running),
    ("stable", Word::Good),
    ("started", Word::Good),
    ("success", Word::Good),
    ("successful", Word::Good),
    ("synced", Word::Good),
    ("true", Word::Good),
    ("up", Word::Good),
    ("uptodate", Word::Good),
    ("valid", Word::Good),
    ("aborted", Word::Failed),
    ("broken", Word::Failed),
    ("dead", Word::Failed),
    ("denied", Word::Failed),
    ("error", Word::Failed),
    ("errored", Word::Failed),
    ("errors", Word::Failed),
    ("failed", Word::Failed),
    ("failure", Word::Failed),
    ("healtherr", Word::Failed),
    ("inerror", Word::Failed),
    ("invalid", Word::Failed),
    ("lost", Word::Failed),
    ("rejected", Word::Failed),
    ("timeout", Word::Failed),
    ("timedout", Word::Failed),
    ("missing", Word::Waiting),
    ("blocked", Word::Waiting),
    ("canceled", Word::Failed),
    ("cancelled", Word::Failed),
    ("degraded", Word::Waiting),
    ("disabled", Word::Waiting),
    ("disconnected", Word::Waiting),
    ("down", Word::Waiting),
    ("expired", Word::Waiting),
    ("false", Word::Waiting),
    ("healthwarn", Word::Waiting),
    ("inactive", Word::Waiting),
    ("inprogress", Word::Waiting),
    ("new", Word::Waiting),
    ("noncompliant", Word::Waiting),
    ("offline", Word::Waiting),
    ("outofsync", Word::Waiting),
    ("paused", Word::Waiting),
    ("pending", Word::Waiting),
    ("progress", Word::Waiting),
    ("queued", Word::Waiting),
    ("red", Word::Waiting),
    ("scheduled", Word::Waiting),
    ("stopped", Word::Waiting),
    ("submitted", Word::Waiting),
    ("suspended", Word::Waiting),
    ("terminated", Word::Waiting),
    ("unknown", Word::Waiting),
    ("wait", Word::Waiting),
    ("warning", Word::Waiting),
    ("yellow", Word::Waiting),
];

/// How words are formed, for those not listed: the form, and what it means.
const FORMS: &[(Form, Word)] = &[
    (Form::Ends("notready"), Word::Waiting),
    (Form::Ends("failed"), Word::Failed),
    (Form::Ends("failure"), Word::Failed),
    (Form::Ends("error"), Word::Failed),
    (Form::Ends("err"), Word::Failed),
    (Form::Starts("failed"), Word::Failed),
    (Form::Starts("error"), Word::Failed),
    (Form::Starts("invalid"), Word::Failed),
    (Form::Starts("not"), Word::Waiting),
    (Form::Starts("un"), Word::Waiting),
    (Form::Starts("waiting"), Word::Waiting),
    (Form::Starts("pending"), Word::Waiting),
    (Form::Ends("pending"), Word::Waiting),
    (Form::Ends("inprogress"), Word::Waiting),
    (Form::Ends("running"), Word::Running),
    (Form::Ends("ing"), Word::Waiting),
    (Form::Ends("paused"), Word::Waiting),
    (Form::Ends("degraded"), Word::Waiting),
    (Form::Ends("ready"), Word::Good),
    (Form::Ends("healthy"), Word::Good),
    (Form::Ends("success"), Word::Good),
    (Form::Ends("successful"), Word::Good),
    (Form::Ends("complete"), Word::Good),
    (Form::Ends("ed"), Word::Good),
];

enum Form {
    Starts(&'static str),
    Ends(&'static str),
}

/// Letters and digits in lower case: `In Progress`, `IN_PROGRESS` and `InProgress` are one word.
/// Words have at most 48 letters; what is longer is a sentence.
pub(crate) fn normal(text: &str) -> Option<String> {
    let word: String = text
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric())
        .map(|letter| letter.to_ascii_lowercase())
        .take(49)
        .collect();
    (!word.is_empty() && word.len() <= 48).then_some(word)
}

/// What a word for a state means, if it is a word at all. Of a sentence or a compound the first
/// word counts (`ScalingDown`, `Provisioning the service`), and a sentence without a good word is
/// no settled state.
pub(crate) fn state(text: &str) -> Option<Word> {
    let word = normal(text)?;
    if let Some((_, meaning)) = STATES.iter().find(|(listed, _)| *listed == word) {
        return Some(*meaning);
    }
    let first = first_part(text);
    if first.len() < word.len() && first.ends_with("ing") {
        return Some(Word::Waiting);
    }
    let has = |form: &Form| match form {
        Form::Starts(start) => word.starts_with(start),
        Form::Ends(end) => word.ends_with(end),
    };
    let formed = FORMS.iter().find(|(form, _)| has(form)).map(|(_, meaning)| *meaning);
    let sentence = text.trim().contains(' ');
    match formed {
        Some(Word::Good) | None if sentence => Some(Word::Waiting),
        other => other,
    }
}

/// The first word of a sentence or of a compound in CamelCase, in lower case.
fn first_part(text: &str) -> String {
    let mut part = String::new();
    for letter in text.trim().chars().take(48) {
        let starts_next = letter.is_ascii_uppercase() && part.ends_with(|l: char| l.is_ascii_lowercase());
        if !letter.is_ascii_alphanumeric() || starts_next {
            break;
        }
        part.push(letter);
    }
    part.to_ascii_lowercase()
}

/// What the truth of a condition means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sense {
    /// True is the wanted state.
    Good,
    /// The same, and it outlives `Ready`: what was asked for must have been taken over.
    Asked,
    /// True is bad, and final.
    Fatal,
    /// True is bad, and may heal.
    Bad,
    /// True is on its way.
    Busy,
    /// Neither: a wish of the user, a property, a fact.
    Neutral,
}

/// Names of conditions, in lower case without separators.
pub(super) const CONDITIONS: &[(&str, Sense)] = &[
    ("accepted", Sense::Asked),
    ("programmed", Sense::Asked),
    ("reconciled", Sense::Asked),
    ("reconcilesuccess", Sense::Asked),
    ("resolvedrefs", Sense::Asked),
    ("synced", Sense::Asked),
    ("valid", Sense::Asked),
    ("admitted", Sense::Good),
    ("applied", Sense::Good),
    ("available", Sense::Good),
    ("bound", Sense::Good),
    ("complete", Sense::Good),
    ("completed", Sense::Good),
    ("configured", Sense::Good),
    ("deployed", Sense::Good),
    ("established", Sense::Good),
    ("healthy", Sense::Good),
    ("initialized", Sense::Good),
    ("installed", Sense::Good),
    ("provisioned", Sense::Good),
    ("failed", Sense::Fatal),
    ("stalled", Sense::Fatal),
    ("ackterminal", Sense::Fatal),
    ("terminal", Sense::Fatal),
    ("invalidspec", Sense::Fatal),
    ("specerror", Sense::Fatal),
    ("conflicted", Sense::Bad),
    ("degraded", Sense::Bad),
    ("erroroccurred", Sense::Bad),
    ("notready", Sense::Bad),
    ("unhealthy", Sense::Bad),
    ("unavailable", Sense::Bad),
    ("deleting", Sense::Busy),
    ("installing", Sense::Busy),
    ("issuing", Sense::Busy),
    ("pending", Sense::Busy),
    ("progressing", Sense::Busy),
    ("reconciling", Sense::Busy),
    ("running", Sense::Busy),
    ("terminating", Sense::Busy),
    ("updating", Sense::Busy),
    ("upgrading", Sense::Busy),
    ("blocked", Sense::Neutral),
    ("deleted", Sense::Neutral),
    ("deprecated", Sense::Neutral),
    ("disabled", Sense::Neutral),
    ("evicted", Sense::Neutral),
    ("expired", Sense::Neutral),
    ("overridden", Sense::Neutral),
    ("paused", Sense::Neutral),
    ("rejected", Sense::Bad),
    ("scaled", Sense::Neutral),
    ("suspended", Sense::Neutral),
    ("terminated", Sense::Neutral),
    ("throttled", Sense::Neutral),
];

/// How names of conditions are formed, for those not listed.
const CONDITION_FORMS: &[(Form, Sense)] = &[
    (Form::Ends("notready"), Sense::Bad),
    (Form::Ends("unavailable"), Sense::Bad),
    (Form::Ends("unhealthy"), Sense::Bad),
    (Form::Ends("error"), Sense::Bad),
    (Form::Ends("failed"), Sense::Bad),
    (Form::Ends("failure"), Sense::Bad),
    (Form::Ends("degraded"), Sense::Bad),
    (Form::Starts("failed"), Sense::Bad),
    (Form::Starts("invalid"), Sense::Bad),
    (Form::Starts("missing"), Sense::Bad),
    (Form::Starts("partially"), Sense::Bad),
    (Form::Ends("orphan"), Sense::Bad),
    (Form::Ends("inprogress"), Sense::Busy),
    (Form::Ends("progressing"), Sense::Busy),
    (Form::Ends("creating"), Sense::Busy),
    (Form::Ends("updating"), Sense::Busy),
    (Form::Ends("deleting"), Sense::Busy),
    (Form::Ends("scaling"), Sense::Busy),
    (Form::Ends("ready"), Sense::Good),
    (Form::Ends("available"), Sense::Good),
    (Form::Ends("healthy"), Sense::Good),
    (Form::Ends("synced"), Sense::Good),
    (Form::Ends("synchronized"), Sense::Good),
    (Form::Ends("succeeded"), Sense::Good),
    (Form::Ends("success"), Sense::Good),
    (Form::Ends("deployed"), Sense::Good),
    (Form::Ends("applied"), Sense::Good),
    (Form::Ends("compliant"), Sense::Good),
    (Form::Ends("valid"), Sense::Good),
    (Form::Ends("uptodate"), Sense::Good),
    (Form::Ends("limited"), Sense::Neutral),
    (Form::Ends("exceeded"), Sense::Neutral),
    (Form::Ends("paused"), Sense::Neutral),
    (Form::Ends("suspended"), Sense::Neutral),
    (Form::Ends("disabled"), Sense::Neutral),
    (Form::Ends("required"), Sense::Neutral),
    (Form::Ends("ed"), Sense::Good),
];

/// What the truth of a condition of this name usually means.
pub(crate) fn condition(name: &str) -> Option<Sense> {
    let word = normal(name)?;
    let listed = CONDITIONS.iter().find(|(listed, _)| *listed == word).map(|(_, sense)| *sense);
    let has = |form: &Form| match form {
        Form::Starts(start) => word.starts_with(start),
        Form::Ends(end) => word.ends_with(end),
    };
    let formed = || CONDITION_FORMS.iter().find(|(form, _)| has(form)).map(|(_, sense)| *sense);
    listed.or_else(formed)
}

/// Ends of the names of kinds that run to completion.
const RUNS: &[&str] = &[
    "Run",
    "Job",
    "Workflow",
    "Task",
    "Backup",
    "Restore",
    "Migration",
    "Test",
    "Experiment",
    "Analysis",
    "Evaluation",
    "Snapshot",
    "Operation",
    "Build",
    "Request",
    "Import",
    "Export",
];

/// Whether a kind of this name usually runs to completion.
pub(crate) fn runs_to_completion(kind: &str) -> bool {
    RUNS.iter().any(|end| kind.ends_with(end))
}
