//! The shares that a party makes with its own secret.

use std::collections::BTreeMap;

use noren_math::random::Seed;
use noren_math::sample;
use noren_ring::poly::{Eval, Poly};
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::joint::share::{KeyShare, RELINEARIZATION, Round, Rows, outline};
use crate::key_request::KeyRequest;
use crate::keygen::{Digits, KeyGenerator, digit_half, error, masked, public_half};
use crate::keys::SecretKey;
use crate::security::SecretDistribution;
use crate::streams::{Purpose, hex};

/// Makes the shares of one party: for one session the same bytes whenever it is asked.
///
/// Uniform halves come from the seed that all parties have in common, and errors from the party's own seed, bound to its secret and to
/// the common seed: no two sessions share either.
pub struct ShareGenerator<'a> {
    context: Context,
    secret: &'a SecretKey,
    own: Seed,
    common: Seed,
    /// Checks keys of the party's secret.
    checks: KeyGenerator,
}

impl<'a> ShareGenerator<'a> {
    /// The generator of a party with this secret. `seed` is as secret as it, `common` is what all parties agreed on, with nobody able
    /// to choose it alone.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a secret of other parameters; [`Error::Parameters`] for parameters that are not those of a joint
    /// secret, or a secret that is not ternary.
    pub fn new(context: &Context, secret: &'a SecretKey, seed: &Seed, common: &Seed) -> Result<Self> {
        let parameters = context.parameters();
        if !matches!(parameters.secret(), SecretDistribution::Joint(_)) {
            return Err(Error::parameter("secret", parameters.secret(), "joint, of the parties that share it"));
        }
        if secret.distribution() != SecretDistribution::Ternary {
            return Err(Error::parameter("secret of a party", secret.distribution(), SecretDistribution::Ternary));
        }
        let own = Purpose::JointKeys.seed_of(seed, &secret.owner()).derive(&hex(common.as_bytes()));
        let checks = KeyGenerator::new(context, own.clone());
        checks.check_secret(secret)?;
        Ok(Self { context: context.clone(), secret, own, common: common.clone(), checks })
    }

    /// The share of the first round: `-a s_i + e` for the public key, `-a psi(s_i) + e + P g s_i` for each automorphism and digit, and
    /// for relinearisation `(-u_i a + e + P g s_i, a s_i + e')`, with a ternary `u_i`.
    ///
    /// # Errors
    /// As [`KeyGenerator::public`] and [`KeyGenerator::evaluation_keys`].
    pub fn first(&self, request: &KeyRequest) -> Result<KeyShare> {
        let parameters = self.context.parameters();
        let ring = self.context.ring_q(parameters.max_limbs());
        self.checks.check_security("public key", self.secret, parameters.log_q(parameters.max_limbs()))?;
        let a = public_half(&ring, &public_seed(&self.common));
        let e = error(&ring, &self.own.derive("public"), "error");
        let public = masked(&ring, e, &a, &self.secret.over(&ring)).into_public();
        let mut switches = BTreeMap::new();
        for (element, limbs, _) in outline(&self.context, request, Round::First)? {
            let rows = match element {
                RELINEARIZATION => self.first_half(limbs)?,
                k => self.galois(k, limbs)?,
            };
            switches.insert(element, Rows { limbs, count: rows.len(), rows });
        }
        Ok(KeyShare { round: Round::First, public: Some(public), switches })
    }

    /// The share of the second round, from the sum `(h_0, h_1)` of all shares of the first: `s_i h_0 + (u_i - s_i) h_1 + e`, for each
    /// digit. The sum over all parties is the half b of the key from `s^2` whose half a is `h_1`.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a sum of another round or of other keys.
    pub fn second(&self, request: &KeyRequest, sum: &KeyShare) -> Result<KeyShare> {
        if sum.round != Round::First {
            return Err(Error::parameter("a sum of shares", "one of the second round", "that of the first round"));
        }
        sum.check_request(&self.context, request)?;
        let mut switches = BTreeMap::new();
        if let Some(Rows { limbs, rows, .. }) = sum.switches.get(&RELINEARIZATION) {
            let digits = self.digits("relinearisation key", *limbs)?;
            let ring = &digits.ring;
            let (s, u) = (self.secret.over(ring), self.mask(&digits));
            let mut difference = u;
            ring.sub_assign(&mut difference, &s);
            let own = self.own.derive("relinearization");
            let (h0, h1) = rows.split_at(digits.count());
            let row = |(j, (h0, h1)): (usize, (&Poly<Eval>, &Poly<Eval>))| {
                let mut row = ring.mul(h0, &s);
                ring.add_assign(&mut row, &ring.mul(h1, &difference));
                for half in 0..2 {
                    ring.add_assign(&mut row, &error(ring, &own, &format!("second/{half}/{j}")));
                }
                row.into_public()
            };
            let rows: Vec<_> = h0.iter().zip(h1).enumerate().map(row).collect();
            switches.insert(RELINEARIZATION, Rows { limbs: *limbs, count: rows.len(), rows });
        }
        Ok(KeyShare { round: Round::Second, public: None, switches })
    }

    fn galois(&self, k: u32, limbs: usize) -> Result<Vec<Poly<Eval>>> {
        self.context.check_automorphism(k)?;
        let digits = self.digits("Galois key", limbs)?;
        let ring = &digits.ring;
        let s = self.secret.over(ring);
        let image = ring.automorphism(&s, &self.context.automorphism(k)?.inverse());
        let (seed, own) = (switch_seed(&self.common, k), self.own.derive(&format!("galois/{k}")));
        let row = |j| {
            let e = error(ring, &own, &format!("error/{j}"));
            digits.hidden(j, e, &digit_half(ring, &seed, j), [&s, &image]).into_public()
        };
        Ok((0..digits.count()).map(row).collect())
    }

    /// The rows of `h_0`, then those of `h_1`.
    fn first_half(&self, limbs: usize) -> Result<Vec<Poly<Eval>>> {
        let digits = self.digits("relinearisation key", limbs)?;
        let ring = &digits.ring;
        let (s, u) = (self.secret.over(ring), self.mask(&digits));
        let (seed, own) = (switch_seed(&self.common, RELINEARIZATION), self.own.derive("relinearization"));
        let h0 = (0..digits.count()).map(|j| {
            let e = error(ring, &own, &format!("first/0/{j}"));
            digits.hidden(j, e, &digit_half(ring, &seed, j), [&s, &u]).into_public()
        });
        let h1 = (0..digits.count()).map(|j| {
            let mut row = ring.mul(&digit_half(ring, &seed, j), &s);
            ring.add_assign(&mut row, &error(ring, &own, &format!("first/1/{j}")));
            row.into_public()
        });
        Ok(h0.chain(h1).collect())
    }

    /// The ternary `u_i` of relinearisation, which both rounds use.
    fn mask(&self, digits: &Digits) -> Poly<Eval> {
        let mut u = Zeroizing::new(vec![0; digits.ring.degree()]);
        sample::ternary(&mut self.own.derive("relinearization").xof("mask"), &mut u);
        digits.ring.ntt(digits.ring.from_signed(&u).into_secret())
    }

    fn digits(&self, key: &'static str, limbs: usize) -> Result<Digits> {
        let (switching, limbs) = self.checks.check(key, self.secret, Some(limbs))?;
        Ok(Digits::new(&switching, limbs))
    }
}

/// The seed of the uniform half of the public key.
pub(super) fn public_seed(common: &Seed) -> Seed {
    common.derive("public")
}

/// The seed of the uniform halves of the key of an automorphism; of relinearisation that of the first round.
pub(super) fn switch_seed(common: &Seed, element: u32) -> Seed {
    common.derive(&format!("switch/{element}"))
}
