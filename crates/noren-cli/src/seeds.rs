//! Seeds: of the system, and from the command line.

use std::fmt;

use noren::Seed;

use crate::failure::Failure;

/// A seed that nobody knows.
pub(crate) fn random() -> Result<Seed, Failure> {
    Ok(Seed::random().map_err(noren::Error::from)?)
}

/// A seed from the command line: without `Debug` of its bytes.
#[derive(Clone)]
pub(crate) struct HexSeed(pub(crate) [u8; 32]);

impl fmt::Debug for HexSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HexSeed(..)")
    }
}

/// Reads a seed.
pub(crate) fn parse_seed(text: &str) -> Result<HexSeed, String> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let mut seed = [0; 32];
    match digits {
        Some(digits) if digits.len() == 2 * seed.len() => {
            seed.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
            Ok(HexSeed(seed))
        }
        _ => Err(format!("64 hexadecimal digits are needed, {} characters were given", text.chars().count())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_most_significant_digit_first() {
        let text = format!("0aF1{}", "00".repeat(30));
        assert_eq!(parse_seed(&text).expect("64 digits").0[..3], [0x0a, 0xf1, 0]);
        assert!(parse_seed("0a").is_err());
        assert!(parse_seed(&"g".repeat(64)).is_err());
    }
}
