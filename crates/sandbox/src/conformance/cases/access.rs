//! Tokens and rights.

use serde_json::json;

use super::super::{Case, Expect, Who};
use super::{MAPS, map, map_path};

/// What the limited user is told.
fn cannot(verb: &str, resource: &str, group: &str, scope: &str) -> String {
    // The real server's name of the user is not known here.
    format!("cannot {verb} resource \"{resource}\" in API group \"{group}\" {scope}")
}

const HERE: &str = "in the namespace \"$ns\"";
const EVERYWHERE: &str = "at the cluster scope";

pub(super) fn cases() -> Vec<Case> {
    let asked = |name: &'static str, target: String, code: u16, message: String| {
        let case = Case::new(name).get(target).by(Who::Limited).code(code);
        if code == 200 {
            case
        } else {
            case.expect(Expect::Reason("Forbidden")).expect(Expect::Message(message))
        }
    };
    vec![
        asked("a right on one name covers a list of that name", format!("{MAPS}?fieldSelector=metadata.name%3Da"), 200, String::new()),
        asked(
            "a right on one name covers a list of that name in its namespace",
            format!("{MAPS}?fieldSelector=metadata.name%3Da,metadata.namespace%3D$ns"),
            200,
            String::new(),
        ),
        asked("a right on one name covers a watch of that name", format!("{MAPS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da"), 200, String::new()),
        asked("a right on one name does not cover a list", MAPS.to_owned(), 403, cannot("list", "configmaps", "", HERE)),
        asked("a right on one name does not cover a watch", format!("{MAPS}?watch=1"), 403, cannot("watch", "configmaps", "", HERE)),
        asked("a right on one name does not cover another name", format!("{MAPS}?fieldSelector=metadata.name%3Db"), 403, "configmaps \"b\" is forbidden: User \"".to_owned()),
        asked(
            "a right in one namespace does not cover all of them",
            "/api/v1/configmaps?fieldSelector=metadata.name%3Da".to_owned(),
            403,
            cannot("list", "configmaps", "", EVERYWHERE),
        ),
        asked("the right to get is not that to watch", "/api/v1/namespaces/$ns/secrets?watch=1&fieldSelector=metadata.name%3Da".to_owned(), 403, cannot("watch", "secrets", "", HERE)),
        asked("rights come before what is served", "/apis/nobody.example.com/v1/nones".to_owned(), 403, cannot("list", "nones", "nobody.example.com", EVERYWHERE)),
        asked("rights come before what exists", "/api/v1/namespaces/$ns-missing/pods".to_owned(), 403, cannot("list", "pods", "", "in the namespace \"$ns-missing\"")),
        asked("subresources have rights of their own", "/api/v1/namespaces/$ns/pods/x/log".to_owned(), 403, cannot("get", "pods/log", "", HERE)),
        asked("discovery is for everybody who is known", "/apis".to_owned(), 200, String::new()),
        Case::new("a refusal says which kind")
            .get("/apis/apps/v1/deployments")
            .by(Who::Limited)
            .code(403)
            .is("/details", json!({ "group": "apps", "kind": "deployments" })),
        Case::new("applying something new needs the right to create")
            .apply(map_path("absent"), map("absent", json!({})))
            .by(Who::Limited)
            .refused(403, "Forbidden", cannot("create", "configmaps", "", HERE))
            .apply(map_path("a"), map("a", json!({})))
            .code(201)
            .apply(map_path("a"), map("a", json!({})))
            .by(Who::Limited)
            .code(200)
            .apply(map_path("b"), map("b", json!({})))
            .by(Who::Limited)
            .refused(403, "Forbidden", cannot("patch", "configmaps", "", HERE)),
        Case::new("an unknown token is refused").get(MAPS).by(Who::Stranger).refused(401, "Unauthorized", "Unauthorized"),
        Case::new("without a token one is anonymous")
            .get("/api/v1/namespaces")
            .by(Who::Nobody)
            .refused(403, "Forbidden", "namespaces is forbidden: User \"system:anonymous\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope"),
        Case::new("everybody may ask what they may do")
            .post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": { "resourceAttributes": { "verb": "delete", "resource": "configmaps", "namespace": "$ns", "name": "a" } },
            }))
            .by(Who::Limited)
            .code(201)
            .is("/status/allowed", false),
    ]
}
