use std::fmt;
use std::num::NonZeroU128;

/// The uid of an object: what tells two lives of one name apart.
///
/// The API promises only that uids are unique strings; in practice they are UUIDs. A UUID is kept
/// as its own 128 bits, any other text as a stable hash of it, so that equality of the text and
/// equality of the value are the same for every uid a cluster hands out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(NonZeroU128);

impl Uid {
    /// The least value in order.
    pub const MIN: Self = Self(NonZeroU128::MIN);
    /// The greatest value in order.
    pub const MAX: Self = Self(NonZeroU128::MAX);

    /// Reads a uid. Total: every text has a value, also the empty one.
    pub fn parse(text: &str) -> Self {
        let bits = uuid_bits(text).unwrap_or_else(|| fnv1a(text.as_bytes()));
        Self(NonZeroU128::new(bits).unwrap_or(NonZeroU128::MIN))
    }

    /// The 128 bits: those of the UUID when it was one.
    pub fn bits(self) -> u128 {
        self.0.get()
    }
}

fn uuid_bits(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut bits = 0_u128;
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        bits = bits << 4 | u128::from(char::from(*byte).to_digit(16)?);
    }
    Some(bits)
}

fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = self.bits();
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            b >> 96,
            b >> 80 & 0xffff,
            b >> 64 & 0xffff,
            b >> 48 & 0xffff,
            b & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Uid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_keeps_its_bits_and_prints_as_it_was() {
        let text = "00000000-0000-4000-8000-0000000010ab";
        assert_eq!(Uid::parse(text).to_string(), text);
        assert_eq!(Uid::parse(&text.to_uppercase()), Uid::parse(text));
    }

    #[test]
    fn other_texts_have_a_stable_value_of_their_own() {
        assert_eq!(Uid::parse("abc"), Uid::parse("abc"));
        assert_ne!(Uid::parse("abc"), Uid::parse("abd"));
        assert_ne!(Uid::parse(""), Uid::parse("00000000-0000-0000-0000-000000000000"));
    }
}
