//! `kubectl settle`: applies Kubernetes objects and says truthfully when they have settled.
//!
//! ```text
//! words ─► args (what was typed) ─► settings (what it means) ─► cmd ─► events ─► print ─► exit code
//! ```

mod app;
mod args;
mod cmd;
mod duration;
mod env;
mod exit;
mod files;
mod kustomize;
mod print;
mod saved;
mod settings;
mod stdin;

use std::process::ExitCode;

use kubesettle::error::ExitClass;

fn main() -> ExitCode {
    print::out::tell_panics();
    let class = std::panic::catch_unwind(|| app::run(&env::words(), &env::Variables::of_process()));
    exit::code(class.unwrap_or(ExitClass::Internal))
}
