//! The program on a real control plane.
//!
//! All tests share one control plane, each in namespaces of its own; a few start another. They run in
//! more threads than there are cores: most of their time they wait. Names of tests that begin with
//! `f` and a number are those of the flows they follow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test says by a panic that it cannot go on, and writes files"
)]

/// Makes the tests of a module known, by their functions. One that is left out is dead code.
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
            let module = module_path!().split_once("::").map_or("", |(_, path)| path);
            vec![$(libtest_mimic::Trial::test(format!("{module}::{}", stringify!($name)), || {
                $name();
                Ok(())
            })),+]
        }
    };
}

mod applysets;
mod bad_input;
mod change;
mod cli_utils;
mod connection;
mod contact;
mod crash;
mod crowd;
mod failures;
mod faulty;
mod following;
mod guarded;
mod input;
mod interrupt;
mod kapply_parity;
mod ladder;
mod late_kinds;
mod mutation;
mod named;
mod order;
mod outage;
mod output;
mod partial;
mod real_life;
mod records;
mod refusals;
mod removal;
mod restored;
mod rights;
mod rights_doc;
mod saved_plans;
mod scale;
mod scopes;
mod shop;
mod sources;
mod stop;
mod streams;
mod stress;

use libtest_mimic::Arguments;

/// Tests at once, unless `--test-threads` says otherwise.
const THREADS: usize = 8;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let modules = [
        // Those with the longest waits begin first.
        crowd::tests(),
        ladder::tests(),
        outage::tests(),
        restored::tests(),
        crash::tests(),
        stress::tests(),
        scale::tests(),
        failures::tests(),
        faulty::tests(),
        real_life::tests(),
        shop::tests(),
        cli_utils::tests(),
        change::tests(),
        late_kinds::tests(),
        guarded::tests(),
        following::tests(),
        mutation::tests(),
        order::tests(),
        named::tests(),
        partial::tests(),
        rights::tests(),
        rights_doc::tests(),
        scopes::tests(),
        records::tests(),
        saved_plans::tests(),
        applysets::tests(),
        bad_input::tests(),
        refusals::tests(),
        removal::tests(),
        interrupt::tests(),
        kapply_parity::tests(),
        connection::tests(),
        streams::tests(),
        contact::tests(),
        input::tests(),
        output::tests(),
        sources::tests(),
        stop::tests(),
    ];
    libtest_mimic::run(&arguments, modules.into_iter().flatten().collect()).exit();
}
