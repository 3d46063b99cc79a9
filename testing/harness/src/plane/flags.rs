//! The command lines of the parts.

use std::path::Path;

use super::Dir;
use crate::pki::Pki;

/// Loopback ports of one control plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) etcd_peer: u16,
    pub(super) api: u16,
}

pub(super) fn etcd(dir: &Dir, ports: Ports) -> Vec<String> {
    let (client, peer) = (loopback(ports.etcd), loopback(ports.etcd_peer));
    vec![
        format!("--data-dir={}", dir.data().join("etcd").display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        // The data lives as long as the test.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}

pub(super) fn apiserver(dir: &Dir, ports: Ports, pki: &Pki, extra: &[String]) -> Vec<String> {
    let path = |name: &str| dir.path.join(name).display().to_string();
    let mut args = vec![
        format!("--etcd-servers={}", loopback(ports.etcd)),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        // A loopback address is not allowed as an endpoint of the service `kubernetes`.
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={}", ports.api),
        format!("--tls-cert-file={}", pki.serving_cert.display()),
        format!("--tls-private-key-file={}", pki.serving_key.display()),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", pki.account_public.display()),
        format!("--service-account-signing-key-file={}", pki.account_key.display()),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
        format!("--token-auth-file={}", path("tokens.csv")),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        "--max-requests-inflight=800".to_owned(),
        "--max-mutating-requests-inflight=400".to_owned(),
        format!("--audit-policy-file={}", path("audit-policy.yaml")),
        format!("--audit-log-path={}", dir.data().join("audit.log").display()),
        // Written before the next request is counted; and never rotated away under the reader.
        "--audit-log-mode=blocking".to_owned(),
        "--audit-log-maxsize=100000".to_owned(),
    ];
    args.extend_from_slice(extra);
    args
}

pub(super) fn controller_manager(kubeconfig: &Path, pki: &Pki) -> Vec<String> {
    let mut args = client(kubeconfig);
    args.extend([
        format!("--root-ca-file={}", pki.ca.display()),
        format!("--service-account-private-key-file={}", pki.account_key.display()),
    ]);
    args
}

pub(super) fn scheduler(kubeconfig: &Path) -> Vec<String> {
    client(kubeconfig)
}

fn client(kubeconfig: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--kube-api-qps=500".to_owned(),
        "--kube-api-burst=1000".to_owned(),
        // No port of its own.
        "--secure-port=0".to_owned(),
    ]
}

pub(super) fn kwok(kubeconfig: &Path, stages: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--config={}", stages.display()),
        "--manage-all-nodes".to_owned(),
        // Without leases the nodes are taken for dead after 50 s, and their pods stay unready for good.
        "--node-lease-duration-seconds=40".to_owned(),
    ]
}

fn loopback(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
