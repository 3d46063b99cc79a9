//! `version`: which program this is.

use kubesettle::error::ExitClass;
use kubesettle::event::SCHEMA_VERSION;
use serde_json::json;

use crate::print::Page;

/// The version, as a line or as JSON.
pub(crate) fn run(as_json: bool, page: &mut Page) -> ExitClass {
    let version = env!("CARGO_PKG_VERSION");
    page.out = if as_json {
        format!("{}\n", json!({ "version": version, "schemaVersion": SCHEMA_VERSION }))
    } else {
        format!("kubectl-settle {version}\n")
    };
    ExitClass::Ok
}
