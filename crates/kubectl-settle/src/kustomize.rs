//! Kustomizations. What builds them is run here and nowhere else.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use crate::exit::Failure;

/// What builds a kustomization: a program with its words. The first one that is there does it.
const BUILDERS: [(&str, &str); 2] = [("kubectl", "kustomize"), ("kustomize", "build")];

/// The objects that the kustomization in a folder stands for, as YAML.
///
/// # Errors
///
/// When there is nothing to build it with, or it cannot be built.
pub(crate) fn build(folder: &OsStr) -> Result<Vec<u8>, Failure> {
    let shown = folder.to_string_lossy();
    for (program, word) in BUILDERS {
        let mut command = Command::new(program);
        command.args([OsStr::new(word), OsStr::new("--"), folder]).stdin(Stdio::null());
        let done = match command.output() {
            Ok(done) => done,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                let text = format!("-k {shown}: {program} cannot be started: {error}");
                return Err(Failure::usage(text).hint(format!("build it yourself: {}", by_hand(&shown))));
            }
        };
        if done.status.success() {
            return Ok(done.stdout);
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let why = said.trim();
        let why = if why.is_empty() { done.status.to_string() } else { why.to_owned() };
        return Err(Failure::usage(format!("-k {shown}: {program} {word} could not build it: {why}"))
            .hint(format!("try it by hand: {program} {word} {shown}")));
    }
    let text =
        format!("-k {shown}: neither kubectl (kubectl kustomize) nor kustomize (kustomize build) is on PATH");
    Err(Failure::usage(text)
        .hint(format!("install one of the two, or build it elsewhere: {}", by_hand(&shown))))
}

fn by_hand(folder: &str) -> String {
    format!("kustomize build {folder} | kubectl settle apply -f -")
}
