//! Loopback ports that stay ours while the server behind them is restarted.
//!
//! They come from below the range the kernel hands out for outgoing connections, so that no other
//! process takes one by chance while its server is down; a lock file keeps two harnesses apart.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Context, Error};

const FIRST: u16 = 21_000;
const COUNT: u16 = 9_000;

/// A port on 127.0.0.1, reserved until it is dropped.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _lock: File,
}

impl Port {
    /// Takes a free port; whoever listens on it may go and come back.
    ///
    /// # Errors
    /// When none is free.
    pub fn reserve() -> Result<Self, Error> {
        let user = rustix::process::getuid().as_raw();
        let locks = std::env::temp_dir().join(format!("kubesettle-ports-{user}"));
        fs::create_dir_all(&locks).context(|| format!("cannot make {}", locks.display()))?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
        let first = (nanos ^ std::process::id().wrapping_mul(2_654_435_761)) % u32::from(COUNT);
        for step in 0..u32::from(COUNT) {
            let number = FIRST + ((first + step) % u32::from(COUNT)) as u16;
            let Ok(lock) = File::create(locks.join(number.to_string())) else {
                continue;
            };
            if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
                return Ok(Self { number, _lock: lock });
            }
        }
        Err(Error::new(format!("no free port on 127.0.0.1 between {FIRST} and {}", FIRST + COUNT)))
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reservations_differ() {
        let (one, two) = (Port::reserve().unwrap(), Port::reserve().unwrap());
        assert_ne!(one.number(), two.number());
    }
}
