//! Custom kinds that are known: where each keeps its verdict. One table, no code per kind.

use crate::outcome::Own;
use crate::view::View;

pub(super) fn judge(_: &View<'_>) -> Option<Own> {
    None
}
