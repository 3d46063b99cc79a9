//! A request, taken apart.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, Method};

/// One request with its whole body.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) raw_query: String,
    pub(crate) query: Query,
    pub(crate) accept: String,
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    pub(crate) if_none_match: String,
    pub(crate) token: Option<String>,
    pub(crate) body: Bytes,
}

impl Ask {
    pub(crate) fn new(head: &http::request::Parts, body: Bytes) -> Self {
        let header = |name: HeaderName| text(&head.headers, name);
        let raw_query = head.uri.query().unwrap_or_default().to_owned();
        Self {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            query: Query::parse(&raw_query),
            raw_query,
            accept: header(ACCEPT),
            content_type: header(CONTENT_TYPE),
            user_agent: header(USER_AGENT),
            if_none_match: header(IF_NONE_MATCH),
            token: header(AUTHORIZATION).strip_prefix("Bearer ").map(str::to_owned),
            body,
        }
    }

    /// The media type without its parameters.
    pub(crate) fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default().trim()
    }

    pub(crate) fn dry_run(&self) -> bool {
        self.query.get("dryRun") == "All"
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Query parameters in their order, unescaped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(key, value)| (unescape(key), unescape(value)))
                .collect(),
        )
    }

    /// The parameter's value; empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        matches!(self.get(name), "1" | "true" | "True")
    }
}

/// Undoes percent escapes, and `+` for a blank.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default()];
                let hex =
                    std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                out.push(hex.unwrap_or(b'%'));
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What an API path names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: String,
    /// Empty for a collection.
    pub(crate) name: String,
    pub(crate) subresource: String,
}

impl Target {
    /// Reads `/api/v1/namespaces/shop/pods/web/status` and its like; `None` for any other path.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<String> = path.trim_matches('/').split('/').map(unescape).collect();
        let (group, rest) = match parts.split_first()? {
            (root, rest) if root == "api" => (String::new(), rest),
            (root, rest) if root == "apis" => {
                let (group, rest) = rest.split_first()?;
                (group.clone(), rest)
            }
            _ => return None,
        };
        let (version, rest) = rest.split_first()?;
        let (namespace, rest) = match rest {
            // A namespace itself, and what is below it.
            [first, name] if first == "namespaces" => {
                return Some(Self::of(group, version, "namespaces", "", name, ""));
            }
            [first, name, sub] if first == "namespaces" && (sub == "status" || sub == "finalize") => {
                return Some(Self::of(group, version, "namespaces", "", name, sub));
            }
            [first, namespace, rest @ ..] if first == "namespaces" => (namespace.as_str(), rest),
            rest => ("", rest),
        };
        match rest {
            [plural] => Some(Self::of(group, version, plural, namespace, "", "")),
            [plural, name] => Some(Self::of(group, version, plural, namespace, name, "")),
            [plural, name, sub] => Some(Self::of(group, version, plural, namespace, name, sub)),
            _ => None,
        }
    }

    fn of(
        group: String,
        version: &str,
        plural: &str,
        namespace: &str,
        name: &str,
        subresource: &str,
    ) -> Self {
        Self {
            group,
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

/// The verb as authorization and the request log name it.
pub(crate) fn verb(ask: &Ask, target: &Target) -> &'static str {
    let collection = target.name.is_empty();
    match ask.method {
        Method::GET | Method::HEAD if ask.query.is_true("watch") => "watch",
        Method::GET | Method::HEAD if collection => "list",
        Method::GET | Method::HEAD => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if collection => "deletecollection",
        Method::DELETE => "delete",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_what_they_mean() {
        let rows = [
            ("/api/v1/pods", ("", "v1", "pods", "", "", "")),
            ("/api/v1/namespaces", ("", "v1", "namespaces", "", "", "")),
            ("/api/v1/namespaces/a", ("", "v1", "namespaces", "", "a", "")),
            ("/api/v1/namespaces/a/status", ("", "v1", "namespaces", "", "a", "status")),
            ("/api/v1/namespaces/a/pods", ("", "v1", "pods", "a", "", "")),
            ("/apis/apps/v1/namespaces/a/deployments/b", ("apps", "v1", "deployments", "a", "b", "")),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/status",
                ("apps", "v1", "deployments", "a", "b", "status"),
            ),
            ("/apis/g.io/v1/things/a%2Fb", ("g.io", "v1", "things", "", "a/b", "")),
        ];
        for (path, (group, version, plural, namespace, name, sub)) in rows {
            assert_eq!(
                Target::parse(path),
                Some(Target::of(group.to_owned(), version, plural, namespace, name, sub)),
                "{path}"
            );
        }
        for path in ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/healthz"] {
            assert_eq!(Target::parse(path), None, "{path}");
        }
    }

    #[test]
    fn queries_are_unescaped() {
        let query = Query::parse("labelSelector=a%3Db%2Cc+in+%28d%29&watch=1&empty=");
        assert_eq!(query.get("labelSelector"), "a=b,c in (d)");
        assert!(query.is_true("watch"));
        assert!(query.has("empty") && !query.has("other"));
    }
}
