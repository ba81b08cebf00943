//! The blocks of ChaCha20: see [`random`](crate::random) for the streams that are made of them.

/// Words of 64 bits in a block.
pub(crate) const BLOCK_WORDS: usize = 8;

/// "expand 32-byte k".
pub(in crate::kernels) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Pairs of a round over columns and one over diagonals.
pub(in crate::kernels) const DOUBLE_ROUNDS: usize = 10;

/// The kernel: blocks, the key, and the number of the first block.
pub(in crate::kernels) type Chacha20 = unsafe fn(&mut [u64], &[u32; 8], u64);

/// `LANES` blocks side by side; inlined, so that each instruction set makes its own vectors of them.
#[inline(always)]
pub(in crate::kernels) fn chacha20<const LANES: usize>(out: &mut [u64], key: &[u32; 8], counter: u64) {
    for (i, blocks) in out.chunks_mut(LANES * BLOCK_WORDS).enumerate() {
        let first = counter.wrapping_add((i * LANES) as u64);
        let mut start = [[0; LANES]; 16];
        for (row, &word) in start.iter_mut().zip(CONSTANTS.iter().chain(key)) {
            *row = [word; LANES];
        }
        let numbers: [u64; LANES] = std::array::from_fn(|lane| first.wrapping_add(lane as u64));
        (start[12], start[13]) = (numbers.map(|x| x as u32), numbers.map(|x| (x >> u32::BITS) as u32));
        let mut x = start;
        for _ in 0..DOUBLE_ROUNDS {
            for column in 0..4 {
                quarter_round(&mut x, [column, column + 4, column + 8, column + 12]);
            }
            for diagonal in 0..4 {
                let turned = |row: usize| 4 * row + (diagonal + row) % 4;
                quarter_round(&mut x, [turned(0), turned(1), turned(2), turned(3)]);
            }
        }
        for (x, start) in x.iter_mut().zip(&start) {
            x.iter_mut().zip(start).for_each(|(x, start)| *x = x.wrapping_add(*start));
        }
        for (lane, block) in blocks.chunks_exact_mut(BLOCK_WORDS).enumerate() {
            for (word, halves) in block.iter_mut().zip(x.as_chunks::<2>().0) {
                *word = u64::from(halves[0][lane]) | u64::from(halves[1][lane]) << u32::BITS;
            }
        }
    }
}

#[inline(always)]
fn quarter_round<const LANES: usize>(x: &mut [[u32; LANES]; 16], [a, b, c, d]: [usize; 4]) {
    for (to, from, turned, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        let from = x[from];
        x[to].iter_mut().zip(from).for_each(|(x, y)| *x = x.wrapping_add(y));
        let to = x[to];
        x[turned].iter_mut().zip(to).for_each(|(x, y)| *x = (*x ^ y).rotate_left(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::available;

    #[test]
    fn blocks_are_the_same_however_many_are_made_at_once() {
        let key = [0, 1, u32::MAX, 3, 0x8000_0000, 5, 6, 7];
        // The counter carries into its upper half.
        for counter in [0, 7, u64::from(u32::MAX) - 9, u64::MAX - 20] {
            let mut expected = [0; 41 * BLOCK_WORDS];
            for (block, number) in expected.chunks_exact_mut(BLOCK_WORDS).zip(0..) {
                chacha20::<1>(block, &key, counter.wrapping_add(number));
            }
            for table in available() {
                for count in [0, 1, 3, 4, 5, 8, 15, 16, 17, 20, 33, 41] {
                    let mut found = vec![0; count * BLOCK_WORDS];
                    table.chacha20(&mut found, &key, counter);
                    assert_eq!(found, expected[..found.len()], "{}: {count} from {counter}", table.name());
                }
            }
        }
    }
}
