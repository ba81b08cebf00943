//! The coefficients of an encrypted polynomial, as ciphertexts of their own.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::linear;

use crate::schemes::extent::Extent;
use crate::schemes::integers::content::{Content, Encoding};
use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::scheme::Scheme;

impl Context {
    /// The exponents of the automorphisms of an [expansion](Evaluator::expand) into `count` ciphertexts: `n/2^j + 1`, the step j.
    ///
    /// # Errors
    /// [`Error::Parameters`] in a ring without rows, and for no coefficients or more than there are.
    pub fn expansion_exponents(&self, count: usize) -> Result<Vec<u32>> {
        self.parameters().check_rows()?;
        let n = self.parameters().degree();
        if !(1..=n).contains(&count) {
            return Err(Error::parameter("coefficients of an expansion", count, format!("1 to {n}")));
        }
        Ok((0..expansion_steps(count)).map(|step| (n >> step) as u32 + 1).collect())
    }
}

/// The steps of an [expansion](Evaluator::expand) into `count` ciphertexts: `log2` of the factor of the results.
#[must_use]
pub fn expansion_steps(count: usize) -> u32 {
    count.next_power_of_two().ilog2()
}

impl<S: Scheme> Evaluator<S> {
    /// The first `count` coefficients of a polynomial whose others are zero, each times `2^l` as the constant of a polynomial, `l =
    /// ceil(log2 count)`: whoever encrypts divides by it modulo an odd t.
    ///
    /// Step j takes a polynomial of powers of `Y = X^(2^j)` to those of its even and of its odd powers, by the automorphism `X ->
    /// X^(n/2^j + 1)`, which takes Y to -Y: `2^l - 1` key switches at most. Source: Angel, Chen, Laine and Setty, eprint 2017/1142,
    /// section 3.3.
    ///
    /// # Errors
    /// [`Error::Parameters`] for slots, and as [`Context::expansion_exponents`]; [`Error::MissingKey`] and [`Error::KeyLevel`] for keys
    /// of its automorphisms that are missing or too short;
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted).
    pub fn expand(&self, a: &Ciphertext<S>, count: usize) -> Result<Vec<Ciphertext<S>>> {
        self.check_linear(a)?;
        let encoding = a.content().encoding();
        if encoding != Encoding::Coefficients {
            return Err(Error::parameter(
                "encoding of the vector",
                encoding.name(),
                "coefficients: they are taken apart",
            ));
        }
        let exponents = self.context.expansion_exponents(count)?;
        self.keys.check(None, exponents.iter().map(|&k| (k, a.limbs())))?;
        let (rlwe, ring) = (self.context.rlwe(), self.ring(a.limbs()));
        let (mut parts, mut state) = (vec![a.inner.clone()], a.state());
        for (step, k) in exponents.into_iter().enumerate() {
            // `X^(-2^j)`, that is `-X^(n - 2^j)`.
            let mut monomial = vec![0; ring.degree()];
            monomial[ring.degree() - (1 << step)] = -1;
            let shift = rlwe::Plaintext { poly: ring.ntt(ring.from_signed(&monomial)) };
            let odd = count.saturating_sub(1 << step);
            let halves = |(at, part): (usize, rlwe::Ciphertext)| self.halves(part, k, (at < odd).then_some(&shift));
            let split = rlwe.ring().engine().map(parts.into_iter().enumerate().collect(), halves);
            let split = split.into_iter().collect::<Result<Vec<_>>>()?;
            let (even, odd): (Vec<_>, Vec<_>) = split.into_iter().unzip();
            parts = even.into_iter().chain(odd.into_iter().flatten()).collect();
            state = self.growth().sums_of_images(state, std::iter::once((1, 1)))?;
        }
        self.keys.check_files()?;
        let content = Content::new(Encoding::Coefficients, Extent::of_values(1, ring.degree()));
        Ok(parts.into_iter().map(|part| self.result(part, state.clone(), content)).collect())
    }

    /// `a + g(a)` for an automorphism g, and where it is asked for `(a - g(a))` times a monomial.
    fn halves(
        &self,
        a: rlwe::Ciphertext,
        k: u32,
        shift: Option<&rlwe::Plaintext>,
    ) -> Result<(rlwe::Ciphertext, Option<rlwe::Ciphertext>)> {
        let rlwe = self.context.rlwe();
        let image = apply_automorphism(rlwe, &a, k, &self.keys)?;
        let odd = shift.map(|shift| {
            let mut odd = a.clone();
            linear::sub_assign(rlwe, &mut odd, &image)?;
            linear::mul_plain_assign(rlwe, &mut odd, shift)?;
            Ok::<_, Error>(odd)
        });
        let mut even = a;
        linear::add_assign(rlwe, &mut even, &image)?;
        Ok((even, odd.transpose()?))
    }
}

#[cfg(test)]
mod tests {
    use noren_math::random::Seed;
    use noren_rlwe::security::Security;

    use super::*;
    use crate::schemes::bfv::{Bfv, Decryptor, Encoder, Encryptor, KeyRequest, ParametersSpec};

    /// The logarithm of a standard deviation that is measured on 256 numbers is off by no more: six of its own deviations.
    const SAMPLING: f64 = 0.4;

    #[test]
    fn coefficients_are_taken_apart_within_the_predicted_noise() -> Result<()> {
        let spec = ParametersSpec {
            log_n: 8,
            plaintext_modulus: 65537,
            log_q: vec![48, 48],
            log_p: vec![48],
            security: Security::None,
            ..ParametersSpec::default()
        };
        let context = Context::new(spec.build()?)?;
        let automorphisms = context.expansion_exponents(256)?;
        let keys =
            context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest { automorphisms, ..KeyRequest::default() })?;
        let (encoder, decryptor) = (Encoder::new(&context), Decryptor::new(&context, &keys.secret)?);
        let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([2; 32]))?;
        let evaluator = Evaluator::<Bfv>::new(&context, keys.evaluation.clone())?;
        for count in [1, 2, 3, 5, 64, 100, 256] {
            let values: Vec<i64> = (0..count).map(|at| (at as i64 * 977 + 5) % 65537).collect();
            let ciphertext = encryptor.encrypt(&encoder.encode_coefficients(&values)?)?;
            let parts = evaluator.expand(&ciphertext, count)?;
            assert_eq!(parts.len(), count);
            for (value, part) in values.iter().zip(&parts) {
                let found = encoder.decode_coefficients(&decryptor.decrypt(part)?)?;
                assert_eq!(found[0], (value << expansion_steps(count)) % 65537);
                assert!(found[1..].iter().all(|&x| x == 0));
                let measured = libm::log2(decryptor.measure_noise(part)?.std);
                let excess = measured - part.noise().log2_std();
                assert!(excess <= SAMPLING && excess > -8.0, "{count}: {excess}");
            }
        }
        let slots = encryptor.encrypt(&encoder.encode(&[1, 2])?)?;
        assert!(matches!(evaluator.expand(&slots, 2), Err(Error::Parameters { .. })));
        let ciphertext = encryptor.encrypt(&encoder.encode_coefficients(&[1])?)?;
        assert!(matches!(evaluator.expand(&ciphertext, 257), Err(Error::Parameters { .. })));
        let without = Evaluator::<Bfv>::new(
            &context,
            context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default())?.evaluation,
        )?;
        assert!(matches!(without.expand(&ciphertext, 2), Err(Error::MissingKey { .. })));
        Ok(())
    }
}
