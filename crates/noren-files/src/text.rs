//! The lines that keys and signatures of minisign consist of.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::error::Reason;

/// How a line begins that nobody has signed.
pub(crate) const UNTRUSTED: &str = "untrusted comment: ";

/// Exactly `N` lines; the last may lack its end.
pub(crate) fn lines<'a, const N: usize>(what: &'static str, text: &'a str) -> Result<[&'a str; N], Reason> {
    let mut lines = text.lines();
    let mut found = [""; N];
    for line in &mut found {
        *line = lines.next().ok_or(Reason::malformed(what, "it has too few lines"))?;
    }
    if lines.any(|line| !line.is_empty()) {
        return Err(Reason::malformed(what, "it has too many lines"));
    }
    if !found[0].starts_with(UNTRUSTED) {
        return Err(Reason::malformed(what, "its first line is no comment of minisign"));
    }
    Ok(found)
}

/// The bytes that a line of base64 holds, of which there are exactly `N`. Wiped when dropped.
pub(crate) fn decode<const N: usize>(what: &'static str, line: &str) -> Result<Zeroizing<[u8; N]>, Reason> {
    let refused = Reason::malformed(what, "a line of it is no base64 of the right length");
    if line.len() != N.div_ceil(3) * 4 {
        return Err(refused);
    }
    // The decoder wants room for whole groups.
    let mut room = Zeroizing::new(vec![0; N.next_multiple_of(3)]);
    let found = STANDARD.decode_slice(line, &mut room);
    let bytes = found.ok().and_then(|found| room[..found].try_into().ok());
    bytes.map(Zeroizing::new).ok_or(refused)
}

/// A line of base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The name of a key, as minisign prints it.
pub(crate) fn name(id: [u8; 8]) -> String {
    format!("{:016X}", u64::from_le_bytes(id))
}

/// Some of the bytes.
///
/// # Panics
/// If there are fewer: offsets are those of the formats.
pub(crate) fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a part has its length")
}
