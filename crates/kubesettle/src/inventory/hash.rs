//! SHA-256 where a name is too long or too odd to be stored as it is.

use sha2::{Digest, Sha256};

/// The digest of several texts, each ended by a zero byte, which no name can hold.
pub(super) fn of_parts(parts: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    hasher.finalize().into()
}

/// The digest of one text.
pub(crate) fn of(text: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(text.as_ref()).into()
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(HEX[usize::from(digit)]))
        .collect()
}

const HEX: &[u8; 16] = b"0123456789abcdef";
