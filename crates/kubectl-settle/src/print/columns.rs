//! Widths of the columns of the plain form.

use kubesettle::id::ObjectId;

use super::text::{pad, width};

/// Names up to this many columns line up; longer ones push the rest of their line.
const NAME_BOUND: usize = 52;
const NAMESPACE_BOUND: usize = 24;
/// As wide as the longest word, `already gone`.
const WORD: usize = 12;

/// Widths that fit a set of objects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns {
    name: usize,
    namespace: usize,
}

impl Columns {
    /// Fits the names, and the namespace of those whose own is not known yet.
    pub(crate) fn fit<'a>(ids: impl IntoIterator<Item = &'a ObjectId>) -> Self {
        let mut columns = Self::default();
        for id in ids {
            columns.widen(id);
        }
        columns
    }

    /// Fits one more.
    pub(crate) fn widen(&mut self, id: &ObjectId) {
        self.name = self.name.max(bounded(width(&id.to_string()), NAME_BOUND));
        self.namespace = self.namespace.max(bounded(width(id.namespace()), NAMESPACE_BOUND));
    }

    /// `name  namespace  word  message`, without spaces at the end. `paint` may colour the word.
    pub(crate) fn line(
        self,
        id: &ObjectId,
        word: &str,
        message: &str,
        paint: impl Fn(&str) -> String,
    ) -> String {
        let mut line = pad(&id.to_string(), self.name);
        if self.namespace > 0 || !id.namespace().is_empty() {
            line.push_str("  ");
            line.push_str(&pad(id.namespace(), self.namespace));
        }
        line.push_str("  ");
        line.push_str(&paint(word));
        if !message.is_empty() {
            line.push_str(&" ".repeat(WORD.saturating_sub(width(word)) + 2));
            line.push_str(message);
        }
        line
    }
}

/// A width beyond the bound belongs to an odd one out, which the others need not follow.
fn bounded(width: usize, bound: usize) -> usize {
    if width <= bound { width } else { 0 }
}

#[cfg(test)]
mod tests {
    use kubesettle::id::GroupKind;

    use super::*;

    #[test]
    fn columns_line_up_and_long_names_are_whole() {
        let long = "x".repeat(80);
        let ids = [
            ObjectId::new(GroupKind::new("", "Namespace"), "", "shop"),
            ObjectId::new(GroupKind::new("apps", "Deployment"), "shop", "web"),
            ObjectId::new(GroupKind::new("", "ConfigMap"), "shop", &long),
        ];
        let columns = Columns::fit(&ids);
        let lines: Vec<_> = ids.iter().map(|id| columns.line(id, "created", "ok", str::to_owned)).collect();
        assert_eq!(lines[0], "namespace/shop             created       ok");
        assert_eq!(lines[1], "deployment.apps/web  shop  created       ok");
        assert_eq!(lines[2], format!("configmap/{long}  shop  created       ok"));
    }
}
