//! Which evaluation keys are wanted.

use std::collections::BTreeMap;

/// Which evaluation keys are wanted, each for ciphertexts of how many limbs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRequest {
    /// The relinearisation key, for this number of limbs.
    pub relinearization: Option<usize>,
    /// The keys of automorphisms `X -> X^k`, as `(k, limbs)`. Of a repeated k the most limbs count, and k = 1, which
    /// needs no key, is passed over.
    pub galois: Vec<(u32, usize)>,
}

impl KeyRequest {
    /// The most limbs of each automorphism that needs a key, by its exponent.
    #[must_use]
    pub fn automorphisms(&self) -> BTreeMap<u32, usize> {
        let mut wanted = BTreeMap::new();
        for &(k, limbs) in self.galois.iter().filter(|(k, _)| *k != 1) {
            let most = wanted.entry(k).or_insert(limbs);
            *most = limbs.max(*most);
        }
        wanted
    }
}
