//! The contract of the watch hub, sentence by sentence, against an API server in memory under a paused
//! clock: hours of watching take milliseconds and every run is the same.
#![allow(clippy::unwrap_used, reason = "tests")]

mod children;
mod events;
mod faults;
mod kinds;
mod labels;
mod model;
mod odd;
mod presence;
mod rights;
mod schedules;
mod scopes;
mod sharing;
mod sockets;
mod stop;
mod targets;
mod view;
