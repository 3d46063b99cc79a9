//! Ends every child process when this process ends, however it ends.
//!
//! A SIGKILL runs no destructor and statics are never dropped, so the clean-up cannot live in this
//! process. A small shell script in its own process group reads a pipe whose other end only this
//! process holds. The kernel closes that end when the process is gone; the script then kills exactly
//! the processes it was told about, and removes their temporary directories.
//!
//! A process is known by its id and its start time, so that an id which the system has given to
//! somebody else in the meantime is left alone.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::usage;

const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
nl='
'
procs= dirs= kept=
while IFS= read -r line; do
    rest=${line#* }
    case $line in
        "proc "*) procs=$procs$rest$nl ;;
        "dir "*) dirs=$dirs$rest$nl ;;
        "keep "*) kept=$kept$rest$nl ;;
    esac
done

# is_ours PID START: the process still lives and is the one that was announced.
is_ours() {
    [ -d /proc/self ] || return 0
    read -r stat <"/proc/$1/stat" || return 1
    wanted=$2
    IFS=' '
    # The name, second field, may hold blanks and parentheses; the rest starts after the last one.
    set -- ${stat##*) }
    IFS=$nl
    [ "$1" != Z ] && [ "${20}" = "$wanted" ]
}

IFS=$nl
for entry in $procs; do
    if is_ours "${entry% *}" "${entry#* }"; then kill -KILL "-${entry% *}"; fi
done
for entry in $procs; do
    tries=0
    while is_ours "${entry% *}" "${entry#* }" && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
done
for dir in $dirs; do
    case "$nl$kept" in
        *"$nl$dir$nl"*) rm -rf -- "$dir/data" ;;
        *) rm -rf -- "$dir" ;;
    esac
done
"#;

/// The pipe to the script. One for the whole process, started at the first use.
fn pipe() -> &'static Mutex<ChildStdin> {
    static PIPE: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    #[allow(clippy::zombie_processes, reason = "it ends after this process, and so cannot be waited for")]
    PIPE.get_or_init(|| {
        let mut watcher = Command::new("sh")
            .args(["-c", SCRIPT])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| {
                panic!("cannot start sh, which ends the children of this process: {error}")
            });
        let stdin = watcher.stdin.take();
        Mutex::new(stdin.unwrap_or_else(|| panic!("sh was started without its pipe")))
    })
}

fn tell(line: &str) {
    let mut pipe = pipe().lock().unwrap_or_else(PoisonError::into_inner);
    // Without its watcher the process still ends its children by handle.
    let _ = writeln!(pipe, "{line}").and_then(|()| pipe.flush());
}

/// Starts the watcher now, so that nothing is between the start of a child and its announcement.
pub(crate) fn arm() {
    pipe();
}

/// Announces a child that leads its own process group; the group is killed when this process ends.
pub(crate) fn process(pid: u32) {
    tell(&format!("proc {pid} {}", usage::start_time(pid).unwrap_or_default()));
}

/// Announces a child of the caller, which leads its own process group.
pub fn watch(child: &Child) {
    process(child.id());
}

/// Kills a child that leads its own process group, with all of the group, and waits for its end.
pub fn kill(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.wait();
    }
}

/// Announces a directory to remove when this process ends.
pub(crate) fn directory(path: &Path) {
    tell(&format!("dir {}", path.display()));
}

/// Keeps an announced directory, except for its `data`: a person will want to read the logs.
pub(crate) fn keep(path: &Path) {
    tell(&format!("keep {}", path.display()));
}
