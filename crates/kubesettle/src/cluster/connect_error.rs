use crate::error::{ApiError, ErrorClass};

use super::config::Config;

/// No contact with the cluster: what was tried, why it failed, what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    /// `Unreachable` or `TimedOut`; `Unauthorized` or `Forbidden` when the credentials were rejected
    /// or could not be obtained; else what the server answered.
    pub class: ErrorClass,
    message: Box<str>,
    hint: Box<str>,
}

impl ConnectError {
    /// What a person can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    pub(super) fn new(config: &Config, error: &ApiError) -> Self {
        let (server, origin) = (config.server(), config.origin());
        let problem = match error.class {
            ErrorClass::Unreachable | ErrorClass::TimedOut => "cannot reach the cluster at",
            ErrorClass::Unauthorized if error.status.is_none() => "no credentials for",
            ErrorClass::Unauthorized => "credentials rejected by",
            ErrorClass::Forbidden => "not allowed to see what is served by",
            _ => "no usable answer from",
        };
        Self {
            class: error.class,
            message: format!("{problem} {server} ({origin}): {}", error.message).into(),
            hint: hint(error).into(),
        }
    }
}

fn hint(error: &ApiError) -> &'static str {
    let says = |word| error.message.contains(word);
    match error.class {
        ErrorClass::Unreachable if says("UnknownIssuer") => {
            "the server's certificate is signed by an unknown authority: check certificate-authority in the kubeconfig"
        }
        ErrorClass::Unreachable if says("certificate expired") || says("certificate not valid yet") => {
            "the server's certificate is to be renewed, unless the clock of this machine is wrong"
        }
        ErrorClass::Unreachable if says("certificate") => {
            "check the server address against the names in its certificate, or set tls-server-name"
        }
        ErrorClass::Unreachable | ErrorClass::TimedOut => {
            "check that the cluster runs, that this is the right context, and that a VPN or proxy is not in the way"
        }
        ErrorClass::Unauthorized => "log in again, or choose another context or user",
        ErrorClass::Forbidden => "check --as, or ask for the right to read /api and /apis",
        _ => "check that the server address is that of a Kubernetes API server",
    }
}

#[cfg(test)]
mod tests {
    use rustls::CertificateError;
    use rustls::pki_types::UnixTime;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_decides_on_the_hint() {
        let (now, end) = (UnixTime::since_unix_epoch, std::time::Duration::from_secs);
        let time = now(end(2));
        let expired = CertificateError::ExpiredContext { time, not_after: now(end(1)) };
        let early = CertificateError::NotValidYetContext { time, not_before: now(end(3)) };
        let rows = [
            (expired, "renewed"),
            (early, "renewed"),
            (CertificateError::UnknownIssuer, "unknown authority"),
            (CertificateError::NotValidForName, "names in its certificate"),
        ];
        for (problem, said) in rows {
            let message = rustls::Error::InvalidCertificate(problem).to_string();
            let error = ApiError::local(ErrorClass::Unreachable, message);
            assert!(hint(&error).contains(said), "{}: {}", error.message, hint(&error));
        }
    }
}
