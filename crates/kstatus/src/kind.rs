use std::fmt;
use std::sync::Arc;

/// An API group, version and kind, such as `apps`, `v1`, `Deployment`. Cloning is cheap.
///
/// The core group is the empty string. The version plays no part in any rule (a Deployment is
/// judged alike in every version); it is kept because a schema belongs to a version.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind {
    /// `group/version/kind`; the cuts are the places of the two slashes.
    text: Arc<str>,
    first_cut: u32,
    second_cut: u32,
}

impl Kind {
    /// From an object's `apiVersion` and `kind`. Any text is taken as it is.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let (group, version) = (bounded(group), bounded(version));
        let text = joined([group, "/", version, "/", bounded(kind)]);
        let place = |at: usize| u32::try_from(at).unwrap_or(0);
        Self { first_cut: place(group.len()), second_cut: place(group.len() + 1 + version.len()), text }
    }

    /// The group; empty for the core group.
    pub fn group(&self) -> &str {
        self.part(0, self.first_cut as usize)
    }

    /// The version, such as `v1`.
    pub fn version(&self) -> &str {
        self.part(self.first_cut as usize + 1, self.second_cut as usize)
    }

    /// The kind, such as `Deployment`.
    pub fn kind(&self) -> &str {
        self.part(self.second_cut as usize + 1, self.text.len())
    }

    /// Whether this is the given kind of the given group, in any version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    fn part(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }
}

/// Names of API types are at most 253 bytes long; what is longer is no type of any server.
fn bounded(text: &str) -> &str {
    crate::text::prefix(text, 253)
}

/// One allocation instead of two: kinds are read from every object that carries its own.
fn joined(parts: [&str; 5]) -> Arc<str> {
    let mut buffer = [0_u8; 3 * 253 + 2];
    let mut end = 0;
    for part in parts {
        if let Some(place) = buffer.get_mut(end..end + part.len()) {
            place.copy_from_slice(part.as_bytes());
            end += part.len();
        }
    }
    buffer.get(..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default().into()
}

impl fmt::Display for Kind {
    /// `Deployment.apps`, as kubectl writes a kind with its group; the core group adds nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        if !self.group().is_empty() {
            write!(f, ".{}", self.group())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_come_back() {
        let kind = Kind::new("apps/v1", "Deployment");
        assert_eq!((kind.group(), kind.version(), kind.kind()), ("apps", "v1", "Deployment"));
        assert_eq!(kind.to_string(), "Deployment.apps");
        let core = Kind::new("v1", "Pod");
        assert_eq!((core.group(), core.version(), core.kind()), ("", "v1", "Pod"));
        assert_eq!(core.to_string(), "Pod");
    }
}
