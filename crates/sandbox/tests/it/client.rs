//! A client that says what it sends and shows what it gets.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt as _, Full};
use sandbox::{Body, BoxError, Sandbox};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) struct Client {
    service: sandbox::Service,
    token: Option<String>,
    pub(crate) accept: &'static str,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Answer {
    pub(crate) fn message(&self) -> &str {
        self.json["message"].as_str().unwrap_or(&self.text)
    }

    pub(crate) fn version(&self) -> u64 {
        self.json["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    #[track_caller]
    pub(crate) fn expect(self, code: u16) -> Self {
        assert_eq!(self.code, code, "{}", self.text);
        self
    }
}

impl Client {
    pub(crate) fn new(sandbox: &Sandbox) -> Self {
        Self { service: sandbox.service(), token: None, accept: "application/json" }
    }

    pub(crate) fn with_token(sandbox: &Sandbox, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..Self::new(sandbox) }
    }

    pub(crate) async fn raw(
        &self,
        method: Method,
        target: &str,
        kind: &str,
        body: Bytes,
    ) -> Result<http::Response<Body>, BoxError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().unwrap();
        request.headers_mut().insert("accept", self.accept.parse().unwrap());
        request.headers_mut().insert("user-agent", "test/1".parse().unwrap());
        if !kind.is_empty() {
            request.headers_mut().insert("content-type", kind.parse().unwrap());
        }
        if let Some(token) = &self.token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        self.service.clone().oneshot(request).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        target: &str,
        kind: &str,
        body: impl Into<Bytes>,
    ) -> Answer {
        let (head, body) = self.raw(method, target, kind, body.into()).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let json = serde_json::from_str(&text).unwrap_or_default();
        Answer { code: head.status.as_u16(), headers: head.headers, text, json }
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.send(Method::GET, target, "", "").await
    }

    pub(crate) async fn apply(&self, target: &str, object: &Value) -> Answer {
        let mark = if target.contains('?') { '&' } else { '?' };
        let target = if target.contains("fieldManager") {
            target.to_owned()
        } else {
            format!("{target}{mark}fieldManager=t1")
        };
        self.send(Method::PATCH, &target, "application/apply-patch+yaml", object.to_string()).await
    }

    pub(crate) async fn post(&self, target: &str, object: &Value) -> Answer {
        self.send(Method::POST, target, "application/json", object.to_string()).await
    }

    pub(crate) async fn put(&self, target: &str, object: &Value) -> Answer {
        self.send(Method::PUT, target, "application/json", object.to_string()).await
    }

    pub(crate) async fn merge(&self, target: &str, patch: &Value) -> Answer {
        self.send(Method::PATCH, target, "application/merge-patch+json", patch.to_string()).await
    }

    pub(crate) async fn delete(&self, target: &str, options: &Value) -> Answer {
        let body = if options.is_null() { String::new() } else { options.to_string() };
        self.send(Method::DELETE, target, "application/json", body).await
    }

    pub(crate) async fn watch(&self, target: &str) -> Lines {
        let answer = self.raw(Method::GET, target, "", Bytes::new()).await.unwrap();
        assert_eq!(answer.status(), 200);
        Lines { body: answer.into_body(), rest: String::new() }
    }

    pub(crate) async fn namespace(&self, name: &str) {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        self.apply(&format!("/api/v1/namespaces/{name}"), &object).await.expect(201);
    }
}

pub(crate) struct Lines {
    body: Body,
    rest: String,
}

/// How a watch went on.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    Event(Value),
    End,
    Broken,
    /// Nothing came for that long.
    Silence,
}

impl Lines {
    pub(crate) async fn next_within(&mut self, time: Duration) -> Next {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let event = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
                self.rest = rest.to_owned();
                return Next::Event(event);
            }
            match tokio::time::timeout(time, self.body.frame()).await {
                Err(_) => return Next::Silence,
                Ok(None) => return Next::End,
                Ok(Some(Err(_))) => return Next::Broken,
                Ok(Some(Ok(frame))) => {
                    self.rest.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap())
                }
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Next {
        self.next_within(Duration::from_secs(1)).await
    }

    /// The next event as `TYPE name`.
    #[track_caller]
    pub(crate) fn short(next: &Next) -> String {
        match next {
            Next::Event(event) => {
                let kind = event["type"].as_str().unwrap();
                let metadata = &event["object"]["metadata"];
                let end = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
                let name = if end { "end" } else { metadata["name"].as_str().unwrap_or_default() };
                format!("{kind} {name}").trim_end().to_owned()
            }
            other => format!("{other:?}"),
        }
    }

    pub(crate) async fn take(&mut self, count: usize) -> Vec<String> {
        let mut taken = Vec::new();
        for _ in 0..count {
            taken.push(Self::short(&self.next().await));
        }
        taken
    }
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}

pub(crate) fn deployment(name: &str, replicas: u64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "c", "image": "image:1" }] },
            },
        },
    })
}
