//! Keywords as values, and in bins.

use noren_rlwe::error::{Error, Result};

use crate::schemes::bfv::PlaintextModulus;

/// In how many bins a row stands, in one of which the client has its keyword.
pub(super) const CHOICES: usize = 3;
/// The numbers of a row that are digests of its keyword.
pub(super) const CHECKS: usize = 2;
/// The context of digests of keywords.
const KEYWORDS: &str = "noren intersection keyword v1";

/// What stands for a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    /// The bins where it may lie, some of which may be the same.
    pub bins: [usize; CHOICES],
    /// What the polynomials of its bin take.
    pub value: u64,
    pub checks: [u64; CHECKS],
}

impl Item {
    /// Of a keyword, for this many bins.
    pub fn of(keyword: &[u8], bins: usize, modulus: PlaintextModulus) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(KEYWORDS);
        let mut digest = hasher.update(keyword).finalize_xof();
        let mut word = || {
            let mut bytes = [0; size_of::<u64>()];
            digest.fill(&mut bytes);
            u64::from_le_bytes(bytes)
        };
        let bin = |word: u64| ((u128::from(word) * bins as u128) >> u64::BITS) as usize;
        let bins = [(); CHOICES].map(|()| bin(word()));
        let mut residue = || modulus.reduce((i128::from(word() >> 1) << u64::BITS) | i128::from(word()));
        Self { bins, value: residue(), checks: [(); CHECKS].map(|()| residue()) }
    }

    /// The different bins where it may lie.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let bins = self.bins;
        (0..CHOICES).filter(move |&at| !bins[..at].contains(&bins[at])).map(move |at| bins[at])
    }
}

/// Cuckoo hashing: for each bin the item in it, so that each lies in one of its bins (Pagh and Rodler, 2001).
///
/// # Errors
/// [`Error::Parameters`] where they do not fit: half as many items as bins do, but in one of `2^40` cases.
pub(super) fn in_bins(items: &[Item], bins: usize) -> Result<Vec<Option<usize>>> {
    /// Items that are moved for one more: about `log` of the bins are usual.
    const MOST_MOVES: usize = 1 << 12;
    let mut of_bin = vec![None; bins];
    // Which of its bins an item goes to next.
    let mut next = vec![0; items.len()];
    for item in 0..items.len() {
        let mut homeless = item;
        let mut moves = 0;
        loop {
            let free = items[homeless].bins.iter().find(|&&bin| of_bin[bin].is_none());
            if let Some(&bin) = free {
                of_bin[bin] = Some(homeless);
                break;
            }
            moves += 1;
            if moves > MOST_MOVES {
                let needed = "fewer: ask for the others in another request".to_owned();
                return Err(Error::parameter("keywords", items.len(), needed));
            }
            let bin = items[homeless].bins[next[homeless] % CHOICES];
            next[homeless] += 1;
            homeless = of_bin[bin].replace(homeless).expect("no bin of the item is free");
        }
    }
    Ok(of_bin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_lie_in_one_of_their_bins() {
        let modulus = PlaintextModulus::new(65537).expect("a modulus");
        for (count, bins) in [(1, 1), (3, 8), (600, 1024), (5000, 8192)] {
            let items: Vec<Item> = (0..count).map(|at: u32| Item::of(&at.to_le_bytes(), bins, modulus)).collect();
            let of_bin = in_bins(&items, bins).expect("they fit");
            let mut seen = vec![0; items.len()];
            for (bin, item) in of_bin.iter().enumerate().filter_map(|(bin, item)| Some((bin, (*item)?))) {
                assert!(items[item].bins.contains(&bin));
                seen[item] += 1;
            }
            assert!(seen.iter().all(|&times| times == 1), "{count} in {bins}");
        }
    }

    #[test]
    fn more_items_than_bins_do_not_fit() {
        let modulus = PlaintextModulus::new(65537).expect("a modulus");
        let items: Vec<Item> = (0..9u32).map(|at| Item::of(&at.to_le_bytes(), 8, modulus)).collect();
        assert!(in_bins(&items, 8).is_err());
    }
}
