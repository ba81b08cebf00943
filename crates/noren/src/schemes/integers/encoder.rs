//! Integers to plaintexts and back.

use noren_math::kernels::kernels;
use noren_rlwe::error::{Error, Result};

use crate::schemes::extent::Extent;
use crate::schemes::integers::content::{Content, Encoding};
use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::scaled;
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::plaintext::Plaintext;

/// Turns vectors of integers modulo t into plaintexts, and plaintexts into vectors.
///
/// A plaintext is a polynomial m modulo t of degree below n. Where t is a prime that is 1 modulo 2n, it has n slots in two
/// rows of n/2: slot c of row r is `m(psi^((-1)^r 5^c)) mod t` for a primitive 2n-th root of unity psi modulo t. Sums and
/// products of plaintexts are those of slots; `X -> X^(5^k)` rotates both rows by k to the left, and `X -> 1/X` swaps
/// them. Source: Smart and Vercauteren, eprint 2011/133; the order of slots is that of Gentry, Halevi and Smart, eprint
/// 2011/566.
///
/// In a ring whose index m is not a power of two, and for `t = p^r`, slot j is `m(eta^(t_j))` for a root eta of `Phi_m` in
/// the Galois ring `GR(p^r, d) = Z_(p^r)[Y]/G(Y)`, with the representatives `t_j` of
/// [`Hypercube`](noren_math::hypercube::Hypercube). There, [`Encoder::encode`] writes numbers, and
/// [`Encoder::encode_elements`] elements of that ring. Source: Halevi and Shoup, eprint 2014/106.
///
/// Values are given from `-t/2` to `t - 1`, and come back from 0 to `t - 1`, or signed.
#[derive(Clone)]
pub struct Encoder {
    context: Context,
}

impl Encoder {
    /// The encoder of a context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Encodes values in slots, the first row first. Fewer values than slots are followed by zeros.
    ///
    /// # Errors
    /// [`Error::Length`] for more values than slots,
    /// [`IntegerError::NotAResidue`](crate::schemes::integers::IntegerError::NotAResidue) for one outside `-t/2` to
    /// `t - 1`, [`Error::Parameters`] if t has no slots.
    pub fn encode(&self, values: &[i64]) -> Result<Plaintext> {
        if !self.context.parameters().has_rows() {
            let grid = self.context.grid()?;
            let count = grid.slots();
            check_length(values.len(), count)?;
            let mut numbers = self.residues(values)?;
            numbers.resize(count, 0);
            return Ok(
                self.of_residues(&grid.transform().encode_numbers(&numbers), Extent::of_values(values.len(), count))
            );
        }
        let n = self.context.parameters().degree();
        self.embed(values, n, |slot| slot, Extent::of_values(values.len(), n))
    }

    /// Encodes elements of `GR(p^r, d)` in slots: each as d coefficients of powers of Y, from the constant one up. Shape:
    /// `[values, d]`. Fewer elements than slots are followed by zeros.
    ///
    /// # Errors
    /// As [`Encoder::encode`]; [`Error::Length`] for coefficients that are no whole number of elements, too;
    /// [`Error::Parameters`] in a ring whose index is a power of two, whose slots hold numbers.
    pub fn encode_elements(&self, values: &[i64]) -> Result<Plaintext> {
        let grid = self.context.grid()?;
        let (count, d) = (grid.slots(), grid.degree());
        if !values.len().is_multiple_of(d) {
            let needed = format!("a multiple of {d}, the degree of each slot");
            return Err(Error::Length { what: "coefficients of elements", found: values.len(), needed });
        }
        check_length(values.len() / d, count)?;
        let mut elements = self.residues(values)?;
        elements.resize(count * d, 0);
        Ok(self.of_residues(&grid.transform().encode(&elements), Extent::of_values(values.len() / d, count)))
    }

    /// Encodes the same values in both rows. Fewer values than the n/2 slots of a row are followed by zeros.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_row(&self, values: &[i64]) -> Result<Plaintext> {
        if !self.context.parameters().has_rows() {
            return self.encode(values);
        }
        let half = self.context.parameters().row_slots();
        self.embed(values, half, |slot| slot % half, Extent::of_values(values.len(), half))
    }

    /// Encodes values over and over in both rows: with zeros after them up to a power of two, which is the period. Matrices of
    /// this dimension take fewer rotations then.
    ///
    /// # Errors
    /// As [`Encoder::encode`], for more values than the n/2 slots of a row, and for none; [`Error::Parameters`] in a ring
    /// without rows.
    pub fn encode_repeated(&self, values: &[i64]) -> Result<Plaintext> {
        self.context.parameters().check_rows()?;
        let half = self.context.parameters().row_slots();
        let period = values.len().next_power_of_two();
        if values.is_empty() {
            return Err(Error::Length { what: "values", found: 0, needed: format!("1 to {half}") });
        }
        self.embed(values, half, |slot| slot % period, Extent::of_values(values.len(), half).repeated(period))
    }

    /// Encodes values as coefficients, from the constant one up. Fewer values than n are followed by zeros.
    ///
    /// Products of such plaintexts are those of polynomials modulo `X^n + 1` and t, for any t.
    ///
    /// # Errors
    /// [`Error::Length`] for more values than the degree,
    /// [`IntegerError::NotAResidue`](crate::schemes::integers::IntegerError::NotAResidue) for one outside `-t/2` to
    /// `t - 1`.
    pub fn encode_coefficients(&self, values: &[i64]) -> Result<Plaintext> {
        let (parameters, modulus) = (self.context.parameters(), self.context.parameters().modulus());
        check_length(values.len(), parameters.degree())?;
        let mut coefficients = vec![0; parameters.degree()];
        for (i, (&value, out)) in values.iter().zip(&mut coefficients).enumerate() {
            *out = modulus.center(modulus.residue(i, value)?);
        }
        let extent = Extent::of_values(values.len(), parameters.degree());
        Ok(Plaintext::new(parameters, coefficients, Content::new(Encoding::Coefficients, extent)))
    }

    /// The values of all slots, the first row first. Range: out `[0, t)`.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters, [`Error::Parameters`] if t has no
    /// slots or the values are coefficients, [`IntegerError::NotANumber`] if a slot holds another element of `GR(p^r, d)`.
    pub fn decode(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        plaintext.content().check_slots()?;
        if !self.context.parameters().has_rows() {
            let elements = self.decode_elements(plaintext)?;
            let elements = elements.chunks_exact(self.context.grid()?.degree()).enumerate();
            let number = |(slot, element): (usize, &[i64])| match element[1..].iter().all(|&x| x == 0) {
                true => Ok(element[0]),
                false => Err(IntegerError::NotANumber { slot }.into()),
            };
            return elements.map(number).collect();
        }
        let slots = self.context.rows()?;
        let mut row: Vec<u64> = self.decode_coefficients(plaintext)?.into_iter().map(i64::cast_unsigned).collect();
        kernels().ntt_forward(&mut row, &slots.table);
        Ok(slots.positions.iter().map(|&position| row[position as usize].cast_signed()).collect())
    }

    /// [`Encoder::decode`] with values in `(-t/2, t/2]`.
    ///
    /// # Errors
    /// As [`Encoder::decode`].
    pub fn decode_signed(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        let modulus = self.context.parameters().modulus();
        Ok(self.decode(plaintext)?.into_iter().map(|x| modulus.center(x.cast_unsigned())).collect())
    }

    /// The elements of all slots, as coefficients of powers of Y. Shape: `[slots, d]`. Range: out `[0, t)`.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters, [`Error::Parameters`] if the values are
    /// coefficients, or as [`Encoder::encode_elements`].
    pub fn decode_elements(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        plaintext.content().check_slots()?;
        let grid = self.context.grid()?;
        let coefficients = self.decode_coefficients(plaintext)?.into_iter().map(i64::cast_unsigned);
        let coefficients: Vec<u64> = coefficients.collect();
        Ok(grid.transform().decode(&coefficients).into_iter().map(u64::cast_signed).collect())
    }

    /// [`Encoder::decode_elements`] with coefficients in `(-t/2, t/2]`.
    ///
    /// # Errors
    /// As [`Encoder::decode_elements`].
    pub fn decode_elements_signed(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        let modulus = self.context.parameters().modulus();
        Ok(self.decode_elements(plaintext)?.into_iter().map(|x| modulus.center(x.cast_unsigned())).collect())
    }

    /// The coefficients, from the constant one up. Range: out `[0, t)`.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters.
    pub fn decode_coefficients(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        self.context.check(&plaintext.parameters, "the plaintext")?;
        let modulus = self.context.parameters().modulus();
        Ok(plaintext.coefficients.iter().map(|&x| modulus.lift(x).cast_signed()).collect())
    }

    /// [`Encoder::decode_coefficients`] with values in `(-t/2, t/2]`.
    ///
    /// # Errors
    /// As [`Encoder::decode_coefficients`].
    pub fn decode_coefficients_signed(&self, plaintext: &Plaintext) -> Result<Vec<i64>> {
        self.context.check(&plaintext.parameters, "the plaintext")?;
        let modulus = self.context.parameters().modulus();
        Ok(plaintext.coefficients.iter().map(|&x| modulus.center(modulus.lift(x))).collect())
    }

    /// The same plaintext, transformed once for products with ciphertexts of at most `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the plaintext was made with other parameters, [`Error::Length`] for more limbs than
    /// there are.
    pub fn prepare(&self, plaintext: Plaintext, limbs: usize) -> Result<Plaintext> {
        self.prepare_in(plaintext, limbs, false)
    }

    /// [`Encoder::prepare`] for sums of giant steps, whose factors are modulo the special primes too: with k of them and l
    /// limbs it takes `8 (l + k) n` bytes; where the values of both rows repeat after fewer slots, as much less.
    ///
    /// # Errors
    /// As [`Encoder::prepare`].
    pub fn prepare_factor(&self, plaintext: Plaintext, limbs: usize) -> Result<Plaintext> {
        self.prepare_in(plaintext, limbs, true)
    }

    /// [`Encoder::prepare_factor`] for the factors of a giant step, which share a piece of memory; each keeps its position.
    pub(crate) fn prepare_factors(
        &self,
        factors: Vec<(usize, Plaintext)>,
        limbs: usize,
    ) -> Result<Vec<(usize, Plaintext)>> {
        let rlwe = self.context.rlwe();
        rlwe.ring_qp(limbs).reserve(factors.len());
        let prepare = |(position, factor)| Ok((position, self.prepare_factor(factor, limbs)?));
        rlwe.ring().engine().map(factors, prepare).into_iter().collect()
    }

    /// The plaintext m with its addend `round(Q/t f m)` for ciphertexts of factor f and `limbs` limbs.
    pub(crate) fn prepare_addend(&self, plaintext: Plaintext, factor: u64, limbs: usize) -> Plaintext {
        let poly = scaled(&self.context, &plaintext.coefficients, factor, limbs);
        plaintext.with_addend(factor, limbs, poly)
    }

    fn prepare_in(&self, mut plaintext: Plaintext, limbs: usize, special: bool) -> Result<Plaintext> {
        self.context.check(&plaintext.parameters, "the plaintext")?;
        let most = self.context.parameters().max_limbs();
        if !(1..=most).contains(&limbs) {
            return Err(Error::Length { what: "limbs of a plaintext", found: limbs, needed: format!("1 to {most}") });
        }
        let rlwe = self.context.rlwe();
        let ring = if special { rlwe.ring_qp(limbs) } else { rlwe.ring_q(limbs) };
        let words = if special { plaintext.factor_words() } else { ring.degree() };
        let ring = if words < ring.degree() { rlwe.subring(words).window(ring.range()) } else { ring };
        plaintext.prepared = Some(plaintext.transformed(&ring));
        Ok(plaintext)
    }

    /// Writes the coefficients, in `[-t/2, t/2]`, of the polynomial whose slot j holds `residue(j)`, for all n slots.
    ///
    /// # Errors
    /// [`Error::Parameters`] if t has no slots.
    ///
    /// # Panics
    /// If there is not one place for each coefficient.
    pub(crate) fn write_coefficients(&self, residue: impl Fn(usize) -> u64, out: &mut [i64]) -> Result<()> {
        let (modulus, slots) = (self.context.parameters().modulus(), self.context.rows()?);
        assert_eq!(out.len(), slots.positions.len(), "a polynomial has as many coefficients as slots");
        let mut row = vec![0; out.len()];
        for (slot, &position) in slots.positions.iter().enumerate() {
            row[position as usize] = residue(slot);
        }
        kernels().ntt_inverse(&mut row, &slots.table);
        out.iter_mut().zip(row).for_each(|(out, x)| *out = modulus.center(x));
        Ok(())
    }

    fn residues(&self, values: &[i64]) -> Result<Vec<u64>> {
        let modulus = self.context.parameters().modulus();
        values.iter().enumerate().map(|(i, &value)| modulus.residue(i, value)).collect()
    }

    /// Encodes residues in all slots, in a ring whose index is not a power of two. Shape: `[slots, d]`.
    pub(crate) fn encode_residues(&self, elements: &[u64]) -> Result<Plaintext> {
        let grid = self.context.grid()?;
        Ok(self.of_residues(&grid.transform().encode(elements), Extent::of_slots(grid.slots())))
    }

    /// Encodes residues that are numbers in all slots, in a ring whose index is not a power of two. Shape: `[slots]`.
    pub(crate) fn encode_all_numbers(&self, numbers: &[u64]) -> Result<Plaintext> {
        let grid = self.context.grid()?;
        Ok(self.of_residues(&grid.transform().encode_numbers(numbers), Extent::of_slots(grid.slots())))
    }

    /// The plaintext of these coefficients in `[0, t)`, which stand for slots.
    pub(crate) fn of_residues(&self, coefficients: &[u64], extent: Extent) -> Plaintext {
        let (parameters, modulus) = (self.context.parameters(), self.context.parameters().modulus());
        let centred = coefficients.iter().map(|&x| modulus.center(x)).collect();
        Plaintext::new(parameters, centred, Content::new(Encoding::Slots, extent))
    }

    /// The plaintext whose slot j holds value `source(j)`; where there is none, 0.
    fn embed(&self, values: &[i64], most: usize, source: impl Fn(usize) -> usize, extent: Extent) -> Result<Plaintext> {
        let (parameters, modulus) = (self.context.parameters(), self.context.parameters().modulus());
        let slots = self.context.rows()?;
        check_length(values.len(), most)?;
        let residues = self.residues(values)?;
        let mut row = vec![0; parameters.degree()];
        for (slot, &position) in slots.positions.iter().enumerate() {
            row[position as usize] = residues.get(source(slot)).copied().unwrap_or(0);
        }
        kernels().ntt_inverse(&mut row, &slots.table);
        let content = Content::new(Encoding::Slots, extent);
        Ok(Plaintext::new(parameters, row.into_iter().map(|x| modulus.center(x)).collect(), content))
    }
}

fn check_length(found: usize, most: usize) -> Result<()> {
    if found <= most {
        return Ok(());
    }
    Err(Error::Length { what: "values", found, needed: format!("at most {most}") })
}
