//! One control plane for all tests of a process.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ControlPlane;

/// The control plane of this test process, started at the first call.
///
/// It ends with the process (see [`crate::guard`]). Tests use namespaces of their own; one that
/// touches cluster-wide things also holds [`exclusive`], or starts a control plane of its own.
///
/// # Panics
///
/// When it cannot be started; the message says why.
pub fn shared() -> &'static ControlPlane {
    static PLANE: OnceLock<ControlPlane> = OnceLock::new();
    PLANE.get_or_init(|| ControlPlane::builder().start().unwrap_or_else(|error| panic!("{error}")))
}

/// Held by a test while it changes cluster-wide things of the shared control plane (nodes, CRDs that
/// others use, a restart of a part).
pub fn exclusive() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
