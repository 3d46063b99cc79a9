//! A real Kubernetes control plane for tests.
//!
//! etcd, kube-apiserver, kube-controller-manager and kube-scheduler run as children of the test
//! process on free loopback ports; kwok plays the kubelet of any number of nodes. The binaries are
//! built once from the pinned Go modules under `testing/` (see [`binaries`]).
//!
//! ```no_run
//! let plane = harness::shared();
//! let ns = plane.namespace("web");
//! plane.kubectl(&["create", "deployment", "shop", "--image=shop:1", "-n", ns.name()]).success();
//! ```
//!
//! Nothing outlives the process that started it, however that process ends: see [`guard`].
#![allow(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "the harness starts processes, writes their files and tells a person what it waits for"
)]

mod api;
mod audit;
pub mod binaries;
mod credentials;
mod error;
pub mod guard;
mod identity;
mod namespace;
mod pki;
mod plane;
mod ports;
mod process;
mod proxy;
mod run;
mod shared;
mod usage;
mod user;
mod wait;

pub use api::{Api, Reply};
pub use audit::{Mark, Request, Requests};
pub use error::Error;
pub use identity::{Identity, detach};
pub use namespace::Namespace;
pub use plane::{Backup, Builder, ControlPlane, Part};
pub use ports::Port;
pub use proxy::{TcpProxy, Traffic};
pub use run::{Finished, Running, run, spawn};
pub use shared::{exclusive, shared};
pub use usage::Usage;
pub use user::{User, UserBuilder};
pub use wait::{wait_for, wait_until};
