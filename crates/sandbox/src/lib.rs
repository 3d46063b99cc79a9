//! A Kubernetes API server in memory.
//!
//! It speaks the API as a client sees it: discovery, GET, LIST in pages, WATCH with bookmarks and
//! streaming lists, server-side apply with field ownership, dry runs, finalizers, owners, namespaces and
//! CRDs, with the codes and texts of the real server. Small controllers make workloads run, or fail in the
//! way that an annotation names. It has no sockets and no tasks: a [`Service`] answers in the caller's own
//! task, and all time comes from tokio's clock, so a whole day passes in a test that pauses it.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use sandbox::{Fault, Sandbox, When};
//! use tower::ServiceExt as _;
//!
//! let sandbox = Sandbox::builder().seed(7).build();
//! sandbox.inject(When::verb("get").resource("namespaces").nth(1), Fault::throttle(1));
//! for expected in [200, 429, 200] {
//!     let request = http::Request::get("/api/v1/namespaces/default").body(String::new()).unwrap();
//!     let answer = sandbox.service().oneshot(request).await.unwrap();
//!     assert_eq!(answer.status(), expected);
//! }
//! # }
//! ```

//!
//! # What is simplified
//!
//! * Bodies are JSON; YAML, protobuf, CBOR, tables and gzip are not spoken, and there is no OpenAPI.
//! * Users have plain rules in place of Roles and bindings. There are no webhooks, policies or quotas.
//! * JSON patches, collections deleted at once, logs, exec and the scale subresource are refused.
//! * Fields of common kinds are known one by one; deep inside rare ones (affinity, CSI volumes, Ingress rules)
//!   anything goes. Rules for values are those that tests meet, not all of them.
//! * A custom kind has the schema of its stored version; versions differ in their name only.
//! * There are no autoscalers, no endpoints, no load balancers, no CronJobs that start Jobs.
//!
//! What is claimed to be the same is in [`conformance`], as data that runs against both.

mod answer;
mod ask;
mod clock;
pub mod conformance;
mod control;
mod failure;
mod faults;
mod json;
mod kinds;
#[cfg(feature = "listen")]
mod listen;
mod log;
mod read;
mod sandbox;
mod serve;
mod service;
mod settings;
mod store;
mod streams;
mod users;
mod write;

pub use answer::{Body, BoxError};
pub use faults::{Fault, FaultId, When};
#[cfg(feature = "listen")]
pub use listen::Listening;
pub use log::Logged;
pub use sandbox::{Builder, Sandbox};
pub use service::Service;
pub use store::Backup;
pub use streams::WatchEnd;
pub use users::User;
