//! WATCH. Each one ends by itself after some seconds.

use serde_json::{Value, json};

use super::super::{Case, Expect};
use super::{MAPS, VERSION, map, map_path};

fn labelled(name: &str, value: &str) -> Value {
    let mut object = map(name, json!({ "k": value }));
    object["metadata"]["labels"] = json!({ "case": "watch" });
    object
}

fn watch(query: &str) -> String {
    format!("{MAPS}?watch=1&timeoutSeconds=2&labelSelector=case%3Dwatch{query}")
}

const STREAM: &str = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

/// Two objects, and then some history of one of them.
fn history(name: &'static str) -> Case {
    Case::new(name)
        .apply(map_path("a"), labelled("a", "1"))
        .save("first", VERSION)
        .apply(map_path("b"), labelled("b", "1"))
        .apply(map_path("a"), labelled("a", "2"))
        .delete(map_path("b"), "")
        .code(200)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        history("a watch tells what happened after a version")
            .get(watch("&resourceVersion=$first"))
            .code(200)
            .events(&["ADDED b", "MODIFIED a", "DELETED b"]),
        history("a streaming list tells the present state and its end")
            .get(watch(&format!("{STREAM}&allowWatchBookmarks=true&resourceVersion=")))
            .code(200)
            .events(&["ADDED a", "BOOKMARK end"])
            .get(watch(&format!("{STREAM}&allowWatchBookmarks=true&resourceVersion=0")))
            .events(&["ADDED a", "BOOKMARK end"]),
        history("without bookmarks the end of a streaming list cannot be seen")
            .get(watch(STREAM))
            .events(&["ADDED a"]),
        history("a watch without a version begins with the present state")
            .get(watch("&allowWatchBookmarks=true"))
            .events(&["ADDED a", "BOOKMARK end"]),
        history("metadata alone is watched under one name, and silently nothing under the other")
            .get(watch("&resourceVersion=$first"))
            .accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
            .events(&["ADDED b", "MODIFIED a", "DELETED b"])
            .get(watch("&resourceVersion=$first"))
            .accept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
            .code(200)
            .events(&[]),
        history("an object that leaves the selection is told as deleted")
            .merge(map_path("a"), json!({ "metadata": { "labels": { "case": "other" } } }))
            .code(200)
            .get(watch("&resourceVersion=$first"))
            .events(&["ADDED b", "MODIFIED a", "DELETED b", "DELETED a"]),
        Case::new("a streaming list must say how its version is meant")
            .get(watch("&sendInitialEvents=true"))
            .refused(422, "Invalid", "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        Case::new("a version to come is met with silence")
            .get(watch("&allowWatchBookmarks=true&resourceVersion=99999999999"))
            .code(200)
            .events(&[]),
        Case::new("a streaming list from a version to come ends with an error")
            .get(format!("{MAPS}?watch=1&timeoutSeconds=20{STREAM}&resourceVersion=99999999999"))
            .code(200)
            .expect(Expect::Error(504, "Timeout: Too large resource version: 99999999999, current: ".to_owned())),
        Case::new("a version that is no number is a server error")
            .get(watch("&resourceVersion=abc"))
            .refused(500, "", "resourceVersion: Invalid value: \"abc\": strconv.ParseUint"),
    ]
}
