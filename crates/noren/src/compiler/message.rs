//! Bytes between the halves of a compiled function: ciphertexts, bound to the function that they are for.

use noren_rlwe::error::{Error, Result};

use crate::compiler::program::Program;

/// Encrypted inputs or outputs of one function.
///
/// The bytes are the text `noren-call`, a byte for the direction, the BLAKE3 digest of the
/// [program](Program::to_bytes), and for each item its length in 8 bytes, little-endian, and itself.
///
/// # Examples
/// ```
/// use noren::compiler::{Direction, Message};
///
/// let message = Message { direction: Direction::Inputs, program: [7; 32], items: vec![vec![1, 2], vec![]] };
/// assert_eq!(Message::from_bytes(&message.to_bytes())?, message);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Which way it goes.
    pub direction: Direction,
    /// The digest of the program.
    pub program: [u8; 32],
    /// Containers of ciphertexts.
    pub items: Vec<Vec<u8>>,
}

/// The direction of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    Inputs,
    /// From the server to the client.
    Outputs,
}

/// How messages begin.
const MAGIC: &[u8; 10] = b"noren-call";

/// The bytes of a digest, and of a length.
const DIGEST: usize = 32;
const LENGTH: usize = 8;

impl Direction {
    const fn byte(self) -> u8 {
        match self {
            Self::Inputs => 1,
            Self::Outputs => 2,
        }
    }
}

impl Message {
    /// The bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.items.iter().map(|item| LENGTH + item.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(MAGIC.len() + 1 + DIGEST + size);
        bytes.extend_from_slice(MAGIC);
        bytes.push(self.direction.byte());
        bytes.extend_from_slice(&self.program);
        for item in &self.items {
            bytes.extend_from_slice(&(item.len() as u64).to_le_bytes());
            bytes.extend_from_slice(item);
        }
        bytes
    }

    /// The message of these bytes.
    ///
    /// Nothing is allocated by a length in them: items are cut from what there is.
    ///
    /// # Errors
    /// Bytes that are no message, or end early.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refused = |reason: &str| {
            Error::parameter("message", format!("refused ({reason})"), "inputs or outputs of a compiled function")
        };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| refused("another beginning"))?;
        let (&direction, rest) = rest.split_first().ok_or_else(|| refused("no direction"))?;
        let direction = [Direction::Inputs, Direction::Outputs].into_iter().find(|way| way.byte() == direction);
        let direction = direction.ok_or_else(|| refused("an unknown direction"))?;
        let (program, mut rest) = rest.split_first_chunk::<DIGEST>().ok_or_else(|| refused("no digest"))?;
        let mut items = Vec::new();
        while !rest.is_empty() {
            let (length, behind) = rest.split_first_chunk::<LENGTH>().ok_or_else(|| refused("a short length"))?;
            let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| refused("a long item"))?;
            let (item, behind) = behind.split_at_checked(length).ok_or_else(|| refused("a short item"))?;
            items.push(item.to_vec());
            rest = behind;
        }
        Ok(Self { direction, program: *program, items })
    }
}

impl Program {
    /// The digest by which messages name the program.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| *blake3::hash(&self.to_bytes()).as_bytes())
    }

    /// The bytes of ciphertexts of this program.
    #[must_use]
    pub fn message(&self, direction: Direction, items: Vec<Vec<u8>>) -> Vec<u8> {
        Message { direction, program: self.digest(), items }.to_bytes()
    }

    /// The containers of ciphertexts in a message that goes this way.
    ///
    /// # Errors
    /// As [`Message::from_bytes`], and a message of another direction or for another program.
    pub fn items(&self, direction: Direction, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let message = Message::from_bytes(bytes)?;
        let wrong = |found: &str, needed: &str| Error::WrongKind { found: found.to_owned(), needed: needed.to_owned() };
        if message.program != self.digest() {
            return Err(wrong(
                "ciphertexts of another compiled function",
                "those of this one: load the same program file",
            ));
        }
        match (message.direction, direction) {
            (Direction::Inputs, Direction::Outputs) => Err(wrong("encrypted inputs", "results of the server")),
            (Direction::Outputs, Direction::Inputs) => Err(wrong("results of a server", "encrypted inputs")),
            _ => Ok(message.items),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        let message = Message { direction: Direction::Outputs, program: [3; DIGEST], items: vec![vec![9; 5], vec![1]] };
        let bytes = message.to_bytes();
        assert_eq!(Message::from_bytes(&bytes).expect("a message"), message);
        let header = MAGIC.len() + 1 + DIGEST;
        for cut in (0..bytes.len()).filter(|&cut| cut != header && cut != header + LENGTH + 5) {
            assert!(Message::from_bytes(&bytes[..cut]).is_err(), "{cut} bytes");
        }
        let mut long = bytes.clone();
        long[header..header + LENGTH].fill(0xff);
        assert!(Message::from_bytes(&long).is_err(), "a length beyond the end");
        let mut unknown = bytes;
        unknown[MAGIC.len()] = 7;
        assert!(Message::from_bytes(&unknown).is_err(), "an unknown direction");
    }
}
