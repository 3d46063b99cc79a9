use super::*;

fn status(code: u16, reason: &str, message: &str, details: &str) -> String {
    let message = serde_json::to_string(message).unwrap();
    format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{message},"reason":"{reason}","details":{details},"code":{code}}}"#
    )
}

fn waits(headers: &[(&str, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

/// Headers, and the seconds that they ask for.
type WaitRow = (&'static [(&'static str, &'static str)], Option<u64>);

/// (code, reason, message, details, plural asked for, class)
type Row = (u16, &'static str, &'static str, &'static str, &'static str, ErrorClass);

/// Answers of kube-apiserver 1.36.
const SERVER: &[Row] = &[
    (
        422,
        "Invalid",
        r#"PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch"#,
        "{}",
        "configmaps",
        E::Invalid,
    ),
    (
        409,
        "Conflict",
        "Apply failed with 2 conflicts: conflicts with \"t1\":\n- .data.k\n- .data.l",
        r#"{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"t1\"","field":".data.k"}]}"#,
        "configmaps",
        E::FieldConflict,
    ),
    (
        422,
        "Invalid",
        r#"ConfigMap "a" is invalid: metadata.uid: Invalid value: "1": field is immutable"#,
        r#"{"name":"a","kind":"ConfigMap","causes":[{"reason":"FieldValueInvalid","message":"m","field":"metadata.uid"}]}"#,
        "configmaps",
        E::Replaced,
    ),
    (
        409,
        "Conflict",
        r#"Operation cannot be fulfilled on configmaps "x": uid mismatch: the provided object specified uid 1, and no existing object was found"#,
        r#"{"name":"x","kind":"configmaps"}"#,
        "configmaps",
        E::Replaced,
    ),
    (
        409,
        "Conflict",
        r#"Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again"#,
        r#"{"name":"a","kind":"configmaps"}"#,
        "configmaps",
        E::Replaced,
    ),
    (
        409,
        "Conflict",
        "Operation cannot be fulfilled on configmaps \"a\": the UID in the precondition (1) does not match the UID in record (2). The object might have been deleted and then recreated",
        r#"{"name":"a","kind":"configmaps"}"#,
        "configmaps",
        E::Replaced,
    ),
    (
        409,
        "Conflict",
        r#"Operation cannot be fulfilled on resourcequotas "q": the object has been modified; please apply your changes to the latest version and try again"#,
        r#"{"name":"q","kind":"resourcequotas"}"#,
        "pods",
        E::Unavailable,
    ),
    (
        409,
        "Conflict",
        r#"Operation cannot be fulfilled on namespaces "f": The system is ensuring all content is removed from this namespace."#,
        r#"{"name":"f","kind":"namespaces"}"#,
        "namespaces",
        E::Terminating,
    ),
    (400, "BadRequest", "metadata.managedFields must be nil", "null", "configmaps", E::BadRequest),
    (
        400,
        "BadRequest",
        "the name of the object (b) does not match the name on the URL (a)",
        "{}",
        "configmaps",
        E::BadRequest,
    ),
    (400, "BadRequest", "invalid object type: apps/v1, Kind=ReplicaSet", "{}", "deployments", E::BadRequest),
    (
        500,
        "",
        "failed to create typed patch object (f1/d; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema",
        "{}",
        "deployments",
        E::Schema,
    ),
    (
        500,
        "",
        "failed to convert new object (n/s; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 6",
        "{}",
        "secrets",
        E::Schema,
    ),
    (
        500,
        "",
        "failed to create typed patch object (f1/d; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string",
        "{}",
        "deployments",
        E::Schema,
    ),
    (
        400,
        "BadRequest",
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"replicas\" already set in map",
        "{}",
        "deployments",
        E::Schema,
    ),
    (
        400,
        "BadRequest",
        r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo""#,
        "{}",
        "configmaps",
        E::Schema,
    ),
    (
        422,
        "Invalid",
        r#"Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"#,
        r#"{"kind":"Deployment"}"#,
        "deployments",
        E::Invalid,
    ),
    (
        422,
        "Invalid",
        r#"Deployment.apps "d" is invalid: spec.selector: Invalid value: {"a":"b"}: field is immutable"#,
        "{}",
        "deployments",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"Secret "s" is invalid: type: Invalid value: "x": field is immutable"#,
        "{}",
        "secrets",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"ConfigMap "c" is invalid: data: Forbidden: field is immutable when `immutable` is set"#,
        "{}",
        "configmaps",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"StatefulSet.apps "s" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"#,
        "{}",
        "statefulsets",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"#,
        "{}",
        "pods",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"PersistentVolumeClaim "p" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests"#,
        "{}",
        "persistentvolumeclaims",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"RoleBinding.rbac.authorization.k8s.io "r" is invalid: roleRef: Invalid value: {}: cannot change roleRef"#,
        "{}",
        "rolebindings",
        E::Immutable,
    ),
    (
        422,
        "Invalid",
        r#"ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of"#,
        "{}",
        "configmaps",
        E::Invalid,
    ),
    (
        422,
        "Invalid",
        r#"ConfigMap "c" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted"#,
        "{}",
        "configmaps",
        E::Invalid,
    ),
    (
        422,
        "Invalid",
        r#"ConfigMap "c" is invalid: []: Too long: may not be more than 1048576 bytes"#,
        "{}",
        "configmaps",
        E::TooLarge,
    ),
    (
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format",
        "{}",
        "configmaps",
        E::BadRequest,
    ),
    (
        406,
        "NotAcceptable",
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
        "{}",
        "configmaps",
        E::BadRequest,
    ),
    (
        422,
        "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
        "{}",
        "configmaps",
        E::Invalid,
    ),
    (
        405,
        "MethodNotAllowed",
        r#"watch is not supported on resources of kind "componentstatuses""#,
        "{}",
        "componentstatuses",
        E::NotServed,
    ),
    (
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        "{}",
        "subjectaccessreviews",
        E::NotServed,
    ),
    (
        403,
        "Forbidden",
        r#"configmaps is forbidden: User "limited" cannot list resource "configmaps" in API group "" in the namespace "f1""#,
        r#"{"kind":"configmaps"}"#,
        "configmaps",
        E::Forbidden,
    ),
    (
        403,
        "Forbidden",
        r#"configmaps "a" is forbidden: User "limited" cannot create resource "configmaps" in API group "" in the namespace "f1""#,
        r#"{"name":"a","kind":"configmaps"}"#,
        "configmaps",
        E::Forbidden,
    ),
    (
        403,
        "Forbidden",
        r#"roles.rbac.authorization.k8s.io "r" is forbidden: user "u" (groups=["g"]) is attempting to grant RBAC permissions not currently held:"#,
        "{}",
        "roles",
        E::Forbidden,
    ),
    (401, "Unauthorized", "Unauthorized", "null", "configmaps", E::Unauthorized),
    (404, "NotFound", "the server could not find the requested resource", "{}", "foos", E::NotServed),
    (
        404,
        "NotFound",
        r#"configmaps "x" not found"#,
        r#"{"name":"x","kind":"configmaps"}"#,
        "configmaps",
        E::NotFound,
    ),
    (
        404,
        "NotFound",
        r#"namespaces "missing" not found"#,
        r#"{"name":"missing","kind":"namespaces"}"#,
        "configmaps",
        E::NamespaceMissing,
    ),
    (
        404,
        "NotFound",
        r#"namespaces "missing" not found"#,
        r#"{"name":"missing","kind":"namespaces"}"#,
        "namespaces",
        E::NotFound,
    ),
    (
        429,
        "TooManyRequests",
        "storage is (re)initializing",
        r#"{"retryAfterSeconds":1}"#,
        "foos",
        E::Throttled,
    ),
    (410, "Expired", "too old resource version: 625052 (625054)", "null", "foos", E::Expired),
    (
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result.",
        "null",
        "foos",
        E::Expired,
    ),
    (
        504,
        "Timeout",
        "Timeout: Too large resource version: 999999999, current: 102121",
        r#"{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}"#,
        "pods",
        E::Expired,
    ),
    (
        500,
        "",
        r#"resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax"#,
        "{}",
        "pods",
        E::BadRequest,
    ),
    (
        400,
        "BadRequest",
        "invalid continue token: continue key is not valid: invalid",
        "{}",
        "pods",
        E::BadRequest,
    ),
    (
        403,
        "Forbidden",
        r#"foos.g "new" is forbidden: create not allowed while custom resource definition is terminating"#,
        r#"{"name":"new","kind":"foos"}"#,
        "foos",
        E::Terminating,
    ),
    (
        403,
        "Forbidden",
        r#"configmaps "b" is forbidden: unable to create new content in namespace f2 because it is being terminated"#,
        r#"{"name":"b","kind":"configmaps","causes":[{"reason":"NamespaceTerminating","message":"namespace f2 is being terminated","field":"metadata.namespace"}]}"#,
        "configmaps",
        E::Terminating,
    ),
    (
        403,
        "Forbidden",
        r#"pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5"#,
        r#"{"name":"p","kind":"pods"}"#,
        "pods",
        E::QuotaExceeded,
    ),
    (
        403,
        "Forbidden",
        r#"pods "p" is forbidden: violates PodSecurity "restricted:latest": privileged"#,
        "{}",
        "pods",
        E::Denied,
    ),
    (
        403,
        "Forbidden",
        r#"pods "p" is forbidden: error looking up service account f/default: serviceaccount "default" not found"#,
        "{}",
        "pods",
        E::Unavailable,
    ),
    (
        403,
        "Forbidden",
        r#"namespaces "kube-system" is forbidden: this namespace may not be deleted"#,
        "{}",
        "namespaces",
        E::Denied,
    ),
    (400, "BadRequest", r#"admission webhook "a.b.c" denied the request: no"#, "{}", "pods", E::Denied),
    (403, "", r#"admission webhook "a.b.c" denied the request: you cannot do that"#, "{}", "pods", E::Denied),
    (
        422,
        "Invalid",
        "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many replicas",
        "{}",
        "deployments",
        E::Denied,
    ),
    (
        500,
        "InternalError",
        r#"Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: Post "https://x.y.svc:443/": dial tcp 10.0.0.1:443: connect: connection refused"#,
        r#"{"causes":[{"message":"m"}]}"#,
        "pods",
        E::Unavailable,
    ),
    (
        500,
        "",
        "conversion webhook for g/v1, Kind=Foo failed: Post \"https://x\": dial tcp: refused",
        "{}",
        "foos",
        E::Unavailable,
    ),
    (500, "InternalError", "Internal error occurred: something odd", "{}", "pods", E::ServerError),
    (500, "", "etcdserver: leader changed", "{}", "pods", E::Unavailable),
    (500, "", "etcdserver: request is too large", "{}", "pods", E::TooLarge),
    (413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", "{}", "pods", E::TooLarge),
    (
        503,
        "ServiceUnavailable",
        "the server is currently unable to handle the request",
        "{}",
        "pods",
        E::Unavailable,
    ),
    (418, "", "odd", "{}", "pods", E::BadRequest),
];

#[test]
fn server_answers_are_sorted() {
    for (code, reason, message, details, asked, class) in SERVER {
        let body = status(*code, reason, message, details);
        let error = sort(*code, &waits(&[]), body.as_bytes(), asked);
        assert_eq!(error.class, *class, "{code} {message}");
        assert_eq!(error.status, Some(*code));
        if *asked != "secrets" {
            assert_eq!(&*error.message, *message, "the server's words are kept");
        }
    }
}

#[test]
fn text_answers_are_sorted() {
    let nginx =
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center>nginx</center></body></html>";
    let rows: [(u16, &str, ErrorClass, &str); 9] = [
        (404, "404 page not found\n", E::NotServed, "404 page not found"),
        (404, "", E::NotServed, "the server answered 404 Not Found"),
        (
            404,
            "<!DOCTYPE html><html><p>no <b>such</b> page</p>",
            E::Protocol,
            "the server answered 404 Not Found: no such page",
        ),
        (502, nginx, E::Unavailable, "the server answered 502 Bad Gateway: 502 Bad Gateway"),
        (
            503,
            "error trying to reach service: dial tcp: refused",
            E::Unavailable,
            "error trying to reach service: dial tcp: refused",
        ),
        (
            406,
            "406: Not Acceptable\n\nAvailable representations: application/json",
            E::BadRequest,
            "406: Not Acceptable\n\nAvailable representations: application/json",
        ),
        (403, "Forbidden by proxy", E::Forbidden, "Forbidden by proxy"),
        (302, "", E::Protocol, "the server answered 302 Found"),
        (599, "", E::ServerError, "the server answered 599"),
    ];
    for (code, body, class, message) in rows {
        let error = sort(code, &waits(&[]), body.as_bytes(), "pods");
        assert_eq!((error.class, &*error.message), (class, message), "{code}");
    }
}

#[test]
fn fields_come_once_and_waits_are_kept() {
    let details = r#"{"name":"a","causes":[{"reason":"FieldValueInvalid","message":"m","field":"metadata.uid"},
        {"reason":"FieldValueInvalid","message":"m","field":"metadata.uid"},{"reason":"x","message":"n","field":"spec"}],"retryAfterSeconds":3}"#;
    let error =
        sort(422, &waits(&[("retry-after", "7")]), status(422, "Invalid", "bad", details).as_bytes(), "pods");
    let fields: Vec<&str> = error.causes.iter().map(|cause| &*cause.field).collect();
    assert_eq!(fields, ["metadata.uid", "spec"]);
    assert_eq!(error.retry_after, Some(Duration::from_secs(3)), "the body is closer to the truth");
    const DATE: (&str, &str) = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    let rows: &[WaitRow] = &[
        (&[("retry-after", " 7 ")], Some(7)),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "Wed, 21 Oct 2026 07:28:09 GMT"), DATE], Some(9)),
        (&[("retry-after", "Wednesday, 21-Oct-26 07:28:09 GMT"), DATE], Some(9)),
        (&[("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT"), DATE], None),
        // Our own clock may be wrong by hours.
        (&[("retry-after", "Wed, 21 Oct 2026 07:28:09 GMT")], None),
    ];
    for &(headers, seconds) in rows {
        let error = sort(503, &waits(headers), b"slow down", "pods");
        assert_eq!(error.retry_after, seconds.map(Duration::from_secs), "{headers:?}");
    }
}

#[test]
fn an_error_about_a_secret_does_not_repeat_its_values() {
    let rows = [
        (
            500,
            "failed to create typed patch object (n/a; /v1, Kind=Secret): .stringData: expected map, got &{[canary]}",
            E::Schema,
            "failed to create typed patch object (n/a; /v1, Kind=Secret): .stringData: expected map, got (not shown)",
        ),
        (
            422,
            "Secret \"a\" is invalid: type: Invalid value: \"canary: x\": field is immutable",
            E::Immutable,
            "Secret \"a\" is invalid: type: Invalid value: (not shown): field is immutable",
        ),
    ];
    for (code, said, class, shown) in rows {
        let causes = serde_json::json!({ "causes": [{ "field": "x", "message": said }] }).to_string();
        let body = serde_json::json!({
            "kind": "Status", "message": said, "code": code,
            "details": serde_json::from_str::<serde_json::Value>(&causes).unwrap(),
        });
        let error = sort(code, &waits(&[]), body.to_string().as_bytes(), "secrets");
        assert_eq!((error.class, &*error.message), (class, shown));
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
}

#[test]
fn long_dumps_keep_the_field_and_the_verdict() {
    let dump = "ä".repeat(20_000);
    let message =
        format!("Job.batch \"j\" is invalid: spec.template: Invalid value: {{{dump}}}: field is immutable");
    let causes = serde_json::json!({"causes":[{"reason":"FieldValueInvalid","field":"spec.template",
        "message": format!("Invalid value: {{{dump}}}: field is immutable")}]});
    let error =
        sort(422, &waits(&[]), status(422, "Invalid", &message, &causes.to_string()).as_bytes(), "jobs");
    assert_eq!(error.class, E::Immutable);
    assert!(error.message.len() < 1100, "{}", error.message.len());
    assert!(error.message.starts_with("Job.batch \"j\" is invalid: spec.template: Invalid value: {ä"));
    assert!(error.message.ends_with("ä}: field is immutable"));
    let cause = error.causes.first().unwrap();
    assert_eq!(&*cause.field, "spec.template");
    assert!(cause.message.len() < 600 && cause.message.ends_with("field is immutable"));
}

#[test]
fn a_value_that_is_no_base64_has_a_hint_of_its_own() {
    let hint = |message: &str| ApiError::local(E::Schema, message).hint().unwrap_or_default();
    assert!(hint("error decoding from json: illegal base64 data at input byte 6").contains("stringData"));
    assert!(hint(".spec.foo: field not declared in schema").contains("kubectl explain"));
}

#[test]
fn an_object_that_is_refused_whole_is_not_repeated() {
    let template = serde_json::json!({ "Containers": [{ "Name": "a: }", "Command": vec!["x"; 200] }] });
    let rows = [
        (template.to_string(), "{…}"),
        (serde_json::json!(vec![template; 2]).to_string(), "[…]"),
        (r#"{"a":"b"}"#.to_owned(), r#"{"a":"b"}"#),
        (format!("{:?}", "v".repeat(200)), &format!("{:?}", "v".repeat(200))),
    ];
    for (value, shown) in rows {
        let problem = format!("Invalid value: {value}: field is immutable");
        let message =
            format!("Job.batch \"j\" is invalid: [spec.template: {problem}, spec.x: Required value]");
        let causes = serde_json::json!({ "causes": [{ "field": "spec.template", "message": problem }] });
        let body = status(422, "Invalid", &message, &causes.to_string());
        let error = sort(422, &waits(&[]), body.as_bytes(), "jobs");
        let told = format!("Invalid value: {shown}: field is immutable");
        assert_eq!(&*error.causes[0].message, told);
        assert_eq!(
            &*error.message,
            format!("Job.batch \"j\" is invalid: [spec.template: {told}, spec.x: Required value]")
        );
    }
}

#[test]
fn error_events_are_sorted_alike() {
    let event = status(410, "Expired", "too old resource version: 1 (50905)", "null");
    let error = status_error(event.as_bytes());
    assert_eq!((error.class, error.status), (E::Expired, Some(410)));
    let event = status(504, "Timeout", "Timeout: Too large resource version: 9, current: 1", "null");
    assert_eq!(status_error(event.as_bytes()).class, E::Expired);
    assert_eq!(status_error(b"7").class, E::Protocol);
    assert_eq!(status_error(b"{}").class, E::ServerError);
}
