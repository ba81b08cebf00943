//! The digits of an element (ModUp), and their inner product with a key.

use std::sync::OnceLock;

use crate::convert::{BLOCK, Conversion, Plan, block_of};
use crate::gadget::Gadget;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// Takes elements modulo Q apart into the digits of a [`Gadget`], each extended to all primes of `Q P`.
///
/// Digit `d_j` is the representative of c modulo D_j in `(-D_j/2, D_j/2)`. An approximate conversion would do, but its
/// digits reach to `alpha D_j` for alpha primes in the digit, and so would the noise of a key switch: the quotients cost
/// one more row in `alpha`, the shorter digits save about `log2 alpha + 1` bits of P.
///
/// The numbers of a conversion are made when they are first used, and kept.
#[derive(Debug)]
pub struct Decomposer {
    whole: Ring,
    gadget: Gadget,
    /// For each digit and each number of its primes that are alive, less one.
    plans: Vec<Vec<OnceLock<Plan>>>,
}

impl Decomposer {
    /// A decomposer for a list of primes `[p_0 .. p_{k-1}, q_0 .. q_L]`.
    ///
    /// # Panics
    /// If the gadget is not one of that many primes.
    #[must_use]
    pub fn new(ring: &Ring, gadget: Gadget) -> Self {
        let whole = ring.whole();
        assert_eq!(gadget.special() + gadget.limbs(), whole.limbs(), "the gadget must cut all primes of the ring");
        let plans = gadget.digits().iter().map(|digit| digit.clone().map(|_| OnceLock::new()).collect()).collect();
        Self { whole, gadget, plans }
    }

    /// The gadget.
    #[must_use]
    pub fn gadget(&self) -> &Gadget {
        &self.gadget
    }

    /// The digits of `c`, an element modulo `Q_l = q_0 .. q_l`, over all primes of `P Q_l`.
    ///
    /// `ring_q` is the window of `Q_l`; `c` may have more limbs.
    ///
    /// # Panics
    /// If `ring_q` does not start at q_0, or `c` lacks one of its limbs.
    #[must_use]
    pub fn decompose(&self, ring_q: &Ring, c: &Poly<Eval>) -> Digits {
        let (special, limbs, degree) = (self.gadget.special(), ring_q.limbs(), ring_q.degree());
        assert_eq!(ring_q.range().start, special, "digits are taken from q_0 on");
        ring_q.check_covers(c);
        let (basis, engine) = (self.whole.basis(), self.whole.engine());
        let kernels = engine.kernels();
        let digits = self.gadget.digits_at(limbs);
        let plans: Vec<&Plan> = digits.iter().enumerate().map(|(j, digit)| self.plan(j, digit.len())).collect();

        let scaled: Poly<Eval> = ring_q.build(c.is_secret(), |limb, row| {
            row.copy_from_slice(c.limb(limb));
            kernels.ntt_inverse(row, basis.table(limb));
            let j = digits.partition_point(|digit| digit.end <= limb - special);
            plans[j].scale(kernels, basis, limb - special - digits[j].start, row);
        });

        let mut terms: Vec<Vec<&[u64]>> =
            plans.iter().map(|plan| plan.sources().iter().map(|&limb| scaled.limb(limb)).collect()).collect();
        let quotients: Vec<Rows> =
            plans.iter().zip(&terms).map(|(plan, terms)| plan.quotient(engine, terms, c.is_secret())).collect();
        terms.iter_mut().zip(&quotients).for_each(|(terms, quotient)| terms.extend(quotient.rows()));

        let ring_qp = ring_q.window(0..special + limbs);
        let mut polys: Vec<Poly<Eval>> = digits.iter().map(|_| ring_qp.unset(c.is_secret())).collect();
        let tasks =
            polys.iter_mut().enumerate().flat_map(|(j, poly)| poly.limbs_mut().map(move |(limb, row)| (j, limb, row)));
        engine.run(digits.len() * ring_qp.limbs() * degree, tasks, |(j, limb, row)| {
            if plans[j].sources().contains(&limb) {
                row.copy_from_slice(c.limb(limb));
            } else {
                plans[j].convert(kernels, basis, &terms[j], limb, row);
                kernels.ntt_forward(row, basis.table(limb));
            }
        });
        Digits { polys }
    }

    /// The conversion of digit `j` with `alive` primes to all other primes that can be alive at the same time.
    fn plan(&self, j: usize, alive: usize) -> &Plan {
        self.plans[j][alive - 1].get_or_init(|| {
            let (special, digit) = (self.gadget.special(), &self.gadget.digits()[j]);
            let sources: Vec<usize> = (special + digit.start..).take(alive).collect();
            let last = if alive == digit.len() { self.whole.limbs() } else { special + digit.start };
            Plan::new(self.whole.basis(), &sources, 0..last, Conversion::Exact)
        })
    }
}

/// The digits of an element, in evaluation form over all primes of `P Q_l`.
#[derive(Debug, Clone)]
pub struct Digits {
    polys: Vec<Poly<Eval>>,
}

impl Digits {
    /// The digits, first that of q_0.
    #[must_use]
    pub fn polys(&self) -> &[Poly<Eval>] {
        &self.polys
    }

    /// `(sum_j d_j k_j0, sum_j d_j k_j1)` over the limbs of `ring_qp`, each sum reduced once.
    ///
    /// The digits and the key may have more limbs than the ring, and the key may have more digits: a key for a high
    /// level serves all lower ones.
    ///
    /// # Panics
    /// If the key has fewer digits, or the digits or the key lack a limb of the ring.
    #[must_use]
    pub fn inner_product(&self, ring_qp: &Ring, key: &[[Poly<Eval>; 2]]) -> [Poly<Eval>; 2] {
        assert!(key.len() >= self.polys.len(), "{} digits need as many key rows, not {}", self.polys.len(), key.len());
        self.polys
            .iter()
            .chain(key.iter().take(self.polys.len()).flatten())
            .for_each(|poly| ring_qp.check_covers(poly));
        let secret = self.polys.iter().chain(key.iter().flatten()).any(Poly::is_secret);
        let engine = ring_qp.engine();
        let mut sums: [Poly<Eval>; 2] = std::array::from_fn(|_| ring_qp.unset(secret));
        let [first, second] = &mut sums;
        let words = self.polys.len() * ring_qp.limbs() * ring_qp.degree();
        engine.run(words, first.limbs_mut().zip(second.limbs_mut()), |((limb, first), (_, second))| {
            // Both sums of a block come one after the other, while the digits' words are near.
            let blocks = first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK)).enumerate();
            for (block, (first, second)) in blocks {
                for (side, out) in [first, second].into_iter().enumerate() {
                    let pairs = self.polys.iter().zip(key);
                    let terms = pairs
                        .map(|(digit, key)| (block_of(digit.limb(limb), block), block_of(key[side].limb(limb), block)));
                    ring_qp.add_products(limb, out, terms);
                }
            }
        });
        sums
    }
}
