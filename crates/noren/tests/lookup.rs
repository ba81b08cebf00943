//! Lookups of functions of two encrypted integers: every pair of numbers, against the table itself.

use noren::bfv::{
    Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, ParametersSpec, Plaintext,
};
use noren::error::{Error, Result, cause};
#[cfg(feature = "papers")]
use noren::lookup::PolynomialLookup;
use noren::lookup::{Function, Layout, Line, LineLookup, Lookup, LookupError, LookupKeys, LookupPlan};
use noren::schemes::integers::IntegerError;
use noren::wire::{Form, Limits, Object};
use noren::{Resources, Security, Seed};

/// The number of ciphertexts of pairs that share the factors.
const TOGETHER: usize = 5;

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
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request)?;
        let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
        Ok(Self { context, keys, evaluator })
    }

    fn encrypt(&self, layout: &Layout, numbers: &[usize], which: usize) -> Result<Ciphertext> {
        let encoder = Encoder::new(&self.context);
        let seed = Seed::from_bytes([2 + which as u8; 32]);
        let encryptor = Encryptor::public(&self.context, &self.keys.public, seed)?;
        encryptor.encrypt(&layout.encode(&encoder, numbers, layout.domain()[which])?)
    }

    fn decrypt(&self, layout: &Layout, ciphertext: &Ciphertext) -> Result<Vec<usize>> {
        let plaintext = Decryptor::new(&self.context, &self.keys.secret)?.decrypt(ciphertext)?;
        Ok(layout.gather(&Encoder::new(&self.context).decode(&plaintext)?))
    }

    /// The function at all pairs of its domain, or at every `step`th.
    fn check(&self, plan: &LookupPlan, function: &Function, step: usize) -> Result<()> {
        let [columns, rows] = function.domain();
        let pairs: Vec<[usize; 2]> = (0..columns * rows).step_by(step).map(|i| [i / rows, i % rows]).collect();
        self.check_pairs(plan, function, &pairs)
    }

    /// The function, prepared once, at some pairs of its domain.
    fn check_pairs(&self, plan: &LookupPlan, function: &Function, pairs: &[[usize; 2]]) -> Result<()> {
        let layout = plan.layout();
        let keys = LookupKeys::generate(&self.context, Seed::from_bytes([9; 32]), &self.keys.secret, plan, None)?;
        let lookup = Lookup::prepare(&self.context, plan, function, None)?;
        let queries: Vec<&[[usize; 2]]> = pairs.chunks(layout.queries()).collect();
        for queries in queries.chunks(TOGETHER) {
            let encrypt = |pairs: &&[[usize; 2]]| {
                let side = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<_>>();
                Ok([self.encrypt(layout, &side(0), 0)?, self.encrypt(layout, &side(1), 1)?])
            };
            let encrypted = queries.iter().map(encrypt).collect::<Result<Vec<_>>>()?;
            let operands: Vec<[&Ciphertext; 2]> = encrypted.iter().map(|pair| pair.each_ref()).collect();
            let results = lookup.evaluate_many(&self.evaluator, &keys, &operands, &|_| {})?;
            assert_eq!(results.len(), queries.len());
            for (&pairs, result) in queries.iter().zip(&results) {
                for (&[x, y], found) in pairs.iter().zip(self.decrypt(layout, result)?) {
                    assert_eq!(Some(found as u64), function.value(x, y), "f({x}, {y}) for {layout:?}");
                }
                let measured = Decryptor::new(&self.context, &self.keys.secret)?.measure_noise(result)?.std.log2();
                let predicted = result.noise().log2_std();
                assert!(measured < predicted + 1.5, "{measured} measured, {predicted} predicted");
            }
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

/// `rot_k` of both rows of a vector.
fn rotated(vector: &[u64], steps: isize) -> Vec<u64> {
    let half = vector.len() as isize / 2;
    let source = |slot: isize| slot / half * half + (slot % half + steps).rem_euclid(half);
    (0..vector.len() as isize).map(|slot| vector[source(slot) as usize]).collect()
}

#[test]
fn factors_times_rotations_are_rows_of_the_table() -> Result<()> {
    let (n, t) = (32, 193);
    for domain in [[32, 32], [20, 31], [70, 40], [193, 193], [16, 16], [8, 5], [3, 3]] {
        let steps = Layout::new(n, t, domain)?.babies() * Layout::new(n, t, domain)?.giants();
        for babies in (0..=steps.ilog2()).map(|bits| 1 << bits) {
            let layout = Layout::new(n, t, domain)?.with_baby_steps(babies)?;
            let ([blocks, results], rotations) = (layout.blocks(), layout.baby_rotations());
            let known = [0, 1].map(|i| domain[i] - usize::from(layout.rest()[i]));
            let table = |x: usize, y: usize| if x < known[0] && y < known[1] { (1 + x * 1000 + y) as u64 } else { 0 };
            for x in (0..known[0]).step_by(1 + known[0] / 9) {
                let one_hot = |block: usize| (0..n).map(|slot| u64::from(layout.index(block, slot) == x)).collect();
                let images: Vec<Vec<u64>> = (0..blocks)
                    .flat_map(|block| {
                        let vector: Vec<u64> = one_hot(block);
                        rotations.iter().map(|&steps| rotated(&vector, steps)).collect::<Vec<_>>()
                    })
                    .collect();
                let mut factor = 0;
                for result in 0..results {
                    let mut row = vec![0; n];
                    for half in 0..layout.halves() {
                        for giant in 0..layout.giants() {
                            let mut sum = vec![0; n];
                            for image in &images {
                                for (slot, sum) in sum.iter_mut().enumerate() {
                                    let value = layout.entry(factor, slot).map_or(0, |[x, y]| table(x, y));
                                    *sum += value * image[slot];
                                }
                                factor += 1;
                            }
                            let moved = rotated(&sum, giant as isize * layout.giant_rotation());
                            let swap = half * n / 2;
                            row.iter_mut().enumerate().for_each(|(slot, row)| *row += moved[(slot + swap) % n]);
                        }
                    }
                    for (slot, found) in row.into_iter().enumerate() {
                        assert_eq!(found, table(x, layout.index(result, slot)), "{x}, slot {slot} of {layout:?}");
                    }
                }
                assert_eq!(factor, layout.factors());
            }
        }
    }
    Ok(())
}

#[test]
fn every_pair_of_a_ring_is_looked_up() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    for domain in [[16, 16], [12, 9], [9, 16]] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
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
        let plan = LookupPlan::with_layout(world.context.parameters(), layout)?;
        world.check(&plan, &scrambled([16, 16], 97), 5)?;
    }
    Ok(())
}

#[test]
fn small_domains_take_many_queries_at_once() -> Result<()> {
    let world = World::new(5, 193, 13)?;
    for (domain, queries) in [([8, 8], 4), ([16, 16], 2), ([5, 7], 4), ([4, 3], 8), ([1, 1], 32)] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
        assert_eq!(plan.layout().queries(), queries);
        world.check(&plan, &scrambled(domain, 193), 1)?;
    }
    Ok(())
}

#[test]
fn all_numbers_modulo_t_are_looked_up_in_several_blocks() -> Result<()> {
    let world = World::new(3, 17, 10)?;
    for (domain, blocks) in [([17, 17], [2, 2]), ([9, 17], [2, 2]), ([17, 5], [2, 1]), ([8, 16], [1, 2])] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
        assert_eq!(plan.layout().blocks(), blocks);
        world.check(&plan, &scrambled(domain, 17), 1)?;
    }
    let world = World::new(4, 97, 12)?;
    let plan = LookupPlan::new(world.context.parameters(), [33, 97])?;
    assert_eq!(plan.layout().blocks(), [3, 6]);
    world.check(&plan, &scrambled([33, 97], 97), 157)
}

#[test]
fn functions_without_a_value_and_numbers_outside_are_refused() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    let plan = LookupPlan::new(world.context.parameters(), [16, 16])?;
    let prepare = |function: &Function| Lookup::prepare(&world.context, &plan, function, None);
    let refused = prepare(&Function::rule([16, 16], |x, y| x.checked_div(y)));
    assert!(matches!(cause(&refused), Some(LookupError::Undefined { x: 0, y: 0 })));
    let refused = prepare(&Function::rule([16, 16], |x, y| Some(if x == 7 && y > 3 { 97 } else { 1 })));
    assert!(matches!(cause(&refused), Some(LookupError::NotInRange { x: 7, y: 4, value: 97, t: 97 })));
    assert!(matches!(prepare(&Function::rule([16, 15], |_, _| Some(0))), Err(Error::Length { .. })));
    assert!(matches!(Function::table([3, 4], vec![0; 11]), Err(Error::Length { found: 11, .. })));
    let refused = plan.layout().spread(&[16], 16);
    assert!(matches!(cause(&refused), Some(LookupError::OutsideDomain { index: 0, value: 16, size: 16 })));
    assert!(matches!(plan.layout().spread(&[1, 2], 16), Err(Error::Length { found: 2, .. })));
    assert!(matches!(
        LookupPlan::new(world.context.parameters(), [98, 3]),
        Err(Error::Parameters { name: "domain", .. })
    ));
    let small = World::new(4, 97, 3)?;
    assert!(matches!(
        cause(&LookupPlan::new(small.context.parameters(), [16, 16])),
        Some(IntegerError::NoiseExhausted { .. })
    ));
    Ok(())
}

#[test]
fn numbers_that_are_not_spread_for_the_plan_are_refused() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    let [plan, smaller] = [[4, 4], [2, 2]].map(|domain| LookupPlan::new(world.context.parameters(), domain));
    let (plan, smaller) = (plan?, smaller?);
    let lookup = Lookup::prepare(&world.context, &plan, &scrambled([4, 4], 97), None)?;
    let keys = LookupKeys::generate(&world.context, Seed::from_bytes([9; 32]), &world.keys.secret, &plan, None)?;
    let (encoder, ev, layout) = (Encoder::new(&world.context), &world.evaluator, plan.layout());
    let encryptor = Encryptor::public(&world.context, &world.keys.public, Seed::from_bytes([4; 32]))?;
    let encrypt = |plaintext: Result<Plaintext>| encryptor.encrypt(&plaintext?);
    let spread = world.encrypt(layout, &[3, 1, 2, 0], 0)?;
    let read = Ciphertext::from_bytes(&world.context, &spread.to_bytes(&world.context, Form::Packed))?;
    assert_eq!([spread.content().stretch(), read.content().stretch()], [4, 4]);
    for (name, x, is_spread) in [
        ("spread", spread.clone(), true),
        ("read", read.clone(), true),
        ("one number in all slots", encrypt(encoder.encode_repeated(&[3]))?, true),
        ("spread for more numbers", encrypt(encoder.encode(&[2; 16]).and_then(|all| all.with_stretch(8)))?, true),
        ("computed", ev.add_scalar(&ev.sub(&spread, &spread)?, 2)?, true),
        ("not spread", encrypt(encoder.encode(&[3, 1, 2, 0]))?, false),
        ("slots that say nothing", encrypt(encoder.encode(&layout.spread(&[3, 1, 2, 0], 4)?))?, false),
        ("spread for fewer numbers", world.encrypt(smaller.layout(), &[1, 0, 1], 0)?, false),
        ("repeated", encrypt(encoder.encode_repeated(&[3, 1]))?, false),
        ("a sum with another", ev.add(&spread, &encrypt(encoder.encode(&[0, 1]))?)?, false),
    ] {
        for [x, y] in [[&x, &spread], [&spread, &x]] {
            let found = lookup.evaluate(ev, &keys, x, y);
            let refused = matches!(cause(&found), Some(LookupError::NotSpread { needed: 4, .. }));
            assert_eq!((found.is_ok(), refused), (is_spread, !is_spread), "{name}");
        }
    }
    // Of results in stretches the first slots alone are results; one in all slots can be looked up again.
    let result = lookup.evaluate(ev, &keys, &spread, &spread)?;
    assert_eq!(result.content().stretch(), 1);
    let whole = Layout::new(16, 97, [97, 97])?;
    assert_eq!([whole.stretch(), world.encrypt(&whole, &[5], 0)?.content().stretch()], [16, 16]);
    Ok(())
}

#[test]
fn the_matrix_under_the_usual_secret_gives_the_same() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    for domain in [[16, 16], [12, 9], [5, 8]] {
        let plan = LookupPlan::linear(world.context.parameters(), domain)?;
        world.check(&plan, &scrambled(domain, 97), 1)?;
    }
    Ok(())
}

#[cfg(feature = "papers")]
#[test]
fn a_polynomial_with_vectors_as_coefficients_gives_the_same() -> Result<()> {
    let world = World::new(4, 97, 16)?;
    for domain in [[16, 16], [11, 13], [9, 3]] {
        let function = scrambled(domain, 97);
        let lookup = PolynomialLookup::prepare(&world.context, &function)?;
        let keys = world.context.generate_keys(Seed::from_bytes([1; 32]), &lookup.keys())?;
        let evaluator = Evaluator::new(&world.context, keys.evaluation.clone())?;
        for i in 0..domain[0] * domain[1] {
            let [x, y] = [i / domain[1], i % domain[1]];
            let [a, b] = [world.encrypt(lookup.layout(), &[x], 0)?, world.encrypt(lookup.layout(), &[y], 1)?];
            let found = world.decrypt(lookup.layout(), &lookup.evaluate(&evaluator, &a, &b)?)?[0];
            assert_eq!(Some(found as u64), function.value(x, y), "f({x}, {y}) in {domain:?}");
        }
    }
    Ok(())
}

#[test]
fn functions_of_a_line_need_no_matrix() -> Result<()> {
    type Rule = fn(u64, u64) -> u64;
    let world = World::new(4, 97, 12)?;
    let lines: [(Line, Rule); 4] = [
        (Line::First, |x, _| x * x % 97),
        (Line::Second, |_, y| (y * y + 5) % 97),
        (Line::Sum, |x, y| (x + y) * (x + y) % 89),
        (Line::Difference, |x, y| x.abs_diff(y) * 3 + u64::from(x > y)),
    ];
    for domain in [[16, 16], [13, 10], [7, 8], [8, 2]] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
        let keys = LookupKeys::generate(&world.context, Seed::from_bytes([9; 32]), &world.keys.secret, &plan, None)?;
        let layout = plan.layout();
        for (line, f) in lines {
            let function = Function::rule(domain, move |x, y| Some(f(x, y)));
            assert_eq!(Line::of(&function), Some(line), "{domain:?}");
            let lookup = LineLookup::prepare(&world.context, &plan, &function, line)?;
            let pairs: Vec<[usize; 2]> = (0..domain[0] * domain[1]).map(|i| [i / domain[1], i % domain[1]]).collect();
            for pairs in pairs.chunks(layout.queries()) {
                let side = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<_>>();
                let [x, y] = [world.encrypt(layout, &side(0), 0)?, world.encrypt(layout, &side(1), 1)?];
                let found = world.decrypt(layout, &lookup.evaluate(&world.evaluator, &keys, &x, &y)?)?;
                for (&[x, y], found) in pairs.iter().zip(found) {
                    assert_eq!(Some(found as u64), function.value(x, y), "{line:?} of ({x}, {y}) in {domain:?}");
                }
            }
        }
        assert_eq!(Line::of(&scrambled(domain, 97)), None);
    }
    Ok(())
}

#[test]
fn lines_that_meet_modulo_t_need_equal_values() -> Result<()> {
    type Rule = fn(u64, u64) -> u64;
    let world = World::new(3, 17, 10)?;
    let plan = LookupPlan::new(world.context.parameters(), [17, 17])?;
    let cyclic: [(Line, Rule); 4] = [
        (Line::First, |x, _| (3 * x + 5) % 17),
        (Line::Second, |_, y| (y * y + 9) % 17),
        (Line::Sum, |x, y| ((x + y) * (x + y) + 1) % 17),
        (Line::Difference, |x, y| (17 + x - y) * 5 % 17),
    ];
    for (line, f) in cyclic {
        let function = Function::rule([17, 17], move |x, y| Some(f(x, y)));
        assert_eq!(Lookup::prepare(&world.context, &plan, &function, None)?.line(), Some(line));
        world.check(&plan, &function, 1)?;
    }
    let sum = Function::rule([17, 17], |x, y| Some((x + y) / 2));
    assert_eq!((Line::of(&sum), Line::modulo(&sum, 17)), (Some(Line::Sum), None));
    let refused = LineLookup::prepare(&world.context, &plan, &sum, Line::Sum);
    assert!(matches!(refused, Err(Error::Parameters { name: "domain", .. })));
    assert_eq!(Lookup::prepare(&world.context, &plan, &sum, None)?.line(), None);
    world.check(&plan, &sum, 1)?;
    Ok(())
}

#[test]
fn a_prepared_function_is_mapped_from_its_file() -> Result<()> {
    let world = World::new(3, 17, 10)?;
    let path = std::env::temp_dir().join(format!("noren-lookup-{}", std::process::id()));
    for domain in [[17, 17], [8, 8], [3, 4]] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
        let function = scrambled(domain, 17);
        Lookup::prepare(&world.context, &plan, &function, None)?.save(&path)?;
        let lookup = Lookup::open(&world.context, &path, &Limits::default())?;
        let keys = LookupKeys::generate(&world.context, Seed::from_bytes([9; 32]), &world.keys.secret, &plan, None)?;
        for [x, y] in [[domain[0] - 1, domain[1] - 1], [1, 2], [domain[0] - 1, 0]] {
            let (layout, evaluator) = (plan.layout(), &world.evaluator);
            let [a, b] = [world.encrypt(layout, &[x], 0)?, world.encrypt(layout, &[y], 1)?];
            let found = world.decrypt(layout, &lookup.evaluate(evaluator, &keys, &a, &b)?)?[0];
            assert_eq!(Some(found as u64), function.value(x, y), "f({x}, {y}) in {domain:?}");
        }
    }
    let other = World::new(4, 97, 12)?;
    let refused = Lookup::open(&other.context, &path, &Limits::default());
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
    let mut bytes = std::fs::read(&path).expect("it was written");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).expect("it is ours");
    assert!(matches!(Lookup::open(&world.context, &path, &Limits::default()), Err(Error::Wire { .. })));
    std::fs::remove_file(&path).expect("it is ours");
    Ok(())
}

/// An attack: another function of the same size takes the place of the one that is in use, or the file is cut short.
#[test]
fn results_of_mapped_functions_that_change_are_refused() -> Result<()> {
    let world = World::new(3, 17, 10)?;
    let path = std::env::temp_dir().join(format!("noren-lookup-changed-{}", std::process::id()));
    let plan = LookupPlan::new(world.context.parameters(), [17, 17])?;
    let keys = LookupKeys::generate(&world.context, Seed::from_bytes([9; 32]), &world.keys.secret, &plan, None)?;
    let (layout, evaluator) = (plan.layout(), &world.evaluator);
    let [a, b] = [world.encrypt(layout, &[3], 0)?, world.encrypt(layout, &[5], 1)?];
    let product = Function::rule([17, 17], |x, y| Some((7 * x * y) % 17));
    Lookup::prepare(&world.context, &plan, &product, None)?.save(&path)?;
    let other = std::fs::read(&path).expect("it was written");
    for cut in [false, true] {
        Lookup::prepare(&world.context, &plan, &scrambled([17, 17], 17), None)?.save(&path)?;
        let lookup = Lookup::open(&world.context, &path, &Limits::default())?;
        lookup.evaluate(evaluator, &keys, &a, &b)?;
        // Times of files have a resolution of some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let file = std::fs::File::options().write(true).open(&path).expect("it is ours");
        if cut {
            file.set_len(4096).expect("it is ours");
        } else {
            std::io::Write::write_all(&mut &file, &other).expect("it is ours");
        }
        let refused = lookup.evaluate(evaluator, &keys, &a, &b).map(drop);
        assert!(matches!(refused, Err(Error::FileChanged { .. })), "{refused:?}");
        let again = path.with_extension("again");
        assert!(matches!(lookup.save(&again), Err(Error::FileChanged { .. })) && !again.exists());
    }
    std::fs::remove_file(&path).expect("it is ours");
    Ok(())
}

#[test]
fn files_that_are_cut_or_nowhere_are_refused() -> Result<()> {
    let world = World::new(3, 17, 10)?;
    let plan = LookupPlan::new(world.context.parameters(), [8, 8])?;
    let path = std::env::temp_dir().join(format!("noren-lookup-cut-{}", std::process::id()));
    let open = || Lookup::open(&world.context, &path, &Limits::default());
    assert!(matches!(open(), Err(Error::Io { .. })));
    for function in [scrambled([8, 8], 17), Function::rule([8, 8], |x, y| Some(x + y))] {
        let lookup = Lookup::prepare(&world.context, &plan, &function, None)?;
        assert!(matches!(lookup.save(&path.join("below")), Err(Error::Io { .. })), "there is no such folder");
        lookup.save(&path)?;
        let bytes = std::fs::read(&path).expect("it was written");
        for kept in (0..bytes.len()).step_by(1 + bytes.len() / 50) {
            std::fs::write(&path, &bytes[..kept]).expect("it is ours");
            assert!(matches!(open(), Err(Error::Wire { .. } | Error::Io { .. })), "{kept} of {} bytes", bytes.len());
        }
    }
    std::fs::remove_file(&path).expect("it is ours");
    Ok(())
}

#[test]
fn missing_keys_are_named() -> Result<()> {
    let world = World::new(4, 97, 16)?;
    let context = &world.context;
    let [plan, smaller] = [[16, 16], [2, 2]].map(|domain| LookupPlan::new(context.parameters(), domain));
    let (plan, function) = (plan?, scrambled([16, 16], 97));
    let generate = |plan| LookupKeys::generate(context, Seed::from_bytes([9; 32]), &world.keys.secret, plan, None);
    let lookup = Lookup::prepare(context, &plan, &function, None)?;
    let [x, y] = [world.encrypt(plan.layout(), &[3], 0)?, world.encrypt(plan.layout(), &[5], 1)?];
    let missing = |evaluator: &Evaluator, keys: &LookupKeys| match lookup.evaluate(evaluator, keys, &x, &y) {
        Err(Error::MissingKey { kind, .. }) => kind,
        other => panic!("{:?}", other.map(drop)),
    };
    let keys = |request: &KeyRequest| context.generate_keys(Seed::from_bytes([1; 32]), request);
    let without = Evaluator::new(context, keys(&KeyRequest::default())?.evaluation.clone())?;
    assert_eq!(missing(&without, &generate(&plan)?), "relinearisation");
    assert!(missing(&world.evaluator, &generate(&smaller?)?).starts_with("rotation by "));

    #[cfg(feature = "papers")]
    {
        let polynomial = PolynomialLookup::prepare(context, &function)?;
        let request = KeyRequest { swap: false, ..polynomial.keys() };
        let without = Evaluator::new(context, keys(&request)?.evaluation.clone())?;
        let refused = polynomial.evaluate(&without, &x, &y);
        assert!(matches!(refused, Err(Error::MissingKey { kind, .. }) if kind.contains("row swap")));
    }
    Ok(())
}

#[test]
fn keys_and_numbers_of_another_secret_are_refused() -> Result<()> {
    let world = World::new(4, 97, 16)?;
    let context = &world.context;
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let stranger = context.generate_keys(Seed::from_bytes([5; 32]), &request)?;
    let strangers = World { keys: stranger, context: context.clone(), evaluator: world.evaluator.clone() };
    let plan = LookupPlan::new(context.parameters(), [16, 16])?;
    let keys = |secret| LookupKeys::generate(context, Seed::from_bytes([9; 32]), secret, &plan, None);
    let (own, foreign) = (keys(&world.keys.secret)?, keys(&strangers.keys.secret)?);
    let side = |world: &World, which| world.encrypt(plan.layout(), &[3], which);
    let (x, y, z) = (side(&world, 0)?, side(&world, 1)?, side(&strangers, 1)?);
    let matrix = Lookup::prepare(context, &plan, &scrambled([16, 16], 97), None)?;
    let line = Lookup::prepare(context, &plan, &Function::rule([16, 16], |x, y| Some(x + y)), None)?;
    for lookup in [&matrix, &line] {
        let results = [
            lookup.evaluate(&world.evaluator, &foreign, &x, &y),
            lookup.evaluate(&world.evaluator, &own, &x, &z),
            lookup.evaluate(&world.evaluator, &own, &z, &z),
            lookup.evaluate(&world.evaluator, &foreign, &z, &z),
        ];
        for (i, result) in results.into_iter().enumerate() {
            assert!(matches!(result, Err(Error::KeyMismatch { .. })), "{i}: {:?}", result.err());
        }
    }
    Ok(())
}

/// Runs itself again with less address space than the matrix takes.
#[cfg(target_os = "linux")]
#[test]
fn a_matrix_that_memory_cannot_hold_is_refused_before_it_is_made() -> Result<()> {
    const CHILD: &str = "NOREN_TEST_LITTLE_MEMORY";
    if std::env::var_os(CHILD).is_none() {
        let name = "a_matrix_that_memory_cannot_hold_is_refused_before_it_is_made";
        // 500 MB, and a matrix of 537 MB.
        let command = format!("ulimit -v 500000; exec \"$0\" --exact {name} --test-threads 1");
        let program = std::env::current_exe().expect("a test has a file");
        let child = std::process::Command::new("sh").arg("-c").arg(command).arg(program).env(CHILD, "1").output();
        let output = child.expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return Ok(());
    }
    let spec =
        ParametersSpec { log_n: 14, plaintext_modulus: 65537, security: Security::None, ..ParametersSpec::default() };
    let parameters = ParametersSpec { log_q: vec![50; 13], log_p: vec![50; 2], ..spec }.build()?;
    let context = Context::with_threads(parameters, Some(1))?;
    let domain = [1 << 14; 2];
    let plan = LookupPlan::new(context.parameters(), domain)?;
    let refused = Lookup::prepare(&context, &plan, &scrambled(domain, 65537), None).map(drop);
    assert!(matches!(refused, Err(Error::Resources { needed, .. }) if needed == 1 << 29));
    #[cfg(feature = "papers")]
    {
        let refused = PolynomialLookup::prepare(&context, &scrambled(domain, 65537)).map(drop);
        assert!(matches!(refused, Err(Error::Resources { needed, .. }) if needed == 1 << 30));
    }
    Ok(())
}

#[test]
fn matrices_without_room_are_refused() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    for domain in [[16, 16], [8, 8], [97, 33]] {
        let plan = LookupPlan::new(world.context.parameters(), domain)?;
        let bytes = plan.matrix_bytes();
        assert_eq!(bytes, Lookup::prepare(&world.context, &plan, &scrambled(domain, 97), None)?.bytes());
        let check = |memory, disk| plan.check(&Resources { memory, disk });
        assert!(check(None, None).is_ok() && check(Some(bytes), Some(bytes)).is_ok());
        for refused in [check(Some(bytes - 1), None), check(None, Some(bytes - 1))] {
            assert!(
                matches!(refused, Err(Error::Resources { found, needed, .. }) if (found, needed) == (bytes - 1, bytes))
            );
        }
    }
    Ok(())
}

#[test]
fn several_pairs_share_the_factors() -> Result<()> {
    let world = World::new(4, 97, 12)?;
    let plan = LookupPlan::new(world.context.parameters(), [16, 16])?;
    let (layout, function) = (plan.layout(), scrambled([16, 16], 97));
    let keys = LookupKeys::generate(&world.context, Seed::from_bytes([9; 32]), &world.keys.secret, &plan, None)?;
    let lookup = Lookup::prepare(&world.context, &plan, &function, None)?;
    let pairs = [[0, 15], [7, 7], [15, 0]];
    let encrypted = pairs.iter().map(|&[x, y]| Ok([world.encrypt(layout, &[x], 0)?, world.encrypt(layout, &[y], 1)?]));
    let encrypted = encrypted.collect::<Result<Vec<_>>>()?;
    let operands: Vec<[&Ciphertext; 2]> = encrypted.iter().map(|pair| pair.each_ref()).collect();
    let results = lookup.evaluate_many(&world.evaluator, &keys, &operands, &|_| {})?;
    for (result, [x, y]) in results.iter().zip(pairs) {
        assert_eq!(Some(world.decrypt(layout, result)?[0] as u64), function.value(x, y));
    }
    Ok(())
}

/// `floor(x / y)`, and 0 for y = 0, of 50 pairs below 2^15: prepared once, and looked up five at a time. The pairs are drawn
/// uniformly from a fixed seed, so that every run takes the same.
#[test]
#[ignore = "128-bit parameters: minutes and 6 GB"]
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
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request)?;
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let world = World { context, keys, evaluator };
    let domain = [1 << 15; 2];
    let plan = LookupPlan::new(world.context.parameters(), domain)?;
    assert_eq!(plan.limbs(), 2, "two limbs leave room for the noise");
    let quotient = Function::rule(domain, |x, y| Some(x.checked_div(y).unwrap_or(0)));
    let mut random = Seed::from_bytes([7; 32]).xof("pairs");
    let pairs: Vec<[usize; 2]> = (0..50).map(|_| [0, 1].map(|i| random.next_u64() as usize % domain[i])).collect();
    world.check_pairs(&plan, &quotient, &pairs)
}
