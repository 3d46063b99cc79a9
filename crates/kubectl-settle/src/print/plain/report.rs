//! What stands at the end: the totals, then one entry for each thing that went wrong.

use std::collections::HashMap;

use kstatus::{Cause, Status, Verdict};
use kubesettle::error::ApiError;
use kubesettle::event::{Conclusion, ObjectSummary, Operation, Skip};
use kubesettle::id::ObjectId;

use super::{Plain, push, totals};
use crate::print::Page;
use crate::print::next;
use crate::print::style::Tone;
use crate::print::text::{count, lines, listing, one_line};
use crate::print::words::main_cause;

/// How many objects a list names.
const NAMES: usize = 10;
/// How many fields of an error, and further causes, an entry shows.
const DETAILS: usize = 5;

/// Writes the totals and the entries.
pub(super) fn write(plain: &Plain, page: &mut Page) {
    let troubles = troubles(plain);
    let blocked = blocked(plain);
    let fine = troubles.is_empty() && plain.summary.unfinished().next().is_none();
    if plain.options.quiet && fine {
        return;
    }
    push(page, "");
    push(page, &plain.options.palette.paint(Tone::Strong, &totals::line(&plain.summary, plain.rehearsed)));
    for (message, times) in plain.warnings.iter().filter(|(_, times)| **times > 1) {
        push(page, &format!("the same warning {} more: {}", times_word(times - 1), one_line(message)));
    }
    for entry in &troubles {
        push(page, "");
        entry.write(plain, &blocked, page);
    }
    let cancelled = plain.summary.objects().iter().filter(|object| is_cancelled(object));
    let names = names(cancelled.map(|object| &object.id));
    if !names.is_empty() {
        push(page, "");
        push(page, &format!("unfinished when interrupted: {names}"));
    }
}

fn times_word(times: usize) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

fn is_cancelled(object: &ObjectSummary) -> bool {
    object.conclusion == Some(Conclusion::Cancelled)
}

/// One thing that went wrong, with the objects it happened to.
struct Entry<'a> {
    title: String,
    /// Objects with the same key have the same trouble.
    key: String,
    rank: u8,
    objects: Vec<&'a ObjectSummary>,
}

impl Entry<'_> {
    fn write(&self, plain: &Plain, blocked: &Blocked<'_>, page: &mut Page) {
        let [first, rest @ ..] = self.objects.as_slice() else { return };
        let who = match rest {
            [] => format!("{:#}", first.id),
            _ => count(self.objects.len(), "object"),
        };
        let heading = format!("{who}: {}{}", self.title, self.since(plain).unwrap_or_default());
        push(page, &plain.options.palette.paint(Tone::Bad, &heading));
        let mut detail = |text: String| push(page, &format!("  {text}"));
        if !rest.is_empty() {
            detail(names(self.objects.iter().map(|object| &object.id)));
            detail(format!("the first, {:#}:", first.id));
        }
        for line in details(first) {
            detail(line);
        }
        if let Some(place) = plain.options.places.get(&first.id) {
            detail(format!("from {place}"));
        }
        let blocked = self.objects.iter().filter_map(|object| blocked.get(&object.id)).flatten();
        let blocked = names(blocked.copied());
        if !blocked.is_empty() {
            detail(format!("skipped because of it: {blocked}"));
        }
        if let Some(command) = next::step(&plain.options.kubectl, first) {
            detail(format!("next: {command}"));
        }
    }
}

impl Entry<'_> {
    /// Since when the cause has been seen, on the object where it was first.
    fn since(&self, plain: &Plain) -> Option<String> {
        let acted = |object: &ObjectSummary| object.error().is_some() || object.skip().is_some();
        let states = self.objects.iter().filter(|object| !acted(object));
        let causes = states.filter_map(|object| object.verdict.as_ref().and_then(main_cause));
        let since = causes.filter_map(|cause| cause.since).min()?;
        Some(format!(" since {}", plain.clock.since(since)))
    }
}

/// All entries, the certain failures first; objects with the same trouble share one.
fn troubles(plain: &Plain) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for object in plain.summary.objects() {
        let Some(entry) = trouble(plain, object) else { continue };
        match index.get(&entry.key) {
            Some(at) => entries[*at].objects.push(object),
            None => {
                index.insert(entry.key.clone(), entries.len());
                entries.push(entry);
            }
        }
    }
    entries.sort_by_key(|entry| entry.rank);
    entries
}

fn trouble<'a>(plain: &Plain, object: &'a ObjectSummary) -> Option<Entry<'a>> {
    let verdict = object.verdict.as_ref();
    let (rank, title) = if let Some((action, error)) = object.error() {
        (0, format!("{} failed, {}", action.as_str(), error.class.as_str()))
    } else if let Some((_, skip)) = object.skip() {
        (4, format!("skipped, {}", skip_title(plain, skip)?))
    } else {
        let looked_only = plain.operation == Operation::Status;
        let failed = verdict.is_some_and(|v| v.status == Status::Failed);
        let unknown = verdict.is_none_or(|v| v.status == Status::Unknown);
        match object.conclusion.as_ref()? {
            Conclusion::Failed => (1, state_title("failed", verdict)),
            Conclusion::TimedOut => (2, state_title("timed out", verdict)),
            Conclusion::Unknown => (3, state_title("state unknown", verdict)),
            Conclusion::NotAwaited if looked_only && failed => (1, state_title("failed", verdict)),
            Conclusion::NotAwaited if looked_only && unknown => (3, state_title("state unknown", verdict)),
            _ => return None,
        }
    };
    let key = format!("{rank} {title} {}", without_names(object));
    Some(Entry { title, key, rank, objects: vec![object] })
}

/// A skip for a dependency is told with the object where it began, if that has an entry.
fn skip_title(plain: &Plain, skip: &Skip) -> Option<String> {
    match skip {
        Skip::Dependency { chain, .. } => {
            let root = chain.last().and_then(|id| plain.summary.get(id));
            let told = root.is_some_and(|root| root.skip().is_none() && trouble(plain, root).is_some());
            let interrupted = root.is_some_and(is_cancelled);
            (!told && !interrupted).then(|| "a dependency did not get there".to_owned())
        }
        Skip::Refused { message, hint } => Some(format!("{message}; {hint}")),
        _ => None,
    }
}

fn state_title(end: &str, verdict: Option<&Verdict>) -> String {
    match (verdict.and_then(main_cause), verdict) {
        (Some(cause), _) => format!("{end}, {}", cause.code),
        (None, Some(verdict)) => format!("{end}, {}", one_line(verdict.reason.as_str())),
        (None, None) => end.to_owned(),
    }
}

/// What went wrong, without the names that differ between objects with the same trouble.
fn without_names(object: &ObjectSummary) -> String {
    let verdict = object.verdict.as_ref();
    let mut text = match (object.error(), object.skip(), verdict.and_then(main_cause)) {
        (Some((_, error)), ..) => error.message.to_string(),
        (_, Some((_, skip)), _) => skip.to_string(),
        (_, _, Some(cause)) => cause.message.clone(),
        _ => verdict.map(|verdict| verdict.message.clone()).unwrap_or_default(),
    };
    let chain = verdict.and_then(main_cause).map(|cause| cause.chain.as_slice()).unwrap_or_default();
    for link in chain {
        text = without(&text, &link.name);
    }
    without(&text, object.id.name())
}

/// The text with `*` wherever the name stands as a word of its own.
fn without(text: &str, name: &str) -> String {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(name).filter(|_| !name.is_empty()) {
        let part_of_word = before.ends_with(inside) || after.starts_with(inside);
        result.push_str(before);
        result.push_str(if part_of_word { name } else { "*" });
        rest = after;
    }
    result + rest
}

/// Some names; the namespace once where it is the same for all.
fn names<'a>(ids: impl Iterator<Item = &'a ObjectId> + Clone) -> String {
    let mut namespaces = ids.clone().map(ObjectId::namespace);
    let first = namespaces.next().unwrap_or_default();
    if first.is_empty() || ids.clone().nth(1).is_none() || namespaces.any(|other| other != first) {
        return listing(ids.map(|id| format!("{id:#}")), NAMES);
    }
    format!("{}, in {first}", listing(ids, NAMES))
}

fn details(object: &ObjectSummary) -> Vec<String> {
    if let Some((_, error)) = object.error() {
        return error_details(error);
    }
    if let Some((_, skip)) = object.skip() {
        return vec![one_line(&skip.to_string())];
    }
    match &object.verdict {
        Some(verdict) => verdict_details(verdict),
        None => vec!["nothing is known about its state".to_owned()],
    }
}

fn error_details(error: &ApiError) -> Vec<String> {
    let mut text: Vec<_> = lines(&error.message).collect();
    let told = |part: &str| error.message.contains(part);
    let fields = error.causes.iter().filter(|cause| !told(&cause.field) || !told(&cause.message));
    text.extend(fields.take(DETAILS).map(|cause| match &*cause.field {
        "" => one_line(&cause.message),
        field => format!("{}: {}", one_line(field), one_line(&cause.message)),
    }));
    text.extend(error.hint().map(|hint| format!("hint: {hint}")));
    text
}

fn verdict_details(verdict: &Verdict) -> Vec<String> {
    let Some(main) = main_cause(verdict) else {
        return lines(&verdict.message).collect();
    };
    let mut text = Vec::new();
    text.extend(chain(main));
    text.extend(lines(bare_message(main)));
    // What an object copies from those below it is the same cause.
    let others = verdict.causes.iter().filter(|cause| bare_message(cause) != bare_message(main));
    text.extend(others.take(DETAILS).map(|cause| format!("also: {}", one_line(&cause.message))));
    text
}

/// `replicaset.apps/web-7c9d > pod/web-7c9d-x2 > container app`: from below the object to where
/// the cause was found.
fn chain(cause: &Cause) -> Option<String> {
    let below = cause.chain.iter().skip(1).map(|link| {
        let group = link.kind.group();
        let dot = if group.is_empty() { "" } else { "." };
        format!("{}{dot}{group}/{}", link.kind.kind().to_lowercase(), link.name)
    });
    let container = cause.container.iter().map(|name| format!("container {name}"));
    let links: Vec<_> = below.chain(container).collect();
    let more = match cause.count {
        0 | 1 => String::new(),
        count => format!(" (and {} more like it)", count - 1),
    };
    (!links.is_empty()).then(|| format!("{}{more}", links.join(" > ")))
}

/// The message without what the title and the chain say.
fn bare_message(cause: &Cause) -> &str {
    let mut text = cause.message.as_str();
    let container = cause.container.as_deref().map(|name| format!("container {name}"));
    let said = [Some(cause.code.as_str().to_owned()), Some(cause.object.to_string()), container];
    for part in said.into_iter().flatten() {
        let rest = text.strip_prefix(part.as_str()).and_then(|rest| rest.strip_prefix([':', ',']));
        text = rest.map_or(text, str::trim_start);
    }
    text
}

/// Skipped objects by the object that did not get there.
type Blocked<'a> = HashMap<&'a ObjectId, Vec<&'a ObjectId>>;

fn blocked(plain: &Plain) -> Blocked<'_> {
    let mut blocked = Blocked::new();
    for object in plain.summary.objects() {
        if let Some((_, Skip::Dependency { chain, .. })) = object.skip() {
            blocked.entry(chain.last().unwrap_or(&object.id)).or_default().push(&object.id);
        }
    }
    blocked
}
