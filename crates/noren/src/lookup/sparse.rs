//! One-hot vectors under the sparse secret, and results back from there.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::galois::sum_automorphisms_in_steps;
use noren_rlwe::keyswitch::switch_secret;
use noren_rlwe::linear::{add_assign, mod_switch, mul_plain_assign};

use crate::lookup::keys::LookupKeys;
use crate::lookup::one_hot::one_hot;
use crate::lookup::plan::LookupPlan;
use crate::schemes::bfv::{Ciphertext, Context, Evaluator, Noise, Plaintext};
use crate::schemes::integers::content::Content;
use crate::schemes::integers::error::IntegerError;

/// The one-hot vector of a number, block by block, with the factor and the noise that it had before.
pub(super) struct Entries {
    pub(super) blocks: Vec<rlwe::Ciphertext>,
    pub(super) factor: u64,
    pub(super) noise: Noise,
}

impl Entries {
    /// The first blocks of the one-hot vector of a number, under the sparse secret at the limbs of the matrix.
    pub(super) fn of(
        evaluator: &Evaluator,
        (plan, keys): (&LookupPlan, &LookupKeys),
        number: &Ciphertext,
        blocks: usize,
    ) -> Result<Self> {
        let context = evaluator.context();
        evaluator.keys().owner().check(&keys.owner(), "the set of lookup keys")?;
        let enter = |block| {
            let vector = one_hot(evaluator, plan.layout(), number, block)?;
            let limbs = vector.limbs().min(plan.entry_limbs());
            let vector = evaluator.mod_switch(&vector, limbs)?;
            if limbs < plan.limbs() {
                return Err(IntegerError::NoiseExhausted { what: "a lookup", missing: -vector.noise_budget() }.into());
            }
            let switched = match &keys.switches {
                Some([enter, _]) => switch_secret(context.rlwe(), vector.rlwe(), enter)?,
                None => vector.rlwe().clone(),
            };
            Ok((mod_switch(context.rlwe(), switched, plan.limbs())?, vector))
        };
        let mut entered = (0..blocks).map(enter).collect::<Result<Vec<_>>>()?.into_iter();
        let (first, vector) = entered.next().expect("a number has a block");
        let blocks = std::iter::once(first).chain(entered.map(|(block, _)| block)).collect();
        Ok(Self { blocks, factor: vector.factor(), noise: vector.noise().clone() })
    }

    /// Adds the products of the blocks with plaintexts, times a factor, to what is there already, if there is.
    pub(super) fn add_products(
        &self,
        context: &Context,
        plaintexts: &[Plaintext],
        factor: u64,
        sum: Option<rlwe::Ciphertext>,
    ) -> Result<Option<rlwe::Ciphertext>> {
        let (rlwe, modulus) = (context.rlwe(), context.parameters().modulus());
        self.blocks.iter().zip(plaintexts).try_fold(sum, |sum, (block, plaintext)| {
            let ring = rlwe.ring_q(block.limbs());
            let times = |&c: &i64| modulus.center(modulus.mul(modulus.reduce(c.into()), factor));
            let coefficients: Vec<i64> = plaintext.coefficients.iter().map(times).collect();
            let poly = ring.ntt(ring.from_signed(&coefficients));
            let mut product = block.clone();
            mul_plain_assign(rlwe, &mut product, &rlwe::Plaintext { poly })?;
            let Some(mut sum) = sum else { return Ok(Some(product)) };
            add_assign(rlwe, &mut sum, &product)?;
            Ok(Some(sum))
        })
    }
}

/// The sum over the slots of a number, in every slot of it that stretches of slots allow, back under the usual secret.
pub(super) fn leave(
    context: &Context,
    (plan, keys): (&LookupPlan, &LookupKeys),
    sum: &rlwe::Ciphertext,
    factor: u64,
    noise: Noise,
) -> Result<Ciphertext> {
    let budget = noise.budget(plan.layout().degree());
    if budget < 0.0 {
        return Err(IntegerError::NoiseExhausted { what: "a lookup", missing: -budget }.into());
    }
    let (steps, swap) = plan.sum_rotations();
    let exponents = |steps: &Vec<isize>| steps.iter().map(|&steps| plan.layout().rotation_exponent(steps)).collect();
    let mut exponents: Vec<Vec<u32>> = steps.iter().map(exponents).collect();
    if swap {
        exponents.push(vec![plan.layout().swap_exponent()]);
    }
    let steps: Vec<&[u32]> = exponents.iter().map(Vec::as_slice).collect();
    let sum = sum_automorphisms_in_steps(context.rlwe(), sum, &steps, &keys.sparse)?;
    let inner = match &keys.switches {
        Some([_, exit]) => switch_secret(context.rlwe(), &sum, exit)?,
        None => sum,
    };
    let parameters = context.parameters().clone();
    let content = Content::slots(parameters.degree()).with_stretch(plan.layout().stretch_of_results(), &parameters)?;
    Ok(Ciphertext::new(inner, factor, noise, content, parameters))
}
