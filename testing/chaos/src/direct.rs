//! The way to the real server, around all faults.

use std::error::Error;

use bytes::Bytes;
use harness::ControlPlane;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

/// Whatever went wrong.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// An HTTP/2 connection to the API server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: String,
    token: HeaderValue,
}

impl Direct {
    pub(crate) fn new(plane: &ControlPlane) -> Result<Self, BoxError> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(plane.ca_path())?)?;
        let tls = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http2().build();
        let client = Client::builder(TokioExecutor::new()).http2_only(true).build(connector);
        let token = HeaderValue::try_from(format!("Bearer {}", plane.admin_token()))?;
        Ok(Self { client, base: plane.url().to_owned(), token })
    }

    /// The administrator's `Authorization`.
    pub(crate) fn token(&self) -> HeaderValue {
        self.token.clone()
    }

    /// Passes a request on as it is.
    pub(crate) async fn forward(&self, request: Request<Bytes>) -> Result<Response<Incoming>, BoxError> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut forwarded = Request::new(Full::new(body));
        *forwarded.method_mut() = parts.method;
        *forwarded.uri_mut() = format!("{}{path}", self.base).parse::<Uri>()?;
        for (name, value) in &parts.headers {
            if !matches!(name.as_str(), "host" | "connection" | "content-length" | "transfer-encoding") {
                forwarded.headers_mut().append(name, value.clone());
            }
        }
        Ok(self.client.request(forwarded).await?)
    }

    /// Asks as the administrator.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<(&'static str, &Value)>,
    ) -> Result<(u16, Value), BoxError> {
        let mut request = Request::new(body.map_or_else(Bytes::new, |(_, body)| body.to_string().into()));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse::<Uri>()?;
        request.headers_mut().insert(AUTHORIZATION, self.token.clone());
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((media, _)) = body {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
        let answer = self.forward(request).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// An object, or `null` when there is none.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, BoxError> {
        match self.ask(Method::GET, path, None).await? {
            (200, object) => Ok(object),
            (404, _) => Ok(Value::Null),
            (status, answer) => Err(format!("GET {path}: {status} {answer}").into()),
        }
    }
}
