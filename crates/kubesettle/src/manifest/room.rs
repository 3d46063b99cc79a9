//! Room to recurse in. A debug build takes 20 KB of stack for each level of YAML; a thread that somebody
//! else started may have 2 MB in all, and whoever writes the text chooses how deep it goes.

use std::cell::Cell;
use std::thread;

/// Enough for the deepest document that is read, several times over.
const STACK: usize = 16 << 20;
/// So many levels go anywhere.
const SHALLOW: usize = 40;

thread_local! {
    static ROOMY: Cell<bool> = const { Cell::new(false) };
}

/// Does some work where there is room. It must have no effect beside its result.
pub(super) fn with_room<T: Send>(work: impl Fn() -> T + Sync) -> T {
    if ROOMY.get() {
        return work();
    }
    let roomy = || {
        ROOMY.set(true);
        work()
    };
    let done = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, roomy);
        thread.ok().and_then(|thread| thread.join().ok())
    });
    // Where there is no further thread, this one has to do.
    done.unwrap_or_else(work)
}

/// Whether a text of YAML can be nested deeply: by what opens a collection, and by its indentation,
/// where each column holds two at most. A text with aliases may be deeper than it looks.
pub(super) fn may_be_deep(text: &str) -> bool {
    let opened = memchr::memchr2_iter(b'[', b'{', text.as_bytes()).count();
    let column =
        |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'-' | b'?' | b'\t')).count();
    let columns = text.lines().map(column).max().unwrap_or(0);
    let aliases =
        memchr::memchr(b'&', text.as_bytes()).is_some() && memchr::memchr(b'*', text.as_bytes()).is_some();
    aliases || opened + 2 * (columns + 1) > SHALLOW
}
