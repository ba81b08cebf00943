//! Residues at the width of their prime: the bit streams of packed rows.
//!
//! The value of index `i` occupies the bits `i b .. (i + 1) b` of the stream, where bit `k` of a stream is
//! bit `k mod 8` of byte `floor(k / 8)`. A stream ends with zero bits up to a multiple of 8 bytes.

/// Bytes of the words that streams are made of.
const WORD_BYTES: usize = 8;

/// The widest value: residues lie below 2^50, and a value never spans more than two words.
const MAX_BITS: u32 = 63;

/// Why a stream is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The value at `index` is not below the bound.
    Value {
        /// Which value.
        index: usize,
        /// The value.
        value: u64,
    },
    /// The bits behind the last value are not all zero.
    Padding,
}

/// Bytes of the stream of `count` values of `bits` bits; `None` if that is no `usize`.
pub(super) fn packed_len(count: usize, bits: u32) -> Option<usize> {
    let bits = count.checked_mul(bits as usize)?;
    bits.div_ceil(WORD_BYTES * 8).checked_mul(WORD_BYTES)
}

/// Writes the stream of `row`. Range: in `[0, 2^bits)`.
///
/// # Panics
/// If `out` has another length than [`packed_len`], or `bits` is not in `1..=63`.
pub(super) fn pack(row: &[u64], bits: u32, out: &mut [u8]) {
    assert!((1..=MAX_BITS).contains(&bits), "values have 1 to 63 bits, not {bits}");
    assert_eq!(Some(out.len()), packed_len(row.len(), bits), "bytes of the packed row");
    let mut out = out.as_chunks_mut::<WORD_BYTES>().0.iter_mut();
    let mut put = |word: u64| {
        if let Some(bytes) = out.next() {
            *bytes = word.to_le_bytes();
        }
    };
    let (mut word, mut filled) = (0, 0);
    for &value in row {
        debug_assert!(value >> bits == 0, "a value wider than {bits} bits");
        word |= value << filled;
        filled += bits;
        if filled >= u64::BITS {
            put(word);
            filled -= u64::BITS;
            word = value >> (bits - filled);
        }
    }
    if filled > 0 {
        put(word);
    }
}

/// Reads the stream of `row.len()` values, each of which must lie below `bound`.
///
/// Range: out `[0, bound)`, where `bound <= 2^bits`.
///
/// # Errors
/// The first [`Fault`]; `row` then holds what was read.
///
/// # Panics
/// If `bytes` has another length than [`packed_len`], or `bits` is not in `1..=63`.
pub(super) fn unpack(bytes: &[u8], bits: u32, bound: u64, row: &mut [u64]) -> Result<(), Fault> {
    assert!((1..=MAX_BITS).contains(&bits), "values have 1 to 63 bits, not {bits}");
    assert_eq!(Some(bytes.len()), packed_len(row.len(), bits), "bytes of the packed row");
    let mask = (1 << bits) - 1;
    let mut words = bytes.as_chunks::<WORD_BYTES>().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
    let (mut word, mut left) = (0, 0);
    let mut all_below = true;
    for value in row.iter_mut() {
        if left >= bits {
            *value = word & mask;
            word >>= bits;
            left -= bits;
        } else {
            let next = words.next().unwrap_or(0);
            *value = (word | next << left) & mask;
            word = next >> (bits - left);
            left += u64::BITS - bits;
        }
        all_below &= *value < bound;
    }
    if !all_below {
        let (index, &value) = row.iter().enumerate().find(|&(_, &value)| value >= bound).unwrap_or((0, &0));
        return Err(Fault::Value { index, value });
    }
    // Fewer than 64 bits are left, since the length is exact.
    if word == 0 { Ok(()) } else { Err(Fault::Padding) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The stream by its definition, bit by bit.
    fn naive(row: &[u64], bits: u32) -> Vec<u8> {
        let mut bytes = vec![0; (row.len() * bits as usize).div_ceil(64) * 8];
        for (i, value) in row.iter().enumerate() {
            for bit in (0..bits).filter(|bit| value >> bit & 1 == 1) {
                let at = i * bits as usize + bit as usize;
                bytes[at / 8] |= 1 << (at % 8);
            }
        }
        bytes
    }

    fn packed(row: &[u64], bits: u32) -> Vec<u8> {
        let mut bytes = vec![0xff; packed_len(row.len(), bits).expect("short")];
        pack(row, bits, &mut bytes);
        bytes
    }

    fn rows() -> impl Strategy<Value = (u32, Vec<u64>)> {
        (1..=MAX_BITS).prop_flat_map(|bits| (Just(bits), prop::collection::vec(0..1u64 << bits, 0..200)))
    }

    proptest! {
        #[test]
        fn pack_writes_the_defined_bits_and_unpack_inverts_it((bits, row) in rows()) {
            let bytes = packed(&row, bits);
            prop_assert_eq!(&bytes, &naive(&row, bits));
            let mut out = vec![u64::MAX; row.len()];
            prop_assert_eq!(unpack(&bytes, bits, 1 << bits, &mut out), Ok(()));
            prop_assert_eq!(out, row);
        }

        #[test]
        fn unpack_names_the_first_value_that_is_not_below_the_bound((bits, row) in rows(), at in any::<prop::sample::Index>()) {
            prop_assume!(!row.is_empty());
            let bound = row[at.index(row.len())];
            prop_assume!(bound > 0);
            let first = row.iter().position(|&value| value >= bound).expect("the bound itself is in the row");
            let mut out = vec![0; row.len()];
            let fault = Fault::Value { index: first, value: row[first] };
            prop_assert_eq!(unpack(&packed(&row, bits), bits, bound, &mut out), Err(fault));
        }

        #[test]
        fn unpack_refuses_every_bit_behind_the_last_value((bits, row) in rows(), flip in any::<prop::sample::Index>()) {
            let used = row.len() * bits as usize;
            let mut bytes = packed(&row, bits);
            prop_assume!(used < 8 * bytes.len());
            let at = used + flip.index(8 * bytes.len() - used);
            bytes[at / 8] ^= 1 << (at % 8);
            prop_assert_eq!(unpack(&bytes, bits, 1 << bits, &mut vec![0; row.len()]), Err(Fault::Padding));
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_none() {
        assert_eq!(packed_len(usize::MAX, 50), None);
        assert_eq!([packed_len(0, 50), packed_len(1, 50), packed_len(64, 50)], [Some(0), Some(8), Some(400)]);
    }
}
