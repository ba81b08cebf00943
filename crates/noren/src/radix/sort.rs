//! Sorting by exchanges: of two integers, the smaller one comes first.

use crate::radix::carry::BASE;
use crate::radix::circuit::Circuit;
use crate::radix::compare::Comparison;
use crate::radix::value::Value;

/// The exchanges of a sorting network for `terms` terms: Batcher's merge exchange. Those of a layer have no term in common; each
/// brings the smaller of terms `i < j` to `i`.
///
/// Source: Knuth, "The Art of Computer Programming", volume 3, section 5.2.2, algorithm M.
#[must_use]
pub fn exchanges(terms: usize) -> Vec<Vec<(usize, usize)>> {
    let mut layers = Vec::new();
    if terms < 2 {
        return layers;
    }
    let top = terms.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            layers.push((0..terms - d).filter(|i| i & p == r).map(|i| (i, i + d)).collect());
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    layers
}

/// The smaller and the larger integer: of each digit, one bootstrap gives what stays and what changes places.
pub(super) fn exchange(circuit: &mut Circuit, a: &[Value], b: &[Value], signed: bool) -> [Vec<Value>; 2] {
    let swap = Comparison::Lt.build(circuit, b, a, signed);
    let mut parts = |digit: &Value| {
        let both = digit.clone() * 2 + &swap;
        [circuit.lookup(&both, |x| x / 2 * (1 - x % 2)), circuit.lookup(&both, |x| x / 2 * (x % 2))]
    };
    let pairs = a.iter().zip(b).map(|(a, b)| {
        let ([a_stays, a_leaves], [b_stays, b_leaves]) = (parts(a), parts(b));
        // Of the two parts of a sum, one is 0.
        ((a_stays + &b_leaves).within(BASE - 1), (b_stays + &a_leaves).within(BASE - 1))
    });
    pairs.unzip::<_, _, Vec<_>, Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::exchanges;

    #[test]
    fn networks_sort_all_sequences_of_truth_values() {
        // A network that sorts these sorts everything: the 0-1 principle (Knuth, theorem 5.3.4 Z).
        for terms in 0..10 {
            let layers = exchanges(terms);
            for layer in &layers {
                let mut met: Vec<usize> = layer.iter().flat_map(|&(i, j)| [i, j]).collect();
                met.sort_unstable();
                met.dedup();
                assert_eq!(met.len(), 2 * layer.len(), "no term is exchanged twice in a layer of {terms}");
            }
            for bits in 0..1u32 << terms {
                let mut values: Vec<bool> = (0..terms).map(|i| bits >> i & 1 == 1).collect();
                for &(i, j) in layers.iter().flatten() {
                    (values[i], values[j]) = (values[i] & values[j], values[i] | values[j]);
                }
                assert!(values.is_sorted(), "{terms} terms, {bits:b}");
            }
        }
    }
}
