//! Which servers are trusted and who we say we are.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, InconsistentKeys, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::cluster::config::{Identity, Trust};

/// TLS settings for `trust`; client certificates come from `certificate`, also later ones.
pub(super) fn settings(trust: &Trust, certificate: Arc<ClientCertificate>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match trust {
        Trust::System => builder
            .with_platform_verifier()
            .map_err(|error| format!("cannot use the system's certificate authorities: {error}"))?,
        Trust::Certificates(pem) => builder.with_root_certificates(authorities(pem)?),
        Trust::Anything => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny { algorithms }))
        }
    };
    let mut settings = builder.with_client_cert_resolver(certificate);
    // A resumed session keeps the client certificate that it began with, also one that has expired.
    settings.resumption = Resumption::disabled();
    Ok(settings)
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    let (added, _) = store.add_parsable_certificates(certificates);
    if added == 0 {
        return Err("the certificate authority holds no certificate".to_owned());
    }
    Ok(store)
}

/// The client certificate in use; a credential plugin may replace it.
#[derive(Debug, Default)]
pub(in crate::cluster) struct ClientCertificate(RwLock<Option<Arc<CertifiedKey>>>);

impl ClientCertificate {
    /// Takes a certificate for connections to come.
    pub(in crate::cluster) fn set(&self, identity: &Identity) -> Result<(), String> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&identity.certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("the client certificate is not PEM: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(identity.key.expose().as_bytes())
            .map_err(|error| format!("the client key is not PEM: {error}"))?;
        let key = ring::default_provider()
            .key_provider
            .load_private_key(key)
            .map_err(|error| format!("the client key cannot be used: {error}"))?;
        let certified = CertifiedKey::new(chain, key);
        // Certificates of version 1 cannot be compared here; servers take them.
        if let Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) = certified.keys_match() {
            return Err("the client key is not that of the client certificate".to_owned());
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
        Ok(())
    }

    fn current(&self) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesClientCert for ClientCertificate {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.current()
    }

    fn has_certs(&self) -> bool {
        self.current().is_some()
    }
}

/// `--insecure-skip-tls-verify`: any server, but one that holds the key of the certificate it shows.
struct AcceptAny {
    algorithms: WebPkiSupportedAlgorithms,
}

impl fmt::Debug for AcceptAny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AcceptAny")
    }
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
