//! The matrix of a function, ready to be multiplied with one-hot vectors.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use noren_ring::small::SmallPolynomials;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::linear::{add_assign, add_plain_assign};
use noren_rlwe::product::multiply_scaled;
use noren_rlwe::resources::Resources;
use noren_rlwe::streamed::{images, sum_in_turn, sum_streamed};

use crate::circuits::lookup::function::Function;
use crate::circuits::lookup::keys::LookupKeys;
use crate::circuits::lookup::plan::{Method, Plan};
use crate::circuits::lookup::sparse::{Entries, leave};
use crate::circuits::lookup::table::{Rest, Table};
use crate::schemes::bfv::{Ciphertext, Context, Encoder, Evaluator};
use crate::schemes::integers::encryption::scaled;

/// A function, prepared to be looked up: all factors of its matrix as polynomials modulo t.
///
/// A factor takes `2 n` bytes, and there are as many as slots for a function of n numbers: 2.1 GB at n = 2^15.
pub struct Lookup {
    pub(super) plan: Plan,
    pub(super) factors: SmallPolynomials,
    /// `log2` of the root of the sum of the squares of all coefficients.
    pub(super) log2_norm: f64,
    pub(super) rest: Rest,
}

/// The steps of a lookup, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Both one-hot vectors.
    OneHot,
    /// The rotations of the first.
    Babies,
    /// All products with the factors of the matrix.
    Matrix,
    /// The rotations of their sums.
    Giants,
    /// The product with the second one-hot vector, and the sum over slots.
    Select,
}

impl Lookup {
    /// Prepares a function; `progress` hears how many factors are made, of how many, from any thread.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::NotInRange`] name the first point that needs a value below t,
    /// [`Error::Length`] if the domain is another one than the plan's, [`Error::Resources`] before any work if the matrix does
    /// not fit into the memory that the process can have.
    pub fn prepare(
        context: &Context,
        plan: &Plan,
        function: &Function,
        progress: Option<&(dyn Fn(usize, usize) + Sync)>,
    ) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        let layout = plan.layout();
        if function.domain() != layout.domain() {
            let [x, y] = function.domain();
            let needed = format!("{} times {} as in the plan", layout.domain()[0], layout.domain()[1]);
            return Err(Error::Length { what: "values of the function", found: x.saturating_mul(y), needed });
        }
        plan.check(&Resources { disk: None, ..Resources::of_machine(Path::new(".")) })?;
        let t = plan.parameters().modulus().value();
        let table = Table::new(plan, function)?;
        let encoder = Encoder::new(context);
        let (failed, done, squares) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicU64::new(0));
        let total = layout.factors();
        let write = |factor: usize, out: &mut [i64]| {
            if failed.load(Ordering::Relaxed) {
                return;
            }
            let residue = |slot| match layout.entry(factor, slot).map(|[x, y]| table.residue(x, y)) {
                None => 0,
                Some(Ok(residue)) => residue,
                Some(Err(_)) => {
                    failed.store(true, Ordering::Relaxed);
                    0
                }
            };
            if encoder.write_coefficients(residue, out).is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            // Squares of 2^15 in 2^16 coefficients fill 46 bits, and those of 2^17 factors 63.
            squares.fetch_add(out.iter().map(|x| x.unsigned_abs().pow(2)).sum(), Ordering::Relaxed);
        };
        let report = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.iter().for_each(|progress| progress(done, total));
        };
        let engine = context.rlwe().ring().engine();
        let factors = SmallPolynomials::build(engine, layout.degree(), total, write, report);
        if failed.into_inner() {
            function.check(t)?;
        }
        let log2_norm = libm::log2(squares.into_inner().max(1) as f64) / 2.0;
        Ok(Self { plan: plan.clone(), factors, log2_norm, rest: table.rest(&encoder)? })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many bytes the factors take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(self.factors.words()) as u64
    }

    /// `f(x, y)` for each query of a pair of ciphertexts.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for ciphertexts or keys of other parameters, [`Error::MissingKey`] if the evaluator has no
    /// relinearisation key, [`Error::NoiseExhausted`] if the numbers carry too much noise already.
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        x: &Ciphertext,
        y: &Ciphertext,
    ) -> Result<Ciphertext> {
        Ok(self.evaluate_many(evaluator, keys, &[[x, y]], &|_| {})?.remove(0))
    }

    /// [`Lookup::evaluate`] for several pairs: each factor is transformed once for all of them. `watch` hears of each step when
    /// it is done.
    ///
    /// A pair takes `2 (A + 2 B) l n` words while the matrix is multiplied, for A baby steps, B giant steps and l limbs: 0.4 GB
    /// at n = 2^15.
    ///
    /// # Errors
    /// As [`Lookup::evaluate`].
    pub fn evaluate_many(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        pairs: &[[&Ciphertext; 2]],
        watch: &dyn Fn(Step),
    ) -> Result<Vec<Ciphertext>> {
        let (context, plan) = (evaluator.context(), &self.plan);
        context.check(plan.parameters(), "the prepared function")?;
        let blocks = plan.layout().blocks();
        let enter = |pair: &[&Ciphertext; 2]| {
            let [x, y] = [0, 1].map(|i| Entries::of(evaluator, (plan, keys), pair[i], blocks[i]));
            Ok([x?, y?])
        };
        let entries = pairs.iter().map(enter).collect::<Result<Vec<_>>>()?;
        watch(Step::OneHot);
        let rows = self.rows(context, keys, &entries.iter().map(|[x, _]| x).collect::<Vec<_>>(), watch)?;
        watch(Step::Giants);
        let select =
            |([x, y], rows): (&[Entries; 2], &Vec<rlwe::Ciphertext>)| self.select(evaluator, keys, [x, y], rows);
        let results = entries.iter().zip(&rows).map(select).collect::<Result<_>>()?;
        watch(Step::Select);
        Ok(results)
    }

    /// The rows of some numbers in the table, block by block: the matrix times their one-hot vectors.
    fn rows(
        &self,
        context: &Context,
        keys: &LookupKeys,
        numbers: &[&Entries],
        watch: &dyn Fn(Step),
    ) -> Result<Vec<Vec<rlwe::Ciphertext>>> {
        let (rlwe, layout) = (context.rlwe(), self.plan.layout());
        let rotations = layout.baby_rotations();
        let exponents: Vec<u32> = rotations.iter().map(|&steps| context.rotation_exponent(steps)).collect();
        let images = numbers.iter().map(|x| {
            let blocks: Vec<&rlwe::Ciphertext> = x.blocks.iter().collect();
            images(rlwe, &blocks, &exponents, &keys.sparse)
        });
        let images = images.collect::<Result<Vec<_>>>()?;
        watch(Step::Babies);
        let sums = sum_streamed(rlwe, self.plan.limbs(), &images.iter().collect::<Vec<_>>(), &self.factors)?;
        drop(images);
        watch(Step::Matrix);
        let sum_giants = |sums: &[rlwe::Ciphertext]| match self.plan.method() {
            Method::Fast => {
                let giant = context.rotation_exponent(layout.giant_rotation());
                sum_in_turn(rlwe, sums, giant, &keys.sparse)
            }
            Method::Linear => (1..).zip(&sums[1..]).try_fold(sums[0].clone(), |mut all, (b, sum)| {
                let giant = context.rotation_exponent(b * layout.giant_rotation());
                add_assign(rlwe, &mut all, &apply_automorphism(rlwe, sum, giant, &keys.sparse)?)?;
                Ok(all)
            }),
        };
        let row = |x: &Entries, block: usize, sums: &[rlwe::Ciphertext]| {
            let mut halves = sums.chunks(layout.giants()).map(sum_giants);
            let mut row = halves.next().expect("a row has a half")?;
            if let Some(swapped) = halves.next() {
                let swapped = apply_automorphism(rlwe, &swapped?, context.swap_exponent(), &keys.sparse)?;
                add_assign(rlwe, &mut row, &swapped)?;
            }
            if let Some(rest) = self.rest.rows.get(block) {
                let poly = scaled(context, &rest.coefficients, x.factor, self.plan.limbs());
                add_plain_assign(rlwe, &mut row, &rlwe::Plaintext { poly })?;
            }
            Ok(row)
        };
        let rows = numbers.iter().zip(&sums).map(|(x, sums)| {
            let blocks = sums.chunks(layout.halves() * layout.giants()).enumerate();
            blocks.map(|(block, sums)| row(x, block, sums)).collect()
        });
        rows.collect()
    }

    /// The value of y in the row of x, in every slot.
    fn select(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        [x, y]: [&Entries; 2],
        rows: &[rlwe::Ciphertext],
    ) -> Result<Ciphertext> {
        let (context, plan) = (evaluator.context(), &self.plan);
        let (rlwe, modulus) = (context.rlwe(), context.parameters().modulus());
        let noise = plan.predict([&x.noise, &y.noise], self.log2_norm);
        let products: Vec<_> = rows.iter().zip(&y.blocks).map(|(row, block)| [row, block]).collect();
        let sum = multiply_scaled(rlwe, &products, modulus.value(), plan.limbs(), &keys.sparse)?;
        // The product has the factors of both one-hot vectors.
        let sum = x.add_products(context, &self.rest.columns, y.factor, Some(sum))?.expect("there was a sum");
        let result = leave(context, (plan, keys), &sum, modulus.mul(x.factor, y.factor), noise)?;
        if self.rest.corner == 0 { Ok(result) } else { evaluator.add_scalar(&result, self.rest.corner) }
    }
}
