//! The digits of an element (ModUp), and their inner product with a key.

use std::sync::OnceLock;

use noren_math::modulus::ShoupFactor;

use crate::convert::{Conversion, Plan};
use crate::engine::Engine;
use crate::gadget::Gadget;
use crate::operand::Operand;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};

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
    /// P modulo each q.
    special_factors: Vec<ShoupFactor>,
    /// For each digit and each number of its primes that are alive, less one.
    plans: Vec<Vec<OnceLock<Plan>>>,
}

impl Decomposer {
    /// A decomposer for a list of primes `[p_0 .. p_{k-1}, q_0 .. q_L]`, of which the gadget may use fewer.
    ///
    /// # Panics
    /// If the gadget is one of more primes.
    #[must_use]
    pub fn new(ring: &Ring, gadget: Gadget) -> Self {
        let whole = ring.whole();
        let end = gadget.special() + gadget.limbs();
        assert!(end <= whole.limbs(), "a gadget of {end} primes does not cut a ring of {}", whole.limbs());
        let plans = gadget.digits().iter().map(|digit| digit.clone().map(|_| OnceLock::new()).collect()).collect();
        let basis = whole.basis();
        let special_factor = |limb| {
            let q = basis.modulus(limb);
            q.shoup(basis.product_mod(gadget.skipped()..gadget.special(), q))
        };
        let special_factors = (gadget.special()..end).map(special_factor).collect();
        Self { whole, gadget, special_factors, plans }
    }

    /// The gadget.
    #[must_use]
    pub fn gadget(&self) -> &Gadget {
        &self.gadget
    }

    /// The ring over all primes.
    pub(crate) fn ring(&self) -> &Ring {
        &self.whole
    }

    /// The ring of the digits of elements of `ring_q`, the window of `Q_l`: that of `P Q_l`.
    #[must_use]
    pub fn ring_qp(&self, ring_q: &Ring) -> Ring {
        ring_q.window(self.gadget.skipped()..ring_q.range().end)
    }

    /// The digits of `c`, an element modulo `Q_l = q_0 .. q_l`, over all primes of `P Q_l`.
    ///
    /// `ring_q` is the window of `Q_l`; `c` may have more limbs. Digits that serve only once are better left to
    /// [`Decomposer::switch`], which never writes them down.
    ///
    /// # Panics
    /// If `ring_q` does not start at q_0, has more limbs than the gadget cuts, or `c` lacks one of its limbs.
    #[must_use]
    pub fn decompose(&self, ring_q: &Ring, c: &Poly<Eval>) -> Digits {
        let lift = self.lift(ring_q, c.into());
        let ring_qp = self.ring_qp(ring_q);
        let mut polys: Vec<Poly<Eval>> = lift.plans.iter().map(|_| ring_qp.unset(c.is_secret())).collect();
        let (engine, words) = (ring_q.engine(), polys.len() * ring_qp.limbs() * ring_qp.degree());
        let group = engine.group(polys.len() * ring_qp.limbs(), lift.group());
        let mut limbs: Vec<Vec<_>> = polys.iter_mut().map(|poly| poly.limbs_mut().collect()).collect();
        let mut tasks: Vec<_> = limbs
            .iter_mut()
            .enumerate()
            .flat_map(|(j, limbs)| limbs.chunks_mut(group).map(move |group| (j, group)))
            .collect();
        // The digits of one group of limbs follow each other: they need the same roots.
        tasks.sort_by_key(|(j, group)| (group[0].0, *j));
        engine.walk(
            words,
            tasks.into_iter(),
            || (),
            |engine, (), (j, group)| {
                lift.convert(engine, j, group);
                engine.rows(group.len() * ring_qp.degree(), group.iter_mut(), |(limb, row)| {
                    if lift.is_own(j, *limb) {
                        row.copy_from_slice(c.limb(*limb));
                    } else {
                        engine.kernels().ntt_forward(row, ring_q.basis().table(*limb));
                    }
                });
            },
        );
        Digits { polys }
    }

    /// Takes `c` out of the evaluation form, ready to be extended to other primes.
    ///
    /// # Panics
    /// As [`Decomposer::decompose`].
    pub(crate) fn lift(&self, ring_q: &Ring, c: Operand) -> Lift<'_> {
        let special = self.gadget.special();
        assert_eq!(ring_q.range().start, special, "digits are taken from q_0 on");
        let (limbs, most) = (ring_q.limbs(), self.gadget.limbs());
        assert!(limbs <= most, "{limbs} limbs have no digits in a gadget of {most}");
        c.check_covers(ring_q);
        let engine = self.whole.engine();
        let mut scaled: Poly<Coeff> = ring_q.unset(c.is_secret());
        let (words, degree) = (ring_q.limbs() * ring_q.degree(), ring_q.degree());
        engine.walk(
            words,
            scaled.limbs_mut(),
            || (),
            |engine, (), (limb, row)| {
                engine.pointwise(degree, [(limb, &mut *row)].into_iter(), |limb, range, row| {
                    c.write(ring_q, limb, range.start, row);
                });
                self.lift_row(ring_q, limb, row);
            },
        );
        self.lifted(ring_q, scaled)
    }

    /// Takes the row of an element over `ring_q` at a limb out of the evaluation form, for [`Decomposer::lifted`].
    pub(crate) fn lift_row(&self, ring_q: &Ring, limb: usize, row: &mut [u64]) {
        let (i, digits) = (limb - self.gadget.special(), self.gadget.digits_at(ring_q.limbs()));
        let j = digits.partition_point(|digit| digit.end <= i);
        let kernels = self.whole.engine().kernels();
        self.plan(j, digits[j].len()).lift(kernels, self.whole.basis(), i - digits[j].start, row);
    }

    /// What is ready to be extended, from all rows of [`Decomposer::lift_row`].
    pub(crate) fn lifted(&self, ring_q: &Ring, scaled: Poly<Coeff>) -> Lift<'_> {
        let digits = self.gadget.digits_at(ring_q.limbs());
        let plans: Vec<&Plan> = digits.iter().enumerate().map(|(j, digit)| self.plan(j, digit.len())).collect();
        let quotient =
            |plan: &&Plan| plan.quotient(self.whole.engine(), &plan.source_rows(&scaled), scaled.is_secret());
        let quotients = plans.iter().map(quotient).collect();
        Lift { whole: &self.whole, plans, scaled, quotients }
    }

    /// P modulo the prime of `limb`, unless that is a special prime, modulo which it is 0.
    pub(crate) fn special_factor(&self, limb: usize) -> Option<ShoupFactor> {
        Some(self.special_factors[limb.checked_sub(self.gadget.special())?])
    }

    /// The conversion of digit `j` with `alive` primes to all other primes that can be alive at the same time.
    fn plan(&self, j: usize, alive: usize) -> &Plan {
        self.plans[j][alive - 1].get_or_init(|| {
            let (special, digit) = (self.gadget.special(), &self.gadget.digits()[j]);
            let sources: Vec<usize> = (special + digit.start..).take(alive).collect();
            let last = if alive == digit.len() { special + self.gadget.limbs() } else { special + digit.start };
            Plan::new(self.whole.basis(), &sources, self.gadget.skipped()..last, Conversion::Exact)
        })
    }
}

/// An element in coefficient form, ready for the conversions that extend its digits.
pub(crate) struct Lift<'a> {
    whole: &'a Ring,
    /// One for each digit.
    plans: Vec<&'a Plan>,
    /// The rows that the conversions add up, and one more for each digit.
    scaled: Poly<Coeff>,
    quotients: Vec<Rows>,
}

impl Lift<'_> {
    /// How many digits there are.
    pub(crate) fn digits(&self) -> usize {
        self.plans.len()
    }

    /// For how many limbs a digit should be extended at once, at most.
    pub(crate) fn group(&self) -> usize {
        self.plans.iter().map(|plan| plan.group()).max().unwrap_or(1)
    }

    /// Whether `limb` is one of digit `j`'s own: there the digit is the element that was lifted.
    pub(crate) fn is_own(&self, j: usize, limb: usize) -> bool {
        self.plans[j].sources().contains(&limb)
    }

    /// Writes the rows of digit `j` at some limbs, in order, each with its limb, in coefficient form. Those at the digit's
    /// own limbs stay as they are.
    pub(crate) fn convert(&self, engine: &Engine, j: usize, rows: &mut [LimbRow]) {
        let (plan, own) = (self.plans[j], self.plans[j].sources());
        let mut terms = plan.source_rows(&self.scaled);
        terms.extend(self.quotients[j].rows());
        let (first, last) = (own[0], own[own.len() - 1]);
        let (before, rest) = rows.split_at_mut(rows.partition_point(|&(limb, _)| limb < first));
        let (_, after) = rest.split_at_mut(rest.partition_point(|&(limb, _)| limb <= last));
        for rows in [before, after] {
            plan.convert(engine, self.whole.basis(), &terms, rows);
        }
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
}
