//! The data of a control plane: what etcd holds, saved and put back as by somebody who restores a backup.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{ControlPlane, Part};
use crate::error::{Context, Error};
use crate::{usage, wait};

/// What etcd held at one moment. It goes with its control plane.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
}

impl ControlPlane {
    /// Copies etcd's data, which stands still meanwhile: nobody notices more than a late answer.
    ///
    /// # Panics
    ///
    /// When etcd does not run, or its data cannot be copied.
    #[track_caller]
    pub fn back_up(&self) -> Backup {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let path = self.dir.data().join(format!("backup-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let Some(pid) = self.process_id(Part::Etcd) else { panic!("etcd does not run") };
        self.pause(Part::Etcd);
        wait::wait_until("etcd to stand still", Duration::from_secs(10), || usage::is_stopped(pid));
        let copied = copy(&self.etcd_data(), &path);
        self.resume(Part::Etcd);
        copied.unwrap_or_else(|error| panic!("{error}"));
        Backup { path }
    }

    /// Ends every part at once, lets `meanwhile` happen, puts etcd's data back to what it was (to
    /// nothing without a backup), and starts every part that ran again, at the same addresses.
    ///
    /// # Panics
    ///
    /// When the data cannot be put back, or a part does not start.
    #[track_caller]
    pub fn restore(&self, backup: Option<&Backup>, meanwhile: impl FnOnce()) {
        let parts: Vec<Part> =
            Part::ALL.into_iter().filter(|part| self.process_id(*part).is_some()).collect();
        parts.iter().rev().for_each(|part| self.kill(*part));
        meanwhile();
        let data = self.etcd_data();
        fs::remove_dir_all(&data)
            .context(|| format!("cannot remove {}", data.display()))
            .and_then(|()| backup.map_or(Ok(()), |backup| copy(&backup.path, &data)))
            .unwrap_or_else(|error| panic!("{error}"));
        // The others know versions that the server has not reached: they must forget them too.
        parts.into_iter().for_each(|part| self.start_again(part));
    }

    fn etcd_data(&self) -> PathBuf {
        self.dir.data().join("etcd")
    }
}

/// Copies a directory with all it holds.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let what = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::create_dir(to).context(what)?;
    // etcd refuses a directory that others may read.
    fs::set_permissions(to, fs::metadata(from).context(what)?.permissions()).context(what)?;
    for entry in fs::read_dir(from).context(what)? {
        let entry = entry.context(what)?;
        let target = to.join(entry.file_name());
        if entry.file_type().context(what)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).context(what)?;
        }
    }
    Ok(())
}
