//! The certificate authority, serving certificate and service-account key of one control plane.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::error::{Context, Error};

/// Files of the TLS material, all below one directory.
#[derive(Debug)]
pub(crate) struct Pki {
    pub(crate) ca: PathBuf,
    pub(crate) serving_cert: PathBuf,
    pub(crate) serving_key: PathBuf,
    pub(crate) account_public: PathBuf,
    pub(crate) account_key: PathBuf,
    pub(crate) ca_pem: String,
}

/// Names under which the API server is reached; a proxy on another loopback port needs no other.
const NAMES: [&str; 6] =
    ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1", "10.96.0.1"];

impl Pki {
    pub(crate) fn create(dir: &Path) -> Result<Self, Error> {
        fs::create_dir_all(dir).context(|| format!("cannot make {}", dir.display()))?;
        let made = generate().context(|| "cannot make the certificates of the control plane".to_owned())?;
        let write = |name: &str, text: &str| {
            let path = dir.join(name);
            fs::write(&path, text).context(|| format!("cannot write {}", path.display()))?;
            Ok::<_, Error>(path)
        };
        Ok(Self {
            ca: write("ca.crt", &made.ca)?,
            serving_cert: write("apiserver.crt", &made.cert)?,
            serving_key: write("apiserver.key", &made.key)?,
            account_public: write("accounts.pub", &made.account_public)?,
            account_key: write("accounts.key", &made.account_key)?,
            ca_pem: made.ca,
        })
    }
}

struct Made {
    ca: String,
    cert: String,
    key: String,
    account_public: String,
    account_key: String,
}

fn generate() -> Result<Made, rcgen::Error> {
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::new())?;
    ca.distinguished_name.push(DnType::CommonName, "test control plane");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let ca_cert = ca.self_signed(&ca_key)?;
    let issuer = Issuer::new(ca, ca_key);

    let key = KeyPair::generate()?;
    let mut serving = CertificateParams::new(NAMES.map(str::to_owned))?;
    serving.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let cert = serving.signed_by(&key, &issuer)?;

    let account = KeyPair::generate()?;
    Ok(Made {
        ca: ca_cert.pem(),
        cert: cert.pem(),
        key: key.serialize_pem(),
        account_public: account.public_key_pem(),
        account_key: account.serialize_pem(),
    })
}
