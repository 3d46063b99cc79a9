//! Every measured fact, against the sandbox.

use sandbox::conformance::{LIMITED, Place, cases, check};
use sandbox::{Sandbox, User};

#[tokio::test(start_paused = true)]
async fn the_sandbox_answers_as_the_real_server() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases() {
        let user = LIMITED.iter().fold(User::limited("limited"), |user, (verbs, resource, name)| {
            user.allow(verbs, resource, "case", name)
        });
        let sandbox = Sandbox::builder().user("limited", user).user("admin", User::admin("admin")).build();
        sandbox.create(
            serde_json::json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "case" } }),
        );
        let place = Place {
            base: String::new(),
            namespace: "case".to_owned(),
            admin: Some("admin".to_owned()),
            limited: Some("limited".to_owned()),
        };
        count += case.steps.len();
        if let Err(error) = check(&case, &sandbox.service(), &place).await {
            wrong.push(error);
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 150, "{count}");
}
