use super::{Family, Row, Telling, no_findings};
use crate::outcome::Plain;
use crate::verdict::Status::{Current, Failed, InProgress, Terminating};

pub(super) const DEFINITION: Family = Family {
    kinds: &[("apiextensions.k8s.io", "CustomResourceDefinition")],
    rows: &[DEFINITION_ROWS],
    otherwise: Plain { status: InProgress, reason: "Installing", message: "Install in progress" },
    findings: no_findings,
};

pub(super) const API_SERVICE: Family = Family {
    kinds: &[("apiregistration.k8s.io", "APIService")],
    rows: &[API_SERVICE_ROWS],
    otherwise: Plain {
        status: InProgress,
        reason: "AvailabilityUnknown",
        message: "Availability of the APIService is not known yet",
    },
    findings: no_findings,
};

pub(super) const NAMESPACE: Family = Family {
    kinds: &[("", "Namespace")],
    rows: &[NAMESPACE_ROWS],
    otherwise: Plain { status: Current, reason: "NamespaceActive", message: "Namespace is active" },
    findings: no_findings,
};

pub(super) const NODE: Family = Family {
    kinds: &[("", "Node")],
    rows: &[NODE_ROWS],
    otherwise: Plain {
        status: InProgress,
        reason: "NodeNotReady",
        message: "Node has not reported that it is ready",
    },
    findings: no_findings,
};

pub(super) const SIGNING_REQUEST: Family = Family {
    kinds: &[("certificates.k8s.io", "CertificateSigningRequest")],
    rows: &[SIGNING_REQUEST_ROWS],
    otherwise: Plain {
        status: InProgress,
        reason: "NotSigned",
        message: "Certificate signing request waits for approval and a certificate",
    },
    findings: no_findings,
};

const DEFINITION_ROWS: &[Row] = &[
    Row {
        status: Terminating,
        reason: "Terminating",
        source: "kubernetes/kubernetes#71925",
        when: "condition `Terminating` is True",
        tell: |view| view.conditions().alarm("Terminating").map(Telling::named),
    },
    Row {
        status: Failed,
        reason: "NamesNotAccepted",
        source: "kstatus; kubernetes/kubernetes#46101",
        when: "condition `NamesAccepted` is False",
        tell: |view| view.conditions().denies("NamesAccepted").map(Telling::named),
    },
    Row {
        status: Failed,
        reason: "NonStructuralSchema",
        source: "API reference",
        when: "condition `NonStructuralSchema` is True",
        tell: |view| view.conditions().alarm("NonStructuralSchema").map(Telling::named),
    },
    Row {
        status: Failed,
        reason: "NotEstablished",
        source: "kstatus",
        when: "condition `Established` is False for another reason than Installing",
        tell: |view| {
            view.conditions()
                .denies("Established")
                .filter(|condition| !condition.reason_is("Installing"))
                .map(Telling::named)
        },
    },
    Row {
        status: Current,
        reason: "Established",
        source: "kstatus",
        when: "condition `Established` is True",
        tell: |view| view.conditions().holds("Established").map(|_| Telling::new("CRD is established")),
    },
];

const API_SERVICE_ROWS: &[Row] = &[
    Row {
        status: Current,
        reason: "Available",
        source: "helm/helm#6361",
        when: "condition `Available` is True",
        tell: |view| view.conditions().holds("Available").map(|_| Telling::new("APIService is available")),
    },
    Row {
        status: InProgress,
        reason: "NotAvailable",
        source: "helm/helm#6361",
        when: "condition `Available` is anything else",
        tell: |view| view.conditions().get("Available").map(Telling::named),
    },
];

const NAMESPACE_ROWS: &[Row] = &[Row {
    status: Terminating,
    reason: "NamespaceTerminating",
    source: "API reference",
    when: "phase Terminating",
    tell: |view| {
        let ends = view.status.text("phase").as_deref() == Some("Terminating");
        ends.then(|| Telling::new("Namespace is terminating"))
    },
}];

const NODE_ROWS: &[Row] = &[
    Row {
        status: Current,
        reason: "NodeReady",
        source: "API reference",
        when: "condition `Ready` is True, also when the node takes no new pods",
        tell: |view| {
            let cordoned = view.spec().field("unschedulable").flag() == Some(true);
            let message = if cordoned { "Node is Ready, scheduling is disabled" } else { "Node is Ready" };
            view.conditions().holds("Ready").map(|_| Telling::new(message))
        },
    },
    Row {
        status: InProgress,
        reason: "NodeNotReady",
        source: "API reference",
        when: "condition `Ready` is anything else",
        tell: |view| view.conditions().get("Ready").map(Telling::named),
    },
];

const SIGNING_REQUEST_ROWS: &[Row] = &[
    Row {
        status: Failed,
        reason: "Denied",
        source: "API reference",
        when: "condition `Denied` or `Failed` is True",
        tell: |view| {
            let bad = view.conditions().alarm("Denied").or(view.conditions().alarm("Failed"));
            bad.map(Telling::named)
        },
    },
    Row {
        status: Current,
        reason: "CertificateIssued",
        source: "API reference",
        when: "`status.certificate` is there",
        tell: |view| {
            let issued = view.status.text("certificate").is_some_and(|pem| !pem.is_empty());
            issued.then(|| Telling::new("Certificate is issued"))
        },
    },
];
