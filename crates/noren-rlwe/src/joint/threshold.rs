//! Parts of a joint secret of which some suffice: Shamir's scheme over each prime of Q.
//!
//! Each party i takes the polynomial of degree t - 1 over `R_Q` that is its secret `s_i` at 0 and uniform at t - 1 other points, and gives
//! party j its value at the point of j. The sum of all that party j gets is its part `p_j` of the joint secret s, and any t parties A have
//! `s = sum_j l_j p_j`, with `l_j` the value at 0 of the Lagrange polynomial of j among the points of A. So in decryption `l_j p_j` takes
//! the place of the secret of a party; t - 1 parts tell nothing of s.
//!
//! Source: Shamir 1979; Mouchet, Bertrand and Hubaux, eprint 2022/780.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::context::Context;
use crate::error::Result;
use crate::keys::SecretKey;

/// A uniform part, for a party that has the same seed.
#[must_use]
pub fn drawn(context: &Context, seed: &Seed) -> Poly<Eval> {
    ring(context).uniform(seed, "part").into_secret()
}

/// The part that a party with this secret gives to party `at`, where other parties get those that are drawn: as many as are needed
/// beside one more.
///
/// # Errors
/// [`Error::ParameterMismatch`](crate::error::Error::ParameterMismatch) for a secret of other parameters.
pub fn dealt(context: &Context, secret: &SecretKey, drawn: &[(usize, Poly<Eval>)], at: usize) -> Result<Poly<Eval>> {
    context.parameters().check_fingerprint(secret.fingerprint(), "the secret key")?;
    let ring = ring(context);
    let points: Vec<u64> = std::iter::once(0).chain(drawn.iter().map(|(party, _)| point(*party))).collect();
    let secret = secret.over(&ring);
    let values = std::iter::once(&*secret).chain(drawn.iter().map(|(_, part)| part));
    let mut sum = ring.constant(&vec![0; ring.limbs()]).into_secret();
    for (which, value) in values.enumerate() {
        ring.mul_scalar_add_assign(&mut sum, value, &lagrange(&ring, &points, which, point(at)));
    }
    Ok(sum)
}

/// Adds a part that a party was given.
pub fn add_part(context: &Context, sum: &mut Poly<Eval>, part: &Poly<Eval>) {
    ring(context).add_assign(sum, part);
}

/// A part, as it travels to the party that has the same seed.
#[must_use]
pub fn hidden(context: &Context, part: &Poly<Eval>, seed: &Seed) -> Poly<Eval> {
    let ring = ring(context);
    let mut hidden = ring.uniform(seed, "cover");
    ring.add_assign(&mut hidden, part);
    hidden
}

/// The part that [`hidden`] made.
#[must_use]
pub fn shown(context: &Context, hidden: &Poly<Eval>, seed: &Seed) -> Poly<Eval> {
    let ring = ring(context);
    let mut part = hidden.clone().into_secret();
    ring.sub_assign(&mut part, &ring.uniform(seed, "cover"));
    part
}

/// What stands for the secret of a party in a decryption by some parties: its part, times its coefficient among them.
///
/// # Panics
/// If the party is none of them.
#[must_use]
pub fn weighted(context: &Context, part: &Poly<Eval>, among: &[usize], party: usize) -> Poly<Eval> {
    let ring = ring(context);
    let points: Vec<u64> = among.iter().copied().map(point).collect();
    let which = among.iter().position(|&other| other == party).expect("one of them");
    ring.mul_scalar(part, &lagrange(&ring, &points, which, 0)).into_secret()
}

/// The point of a party: none is 0, and they differ modulo every prime, which has more bits than there are parties.
const fn point(party: usize) -> u64 {
    party as u64 + 1
}

/// The value at x of the polynomial that is 1 at one of the points and 0 at the others, modulo each prime.
fn lagrange(ring: &Ring, points: &[u64], which: usize, x: u64) -> Vec<u64> {
    let of_prime = |q: &noren_math::modulus::Modulus| {
        let others = points.iter().enumerate().filter(|&(other, _)| other != which);
        let (above, below) = others.fold((1, 1), |(above, below), (_, &other)| {
            (q.mul(above, q.sub(x, other)), q.mul(below, q.sub(points[which], other)))
        });
        q.mul(above, q.inv(below))
    };
    ring.moduli().map(of_prime).collect()
}

fn ring(context: &Context) -> Ring {
    context.ring_q(context.parameters().max_limbs())
}

#[cfg(test)]
mod tests;
