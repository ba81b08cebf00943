//! The choice of a scheme: the one place that ranks drafts.

use crate::circuits::recorder::CircuitUsage;
use crate::compiler::options::Scheme;

/// A function on a scheme: what it takes there.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The scheme.
    pub scheme: Scheme,
    /// Levels, keys and counts of operations on slots; none for columns, whose elements are encrypted one by one.
    pub usage: Option<CircuitUsage>,
    /// The number of ciphertexts of all inputs.
    pub ciphertexts: usize,
    /// The base-two logarithm of the degree of the ring, if the scheme has one for the function.
    pub log_n: Option<u32>,
}

/// Puts drafts in order, the best first.
///
/// Slots before columns: what slots can do takes one operation for thousands of numbers. Of slots the smaller ring first,
/// then the fewer levels.
#[must_use]
pub fn order(mut drafts: Vec<Draft>) -> Vec<Draft> {
    let key = |draft: &Draft| {
        let depth = draft.usage.as_ref().map_or(usize::MAX, |usage| usage.depth);
        (draft.usage.is_none(), draft.log_n.unwrap_or(u32::MAX), depth)
    };
    drafts.sort_by_key(key);
    drafts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_before_columns_and_small_rings_before_large_ones() {
        let draft = |scheme, slots: bool, log_n| Draft {
            scheme,
            usage: slots.then(CircuitUsage::default),
            ciphertexts: 1,
            log_n,
        };
        let drafts = vec![
            draft(Scheme::Tfhe, false, None),
            draft(Scheme::Ckks, true, Some(14)),
            draft(Scheme::Bgv, true, Some(13)),
        ];
        let schemes: Vec<Scheme> = order(drafts).iter().map(|draft| draft.scheme).collect();
        assert_eq!(schemes, [Scheme::Bgv, Scheme::Ckks, Scheme::Tfhe]);
    }
}
