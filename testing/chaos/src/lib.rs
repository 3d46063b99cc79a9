//! Proof under faults: what a run says must be true, and nothing may be lost, whatever happens between
//! the program and the API server.
//!
//! ```text
//!  library ══► proxy (faults, by seed) ══► real API server ◄══ mover (somebody else)
//!     │                                          ▲
//!     └── events ──► checks ─────────────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `fault`, `schedule` | what is done to which request, as a function of the seed |
//! | `proxy` | how it is done |
//! | `set`, `mover` | the objects of a seed, and who else works on them |
//! | `phase` | one run of the library, with a runtime of its own |
//! | `check` | what must be true afterwards |
//! | `seed`, `campaign` | one seed, many seeds |
//! | `soak` | one long watch over weeks in minutes |
//!
//! The proxy also serves tests that say themselves what happens to which request: [`Proxy::script`].
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a command line for developers: it talks to a terminal and writes logs"
)]

pub mod campaign;
mod check;
mod direct;
mod fault;
mod mover;
mod phase;
mod proxy;
mod random;
mod schedule;
mod seed;
mod set;
pub mod soak;

pub use direct::BoxError;
pub use fault::{About, Canned, Ending, Fault};
pub use proxy::{Asked, Proxy};
