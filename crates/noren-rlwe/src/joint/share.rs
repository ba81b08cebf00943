//! Shares of keys, one of each party and round.

use std::collections::BTreeMap;

use noren_ring::poly::{Eval, Poly};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::key_request::KeyRequest;
use crate::keygen::Digits;

/// The rounds of key generation in which parties send shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Shares of the public key, of the keys of automorphisms, and of the first half of relinearisation.
    First,
    /// Shares of the second half of relinearisation.
    Second,
}

/// The share of a party in the keys of a joint secret in one round, or the sum of several.
pub struct KeyShare {
    pub(crate) round: Round,
    /// The half b of the public key, in the first round.
    pub(crate) public: Option<Poly<Eval>>,
    /// Of each switching key its rows, by the exponent of the automorphism, 0 for relinearisation.
    pub(crate) switches: BTreeMap<u32, Rows>,
}

/// What is read of the bytes of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The half of the public key, without the rows of switching keys.
    Public,
    /// The same with the rows of relinearisation.
    Relinearization,
}

/// The rows of a share of a switching key.
pub(crate) struct Rows {
    /// The limbs of ciphertexts that the key serves.
    pub(crate) limbs: usize,
    /// How many rows there are, those too that were not read.
    pub(crate) count: usize,
    /// One for each digit; of relinearisation in the first round all those of `h_0`, then all those of `h_1`.
    pub(crate) rows: Vec<Poly<Eval>>,
}

/// The mark of relinearisation in place of an exponent, which is odd.
pub(crate) const RELINEARIZATION: u32 = 0;

impl KeyShare {
    /// Adds the share of another party.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a share of another round or of other keys.
    pub fn add_assign(&mut self, context: &Context, other: &Self) -> Result<()> {
        self.check_alike(other)?;
        if let (Some(sum), Some(share)) = (&mut self.public, &other.public) {
            context.ring_q(context.parameters().max_limbs()).add_assign(sum, share);
        }
        for (sum, share) in self.switches.values_mut().zip(other.switches.values()) {
            let ring = context.ring_qp(sum.limbs);
            sum.rows.iter_mut().zip(&share.rows).for_each(|(sum, row)| ring.add_assign(sum, row));
        }
        Ok(())
    }

    /// The sum of the second round of parties that make no key of relinearisation.
    #[must_use]
    pub const fn empty_second() -> Self {
        Self { round: Round::Second, public: None, switches: BTreeMap::new() }
    }

    /// Refuses shares of other keys than those of a request.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub fn check_request(&self, context: &Context, request: &KeyRequest) -> Result<()> {
        if self.outline().eq(outline(context, request, self.round)?) {
            return Ok(());
        }
        Err(Error::parameter("shares", "those of other keys", "those of the keys that the session asks for"))
    }

    /// The round.
    #[must_use]
    pub const fn round(&self) -> Round {
        self.round
    }

    /// The switching keys of which there are rows, as `(element, limbs, rows)`.
    pub(crate) fn outline(&self) -> impl Iterator<Item = (u32, usize, usize)> {
        self.switches.iter().map(|(&element, rows)| (element, rows.limbs, rows.count))
    }

    fn check_alike(&self, other: &Self) -> Result<()> {
        let alike = self.round == other.round && self.public.is_some() == other.public.is_some();
        if alike && self.outline().eq(other.outline()) {
            return Ok(());
        }
        Err(Error::parameter("a share", "one of other keys or of another round", "those of one session and round"))
    }
}

/// The switching keys of a request in a round, as [`KeyShare::outline`] has them; the largest of several for one automorphism.
///
/// # Errors
/// [`Error::Parameters`] for limbs that there are not, or without special primes.
pub(crate) fn outline(context: &Context, request: &KeyRequest, round: Round) -> Result<Vec<(u32, usize, usize)>> {
    let mut wanted = if round == Round::First { request.automorphisms() } else { BTreeMap::new() };
    wanted.extend(request.relinearization.map(|limbs| (RELINEARIZATION, limbs)));
    let shape = context.parameters().shape();
    let rows = |(element, limbs): (u32, usize)| {
        if !(1..=shape.limbs).contains(&limbs) || shape.digits == 0 {
            let needed = format!("1 to {}, and special primes", shape.limbs);
            return Err(Error::parameter("limbs of a joint key", limbs, needed));
        }
        let digits = Digits::new(&*context.switching(shape)?, limbs).count();
        let halves = if element == RELINEARIZATION && round == Round::First { 2 } else { 1 };
        Ok((element, limbs, halves * digits))
    };
    wanted.into_iter().map(rows).collect()
}
