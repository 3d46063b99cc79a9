//! The inventory template that `init` writes.

use super::name::{self, InvalidName};

/// The name of the template's file.
pub const TEMPLATE_FILE: &str = "inventory-template.yaml";

/// The first number that has nine digits.
const SUFFIXES: u32 = 100_000_000;

const TEXT: &str = include_str!("template.txt");

/// The text of an inventory template: the same ConfigMap as kapply's, with comments of our own.
///
/// `suffix` is random and makes the ConfigMap's name (its last eight digits count), `id` is chosen by
/// a person or a random UUID, `date` stands in a comment (`2026-11-30 18:00:00 UTC`).
///
/// # Errors
/// An id that no label can have as its value.
pub fn template(namespace: &str, suffix: u32, id: &str, date: &str) -> Result<String, InvalidName> {
    name::check_id(id)?;
    let suffix = format!("{:08}", suffix % SUFFIXES);
    let values = [
        ("<DATETIME>", date),
        ("<NAMESPACE>", namespace),
        ("<RANDOMSUFFIX>", &suffix),
        ("<INVENTORYID>", id),
    ];
    Ok(values.iter().fold(TEXT.to_owned(), |text, (place, value)| text.replace(place, value)))
}
