//! The matrix of a function: its factors, and the row that they give.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use noren_ring::small::SmallPolynomials;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::linear::{add_assign, add_plain_assign};
use noren_rlwe::product::multiply_scaled;
use noren_rlwe::streamed::{images, sum_in_turn, sum_streamed};

use crate::lookup::function::Function;
use crate::lookup::keys::LookupKeys;
use crate::lookup::plan::{LookupPlan, Method};
use crate::lookup::sparse::Entries;
use crate::lookup::step::Step;
use crate::lookup::table::{Rest, Table};
use crate::schemes::bfv::{Context, Encoder};
use crate::schemes::integers::encryption::scaled;

/// All factors of the matrix of a function as polynomials modulo t, and what the matrix cannot have.
pub(super) struct Matrix {
    pub(super) factors: SmallPolynomials,
    /// `log2` of the root of the sum of the squares of all coefficients of the factors of a block of the result, the largest
    /// of all blocks.
    pub(super) log2_norm: f64,
    pub(super) rest: Rest,
}

impl Matrix {
    /// Encodes all factors; `progress` hears how many are made, of how many, from any thread.
    pub(super) fn build(
        context: &Context,
        plan: &LookupPlan,
        function: &Function,
        progress: Option<&(dyn Fn(usize, usize) + Sync)>,
    ) -> Result<Self> {
        let layout = plan.layout();
        let t = plan.parameters().modulus().value();
        // The first point of all is named, not the first that is met.
        let table = Table::new(plan, function).or_else(|error| function.check(t).and(Err(error)))?;
        let encoder = Encoder::new(context);
        let (failed, done, total) = (AtomicBool::new(false), AtomicUsize::new(0), layout.factors());
        let [_, results] = layout.blocks();
        let squares: Vec<AtomicU64> = (0..results).map(|_| AtomicU64::new(0)).collect();
        let write = |factor: usize, out: &mut [i64]| {
            if failed.load(Ordering::Relaxed) {
                return;
            }
            let written = table
                .factor(factor)
                .and_then(|values| encoder.write_coefficients(|slot| values[slot].cast_unsigned(), out));
            if written.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            // Squares of 2^15 in 2^16 coefficients fill 46 bits, and those of 2^17 factors 63.
            let sum = out.iter().map(|x| x.unsigned_abs().pow(2)).sum();
            squares[factor / (total / results)].fetch_add(sum, Ordering::Relaxed);
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
        let largest = squares.into_iter().map(AtomicU64::into_inner).max().unwrap_or(0).max(1);
        Ok(Self { factors, log2_norm: libm::log2(largest as f64) / 2.0, rest: table.rest(&encoder)? })
    }

    /// The rows of some numbers in the table, block by block: the matrix times their one-hot vectors.
    pub(super) fn rows(
        &self,
        context: &Context,
        (plan, keys): (&LookupPlan, &LookupKeys),
        numbers: &[&Entries],
        watch: &dyn Fn(Step),
    ) -> Result<Vec<Vec<rlwe::Ciphertext>>> {
        let (rlwe, layout) = (context.rlwe(), plan.layout());
        let rotations = layout.baby_rotations();
        let exponents: Vec<u32> = rotations.iter().map(|&steps| layout.rotation_exponent(steps)).collect();
        let images = numbers.iter().map(|x| {
            let blocks: Vec<&rlwe::Ciphertext> = x.blocks.iter().collect();
            images(rlwe, &blocks, &exponents, &keys.sparse, numbers.len())
        });
        let images = images.collect::<Result<Vec<_>>>()?;
        watch(Step::Babies);
        let owner = keys.sparse.owner().key;
        let sums = sum_streamed(rlwe, plan.limbs(), &images.iter().collect::<Vec<_>>(), &self.factors, owner)?;
        drop(images);
        watch(Step::Matrix);
        let sum_giants = |sums: &[rlwe::Ciphertext]| match plan.method() {
            Method::Fast => {
                let giant = layout.rotation_exponent(layout.giant_rotation());
                sum_in_turn(rlwe, sums, giant, &keys.sparse)
            }
            Method::Linear => (1..).zip(&sums[1..]).try_fold(sums[0].clone(), |mut all, (b, sum)| {
                let giant = layout.rotation_exponent(b * layout.giant_rotation());
                add_assign(rlwe, &mut all, &apply_automorphism(rlwe, sum, giant, &keys.sparse)?)?;
                Ok(all)
            }),
        };
        let row = |x: &Entries, block: usize, sums: &[rlwe::Ciphertext]| {
            let mut halves = sums.chunks(layout.giants()).map(sum_giants);
            let mut row = halves.next().expect("a row has a half")?;
            if let Some(swapped) = halves.next() {
                let swapped = apply_automorphism(rlwe, &swapped?, layout.swap_exponent(), &keys.sparse)?;
                add_assign(rlwe, &mut row, &swapped)?;
            }
            if let Some(rest) = self.rest.rows.get(block) {
                let poly = scaled(context, &rest.coefficients, x.factor, plan.limbs());
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

    /// The rows times the one-hot vector of y: a sum whose slots add up to the value, but for the offset.
    pub(super) fn product(
        &self,
        context: &Context,
        (plan, keys): (&LookupPlan, &LookupKeys),
        [x, y]: [&Entries; 2],
        rows: &[rlwe::Ciphertext],
    ) -> Result<rlwe::Ciphertext> {
        let (rlwe, modulus) = (context.rlwe(), context.parameters().modulus());
        let products: Vec<_> = rows.iter().zip(&y.blocks).map(|(row, block)| [row, block]).collect();
        let sum = multiply_scaled(rlwe, &products, modulus.value(), plan.limbs(), &keys.sparse)?;
        // The product has the factors of both one-hot vectors.
        Ok(x.add_products(context, &self.rest.columns, y.factor, Some(sum))?.expect("there was a sum"))
    }
}
