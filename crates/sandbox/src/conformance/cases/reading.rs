//! GET, LIST, paging and versions.

use serde_json::json;

use super::super::{Case, Expect};
use super::{MAPS, VERSION, map, map_path};

const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const FUTURE: &str = "99999999999";

/// Three ConfigMaps that are labelled, in a list that is then selected by label: every namespace has others.
fn three(name: &'static str) -> Case {
    ["a", "b", "c"].into_iter().fold(Case::new(name), |case, name| {
        let mut object = map(name, json!({ "k": "v" }));
        object["metadata"]["labels"] = json!({ "case": "three", "name": name });
        case.apply(map_path(name), object).code(201)
    })
}

fn selected(query: &str) -> String {
    format!("{MAPS}?labelSelector=case%3Dthree{query}")
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        three("a list has its kind, its version, and items without one")
            .get(selected(""))
            .code(200)
            .is("/kind", "ConfigMapList")
            .is("/apiVersion", "v1")
            .present(VERSION)
            .expect(Expect::Items(3))
            .is("/items/0/metadata/name", "a")
            .absent("/items/0/kind")
            .header("content-type", "application/json"),
        three("selectors select")
            .get(format!("{MAPS}?labelSelector=name%20in%20(a,c)"))
            .expect(Expect::Items(2))
            .get(selected(",name!%3Da"))
            .expect(Expect::Items(2))
            .get(format!("{MAPS}?fieldSelector=metadata.name%3Db"))
            .expect(Expect::Items(1))
            .is("/items/0/metadata/name", "b")
            .get(format!("{MAPS}?fieldSelector=metadata.name%3Db,metadata.namespace%3D$ns"))
            .expect(Expect::Items(1))
            .get(format!("{MAPS}?fieldSelector=spec.foo%3Db"))
            .code(400),
        three("metadata alone is listed under one name and refused under the other")
            .get(selected(""))
            .accept(PARTIAL_LIST)
            .code(200)
            .is("/kind", "PartialObjectMetadataList")
            .expect(Expect::Items(3))
            .is("/items/0/kind", "PartialObjectMetadata")
            .absent("/items/0/data")
            .present("/items/0/metadata/managedFields")
            .get(selected(""))
            .accept(PARTIAL)
            .refused(406, "NotAcceptable", "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)")
            .get(map_path("a"))
            .accept(PARTIAL)
            .code(200)
            .is("/kind", "PartialObjectMetadata"),
        three("other forms are refused")
            .get(selected(""))
            .accept("text/html")
            .code(406)
            .get(selected(""))
            .accept("application/cbor")
            .code(406)
            .get(selected(""))
            .accept("application/json;drop=metadata.managedFields")
            .code(200)
            .present("/items/0/metadata/managedFields"),
        three("pages continue by token at the first page's version")
            .get(selected("&limit=2"))
            .code(200)
            .expect(Expect::Items(2))
            .present("/metadata/continue")
            .save("token", "/metadata/continue")
            .save("version", VERSION)
            .delete(map_path("c"), "")
            .code(200)
            .get(selected("&limit=2&continue=$token"))
            .code(200)
            .expect(Expect::Items(1))
            .is("/items/0/metadata/name", "c")
            .text(VERSION, "$version")
            .absent("/metadata/continue"),
        three("a page tells how many are left when nothing is selected, and all at once come from the cache")
            .get(format!("{MAPS}?limit=1"))
            .code(200)
            .present("/metadata/remainingItemCount")
            .get(selected("&limit=1"))
            .absent("/metadata/remainingItemCount")
            .get(selected("&limit=1&resourceVersion=0"))
            .expect(Expect::Items(3)),
        Case::new("a bad token is refused")
            .get(format!("{MAPS}?limit=1&continue=nonsense"))
            .refused(400, "BadRequest", "continue key is not valid"),
        Case::new("a version to come is waited for, and then refused")
            .get(format!("{MAPS}?resourceVersion={FUTURE}&resourceVersionMatch=NotOlderThan"))
            .refused(504, "Timeout", "Timeout: Too large resource version: 99999999999, current: ")
            .header("retry-after", "1")
            .is("/details/retryAfterSeconds", 1)
            .is("/details/causes/0/reason", "ResourceVersionTooLarge"),
        Case::new("a list in a missing namespace is empty, an object there is not found")
            .get("/api/v1/namespaces/$ns-missing/configmaps")
            .code(200)
            .expect(Expect::Items(0))
            .get("/api/v1/namespaces/$ns-missing/configmaps/x")
            .refused(404, "NotFound", "configmaps \"x\" not found"),
        Case::new("an unknown resource is told by a Status in a built-in group, and by text in any other")
            .get("/api/v1/nones")
            .refused(404, "NotFound", "the server could not find the requested resource")
            .is("/details", json!({}))
            .get("/apis/apps/v1beta1/deployments")
            .refused(404, "NotFound", "the server could not find the requested resource")
            .get("/apis/nobody.example.com/v1/nones")
            .code(404)
            .expect(Expect::Message("404 page not found".to_owned()))
            .header("content-type", "text/plain"),
        Case::new("some resources can only be read, some only be asked")
            .get("/api/v1/componentstatuses?watch=1")
            .refused(405, "MethodNotAllowed", "watch is not supported on resources of kind \"componentstatuses\"")
            .get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
            .refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
        Case::new("initial events belong to watches")
            .get(format!("{MAPS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"))
            .refused(422, "Invalid", "sendInitialEvents is forbidden for list"),
    ]
}
