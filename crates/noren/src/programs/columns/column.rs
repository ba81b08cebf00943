//! A column: encrypted elements of one kind.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use noren_math::machine::memory;
use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::Owner;

use crate::programs::columns::element::Element;
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::parts::{WORKING_SET, parts};
use crate::schemes::tfhe::{
    Bit, Bits, Ciphertext, Ciphertexts, Decryptor, Encoding, Encryptor, Parameters, SeededCiphertexts,
};

/// Encrypted elements of one kind.
#[derive(Debug, Clone)]
pub struct Column {
    element: Element,
    /// How many ciphertexts an element takes.
    digits: usize,
    form: Form,
}

/// The contents of a column.
#[derive(Debug, Clone)]
enum Form {
    Samples(Samples),
    Fresh(Arc<Fresh>),
}

/// Fresh ciphertexts: they travel as a seed and bodies, and are expanded when they are first used.
#[derive(Debug)]
struct Fresh {
    parameters: Parameters,
    element: Element,
    seeded: SeededCiphertexts,
    samples: OnceLock<Samples>,
}

/// The ciphertexts of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// One for each truth value, with parameters of bits.
    Bits(Bits),
    /// Those of each element one after the other, the lowest digit first.
    Digits(Ciphertexts),
}

impl Column {
    /// Encrypts values: 0 and 1 are the truth values.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a value out of range, and for elements that the parameters do not hold; [`Error::Length`] for no
    /// values.
    pub fn encrypt(encryptor: &Encryptor<'_>, element: Element, values: &[i128]) -> Result<Self> {
        let parameters = encryptor.context().parameters();
        element.check(parameters, values)?;
        // The digits, and a body for each.
        memory::ask_for::<[u64; 2]>(values.len().saturating_mul(element.digits(parameters)?))?;
        let seeded = if parameters.encoding() == Encoding::Bits {
            encryptor.encrypt_bits_seeded(&values.iter().map(|&value| value == 1).collect::<Vec<_>>())
        } else {
            let digits: Vec<_> = element.cut(parameters, values)?.collect();
            encryptor.encrypt_seeded_at_most(&digits, most(parameters, element))
        };
        Self::of_seeded(parameters, element, seeded?)
    }

    /// The column of fresh ciphertexts of these parameters.
    ///
    /// # Errors
    /// [`Error::Length`] for none, or another number than a multiple of the digits of an element; as
    /// [`Element::digits`].
    pub(super) fn of_seeded(parameters: &Parameters, element: Element, seeded: SeededCiphertexts) -> Result<Self> {
        let digits = check_digits(parameters, element, seeded.len())?;
        let fresh = Fresh { parameters: parameters.clone(), element, seeded, samples: OnceLock::new() };
        Ok(Self { element, digits, form: Form::Fresh(Arc::new(fresh)) })
    }

    /// The column of these truth values.
    ///
    /// # Errors
    /// [`Error::Length`] for none.
    pub fn of_bits(bits: Vec<Bit>) -> Result<Self> {
        check_some(bits.len())?;
        Ok(Self { element: Element::Bool, digits: 1, form: Form::Samples(Samples::Bits(Bits(bits))) })
    }

    /// The column of these digits, those of each element one after the other, the lowest first.
    ///
    /// # Errors
    /// [`Error::Length`] for none, or another number than a multiple of the digits of an element;
    /// [`TfheError::OutOfRoom`] for a digit that may be too large; as [`Element::digits`].
    pub fn of_digits(parameters: &Parameters, element: Element, ciphertexts: Vec<Ciphertext>) -> Result<Self> {
        let digits = check_digits(parameters, element, ciphertexts.len())?;
        let most = match element {
            // It may hold carries.
            Element::Digit => parameters.encoding().size() - 1,
            _ => most(parameters, element),
        };
        if let Some(found) = ciphertexts.iter().map(Ciphertext::max).find(|max| *max > most) {
            let (what, needed) = ("the largest value of a digit", format!("at most {most}"));
            return Err(TfheError::OutOfRoom { what, found, needed, hint: "look it up first" }.into());
        }
        Ok(Self { element, digits, form: Form::Samples(Samples::Digits(Ciphertexts(ciphertexts))) })
    }

    /// The values; 0 and 1 for truth values.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<Vec<i128>> {
        let parts = elements_in_parts(&[self], WORKING_SET).map(|part| self.part(&part).decrypt_whole(decryptor));
        Ok(parts.collect::<Result<Vec<_>>>()?.concat())
    }

    fn decrypt_whole(&self, decryptor: &Decryptor<'_>) -> Result<Vec<i128>> {
        let parameters = decryptor.context().parameters();
        let ciphertexts = match self.samples() {
            Samples::Bits(Bits(bits)) => {
                return bits.iter().map(|bit| Ok(i128::from(decryptor.decrypt_bit(bit)?))).collect();
            }
            Samples::Digits(Ciphertexts(ciphertexts)) => ciphertexts,
        };
        let number = |digits: &[Ciphertext]| {
            interrupt::check();
            let size = i128::from(parameters.message_size());
            let mut value = 0;
            for digit in digits.iter().rev() {
                value = value * size + i128::from(decryptor.decrypt(digit)?);
            }
            Ok(self.element.of_word(value))
        };
        ciphertexts.chunks(self.digits).map(number).collect()
    }

    /// The type of the elements.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// The ciphertexts.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        match &self.form {
            Form::Samples(samples) => samples,
            Form::Fresh(fresh) => match fresh.samples.get() {
                Some(samples) => samples,
                // Not while others wait: the work may be interrupted.
                None => {
                    let samples = fresh.expand(0..fresh.seeded.len());
                    fresh.samples.get_or_init(|| samples)
                }
            },
        }
    }

    /// The parameters and the secret key that it belongs to.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        match &self.form {
            Form::Samples(Samples::Bits(Bits(bits))) => bits[0].owner(),
            Form::Samples(Samples::Digits(Ciphertexts(digits))) => digits[0].owner(),
            Form::Fresh(fresh) => &fresh.seeded.owner,
        }
    }

    /// Bytes of the ciphertexts in memory; fresh ones that were not used yet are small.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let samples = match (&self.form, self.held()) {
            (_, Some(samples)) | (Form::Samples(samples), None) => samples,
            (Form::Fresh(fresh), None) => return size_of::<u64>() * fresh.seeded.len(),
        };
        let words: usize = match samples {
            Samples::Bits(Bits(bits)) => bits.iter().map(|bit| bit.sample.dimension() + 1).sum(),
            Samples::Digits(Ciphertexts(digits)) => digits.iter().map(|digit| digit.sample.dimension() + 1).sum(),
        };
        size_of::<u64>() * words
    }

    /// The ciphertexts as they travel, if they are fresh.
    pub(super) fn seeded(&self) -> Option<&SeededCiphertexts> {
        match &self.form {
            Form::Samples(_) => None,
            Form::Fresh(fresh) => Some(&fresh.seeded),
        }
    }

    /// The ciphertexts of digits.
    pub(super) fn ciphertexts(&self) -> Result<&[Ciphertext]> {
        match self.samples() {
            Samples::Digits(Ciphertexts(digits)) => Ok(digits),
            Samples::Bits(_) => Err(Error::parameter("parameters", "those of bits", "those of integers: the set 2_2")),
        }
    }

    /// How many elements there are: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        let ciphertexts = match &self.form {
            Form::Samples(Samples::Bits(Bits(bits))) => bits.len(),
            Form::Samples(Samples::Digits(Ciphertexts(digits))) => digits.len(),
            Form::Fresh(fresh) => fresh.seeded.len(),
        };
        ciphertexts / self.digits
    }

    /// All elements, column after column.
    ///
    /// # Errors
    /// [`Error::Length`] for no column; [`Error::Parameters`] for columns of different elements; [`Error::ParameterMismatch`] and
    /// [`Error::KeyMismatch`] for columns of others.
    pub fn concatenate<'a>(columns: impl Iterator<Item = &'a Self>) -> Result<Self> {
        let columns: Vec<&Self> = columns.collect();
        let Some(first) = columns.first() else {
            return Err(Error::Length { what: "columns", found: 0, needed: "at least 1".into() });
        };
        let mut all = first.samples().clone();
        for column in &columns[1..] {
            first.owner().check(column.owner(), "the column")?;
            match (&mut all, column.samples()) {
                _ if column.element != first.element => return Err(first.other_than(column)),
                (Samples::Bits(Bits(all)), Samples::Bits(Bits(more))) => all.extend_from_slice(more),
                (Samples::Digits(Ciphertexts(all)), Samples::Digits(Ciphertexts(more))) => all.extend_from_slice(more),
                _ => return Err(first.other_than(column)),
            }
        }
        Ok(Self { form: Form::Samples(all), ..**first })
    }

    /// The elements at these positions.
    ///
    /// # Panics
    /// If one is beyond the last, or there are none.
    #[must_use]
    pub fn gather(&self, positions: &[usize]) -> Self {
        assert!(!positions.is_empty(), "a column has at least one element");
        let samples = match self.samples() {
            Samples::Bits(Bits(bits)) => Samples::Bits(Bits(positions.iter().map(|&at| bits[at].clone()).collect())),
            Samples::Digits(Ciphertexts(all)) => {
                let element = |&at: &usize| all[at * self.digits..(at + 1) * self.digits].iter().cloned();
                Samples::Digits(Ciphertexts(positions.iter().flat_map(element).collect()))
            }
        };
        Self { form: Form::Samples(samples), ..*self }
    }

    /// Each element as a column of its own.
    #[must_use]
    pub fn split(&self) -> Vec<Self> {
        (0..self.count()).map(|at| self.gather(&[at])).collect()
    }

    /// The elements in a range. Of fresh ones that were not used yet, no others are expanded.
    ///
    /// # Panics
    /// If it is empty, or ends beyond the last.
    pub(super) fn part(&self, elements: &Range<usize>) -> Self {
        assert!(!elements.is_empty(), "a column has at least one element");
        if *elements == (0..self.count()) {
            return self.clone();
        }
        let places = elements.start * self.digits..elements.end * self.digits;
        let samples = match (&self.form, self.held()) {
            (_, Some(Samples::Bits(Bits(bits)))) => Samples::Bits(Bits(bits[places].to_vec())),
            (_, Some(Samples::Digits(Ciphertexts(digits)))) => Samples::Digits(Ciphertexts(digits[places].to_vec())),
            (Form::Fresh(fresh), None) => fresh.expand(places),
            (Form::Samples(samples), None) => samples.clone(),
        };
        Self { form: Form::Samples(samples), ..*self }
    }

    /// The bytes that an element takes when it is expanded, if that is still to be done.
    pub(super) fn unexpanded_bytes(&self) -> usize {
        if self.held().is_none() { self.element_bytes() } else { 0 }
    }

    /// The bytes that an element takes when it is expanded.
    pub(super) fn element_bytes(&self) -> usize {
        let dimension = match &self.form {
            Form::Samples(Samples::Bits(Bits(bits))) => bits[0].sample.dimension(),
            Form::Samples(Samples::Digits(Ciphertexts(digits))) => digits[0].sample.dimension(),
            Form::Fresh(fresh) => fresh.parameters.torus().dimension(),
        };
        self.digits * size_of::<u64>() * (dimension + 1)
    }

    /// Whether the same is known of all elements, digit by digit: then the same is done with each, whatever others there are.
    pub(super) fn is_uniform(&self) -> bool {
        let Some(Samples::Digits(Ciphertexts(digits))) = self.held() else { return true };
        let known = |digits: &[Ciphertext]| -> Vec<(u64, u64)> {
            digits.iter().map(|digit| (digit.max(), digit.noise().to_bits())).collect()
        };
        let first = known(&digits[..self.digits]);
        digits.chunks(self.digits).all(|element| known(element) == first)
    }

    /// The ciphertexts, unless they are still to be expanded.
    fn held(&self) -> Option<&Samples> {
        match &self.form {
            Form::Samples(samples) => Some(samples),
            Form::Fresh(fresh) => fresh.samples.get(),
        }
    }

    /// The refusal of a column of other elements than this one has.
    pub(super) fn other_than(&self, found: &Self) -> Error {
        Error::parameter("element", found.element, format!("{}, as of the other column", self.element))
    }
}

impl PartialEq for Column {
    /// Whether the ciphertexts are the same, fresh or not.
    fn eq(&self, other: &Self) -> bool {
        self.element == other.element && self.samples() == other.samples()
    }
}

impl Fresh {
    /// The ciphertexts in some places.
    fn expand(&self, places: Range<usize>) -> Samples {
        let Self { parameters, element, seeded, .. } = self;
        memory::require(places.len().saturating_mul(size_of::<u64>() * (parameters.torus().dimension() + 1)));
        match parameters.encoding() {
            Encoding::Bits => Samples::Bits(Bits(seeded.bits(parameters, places))),
            Encoding::Integers { .. } => {
                Samples::Digits(Ciphertexts(seeded.ciphertexts(parameters, most(parameters, *element), places)))
            }
        }
    }
}

/// The largest digit of a fresh element: everybody may know that truth values are at most 1.
fn most(parameters: &Parameters, element: Element) -> u64 {
    if element == Element::Bool { 1 } else { parameters.message_size() - 1 }
}

/// How many ciphertexts an element takes; refuses numbers of ciphertexts that are not those of elements.
fn check_digits(parameters: &Parameters, element: Element, found: usize) -> Result<usize> {
    check_some(found)?;
    let digits = element.digits(parameters)?;
    if found.is_multiple_of(digits) {
        return Ok(digits);
    }
    Err(Error::Length { what: "digits of a column", found, needed: format!("a multiple of {digits}") })
}

fn check_some(found: usize) -> Result<()> {
    if found > 0 {
        Ok(())
    } else {
        Err(Error::Length { what: "elements of a column", found, needed: "at least 1".into() })
    }
}

/// The elements of columns of one length, in parts whose fresh elements have room when they are expanded: all of them where what is
/// known of elements differs, as circuits follow from it.
pub(super) fn elements_in_parts(columns: &[&Column], limit: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    /// Parts are not smaller: circuits for one element differ from those for several.
    const LEAST: usize = 4;
    let bytes: usize = columns.iter().map(|column| column.unexpanded_bytes()).sum();
    let count = columns.first().map_or(0, |column| column.count());
    let whole = bytes.saturating_mul(count) <= limit || !columns.iter().all(|column| column.is_uniform());
    parts(count, bytes, limit, if whole { count } else { LEAST })
}
