//! Which evaluation keys are wanted.

/// Which evaluation keys are wanted, each for ciphertexts of how many limbs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRequest {
    /// The relinearisation key, for this number of limbs.
    pub relinearization: Option<usize>,
    /// The keys of automorphisms `X -> X^k`, as `(k, limbs)`. Of a repeated k the most limbs count, and k = 1, which
    /// needs no key, is passed over.
    pub galois: Vec<(u32, usize)>,
}
