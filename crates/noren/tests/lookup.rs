//! Lookups of functions of two encrypted integers: every pair of numbers, against the table itself.

use noren::bfv::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, ParametersSpec};
use noren::circuits::lookup::{Function, Layout, Lookup, LookupKeys, Plan};
use noren::error::{Error, Result};
use noren::{Security, Seed};

/// A context, keys and an evaluator of a small ring.
struct World {
    context: Context,
    keys: Keys,
    evaluator: Evaluator,
}

impl World {
    fn new(log_n: u32, t: u64, limbs: usize) -> Result<Self> {
        let spec = ParametersSpec {
            log_n,
            plaintext_modulus: t,
            log_q: vec![40; limbs],
            log_p: vec![40; 2],
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::with_threads(spec.build()?, Some(1))?;
        let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request, None)?;
        let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
        Ok(Self { context, keys, evaluator })
    }

    fn encrypt(&self, layout: &Layout, numbers: &[usize], which: usize) -> Result<Ciphertext> {
        let encoder = Encoder::new(&self.context);
        let seed = Seed::from_bytes([2 + which as u8; 32]);
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed)?;
        encryptor.encrypt(&encoder.encode(&layout.spread(numbers, layout.domain()[which])?)?)
    }

    fn decrypt(&self, layout: &Layout, ciphertext: &Ciphertext) -> Result<Vec<usize>> {
        let plaintext = Decryptor::new(&self.context, &self.keys.secret)?.decrypt(ciphertext)?;
        Ok(layout.gather(&Encoder::new(&self.context).decode(&plaintext)?))
    }

    /// The function at all pairs of its domain, or at every `step`th.
    fn check(&self, plan: &Plan, function: &Function, step: usize) -> Result<()> {
        let layout = plan.layout();
        let keys = LookupKeys::generate(&self.context, Seed::from_bytes([9; 32]), &self.keys.secret, plan, None)?;
        let lookup = Lookup::prepare(&self.context, plan, function, None)?;
        let [columns, rows] = function.domain();
        let pairs: Vec<[usize; 2]> = (0..columns * rows).step_by(step).map(|i| [i / rows, i % rows]).collect();
        for pairs in pairs.chunks(layout.queries()) {
            let side = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<_>>();
            let [x, y] = [self.encrypt(layout, &side(0), 0)?, self.encrypt(layout, &side(1), 1)?];
            let result = lookup.evaluate(&self.evaluator, &keys, &x, &y)?;
            let found = self.decrypt(layout, &result)?;
            for (&[x, y], found) in pairs.iter().zip(found) {
                assert_eq!(Some(found as u64), function.value(x, y), "f({x}, {y}) for {layout:?}");
            }
            let measured = Decryptor::new(&self.context, &self.keys.secret)?.measure_noise(&result)?;
            let predicted = result.noise().log2_std();
            assert!(measured.std.log2() < predicted + 1.5, "{} measured, {predicted} predicted", measured.std.log2());
        }
        Ok(())
    }
}

/// A function with values that follow no rule.
fn scrambled(domain: [usize; 2], t: u64) -> Function {
    let value = move |x: u64, y: u64| {
        let mixed = x.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y.wrapping_add(77)).wrapping_mul(0xd1b5_4a32_d192_ed03);
        Some((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) % t)
    };
    Function::rule(domain, move |x, y| value(x.wrapping_add(1), y))
}

#[test]
fn every_pair_of_a_ring_is_looked_up() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    for domain in [[16, 16], [12, 9], [9, 16]] {
        let plan = Plan::new(world.context.parameters(), domain)?;
        assert_eq!(plan.layout().queries(), 1);
        world.check(&plan, &scrambled(domain, 97), 1)?;
    }
    Ok(())
}

#[test]
fn every_number_of_baby_steps_gives_the_same() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    for babies in [1, 2, 4, 8] {
        let layout = Layout::new(16, 97, [16, 16])?.with_baby_steps(babies)?;
        let plan = Plan::with_layout(world.context.parameters(), layout)?;
        world.check(&plan, &scrambled([16, 16], 97), 5)?;
    }
    Ok(())
}

#[test]
fn small_domains_take_many_queries_at_once() -> Result<()> {
    let world = World::new(5, 193, 13)?;
    for (domain, queries) in [([8, 8], 4), ([16, 16], 2), ([5, 7], 4), ([4, 3], 8), ([1, 1], 32)] {
        let plan = Plan::new(world.context.parameters(), domain)?;
        assert_eq!(plan.layout().queries(), queries);
        world.check(&plan, &scrambled(domain, 193), 1)?;
    }
    Ok(())
}

#[test]
fn all_numbers_modulo_t_are_looked_up_in_several_blocks() -> Result<()> {
    let world = World::new(3, 17, 10)?;
    for (domain, blocks) in [([17, 17], [2, 2]), ([9, 17], [2, 2]), ([17, 5], [2, 1]), ([8, 16], [1, 2])] {
        let plan = Plan::new(world.context.parameters(), domain)?;
        assert_eq!(plan.layout().blocks(), blocks);
        world.check(&plan, &scrambled(domain, 17), 1)?;
    }
    let world = World::new(4, 97, 12)?;
    let plan = Plan::new(world.context.parameters(), [33, 97])?;
    assert_eq!(plan.layout().blocks(), [3, 6]);
    world.check(&plan, &scrambled([33, 97], 97), 157)
}

#[test]
fn functions_without_a_value_and_numbers_outside_are_refused() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    let plan = Plan::new(world.context.parameters(), [16, 16])?;
    let prepare = |function: &Function| Lookup::prepare(&world.context, &plan, function, None);
    let refused = prepare(&Function::rule([16, 16], |x, y| x.checked_div(y)));
    assert!(matches!(refused, Err(Error::Undefined { x: 0, y: 0 })));
    let refused = prepare(&Function::rule([16, 16], |x, y| Some(if x == 7 && y > 3 { 97 } else { 1 })));
    assert!(matches!(refused, Err(Error::NotInRange { x: 7, y: 4, value: 97, t: 97 })));
    assert!(matches!(prepare(&Function::rule([16, 15], |_, _| Some(0))), Err(Error::Length { .. })));
    assert!(matches!(Function::table([3, 4], vec![0; 11]), Err(Error::Length { found: 11, .. })));
    let refused = plan.layout().spread(&[16], 16);
    assert!(matches!(refused, Err(Error::OutsideDomain { index: 0, value: 16, size: 16 })));
    assert!(matches!(plan.layout().spread(&[1, 2], 16), Err(Error::Length { found: 2, .. })));
    assert!(matches!(Plan::new(world.context.parameters(), [98, 3]), Err(Error::Parameters { name: "domain", .. })));
    let small = World::new(4, 97, 3)?;
    assert!(matches!(Plan::new(small.context.parameters(), [16, 16]), Err(Error::NoiseExhausted { .. })));
    Ok(())
}

/// Functions of a size that is of use: 50 random pairs.
#[test]
#[ignore = "128-bit parameters: two minutes and 6 GB"]
fn quotients_of_15_bits_are_exact_at_128_bits() -> Result<()> {
    let spec = ParametersSpec {
        log_n: 15,
        plaintext_modulus: 65537,
        log_q: vec![50; 13],
        log_p: vec![50; 4],
        dnum: 4,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build()?)?;
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request, None)?;
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let world = World { context, keys, evaluator };
    let domain = [1 << 15; 2];
    let plan = Plan::new(world.context.parameters(), domain)?;
    assert_eq!(plan.limbs(), 2, "two limbs leave room for the noise");
    let quotient = Function::rule(domain, |x, y| Some(x.checked_div(y).unwrap_or(0)));
    // A multiplier of a generator modulo 2^30 of full period visits all pairs.
    world.check(&plan, &quotient, (1 << 30) / 50 - 7)
}
