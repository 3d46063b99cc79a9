//! A small client for the harness and for tests that need one exact request.

use std::time::Duration;

use serde_json::Value;
use ureq::http::Request;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody};

use crate::error::{Context, Error};

/// A connection to one API server as its administrator. Its requests are not counted.
#[derive(Debug)]
pub struct Api {
    agent: Agent,
    server: String,
    token: String,
}

/// What the server answered.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body as text.
    pub text: String,
}

impl Reply {
    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// Returns itself when the status is 2xx.
    ///
    /// # Panics
    ///
    /// On any other status, with the body.
    #[track_caller]
    pub fn success(self) -> Self {
        assert!((200..300).contains(&self.status), "the server answered {}: {}", self.status, self.text);
        self
    }
}

impl Api {
    pub(crate) fn new(server: &str, ca_pem: &str, token: String) -> Result<Self, Error> {
        let ca = Certificate::from_pem(ca_pem.as_bytes())
            .context(|| "cannot read the CA certificate".to_owned())?;
        let agent = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[ca])).build())
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .user_agent("kubesettle-harness")
            .build()
            .new_agent();
        Ok(Self { agent, server: server.to_owned(), token })
    }

    /// GET of a path such as `/api/v1/nodes`.
    pub fn get(&self, path: &str) -> Result<Reply, Error> {
        self.send("GET", path, "", ())
    }

    /// DELETE of a path.
    pub fn delete(&self, path: &str) -> Result<Reply, Error> {
        self.send("DELETE", path, "", ())
    }

    /// POST of a JSON object to a collection.
    pub fn post(&self, path: &str, object: &Value) -> Result<Reply, Error> {
        self.send("POST", path, "application/json", object.to_string())
    }

    /// PUT of a JSON object.
    pub fn put(&self, path: &str, object: &Value) -> Result<Reply, Error> {
        self.send("PUT", path, "application/json", object.to_string())
    }

    /// PATCH with a merge patch.
    pub fn merge(&self, path: &str, patch: &Value) -> Result<Reply, Error> {
        self.send("PATCH", path, "application/merge-patch+json", patch.to_string())
    }

    /// Server-side apply of a JSON object as field manager `manager`, conflicts forced.
    pub fn apply(&self, path: &str, manager: &str, object: &Value) -> Result<Reply, Error> {
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.send("PATCH", &path, "application/apply-patch+yaml", object.to_string())
    }

    fn send(&self, method: &str, path: &str, content: &str, body: impl AsSendBody) -> Result<Reply, Error> {
        let what = || format!("{method} {}{path}", self.server);
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server))
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "application/json");
        if !content.is_empty() {
            request = request.header("content-type", content);
        }
        let request = request.body(body).context(what)?;
        let mut response = self.agent.run(request).context(what)?;
        let text = response.body_mut().with_config().limit(u64::MAX).read_to_string().context(what)?;
        Ok(Reply { status: response.status().as_u16(), text })
    }
}
