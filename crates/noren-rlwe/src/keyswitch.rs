//! Hybrid key switching: once, hoisted, and summed before the division.

use std::sync::Arc;

use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Digits;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::KeySwitchKey;
use crate::linear;

/// Switches `c`, a polynomial that is multiplied with the secret `s'`, to the secret `s` of the key: a pair with
/// `u_0 + u_1 s = c s' + noise`.
///
/// The digits of c are extended to the special primes (ModUp), their inner products with the halves of the key are
/// taken, and these are divided by the special modulus P (ModDown). The noise has the standard deviation
/// [`key_switch`](crate::noise::key_switch). Source: Han and Ki, eprint 2019/688, section 3.
///
/// # Errors
/// [`Error::KeyLevel`] if the key was made for fewer limbs, [`Error::ParameterMismatch`] if it was made with other
/// parameters.
pub fn switch_key(context: &Context, c: &Poly<Eval>, key: &KeySwitchKey) -> Result<[Poly<Eval>; 2]> {
    check_key(context, key, c.limbs())?;
    let terms = [Term { key: &key.pairs, automorphism: None }];
    let switch = KeySwitch { terms: &terms, moved: None, added: [None, None], divide: context.mod_down(c.limbs()) };
    Ok(context.decomposer().switch(&context.ring_q(c.limbs()), c, &switch))
}

/// The switch of `c`, of so many limbs, to the secret of the key, with two elements added. If `rescale`, it is divided by the
/// last limb together with P: one division, with one rounding.
pub(crate) fn switch_added(
    context: &Context,
    c: Operand,
    limbs: usize,
    key: &KeySwitchKey,
    added: [Option<Operand>; 2],
    rescale: bool,
) -> Result<Ciphertext> {
    check_key(context, key, limbs)?;
    let terms = [Term { key: &key.pairs, automorphism: None }];
    let divide = if rescale { context.mod_down_rescale(limbs) } else { context.mod_down(limbs) };
    let switch = KeySwitch { terms: &terms, moved: None, added, divide };
    Ok(Ciphertext::new(context.decomposer().switch(&context.ring_q(limbs), c, &switch).into()))
}

/// The image of a ciphertext under an automorphism whose key `key` is: its digits are used once, and not kept.
pub(crate) fn switch_automorphism(
    context: &Context,
    ciphertext: &Ciphertext,
    psi: &Automorphism,
    key: &KeySwitchKey,
) -> Result<Ciphertext> {
    let limbs = ciphertext.limbs();
    check_key(context, key, limbs)?;
    let ring = context.ring_q(limbs);
    Ok(Ciphertext::new(match ciphertext.parts() {
        [c0, c1, ..] => {
            let terms = [Term { key: &key.pairs, automorphism: Some(psi) }];
            context.decomposer().switch(&ring, c1, &moved(context, c0, &terms)).into()
        }
        parts => constant_image(&ring, &parts[0], psi),
    }))
}

/// `direct + sum_k psi_k(ct)` over automorphisms with their keys, for a ciphertext of one or two parts, and as many parts of
/// `direct`: with one decomposition and one division.
pub(crate) fn sum_images(
    context: &Context,
    ciphertext: &Ciphertext,
    direct: &[Poly<Eval>],
    images: &[(Arc<Automorphism>, &Arc<KeySwitchKey>)],
) -> Result<Ciphertext> {
    let limbs = ciphertext.limbs();
    let ring = context.ring_q(limbs);
    for (_, key) in images {
        check_key(context, key, limbs)?;
    }
    match (ciphertext.parts(), images) {
        (_, []) => Ok(Ciphertext::new(direct.to_vec())),
        ([c0, c1, ..], _) => {
            let terms: Vec<Term> =
                images.iter().map(|(psi, key)| Term { key: &key.pairs, automorphism: Some(psi) }).collect();
            let added = [0, 1].map(|i| direct.get(i).map(Operand::from));
            let switch = KeySwitch { added, ..moved(context, c0, &terms) };
            Ok(Ciphertext::new(context.decomposer().switch(&ring, c1, &switch).into()))
        }
        (parts, _) => {
            let mut sum = direct[0].clone();
            images.iter().for_each(|(psi, _)| ring.automorphism_add_assign(&mut sum, &parts[0], psi));
            Ok(Ciphertext::new(vec![sum, ring.zero()]))
        }
    }
}

/// A ciphertext with the digits of its second part, for several automorphisms: the digits are made only once.
pub struct Hoisted<'a> {
    ciphertext: &'a Ciphertext,
    /// `None` where there is no second part: such a ciphertext needs no switch.
    digits: Option<Digits>,
}

impl<'a> Hoisted<'a> {
    /// Makes the digits.
    ///
    /// # Errors
    /// [`Error::DegreeTooHigh`] if the ciphertext must be relinearised first, [`Error::Parameters`] without special
    /// primes.
    pub fn new(context: &Context, ciphertext: &'a Ciphertext) -> Result<Self> {
        check_degree(ciphertext)?;
        if context.parameters().gadget().is_none() {
            let needed = "at least one special prime, which key switching divides by".into();
            return Err(Error::Parameters { name: "p", found: "empty".into(), needed });
        }
        let ring = context.ring_q(ciphertext.limbs());
        let digits = ciphertext.parts().get(1).map(|c1| context.decomposer().decompose(&ring, c1));
        Ok(Self { ciphertext, digits })
    }

    /// The ciphertext.
    #[must_use]
    pub fn ciphertext(&self) -> &'a Ciphertext {
        self.ciphertext
    }

    /// The image under an automorphism whose key `key` is.
    pub(crate) fn switch_automorphism(
        &self,
        context: &Context,
        psi: &Automorphism,
        key: &KeySwitchKey,
    ) -> Result<Ciphertext> {
        let limbs = self.ciphertext.limbs();
        check_key(context, key, limbs)?;
        let (ring, c0) = (context.ring_q(limbs), &self.ciphertext.parts()[0]);
        Ok(Ciphertext::new(match &self.digits {
            Some(digits) => {
                let terms = [Term { key: &key.pairs, automorphism: Some(psi) }];
                context.decomposer().switch_digits(&ring, digits, &moved(context, c0, &terms)).into()
            }
            None => constant_image(&ring, c0, psi),
        }))
    }
}

/// A sum of ciphertexts and of switched ciphertexts, which divides by the special modulus only once, at its end.
///
/// Switched terms are added modulo `P q_0 ... q_{limbs-1}`, the others modulo `q_0 ... q_{limbs-1}`, so the sum costs
/// one ModDown and has the noise of one rounding, however many terms it has.
pub struct LazySum {
    context: Context,
    limbs: usize,
    /// Times P, modulo P and the limbs.
    extended: Option<[Poly<Eval>; 2]>,
    /// Modulo the limbs.
    direct: [Option<Poly<Eval>>; 2],
}

impl LazySum {
    /// The empty sum of ciphertexts of so many limbs.
    #[must_use]
    pub fn new(context: &Context, limbs: usize) -> Self {
        Self { context: context.clone(), limbs, extended: None, direct: [None, None] }
    }

    /// Adds a ciphertext as it is.
    ///
    /// # Errors
    /// [`Error::DegreeTooHigh`] unless its degree is at most 1, [`Error::LevelMismatch`] if it has other limbs than the
    /// sum.
    pub fn add(&mut self, ciphertext: &Ciphertext) -> Result<()> {
        check_degree(ciphertext)?;
        self.check_limbs(ciphertext.limbs())?;
        ciphertext.parts().iter().enumerate().for_each(|(i, part)| self.add_direct(i, part));
        Ok(())
    }

    /// Adds `c s'`, switched to the secret of the key.
    ///
    /// # Errors
    /// As [`switch_key`], and [`Error::LevelMismatch`] if c has other limbs than the sum.
    pub fn add_switched(&mut self, c: &Poly<Eval>, key: &KeySwitchKey) -> Result<()> {
        self.check_limbs(c.limbs())?;
        check_key(&self.context, key, c.limbs())?;
        let terms = self.context.decomposer().inner_product(&self.context.ring_q(c.limbs()), c, &key.pairs);
        let ring = self.context.ring_qp(self.limbs);
        match &mut self.extended {
            None => self.extended = Some(terms),
            Some(sums) => sums.iter_mut().zip(&terms).for_each(|(sum, term)| ring.add_assign(sum, term)),
        }
        Ok(())
    }

    /// Adds the image of a hoisted ciphertext under `X -> X^k`, of which `key` is the key.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if the ciphertext has other limbs than the sum, [`Error::KeyLevel`],
    /// [`Error::ParameterMismatch`] as [`switch_key`], and [`Error::NotAnAutomorphism`].
    pub fn add_rotated(&mut self, hoisted: &Hoisted, k: u32, key: &KeySwitchKey) -> Result<()> {
        self.check_limbs(hoisted.ciphertext.limbs())?;
        check_key(&self.context, key, self.limbs)?;
        let psi = self.context.automorphism(k)?;
        let (ring_q, ring_qp) = (self.context.ring_q(self.limbs), self.context.ring_qp(self.limbs));
        if let Some(digits) = &hoisted.digits {
            let sums = self.extended.get_or_insert_with(|| [ring_qp.zero(), ring_qp.zero()]);
            digits.inner_product_add_assign(&ring_qp, &key.pairs, &psi, sums);
        }
        let c0 = &hoisted.ciphertext.parts()[0];
        match &mut self.direct[0] {
            None => self.direct[0] = Some(ring_q.automorphism(c0, &psi)),
            Some(sum) => ring_q.automorphism_add_assign(sum, c0, &psi),
        }
        Ok(())
    }

    /// The sum.
    #[must_use]
    pub fn finish(self) -> Ciphertext {
        let ring = self.context.ring_q(self.limbs);
        let Some(extended) = self.extended else {
            return Ciphertext::new(direct_or_zero(self.direct, &ring).into());
        };
        let mut parts = self.context.mod_down(self.limbs).apply_many(extended);
        for (part, direct) in parts.iter_mut().zip(self.direct) {
            direct.iter().for_each(|direct| ring.add_assign(part, direct));
        }
        Ciphertext::new(parts.into())
    }

    /// The sum divided by the last prime: one division by `P q_{limbs-1}`, with one rounding.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if there is only one limb.
    pub fn finish_rescale(self) -> Result<Ciphertext> {
        linear::check_levels(1, self.limbs - 1)?;
        let ring = self.context.ring_q(self.limbs);
        let Some(mut extended) = self.extended else {
            let parts = direct_or_zero(self.direct, &ring);
            return linear::rescale(&self.context, Ciphertext::new(parts.into()));
        };
        let special = self.context.special_residues(self.limbs);
        for (sum, direct) in extended.iter_mut().zip(&self.direct) {
            direct.iter().for_each(|direct| ring.mul_scalar_add_assign(sum, direct, &special));
        }
        Ok(Ciphertext::new(self.context.mod_down_rescale(self.limbs).apply_many(extended).into()))
    }

    fn add_direct(&mut self, i: usize, part: &Poly<Eval>) {
        match &mut self.direct[i] {
            None => self.direct[i] = Some(part.clone()),
            Some(sum) => self.context.ring_q(self.limbs).add_assign(sum, part),
        }
    }

    fn check_limbs(&self, found: usize) -> Result<()> {
        if found == self.limbs {
            return Ok(());
        }
        Err(Error::LevelMismatch { left: self.limbs - 1, right: found - 1 })
    }
}

/// Refuses ciphertexts that must be relinearised first.
pub(crate) fn check_degree(ciphertext: &Ciphertext) -> Result<()> {
    match ciphertext.degree() {
        0 | 1 => Ok(()),
        found => Err(Error::DegreeTooHigh { found, needed: 1 }),
    }
}

fn direct_or_zero(direct: [Option<Poly<Eval>>; 2], ring: &Ring) -> [Poly<Eval>; 2] {
    direct.map(|part| part.unwrap_or_else(|| ring.zero()))
}

/// The switch that brings the sum of the images of `c_0` and the digits of `c_1` under the automorphisms of the terms.
fn moved<'a>(context: &'a Context, c0: &'a Poly<Eval>, terms: &'a [Term<'a>]) -> KeySwitch<'a> {
    KeySwitch { terms, moved: Some(c0), added: [None, None], divide: context.mod_down(c0.limbs()) }
}

/// The image of a ciphertext of one part, which needs no switch.
fn constant_image(ring: &Ring, c0: &Poly<Eval>, psi: &Automorphism) -> Vec<Poly<Eval>> {
    vec![ring.automorphism(c0, psi), ring.zero()]
}

fn check_key(context: &Context, key: &KeySwitchKey, limbs: usize) -> Result<()> {
    context.parameters().check_fingerprint(&key.fingerprint, "the key switching key")?;
    if key.limbs < limbs {
        return Err(Error::KeyLevel { kind: "key switching".into(), found: key.limbs, needed: limbs });
    }
    Ok(())
}
