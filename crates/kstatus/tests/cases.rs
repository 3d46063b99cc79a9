//! The project's own status cases.

mod cases_runner;

use std::path::Path;

#[test]
fn every_case_gets_its_right_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let report = cases_runner::run(&folder).unwrap();
    println!("{report}");
    assert!(report.passed > 0);
    assert!(report.failures.is_empty(), "{report}");
}
