//! Files for one test.

use std::fs;
use std::path::{Path, PathBuf};

use harness::ControlPlane;

use crate::world::unique;

/// A folder of one test; it goes with its control plane.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new, empty folder.
    pub fn new(plane: &ControlPlane) -> Self {
        let path = plane.dir().join(unique("files"));
        fs::create_dir_all(&path).expect("a folder");
        Self { path }
    }

    /// Writes a file, in a folder of this folder if its name says so; returns its path.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    /// Writes a shell script that can be run; returns its path.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, &format!("#!/bin/sh\n{text}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script");
        path
    }

    /// Copies the files of another folder, each changed by `change` (name, text).
    pub fn copy(&self, from: &Path, change: impl Fn(&str, String) -> String) {
        for entry in fs::read_dir(from).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a text file");
            self.write(&name, &change(&name, text));
        }
    }

    /// What a file of this folder holds; empty when it is not there.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap_or_default()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as an argument.
    pub fn arg(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }
}
