//! Which ciphertexts a circuit holds at the same time, and the memory that this takes.

use std::collections::BTreeMap;

/// The ciphertexts of a circuit, in the order in which they are made and dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lifetimes(Vec<Event>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A ciphertext at a depth is made: the next in number.
    Made { depth: u32 },
    /// The ciphertext of this number is dropped.
    Dropped { number: u32 },
    /// An operation at a depth holds pairs of polynomials besides its operands and its result: `pairs` without special primes,
    /// `extended` with them.
    Works { depth: u32, pairs: u32, extended: u32 },
    /// The first of `pieces` pieces of work that run side by side.
    Begins { pieces: u32 },
    /// A piece ends, and perhaps another begins.
    Ends,
}

/// Buffers of a pool, in rows: one that was given back serves what has at least half as many rows.
#[derive(Default)]
struct Buffers {
    free: BTreeMap<usize, usize>,
    /// The rows of all buffers, and of those in use.
    all: usize,
    used: usize,
}

impl Buffers {
    /// The rows of a buffer for this many.
    fn take(&mut self, rows: usize) -> usize {
        let kept = self.free.range_mut(rows..=2 * rows).find(|(_, count)| **count > 0);
        let taken = match kept {
            Some((&kept, count)) => {
                *count -= 1;
                kept
            }
            None => {
                self.all += rows;
                rows
            }
        };
        self.used += taken;
        taken
    }

    fn give(&mut self, rows: usize) {
        self.used -= rows;
        *self.free.entry(rows).or_default() += 1;
    }
}

impl Lifetimes {
    /// Notes a ciphertext at a depth.
    pub(super) fn make(&mut self, depth: usize) {
        self.0.push(Event::Made { depth: number(depth) });
    }

    /// Notes that the ciphertext that was made as the `number`-th is dropped.
    pub(super) fn dropped(&mut self, number: u32) {
        self.0.push(Event::Dropped { number });
    }

    /// Notes an operation at a depth, with the pairs of polynomials that it holds for itself: without special primes, and with them.
    pub(super) fn work(&mut self, depth: usize, [pairs, extended]: [usize; 2]) {
        if pairs + extended > 0 {
            self.0.push(Event::Works { depth: number(depth), pairs: number(pairs), extended: number(extended) });
        }
    }

    /// Notes the begin of pieces of work that run side by side.
    pub(super) fn begin(&mut self, pieces: usize) {
        self.0.push(Event::Begins { pieces: number(pieces) });
    }

    /// Notes the end of a piece.
    pub(super) fn end(&mut self) {
        self.0.push(Event::Ends);
    }

    /// The most rows of all polynomials on this many threads, where a polynomial at a depth has `limbs(depth)` rows, and `special` more
    /// with special primes. Polynomials come in pairs.
    ///
    /// Memory that is given back is kept for others.
    pub(crate) fn most_rows(&self, limbs: impl Fn(usize) -> usize, special: usize, threads: usize) -> usize {
        let (mut buffers, mut held, mut apart) = (Buffers::default(), Vec::new(), Apart::default());
        for event in &self.0 {
            match *event {
                Event::Made { depth } => held.push(buffers.take(limbs(depth as usize))),
                Event::Dropped { number } => buffers.give(held[number as usize]),
                Event::Works { depth, pairs, extended } => {
                    let limbs = limbs(depth as usize);
                    let rows = [(limbs, pairs), (limbs + special, extended)];
                    let taken: Vec<usize> = rows
                        .into_iter()
                        .flat_map(|(rows, count)| std::iter::repeat_n(rows, count as usize))
                        .map(|rows| buffers.take(rows))
                        .collect();
                    apart.saw(buffers.used);
                    taken.into_iter().for_each(|rows| buffers.give(rows));
                }
                Event::Begins { pieces } => apart.begin(pieces, buffers.used),
                Event::Ends => apart.end(buffers.used, threads),
            }
            apart.saw(buffers.used);
        }
        2 * (buffers.all + apart.more)
    }
}

/// Pieces of work that run side by side: what one of them holds for itself, others hold too.
#[derive(Default)]
struct Apart {
    /// The pieces of the outermost that have not ended, how many there are, and how deep others are nested in it.
    left: u32,
    pieces: u32,
    inner: Vec<u32>,
    /// What was held when a piece began, and the most since.
    before: usize,
    most: usize,
    /// What the pieces on other threads hold.
    more: usize,
}

impl Apart {
    fn begin(&mut self, pieces: u32, used: usize) {
        if self.left > 0 {
            self.inner.push(pieces);
            return;
        }
        *self = Self { left: pieces, pieces, before: used, most: used, inner: Vec::new(), more: self.more };
    }

    fn saw(&mut self, used: usize) {
        self.most = self.most.max(used);
    }

    fn end(&mut self, used: usize, threads: usize) {
        if let Some(left) = self.inner.last_mut() {
            *left -= 1;
            if *left == 0 {
                self.inner.pop();
            }
            return;
        }
        let others = threads.min(self.pieces as usize).saturating_sub(1);
        self.more = self.more.max(others * (self.most - self.before.max(used)));
        (self.left, self.before, self.most) = (self.left.saturating_sub(1), used, used);
    }
}

/// More than 2^32 ciphertexts of one circuit are as many.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five rows at depth 0, one fewer at each depth.
    fn rows(of: &Lifetimes, threads: usize) -> usize {
        of.most_rows(|depth| 5 - depth, 2, threads)
    }

    #[test]
    fn memory_that_was_given_back_serves_up_to_half_as_many_rows() {
        let mut of = Lifetimes::default();
        for (number, depth) in [0, 2, 3].into_iter().enumerate() {
            of.make(depth);
            of.dropped(number as u32);
        }
        // Three rows lie in the buffer of five, two need their own.
        assert_eq!(rows(&of, 1), 2 * (5 + 2));
    }

    #[test]
    fn what_is_held_counts_together_and_operations_for_a_while() {
        let mut of = Lifetimes::default();
        of.make(0);
        of.make(1);
        assert_eq!(rows(&of, 1), 2 * (5 + 4));
        of.work(1, [2, 1]);
        of.work(1, [2, 1]);
        assert_eq!(rows(&of, 1), 2 * (5 + 4 + 2 * 4 + 6));
    }

    #[test]
    fn threads_hold_what_one_piece_holds_for_itself() {
        let mut of = Lifetimes::default();
        of.make(0);
        of.begin(3);
        for piece in 0..3 {
            of.make(1);
            of.make(1);
            of.dropped(2 * piece + 1);
            of.end();
        }
        // One result of each, and what was dropped serves the next.
        assert_eq!(rows(&of, 1), 2 * (5 + 4 * 4));
        assert_eq!(rows(&of, 2), 2 * (5 + 5 * 4));
        assert_eq!(rows(&of, 16), 2 * (5 + 6 * 4));
    }
}
