use super::{Family, Row, Telling, no_findings};
use crate::outcome::{Open, Plain, Waiver};
use crate::verdict::Status::{Current, InProgress};
use crate::view::View;

pub(super) const SERVICE: Family = Family {
    kinds: &[("", "Service")],
    rows: &[SERVICE_ROWS],
    otherwise: Plain { status: Current, reason: "ServiceReady", message: "Service is ready" },
    findings: no_findings,
};

pub(super) const INGRESS: Family = Family {
    kinds: &[("networking.k8s.io", "Ingress"), ("extensions", "Ingress")],
    rows: &[INGRESS_ROWS],
    otherwise: Plain { status: Current, reason: "IngressReady", message: "Ingress is ready" },
    findings: no_findings,
};

const SERVICE_ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "NoIPAssigned",
        source: "kstatus",
        when: "type LoadBalancer without a cluster IP",
        tell: |view| {
            let ip = view.spec().text("clusterIP").unwrap_or_default();
            (is_load_balancer(view) && ip.is_empty())
                .then(|| Telling::new("ClusterIP not set. Service type: LoadBalancer"))
        },
    },
    Row {
        status: InProgress,
        reason: "NoLoadBalancerAddress",
        source: "argoproj/argo-cd#17702",
        when: "type LoadBalancer with an empty `status.loadBalancer.ingress` and no `spec.externalIPs`; Current where no address is asked for",
        tell: |view| {
            let external = !view.spec().field("externalIPs").items().is_empty();
            (is_load_balancer(view) && !external && !has_address(view)).then(|| {
                Telling::new("Service of type LoadBalancer has no address yet")
                    .open(Open::Waived(Waiver::LoadBalancer))
            })
        },
    },
];

const INGRESS_ROWS: &[Row] = &[Row {
    status: Current,
    reason: "IngressReady",
    source: "argoproj/argo-cd#14607",
    when: "`status.loadBalancer.ingress` is empty; InProgress where an address is asked for",
    tell: |view| {
        (!has_address(view))
            .then(|| Telling::new("Ingress is stored; no address is reported").open(Open::Address))
    },
}];

fn is_load_balancer(view: &View<'_>) -> bool {
    view.spec().text("type").as_deref() == Some("LoadBalancer")
}

fn has_address(view: &View<'_>) -> bool {
    !view.status.path(&["loadBalancer", "ingress"]).items().is_empty()
}
