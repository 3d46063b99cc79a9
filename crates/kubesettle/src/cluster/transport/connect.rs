//! TCP, proxies and TLS, up to a client that hyper can use.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use http_body_util::Full;
use hyper_rustls::{
    DefaultServerNameResolver, FixedServerNameResolver, HttpsConnector, MaybeHttpsStream, ResolveServerName,
};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt as _};

use super::tls::{self, ClientCertificate};
use super::{BoxError, Client, client_of};
use crate::cluster::config::Config;

/// From nothing to a connection that can be used.
const CONNECT: Duration = Duration::from_secs(10);
/// A dead connection is found after the interval and the timeout, also by watches that wait.
const PING_INTERVAL: Duration = Duration::from_secs(15);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);
/// What may be on its way unread, for one stream and for all: memory is bounded by it.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

type Tcp = MaybeHttpsStream<TokioIo<TcpStream>>;
type Pending<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Makes clients for one server.
pub(in crate::cluster) struct Network {
    dial: Dial,
    /// For HTTP/2 or, failing that, HTTP/1.1.
    either: Arc<rustls::ClientConfig>,
    /// For HTTP/2 alone.
    http2: Arc<rustls::ClientConfig>,
    names: Arc<dyn ResolveServerName + Send + Sync>,
}

impl Network {
    /// Prepares; nothing is sent.
    pub(in crate::cluster) fn new(
        config: &Config,
        certificate: Arc<ClientCertificate>,
    ) -> Result<Self, String> {
        if let Some(identity) = &config.identity {
            certificate.set(identity)?;
        }
        let mut either = tls::settings(&config.trust, certificate)?;
        let mut http2 = either.clone();
        either.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        http2.alpn_protocols = vec![b"h2".to_vec()];
        let names: Arc<dyn ResolveServerName + Send + Sync> = match &config.tls_server_name {
            None => Arc::new(DefaultServerNameResolver::default()),
            Some(name) => {
                let name = ServerName::try_from(name.clone())
                    .map_err(|error| format!("TLS server name {name:?}: {error}"))?;
                Arc::new(FixedServerNameResolver::new(name))
            }
        };
        Ok(Self {
            dial: Dial::new(config.proxy.as_ref())?,
            either: Arc::new(either),
            http2: Arc::new(http2),
            names,
        })
    }

    /// A client with connections of its own. `multiplexed`: the server is known to speak HTTP/2, so
    /// any number of requests at once share one connection from the first one on; a client that has
    /// to find out opens one for each of the first, and again whenever its connection ends. `dials`
    /// counts the attempts to connect.
    pub(super) fn client(&self, multiplexed: bool, dials: Arc<AtomicUsize>) -> Client {
        let tls = if multiplexed { &self.http2 } else { &self.either };
        let secured = HttpsConnector::new(self.dial.clone(), tls.clone(), false, self.names.clone());
        let client: legacy::Client<_, Full<Bytes>> = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http2_only(multiplexed)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .http2_keep_alive_while_idle(true)
            .build(Limited { connector: secured, dials });
        client_of(client)
    }
}

/// Counts attempts to connect and ends those that take too long.
#[derive(Clone)]
struct Limited<C> {
    connector: C,
    dials: Arc<AtomicUsize>,
}

impl<C> Service<Uri> for Limited<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pending<C::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        self.dials.fetch_add(1, Ordering::Relaxed);
        let connecting = self.connector.call(to);
        Box::pin(async move {
            tokio::time::timeout(CONNECT, connecting).await.unwrap_or_else(|_| {
                let seconds = CONNECT.as_secs();
                Err(io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {seconds} s"))
                    .into())
            })
        })
    }
}

/// Reaches the server's TCP port, through a proxy if need be.
#[derive(Clone)]
struct Dial {
    tcp: HttpConnector,
    via: Via,
    /// The proxy's host and port, for people.
    proxy: Arc<str>,
}

#[derive(Clone)]
enum Via {
    Direct,
    Http(Tunnel<HttpConnector>),
    Https(Tunnel<HttpsConnector<HttpConnector>>),
    Socks(SocksV5<HttpConnector>),
}

impl Dial {
    fn new(proxy: Option<&Uri>) -> Result<Self, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        // HTTP/1.1 has no pings.
        tcp.set_keepalive(Some(PING_INTERVAL));
        tcp.set_keepalive_interval(Some(PING_TIMEOUT));
        tcp.set_keepalive_retries(Some(2));
        let via = match proxy {
            None => Via::Direct,
            Some(proxy) => Via::through(proxy, tcp.clone())?,
        };
        let whole = proxy.and_then(Uri::authority).map_or("", Authority::as_str);
        // A login stays out of messages.
        let proxy = whole.rsplit_once('@').map_or(whole, |(_, address)| address).into();
        Ok(Self { tcp, via, proxy })
    }
}

impl Via {
    fn through(proxy: &Uri, tcp: HttpConnector) -> Result<Self, String> {
        let login = login(proxy);
        let basic = login.as_ref().and_then(|(user, password)| basic_header(user, password));
        let mut proxy = proxy.clone();
        if proxy.scheme_str().is_some_and(|scheme| scheme.starts_with("socks")) && proxy.port().is_none() {
            let host = proxy.host().unwrap_or_default();
            proxy = format!("socks5://{host}:1080").parse().map_err(|error| format!("proxy: {error}"))?;
        }
        Ok(match proxy.scheme_str() {
            Some("https") => {
                let tls = tls::settings(&crate::cluster::config::Trust::System, Arc::default())?;
                let secured = HttpsConnector::from((tcp, tls));
                let tunnel = Tunnel::new(proxy, secured);
                Self::Https(match basic {
                    Some(basic) => tunnel.with_auth(basic),
                    None => tunnel,
                })
            }
            Some("http") => {
                let tunnel = Tunnel::new(proxy, tcp);
                Self::Http(match basic {
                    Some(basic) => tunnel.with_auth(basic),
                    None => tunnel,
                })
            }
            _ => {
                let socks = SocksV5::new(proxy, tcp);
                Self::Socks(match login {
                    Some((user, password)) => socks.with_auth(user, password),
                    None => socks,
                })
            }
        })
    }
}

/// User and password in a proxy's URL.
fn login(proxy: &Uri) -> Option<(String, String)> {
    let (login, _) = proxy.authority()?.as_str().rsplit_once('@')?;
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    Some((unescaped(user), unescaped(password)))
}

fn unescaped(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        let escaped = match (byte, after) {
            (b'%', [high, low, beyond @ ..]) => {
                hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4 | low, beyond))
            }
            _ => None,
        };
        match escaped {
            Some((byte, beyond)) => {
                out.push(byte);
                rest = beyond;
            }
            None => out.push(*byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// An `Authorization` value with a password.
pub(in crate::cluster) fn basic_header(user: &str, password: &str) -> Option<HeaderValue> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Service<Uri> for Dial {
    type Response = Tcp;
    type Error = BoxError;
    type Future = Pending<Tcp>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Self { tcp, via, proxy } = self.clone();
        Box::pin(async move {
            let failed = |error: BoxError| through(&proxy, error.as_ref());
            Ok(match via {
                Via::Direct => MaybeHttpsStream::Http(tcp.oneshot(to).await?),
                Via::Http(tunnel) => MaybeHttpsStream::Http(
                    tunnel.oneshot(with_port(to)?).await.map_err(|error| failed(error.into()))?,
                ),
                Via::Https(tunnel) => {
                    tunnel.oneshot(with_port(to)?).await.map_err(|error| failed(error.into()))?
                }
                Via::Socks(socks) => MaybeHttpsStream::Http(
                    socks.oneshot(with_port(to)?).await.map_err(|error| failed(error.into()))?,
                ),
            })
        })
    }
}

/// Proxies are told the port also where the URL leaves it out; hyper-util would say 443 for http.
fn with_port(to: Uri) -> Result<Uri, BoxError> {
    if to.port().is_some() {
        return Ok(to);
    }
    let host = to.host().unwrap_or_default();
    let port = crate::cluster::config::port_of(&to);
    let scheme = to.scheme_str().unwrap_or("https");
    Ok(format!("{scheme}://{host}:{port}/").parse::<Uri>()?)
}

fn through(proxy: &str, error: &(dyn std::error::Error + Send + Sync)) -> BoxError {
    let mut words = format!("through the proxy {proxy}: {error}");
    let mut next = error.source();
    while let Some(inner) = next {
        let inner_words = inner.to_string();
        if !words.contains(&inner_words) {
            words = format!("{words}: {inner_words}");
        }
        next = inner.source();
    }
    io::Error::other(words).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_of_proxies_are_unescaped() {
        let proxy = Uri::from_static("http://us%40er:p%3Ass%zz@proxy:3128");
        assert_eq!(login(&proxy), Some(("us@er".to_owned(), "p:ss%zz".to_owned())));
        assert_eq!(login(&Uri::from_static("http://proxy:3128")), None);
        assert_eq!(basic_header("a", "b").unwrap(), "Basic YTpi");
    }

    #[test]
    fn proxies_are_told_a_port() {
        let port = |uri: &'static str| with_port(Uri::from_static(uri)).unwrap().port_u16();
        assert_eq!(port("http://a"), Some(80));
        assert_eq!(port("https://a"), Some(443));
        assert_eq!(port("https://a:6443"), Some(6443));
    }
}
