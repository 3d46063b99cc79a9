//! The table of scenarios names tests that exist.

use std::path::Path;

tests![every_test_that_a_table_of_the_documents_names_exists];

fn every_test_that_a_table_of_the_documents_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut named = 0;
    for table in ["cli-utils-scenarios.md", "differences.md"] {
        let text = std::fs::read_to_string(root.join("docs").join(table)).expect("a document");
        for word in text.split([' ', '`', ',']).filter(|word| word.contains(".rs::")) {
            let (file, name) = word.split_once("::").expect("a test");
            let source =
                std::fs::read_to_string(root.join(file)).unwrap_or_else(|why| panic!("{word}: {why}"));
            assert!(source.contains(&format!("fn {name}()")), "{table} names {word}");
            named += 1;
        }
    }
    assert!(named > 40, "{named} tests are named");
}
