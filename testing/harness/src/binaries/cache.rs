//! Where built programs lie, and who may build them.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::build;
use super::module::Module;
use crate::error::{Context, Error};

/// `$XDG_CACHE_HOME/kubesettle/binaries`, or the same below `~/.cache`.
pub(super) fn root() -> Result<PathBuf, Error> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).ok_or_else(|| {
        Error::new("no place for the built control plane: neither XDG_CACHE_HOME nor HOME is set")
            .next("export HOME or XDG_CACHE_HOME")
    })?;
    Ok(base.join("kubesettle").join("binaries"))
}

/// The folder with the programs of a module, built now if need be.
pub(super) fn ensure(module: Module) -> Result<PathBuf, Error> {
    let root = root()?;
    fs::create_dir_all(&root).context(|| format!("cannot make the cache folder {}", root.display()))?;
    let go = go_version(module)?;
    let target = root.join(format!("{}-{}", module.name(), key(module, &go)?));
    if target.is_dir() {
        return Ok(target);
    }
    let _lock = lock(&root, module)?;
    if !target.is_dir() {
        remove_leftovers(&root, module);
        build::build(module, &target)?;
    }
    Ok(target)
}

/// Held while a module is built. The kernel drops it with the process, so none is ever stale.
fn lock(root: &Path, module: Module) -> Result<File, Error> {
    let path = root.join(format!("{}.lock", module.name()));
    let what = || format!("cannot lock {}", path.display());
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(&path).context(what)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            eprintln!("{}: process {} builds it already, waiting for it", module.name(), holder.trim());
            file.lock().context(what)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).context(what),
    }
    let _ = file.set_len(0);
    let _ = file.seek(SeekFrom::Start(0));
    let _ = write!(file, "{}", std::process::id());
    Ok(file)
}

/// Removes what a killed build left behind; the lock is held.
fn remove_leftovers(root: &Path, module: Module) {
    let prefix = format!(".{}-", module.name());
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) && entry.path().is_dir() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// What decides the result of a build, as a short hash.
fn key(module: Module, go: &str) -> Result<String, Error> {
    let mut hash = Sha256::new();
    let mut add = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(go.as_bytes());
    add(module.link_flags().as_bytes());
    for binary in module.binaries() {
        add(binary.package().as_bytes());
    }
    for path in sources(&module.dir())? {
        add(&fs::read(&path).context(|| format!("cannot read {}", path.display()))?);
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// `go.mod`, `go.sum` and the Go files below a module's folder, in a fixed order.
fn sources(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context(|| format!("cannot read {}", folder.display()))? {
            let path = entry.context(|| format!("cannot read {}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if name == "go.mod" || name == "go.sum" || name.ends_with(".go") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The installed Go, checked against what the module asks for.
fn go_version(module: Module) -> Result<String, Error> {
    let manifest = module.dir().join("go.mod");
    let text = fs::read_to_string(&manifest).context(|| format!("cannot read {}", manifest.display()))?;
    let wanted = text.lines().find_map(|line| line.strip_prefix("go ")).unwrap_or("1.26").trim();
    let advice = format!("install Go {wanted} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS");
    // Elsewhere a go.mod or go.work could change the answer.
    let output =
        Command::new("go").args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").current_dir("/").output();
    let output = output.map_err(|error| {
        Error::new(format!("cannot run go, which builds the test control plane: {error}")).next(&advice)
    })?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if numbers(&version) < numbers(wanted) {
        return Err(Error::new(format!(
            "Go is too old: {} asks for {wanted}, installed is {version:?}",
            manifest.display()
        ))
        .next(advice));
    }
    Ok(version)
}

/// `go1.26.8` and `1.26` as numbers that compare.
fn numbers(version: &str) -> Vec<u32> {
    let digits = version.trim_start_matches("go");
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let mut numbers: Vec<u32> = digits[..end].split('.').filter_map(|part| part.parse().ok()).collect();
    numbers.resize(3, 0);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_versions_compare_as_numbers() {
        assert!(numbers("go1.9.1") < numbers("1.26.0"));
        assert!(numbers("go1.26.8") > numbers("1.26.0"));
        assert!(numbers("go1.27rc1") > numbers("1.26"));
        assert!(numbers("") < numbers("1.26"));
    }

    #[test]
    fn the_key_depends_on_the_go_version() {
        let key = |go| key(Module::Etcd, go).unwrap();
        assert_eq!(key("go1.26.8"), key("go1.26.8"));
        assert_ne!(key("go1.26.8"), key("go1.26.9"));
    }
}
