//! Bytes of integers.

use noren_rlwe::error::Result;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::writer::Writer;

use crate::radix::circuit::DIGIT_BITS;
use crate::radix::integer::{Integer, MAX_BITS, check_bits, check_set};
use crate::schemes::tfhe::Parameters;
use crate::schemes::tfhe::wire::{read_ciphertexts, write_ciphertexts};

/// Integers: one word, the bits of each; after the sections of their digits.
const BITS: u16 = 0x04;

/// Integers of the same width that travel together.
#[derive(Debug, Clone, PartialEq)]
pub struct Integers(pub Vec<Integer>);

impl Object for Integers {
    type Context = Parameters;
    const KIND: Kind = Kind::TFHE_INTEGERS;

    fn needed_fingerprint(parameters: &Parameters) -> Option<[u8; 32]> {
        Some(parameters.fingerprint())
    }

    fn fingerprint(&self, parameters: &Parameters) -> [u8; 32] {
        parameters.fingerprint()
    }

    /// # Panics
    /// If there is no integer, or they are of several widths, of several keys or of other parameters.
    fn write<'a>(&'a self, parameters: &'a Parameters, writer: &mut Writer<'a>) {
        let bits = self.0.first().map(Integer::bits).unwrap_or_else(|| panic!("a file holds at least one integer"));
        assert!(self.0.iter().all(|integer| integer.bits() == bits), "integers of one width");
        write_ciphertexts(parameters, self.0.iter().flat_map(Integer::digits), writer);
        writer.sizes(BITS, &[bits as u32]);
    }

    fn read(parameters: &Parameters, reader: &mut Reader<'_>) -> Result<Self> {
        check_set(parameters)?;
        let digits = read_ciphertexts(parameters, reader)?;
        let section = reader.take(BITS)?;
        let [bits] = section.word_array()?;
        let of_each = bits as usize / DIGIT_BITS;
        if check_bits(bits as usize).is_err() || bits > MAX_BITS as u64 {
            return Err(section.value("the bits of an integer", bits, format!("an even number up to {MAX_BITS}")));
        }
        if !digits.len().is_multiple_of(of_each) {
            return Err(section.value("the digits", digits.len(), format!("{of_each} for each integer")));
        }
        digits.chunks(of_each).map(|digits| Integer::from_digits(digits.to_vec())).collect::<Result<_>>().map(Self)
    }
}
