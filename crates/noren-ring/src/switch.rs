//! A whole key switch: digits, inner products and division, a few limbs at a time.

use std::ops::Range;

use crate::automorphism::Automorphism;
use crate::decompose::{Decomposer, Digits};
use crate::divide::DivideRound;
use crate::key::KeyPairs;
use crate::operand::Operand;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::source::Source;
use crate::sums::Sums;

pub use crate::sums::Term;

/// What becomes of the digits `d_j` of an element, for i = 0 and 1:
/// `round((P a_i + sum_k psi_k(P m_i + sum_j d_j k_ji)) / D)` over terms with the keys `k_j` and the automorphisms `psi_k`,
/// where `m_1 = 0`.
///
/// A few limbs at a time, each digit is extended, transformed and multiplied with all keys, and what the division subtracts
/// is transformed too, while the rows and the limb's roots are near: neither the digits nor their sums go through memory. So
/// a further term costs little more than to read its key.
///
/// One term is a relinearisation (without automorphism) or a rotation; several are a part of a trace. Source: Algorithm 4
/// (HoistKS) of the unrolled trace of Ishimaki and Yamana, with the loops over limbs and terms exchanged.
#[derive(Debug, Clone, Copy)]
pub struct KeySwitch<'a> {
    /// The keys with their automorphisms, at least one.
    pub terms: &'a [Term<'a>],
    /// `m_0`, over the element's limbs or more: what each automorphism moves along with the first sum.
    pub moved: Option<&'a Poly<Eval>>,
    /// `a_0` and `a_1`, over the element's limbs or more; what is missing is 0.
    pub added: [Option<Operand<'a>>; 2],
    /// The division by `D`: by the special primes' product P, or by P and the last limbs.
    pub divide: &'a DivideRound,
}

impl Decomposer {
    /// Switches `c`, an element over the limbs of `ring_q` or more.
    ///
    /// # Panics
    /// As [`Decomposer::decompose`]; if there is no term; if a key has fewer pairs than there are digits; if an operand
    /// lacks a limb; or if an automorphism is one of another index.
    #[must_use]
    pub fn switch<'a>(&self, ring_q: &Ring, c: impl Into<Operand<'a>>, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let element = c.into();
        let lift = self.lift(ring_q, element);
        self.switch_source(ring_q, Source::Lifted { lift: &lift, element }, switch)
    }

    /// [`Decomposer::switch`] for an element whose digits were made before.
    ///
    /// # Panics
    /// As [`Decomposer::switch`].
    #[must_use]
    pub fn switch_digits(&self, ring_q: &Ring, digits: &Digits, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        self.switch_source(ring_q, Source::Made(digits), switch)
    }

    /// `(sum_j d_j k_j0, sum_j d_j k_j1)` for the digits of `c`, an element over the limbs of `ring_q` or more: over the
    /// special primes and those limbs, not divided.
    ///
    /// # Panics
    /// As [`Decomposer::switch`].
    #[must_use]
    pub fn inner_product(&self, ring_q: &Ring, c: &Poly<Eval>, key: &KeyPairs) -> [Poly<Eval>; 2] {
        let lift = self.lift(ring_q, c.into());
        let terms = [Term { key, automorphism: None }];
        let source = Source::Lifted { lift: &lift, element: c.into() };
        Sums::new(ring_q.window(0..ring_q.range().end), source, &terms, None).write()
    }

    fn switch_source(&self, ring_q: &Ring, source: Source, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        switch.moved.iter().for_each(|m| ring_q.check_covers(m));
        switch.added.iter().flatten().for_each(|a| a.check_covers(ring_q));
        let (end, kept) = (ring_q.range().end, switch.divide.kept().range());
        let dropped = switch.divide.dropped();
        assert!(
            kept.end <= end && dropped.iter().all(|&limb| limb < end),
            "limbs {dropped:?} cannot be dropped and {kept:?} kept of 0..{end}"
        );
        let moved = switch.moved.map(|m| (m, self));
        self.divide(&Sums::new(ring_q.window(0..end), source, switch.terms, moved), switch)
    }

    /// `round((P a_i + s_i) / D)` for the sums `s_i`.
    fn divide(&self, sums: &Sums, switch: &KeySwitch) -> [Poly<Eval>; 2] {
        let KeySwitch { added, divide, .. } = *switch;
        let (engine, degree) = (sums.ring.engine(), sums.ring.degree());
        let secret = sums.is_secret() || added.iter().flatten().any(Operand::is_secret);

        // At the limbs that are dropped: what the division needs of all coefficients.
        let dropped = divide.dropped();
        let mut remainders = [(); 2].map(|()| {
            let mut rows = engine.unset_rows(dropped.len(), degree);
            rows.mark(secret);
            rows
        });
        let rows = remainders.each_mut().map(|rows| dropped.iter().copied().zip(rows.rows_mut()).collect());
        sums.for_each_limb(rows, None, |at, [first, second]| {
            let limb = at.limb;
            at.write(Some([&mut *first, &mut *second]), |range, block, spare| {
                self.add(&sums.ring, limb, range, &added, block, spare);
            });
            divide.lift(limb, first);
            divide.lift(limb, second);
        });
        let terms = remainders.each_ref().map(|rows| rows.rows().collect::<Vec<_>>());
        let quotients = terms.each_ref().map(|terms| divide.quotient(terms, secret));
        let terms = [0, 1].map(|i| terms[i].iter().copied().chain(quotients[i].rows()).collect::<Vec<_>>());

        // At the limbs that are kept: all to the end.
        let mut results: [Poly<Eval>; 2] = std::array::from_fn(|_| divide.kept().unset(secret));
        let rows = results.each_mut().map(|result| result.limbs_mut().collect());
        sums.for_each_limb(
            rows,
            Some(&|rows| terms.iter().zip(rows).for_each(|(terms, rows)| divide.convert(terms, rows))),
            |at, [first, second]| {
                let limb = at.limb;
                at.write(None, |range, [first_sum, second_sum], spare| {
                    self.add(&sums.ring, limb, range.clone(), &added, [&mut *first_sum, &mut *second_sum], spare);
                    divide.finish_block(limb, first_sum, &mut first[range.clone()]);
                    divide.finish_block(limb, second_sum, &mut second[range]);
                });
            },
        );
        results
    }

    /// `s_i += P a_i` for a block of the row at a limb; `spare` is memory for a block.
    fn add(
        &self,
        ring: &Ring,
        limb: usize,
        range: Range<usize>,
        a: &[Option<Operand>; 2],
        s: [&mut [u64]; 2],
        spare: &mut [u64],
    ) {
        // P is 0 modulo the special primes.
        let Some(special) = self.special_factor(limb) else { return };
        for (s, a) in s.into_iter().zip(a) {
            if let Some(a) = a {
                let words = a.words(ring, limb, range.clone(), spare);
                ring.engine().kernels().mul_scalar_add_assign(s, words, special, ring.basis().modulus(limb));
            }
        }
    }
}

impl Digits {
    /// `(sum_j d_j k_j0, sum_j d_j k_j1)` over the limbs of `ring_qp`, each sum reduced once.
    ///
    /// The digits and the key may have more limbs than the ring, and the key may have more pairs than there are digits.
    ///
    /// # Panics
    /// If the key has fewer pairs, or the digits or the key lack a limb of the ring.
    #[must_use]
    pub fn inner_product(&self, ring_qp: &Ring, key: &KeyPairs) -> [Poly<Eval>; 2] {
        let terms = [Term { key, automorphism: None }];
        Sums::new(ring_qp.clone(), Source::Made(self), &terms, None).write()
    }

    /// `acc_i += (sum_j d_j k_ji)(X^k)` over the limbs of `ring_qp`: [`Digits::inner_product`] under an automorphism, of
    /// which only the total goes through memory.
    ///
    /// # Panics
    /// As [`Digits::inner_product`], and if `acc` is not of the ring or the automorphism one of another index.
    pub fn inner_product_add_assign(
        &self,
        ring_qp: &Ring,
        key: &KeyPairs,
        automorphism: &Automorphism,
        acc: &mut [Poly<Eval>; 2],
    ) {
        acc.iter().for_each(|acc| ring_qp.check(acc));
        let terms = [Term { key, automorphism: Some(automorphism) }];
        Sums::new(ring_qp.clone(), Source::Made(self), &terms, None).add_to(acc);
    }
}
