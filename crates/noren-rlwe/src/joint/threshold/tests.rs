//! Every set of parties that suffices, those that do not, and what shares for two sets would tell without masks.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::error::Result;
use crate::joint::opening::{Opener, SecondPart, divided, share};
use crate::joint::tests::{N, World, common, equal, phase, seed};
use crate::joint::threshold::{add_part, dealt, drawn, hidden, shown, weighted};

/// The parts of all parties, of which `enough` suffice: each party draws those of the ones that follow it.
fn parts(world: &World, enough: usize) -> Result<Vec<Poly<Eval>>> {
    let (context, count) = (&world.context, world.secrets.len());
    let mut parts: Vec<Option<Poly<Eval>>> = vec![None; count];
    for (from, secret) in world.secrets.iter().enumerate() {
        let seed_for = |to: usize| seed(from).derive(&to.to_string());
        let drawn: Vec<_> =
            (1..enough).map(|step| (from + step) % count).map(|to| (to, drawn(context, &seed_for(to)))).collect();
        for (to, sum) in parts.iter_mut().enumerate() {
            let sent = hidden(context, &dealt(context, secret, &drawn, to)?, &seed_for(to));
            let part = shown(context, &sent, &seed_for(to));
            match sum {
                Some(sum) => add_part(context, sum, &part),
                None => *sum = Some(part),
            }
        }
        for (to, part) in &drawn {
            assert!(equal(&context.ring_q(4), part, &dealt(context, secret, &drawn, *to)?), "{from} to {to}");
        }
    }
    Ok(parts.into_iter().flatten().collect())
}

fn sets(count: usize, size: usize) -> Vec<Vec<usize>> {
    let members = |set: u32| (0..count).filter(|at| set >> at & 1 == 1).collect::<Vec<_>>();
    (0..1 << count).map(members).filter(|set| set.len() == size).collect()
}

#[test]
fn every_set_that_suffices_has_the_secret_and_no_smaller_one() -> Result<()> {
    for (count, enough) in [(3, 2), (5, 3), (8, 5)] {
        let world = World::new(count)?;
        let (context, ring) = (&world.context, world.context.ring_q(4));
        let (parts, secret) = (parts(&world, enough)?, world.joint.over(&ring));
        for size in [enough - 1, enough] {
            for set in sets(count, size) {
                let sum = set.iter().map(|&at| weighted(context, &parts[at], &set, at)).reduce(|mut sum, part| {
                    add_part(context, &mut sum, &part);
                    sum
                });
                assert_eq!(equal(&ring, &sum.expect("a party"), &secret), size == enough, "{set:?} of {count}");
            }
        }
    }
    Ok(())
}

/// A seed that two parties have and no other.
fn pair(one: usize, other: usize) -> Seed {
    seed(100 + one.min(other)).derive(&one.max(other).to_string())
}

/// The share of a party among some.
fn shared(
    world: &World,
    part: &Poly<Eval>,
    at: usize,
    among: &[usize],
    x: &Ciphertext,
    form: (u32, usize),
    masked: bool,
) -> Result<Poly<Eval>> {
    let others = among.iter().filter(|&&other| other != at && masked);
    let masks: Vec<_> = others.map(|&other| (pair(at, other), at < other)).collect();
    let part = weighted(&world.context, part, among, at);
    let opener = Opener { secret: &world.secrets[at], part: Some(&part), seed: &seed(at), masks: &masks };
    let session = common().derive(&format!("{among:?}"));
    share(&world.context, &opener, (world.public.owner.key, &session), &SecondPart::of(x)?, form)
}

#[test]
fn some_parties_open_a_ciphertext() -> Result<()> {
    let world = World::new(5)?;
    let (context, parts) = (&world.context, parts(&world, 3)?);
    let (bits, fresh) = (70, world.encrypted(4)?);
    for (kept, set) in [(4, [0, 1, 2]), (2, [4, 0, 2]), (2, [1, 3, 4])] {
        let ring = context.ring_q(kept);
        let mut sum = divided(context, fresh.parts()[0].clone(), 4, kept);
        for at in set {
            ring.add_assign(&mut sum, &shared(&world, &parts[at], at, &set, &fresh, (bits, kept), true)?);
        }
        ring.sub_assign(&mut sum, &divided(context, phase(&world, &fresh), 4, kept));
        let dropped: f64 = context.parameters().q()[kept..4].iter().map(|&q| q as f64).product();
        let bound = 3.0 * libm::exp2(f64::from(bits)) / dropped + 4.0;
        let coefficients = ring.to_centered_f64(&ring.intt(sum));
        assert!(coefficients.iter().all(|x| x.abs() <= bound), "{set:?}");
    }
    Ok(())
}

/// The small numbers `(f, g)` with `f - r g = d` modulo q, by the shortest basis of `f = r g`: those that two floods are, where q has more
/// bits than both.
fn floods(q: i128, r: i128, d: i128) -> (i128, i128) {
    let dot = |a: [i128; 2], b: [i128; 2]| a[0] * b[0] + a[1] * b[1];
    let nearest = |a: i128, b: i128| (2 * a + b).div_euclid(2 * b);
    let (mut a, mut b) = ([q, 0], [r, 1]);
    while dot(b, b) < dot(a, a) {
        let k = nearest(dot(a, b), dot(b, b));
        (a, b) = (b, [a[0] - k * b[0], a[1] - k * b[1]]);
    }
    // The coordinates of (d, 0) in the basis, rounded.
    let determinant = a[0] * b[1] - a[1] * b[0];
    let sign = determinant.signum();
    let (x, y) = (nearest(d * b[1] * sign, determinant.abs()), nearest(-d * a[1] * sign, determinant.abs()));
    (d - x * a[0] - y * b[0], -x * a[1] - y * b[1])
}

#[test]
fn shares_for_two_sets_tell_a_part_unless_they_are_masked() -> Result<()> {
    // Many parties: among few the coefficients of two sets are fractions of small numbers, and the floods not the only ones that fit.
    let (world, at) = (World::new(32)?, 9);
    let (context, parts) = (&world.context, parts(&world, 16)?);
    let (x, bits, ring) = (world.encrypted(1)?, 16, context.ring_q(1));
    let q = i128::from(context.parameters().q()[0]);
    let modulus = ring.moduli().next().expect("a prime");
    let coefficients = |poly: Poly<Eval>| ring.to_centered_f64(&ring.intt(poly)).into_iter().map(|x| x as i128);
    let sets: [Vec<usize>; 2] = [(0..16).collect(), std::iter::once(at).chain(16..31).collect()];
    // The coefficient of the party: of other points a the product of a / (a - b), where b is its own.
    let coefficient = |set: &Vec<usize>| {
        let others =
            set.iter().filter(|&&other| other != at).map(|&other| (other as i128 + 1, other as i128 - at as i128));
        others.fold(1, |product, (point, below)| {
            product * point % q * i128::from(modulus.inv(below.rem_euclid(q) as u64)) % q
        })
    };
    let [first, second] = sets.each_ref().map(coefficient);
    let inverse = |a: i128| i128::from(modulus.inv(a as u64));
    let ratio = first * inverse(second) % q;
    let exact: Vec<i128> = coefficients(ring.mul(&x.parts()[1], &parts[at])).collect();
    for masked in [false, true] {
        let shares = sets.iter().map(|set| shared(&world, &parts[at], at, set, &x, (bits, 1), masked));
        let shares = shares.collect::<Result<Vec<_>>>()?;
        let both: Vec<_> = coefficients(shares[0].clone()).zip(coefficients(shares[1].clone())).collect();
        let found = both.iter().zip(&exact).filter(|((one, other), exact)| {
            let (flood, _) = floods(q, ratio, (one - ratio * other).rem_euclid(q));
            ((one - flood) * inverse(first) - **exact).rem_euclid(q) == 0
        });
        assert_eq!(found.count(), if masked { 0 } else { N }, "masked: {masked}");
    }
    Ok(())
}
