//! Names of sets and values of their label.

use std::fmt;

use super::hash;
use super::model::Location;

const MAX_NAMESPACE: usize = 63;
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;
/// Between the readable beginning and the digest of an id that had to be shortened. Neither part of
/// an id that was not shortened holds an underscore, so the two forms never meet.
const SHORTENED: &str = "__";
const DIGEST: usize = 16;

/// A name or an id that the API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName {
    what: &'static str,
    text: Box<str>,
    rule: &'static str,
}

/// `set name "Shop": …`, with the rule that it breaks.
impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} cannot be used: {}", self.what, self.text, self.rule)
    }
}

impl std::error::Error for InvalidName {}

const NAME_RULE: &str = "it must be 1 to 253 lower-case letters, digits, '-' and '.', \
                         with a letter or digit at both ends and beside every '.' (such as shop or shop.prod)";
const NAMESPACE_RULE: &str = "it must be 1 to 63 lower-case letters, digits and '-', \
                              with a letter or digit at both ends (such as shop-prod)";
const ID_RULE: &str = "it must be 1 to 63 letters, digits, '-', '_' and '.', \
                       with a letter or digit at both ends (such as shop_1)";

/// The place of the set of this name.
///
/// # Errors
/// A namespace or name that no ConfigMap can have.
pub fn set_location(namespace: &str, name: &str) -> Result<Location, InvalidName> {
    let fail = |what, text: &str, rule| InvalidName { what, text: text.into(), rule };
    if namespace.len() > MAX_NAMESPACE || !is_dns_label(namespace) {
        return Err(fail("namespace", namespace, NAMESPACE_RULE));
    }
    if name.len() > MAX_NAME || !name.split('.').all(is_dns_label) {
        return Err(fail("set name", name, NAME_RULE));
    }
    Ok(Location::new(namespace, name))
}

/// Checks an id that a person chose.
///
/// # Errors
/// A text that no label can have as its value, or an empty one.
pub fn check_id(id: &str) -> Result<(), InvalidName> {
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let valid = id.len() <= MAX_LABEL
        && end(id.bytes().next())
        && end(id.bytes().next_back())
        && id.bytes().all(inside);
    if valid { Ok(()) } else { Err(InvalidName { what: "inventory id", text: id.into(), rule: ID_RULE }) }
}

/// The id of a set that is known by its name: always the same for the same place, and different for
/// every other. `NAMESPACE_NAME`, or its beginning and a digest when a label cannot hold that much.
pub fn set_id(location: &Location) -> String {
    let whole = format!("{}_{}", location.namespace(), location.name());
    if whole.len() <= MAX_LABEL {
        return whole;
    }
    let digest = hash::hex(&hash::of_parts(&[location.namespace(), location.name()])[..DIGEST]);
    let room = MAX_LABEL - SHORTENED.len() - digest.len();
    let readable: String = whole.chars().take(room).collect();
    let readable = readable.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    format!("{readable}{SHORTENED}{digest}")
}

/// The set that an id belongs to, when the id says it: ids made by [`set_id`] do, those of kapply
/// (random UUIDs, or chosen by a person) do not.
pub fn set_of_id(id: &str) -> Option<Location> {
    let (namespace, name) = id.split_once('_')?;
    let location = set_location(namespace, name).ok()?;
    (set_id(&location) == id).then_some(location)
}

fn is_dns_label(text: &str) -> bool {
    let end = |byte: Option<u8>| byte.is_some_and(is_dns);
    end(text.bytes().next())
        && end(text.bytes().next_back())
        && text.bytes().all(|byte| is_dns(byte) || byte == b'-')
}

fn is_dns(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
