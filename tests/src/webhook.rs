//! An admission webhook that the API server of a test asks.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A webhook that allows everything, once it is open. Until then its port refuses connections.
#[derive(Debug)]
pub struct Webhook {
    address: SocketAddr,
    authority: String,
    config: Arc<ServerConfig>,
}

impl Webhook {
    /// On a free loopback port, with a certificate for this name.
    ///
    /// # Panics
    ///
    /// When there is no port.
    pub fn new(name: &str) -> Self {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|taken| taken.local_addr());
        let (authority, config) = identity(name).expect("a certificate");
        Self { address: address.expect("a port"), authority, config: Arc::new(config) }
    }

    /// Where it is, or will be.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The `caBundle` of its configuration.
    pub fn ca_bundle(&self) -> String {
        STANDARD.encode(&self.authority)
    }

    /// Answers from now on.
    ///
    /// # Panics
    ///
    /// When its port was taken meanwhile.
    pub fn open(&self) {
        let listener = TcpListener::bind(self.address).expect("the port is still free");
        let config = self.config.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let config = config.clone();
                thread::spawn(move || serve(config, stream));
            }
        });
    }
}

fn identity(name: &str) -> Result<(String, ServerConfig), Box<dyn std::error::Error>> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let pem = authority.self_signed(&authority_key)?.pem();
    let key = KeyPair::generate()?;
    let issuer = Issuer::new(authority, authority_key);
    let certificate = CertificateParams::new(vec![name.to_owned()])?.signed_by(&key, &issuer)?;
    let chain = vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes())?];
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok((pem, config))
}

/// One connection, request after request, until the other side ends it.
fn serve(config: Arc<ServerConfig>, stream: TcpStream) {
    let Ok(connection) = ServerConnection::new(config) else { return };
    let mut stream = StreamOwned::new(connection, stream);
    while let Some(review) = request(&mut stream) {
        let answer = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": { "uid": review["request"]["uid"], "allowed": true },
        })
        .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes())).is_err() {
            return;
        }
    }
}

fn request(stream: &mut impl Read) -> Option<Value> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
