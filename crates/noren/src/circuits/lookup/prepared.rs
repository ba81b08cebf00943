//! The matrix of a function, ready to be multiplied with one-hot vectors.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use noren_ring::small::SmallPolynomials;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::{apply_automorphism, sum_automorphisms_in_steps};
use noren_rlwe::keyswitch::switch_secret;
use noren_rlwe::linear::{add_assign, add_plain_assign, mod_switch};
use noren_rlwe::product::multiply_scaled;
use noren_rlwe::streamed::{images, sum_in_turn, sum_streamed};

use crate::circuits::lookup::function::Function;
use crate::circuits::lookup::keys::LookupKeys;
use crate::circuits::lookup::one_hot::one_hot;
use crate::circuits::lookup::plan::Plan;
use crate::schemes::bfv::{Ciphertext, Context, Encoder, Evaluator, Noise, Plaintext};
use crate::schemes::integers::encryption::scaled;

/// A function, prepared to be looked up: all factors of its matrix as polynomials modulo t.
///
/// A factor takes `2 n` bytes, and there are as many as slots for a function of n numbers: 2.1 GB at n = 2^15.
pub struct Lookup {
    plan: Plan,
    factors: SmallPolynomials,
    /// `log2` of the root of the sum of the squares of all coefficients.
    log2_norm: f64,
    rest: Rest,
}

/// What is added for numbers without a slot, `t - 1`, of which all one-hot vectors are 0. The table is then that of the
/// difference to their values.
struct Rest {
    /// Added to each block of the row: `f(t - 1, y) - f(t - 1, t - 1)`.
    rows: Vec<Plaintext>,
    /// Times each block of the one-hot vector of x, before the sum: `f(x, t - 1) - f(t - 1, t - 1)`.
    columns: Vec<Plaintext>,
    /// Added to the result: `f(t - 1, t - 1)`.
    corner: i64,
}

/// One-hot vectors under the sparse secret, with the factor and the noise that they had before.
struct Entries {
    blocks: Vec<rlwe::Ciphertext>,
    factor: u64,
    noise: Noise,
}

impl Lookup {
    /// Prepares a function; `progress` hears how many factors are made, of how many, from any thread.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::NotInRange`] name the first point that needs a value below t,
    /// [`Error::Length`] if the domain is another one than the plan's.
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

    /// `f(x, y)` for each query.
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
        evaluator.context().check(self.plan.parameters(), "the prepared function")?;
        let [x, y] = [self.enter(evaluator, keys, x, 0)?, self.enter(evaluator, keys, y, 1)?];
        let rows = self.rows(evaluator.context(), keys, &x)?;
        self.select(evaluator, keys, &x, &y, &rows)
    }

    /// The one-hot vectors of a number, under the sparse secret at the limbs of the matrix.
    fn enter(&self, evaluator: &Evaluator, keys: &LookupKeys, number: &Ciphertext, which: usize) -> Result<Entries> {
        let (context, plan) = (evaluator.context(), &self.plan);
        let enter = |block| {
            let vector = one_hot(evaluator, plan.layout(), number, block)?;
            let limbs = vector.limbs().min(plan.entry_limbs());
            let vector = evaluator.mod_switch(&vector, limbs)?;
            let switched = switch_secret(context.rlwe(), vector.rlwe(), &keys.entry)?;
            let low = mod_switch(context.rlwe(), switched, plan.limbs().min(limbs))?;
            Ok((low, vector.factor(), vector.noise().clone()))
        };
        let entered = (0..plan.layout().blocks()[which]).map(enter).collect::<Result<Vec<_>>>()?;
        let (factor, noise) = (entered[0].1, entered[0].2.clone());
        Ok(Entries { blocks: entered.into_iter().map(|(block, ..)| block).collect(), factor, noise })
    }

    /// The row of x in the table, block by block: the matrix times the one-hot vector.
    fn rows(&self, context: &Context, keys: &LookupKeys, x: &Entries) -> Result<Vec<rlwe::Ciphertext>> {
        let (rlwe, layout) = (context.rlwe(), self.plan.layout());
        let rotations = layout.baby_rotations();
        let exponents: Vec<u32> = rotations.iter().map(|&steps| context.rotation_exponent(steps)).collect();
        let blocks: Vec<&rlwe::Ciphertext> = x.blocks.iter().collect();
        let images = images(rlwe, &blocks, &exponents, &keys.sparse)?;
        let sums = sum_streamed(rlwe, self.plan.limbs(), &[&images], &self.factors)?.remove(0);
        drop(images);
        let giant = context.rotation_exponent(layout.giant_rotation());
        let halves = sums.chunks(layout.giants()).map(|sums| sum_in_turn(rlwe, sums, giant, &keys.sparse));
        let halves = halves.collect::<Result<Vec<_>>>()?;
        let rows = halves.chunks(layout.halves()).enumerate().map(|(block, halves)| {
            let mut row = halves[0].clone();
            if let Some(swapped) = halves.get(1) {
                let swapped = apply_automorphism(rlwe, swapped, context.swap_exponent(), &keys.sparse)?;
                add_assign(rlwe, &mut row, &swapped)?;
            }
            if let Some(rest) = self.rest.rows.get(block) {
                let poly = scaled(context, &rest.coefficients, x.factor, self.plan.limbs());
                add_plain_assign(rlwe, &mut row, &rlwe::Plaintext { poly })?;
            }
            Ok(row)
        });
        rows.collect()
    }

    /// The value of y in the row of x, in every slot.
    fn select(
        &self,
        evaluator: &Evaluator,
        keys: &LookupKeys,
        x: &Entries,
        y: &Entries,
        rows: &[rlwe::Ciphertext],
    ) -> Result<Ciphertext> {
        let (context, plan) = (evaluator.context(), &self.plan);
        let (rlwe, modulus) = (context.rlwe(), context.parameters().modulus());
        let noise = plan.predict([&x.noise, &y.noise], self.log2_norm);
        let budget = noise.budget(plan.layout().degree());
        if budget < 0.0 {
            return Err(Error::NoiseExhausted { what: "a lookup", missing: -budget });
        }
        let products: Vec<_> = rows.iter().zip(&y.blocks).map(|(row, block)| [row, block]).collect();
        let mut sum = multiply_scaled(rlwe, &products, modulus.value(), plan.limbs(), &keys.sparse)?;
        for (block, column) in x.blocks.iter().zip(&self.rest.columns) {
            // The product has the factors of both one-hot vectors.
            let ring = rlwe.ring_q(plan.limbs());
            let by = |&c: &i64| modulus.center(modulus.mul(modulus.reduce(c.into()), y.factor));
            let poly = ring.ntt(ring.from_signed(&column.coefficients.iter().map(by).collect::<Vec<_>>()));
            let mut product = block.clone();
            noren_rlwe::linear::mul_plain_assign(rlwe, &mut product, &rlwe::Plaintext { poly })?;
            add_assign(rlwe, &mut sum, &product)?;
        }
        let (steps, swap) = plan.sum_rotations();
        let exponents = |steps: &Vec<isize>| steps.iter().map(|&steps| context.rotation_exponent(steps)).collect();
        let mut exponents: Vec<Vec<u32>> = steps.iter().map(exponents).collect();
        if swap {
            exponents.push(vec![context.swap_exponent()]);
        }
        let steps: Vec<&[u32]> = exponents.iter().map(Vec::as_slice).collect();
        let sum = sum_automorphisms_in_steps(rlwe, &sum, &steps, &keys.sparse)?;
        let inner = switch_secret(rlwe, &sum, &keys.exit)?;
        let factor = modulus.mul(x.factor, y.factor);
        let parameters = context.parameters().clone();
        let result = Ciphertext { inner, factor, noise, parameters, scheme: std::marker::PhantomData };
        if self.rest.corner == 0 { Ok(result) } else { evaluator.add_scalar(&result, self.rest.corner) }
    }
}

/// The table of a function, as the matrix has it.
struct Table<'a> {
    plan: &'a Plan,
    function: &'a Function,
    /// The numbers without a slot.
    last: [Option<usize>; 2],
    corner: u64,
}

impl<'a> Table<'a> {
    fn new(plan: &'a Plan, function: &'a Function) -> Result<Self> {
        let (rest, t) = (plan.layout().rest(), plan.parameters().modulus().value());
        let last = rest.map(|rest| rest.then_some(t as usize - 1));
        let corner = match last {
            [Some(x), Some(y)] => function.residue(x, y, t)?,
            _ => 0,
        };
        Ok(Self { plan, function, last, corner })
    }

    /// The entry of the matrix for x and y: 0 outside the domain.
    fn residue(&self, x: usize, y: usize) -> Result<u64> {
        let [columns, rows] = self.function.domain();
        if x >= columns || y >= rows {
            return Ok(0);
        }
        let (t, f) = (self.plan.parameters().modulus().value(), self.function);
        let value = f.residue(x, y, t)?;
        let [in_column, in_row] = self.last;
        let column = in_column.map_or(Ok(0), |last| f.residue(last, y, t))?;
        let row = in_row.map_or(Ok(0), |last| f.residue(x, last, t))?;
        Ok((value + 2 * t - column - row + self.corner) % t)
    }

    /// What is added for numbers without a slot.
    fn rest(&self, encoder: &Encoder) -> Result<Rest> {
        let (layout, t) = (self.plan.layout(), self.plan.parameters().modulus().value());
        let encode = |block: usize, size: usize, value: &dyn Fn(usize) -> Result<u64>| {
            let indices = (0..layout.degree()).map(|slot| layout.index(block, slot));
            let value = |i: usize| if i < size { Ok((value(i)? + t - self.corner) % t) } else { Ok(0) };
            let values = indices.map(value).map(|value| value.map(u64::cast_signed));
            encoder.encode(&values.collect::<Result<Vec<i64>>>()?)
        };
        let ([blocks, results], [x_size, y_size]) = (layout.blocks(), layout.domain());
        let [last_x, last_y] = self.last;
        let rows = last_x.map_or(Ok(Vec::new()), |last| {
            let value = |y| self.function.residue(last, y, t);
            (0..results).map(|block| encode(block, y_size, &value)).collect::<Result<Vec<_>>>()
        })?;
        let columns = last_y.map_or(Ok(Vec::new()), |last| {
            let value = |x| self.function.residue(x, last, t);
            (0..blocks).map(|block| encode(block, x_size, &value)).collect::<Result<Vec<_>>>()
        })?;
        Ok(Rest { rows, columns, corner: self.corner.cast_signed() })
    }
}
