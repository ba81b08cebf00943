//! Tables of whole numbers, encrypted with BFV: the numbers of a column in slots, or each in a stretch of slots.

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::KeyId;
use noren_rlwe::reencryption::{Cover, ReencryptionKey};
use serde::{Deserialize, Serialize};

use crate::programs::layout::{check_count, check_length, check_names, check_power_of_two};
use crate::schemes::bfv::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Parameters, Plaintext};

/// The arrangement of a table of whole numbers in ciphertexts of `slots` slots.
///
/// A number fills a *stretch* of consecutive slots, a power of two: one slot for tables that are added and multiplied, and
/// what [`Layout::stretch`](crate::lookup::layout::Layout::stretch) says for numbers that are looked up. A
/// ciphertext holds `per = slots / stretch` numbers of one column: the number in row r of column c is in ciphertext
/// `c ceil(rows / per) + floor(r / per)`, in the slots from `(r mod per) stretch` on. All slots without a number are 0.
///
/// **The shape, the names and the sizes are public**: choose sizes from what is known of a quantity, not from the data.
///
/// # Examples
/// ```
/// use noren::programs::IntegerLayout;
///
/// let layout = IntegerLayout::new(100, 2, 32768, 512)?;
/// assert_eq!((layout.per_ciphertext(), layout.ciphertexts()), (64, 4));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntegerLayout {
    rows: usize,
    columns: usize,
    slots: usize,
    stretch: usize,
    sizes: Vec<usize>,
    column_names: Vec<String>,
}

impl IntegerLayout {
    /// The layout of a table with numbers in stretches of `slots` slots, without names.
    ///
    /// # Errors
    /// [`Error::Parameters`] for no row or no column, for a stretch that is no power of two, one longer than the slots, and
    /// one longer than 1 for slots that are no power of two.
    pub fn new(rows: usize, columns: usize, slots: usize, stretch: usize) -> Result<Self> {
        check_count("rows", rows)?;
        check_count("columns", columns)?;
        check_count("slots", slots)?;
        check_power_of_two("stretch", stretch)?;
        if stretch > 1 {
            check_power_of_two("slots", slots)?;
        }
        if stretch > slots {
            return Err(Error::parameter("stretch", stretch, format!("at most {slots}, the number of slots")));
        }
        Ok(Self { rows, columns, slots, stretch, sizes: Vec::new(), column_names: Vec::new() })
    }

    /// The same layout for columns of numbers from 0 to below these sizes; none where all residues may occur.
    ///
    /// # Errors
    /// [`Error::Length`] for a number of sizes that is neither 0 nor that of the columns.
    pub fn with_sizes(self, sizes: Vec<usize>) -> Result<Self> {
        if !sizes.is_empty() {
            check_length("sizes of columns", sizes.len(), self.columns)?;
        }
        Ok(Self { sizes, ..self })
    }

    /// The same layout with names of the columns, or none.
    ///
    /// # Errors
    /// [`Error::Length`] for a number of names that is neither 0 nor that of the columns, [`Error::Parameters`] for a name that
    /// occurs twice.
    pub fn with_column_names(self, column_names: Vec<String>) -> Result<Self> {
        if !column_names.is_empty() {
            check_length("names of columns", column_names.len(), self.columns)?;
            check_names(&column_names)?;
        }
        Ok(Self { column_names, ..self })
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Number of slots of each ciphertext.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// How many slots one number fills.
    #[must_use]
    pub const fn stretch(&self) -> usize {
        self.stretch
    }

    /// The exclusive bound of the numbers of each column, or nothing.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Names of the columns, or nothing.
    #[must_use]
    pub fn column_names(&self) -> &[String] {
        &self.column_names
    }

    /// How many numbers a ciphertext holds.
    #[must_use]
    pub const fn per_ciphertext(&self) -> usize {
        self.slots / self.stretch
    }

    /// How many ciphertexts a column takes.
    #[must_use]
    pub const fn per_column(&self) -> usize {
        self.rows.div_ceil(self.per_ciphertext())
    }

    /// How many ciphertexts the table takes.
    #[must_use]
    pub const fn ciphertexts(&self) -> usize {
        self.columns.saturating_mul(self.per_column())
    }

    /// The layout as JSON.
    ///
    /// # Panics
    /// Never: every layout has a JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, strings and lists have a JSON form")
    }

    /// The layout that this JSON describes.
    ///
    /// # Errors
    /// [`Error::Parameters`] and [`Error::Length`] for text that is not the JSON of a layout that could have been made.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |error| Error::parameter("layout", format!("refused ({error})"), "the JSON of a layout");
        let Self { rows, columns, slots, stretch, sizes, column_names } =
            serde_json::from_str(text).map_err(refused)?;
        Self::new(rows, columns, slots, stretch)?.with_sizes(sizes)?.with_column_names(column_names)
    }

    /// The slots of all ciphertexts for numbers that are given row after row.
    fn pack(&self, entries: &[i64]) -> Vec<Vec<i64>> {
        let (per, stretch) = (self.per_ciphertext(), self.stretch);
        let column = |c: usize| entries.iter().skip(c).step_by(self.columns).copied().collect::<Vec<i64>>();
        let spread = |numbers: &[i64]| numbers.iter().flat_map(|&x| std::iter::repeat_n(x, stretch)).collect();
        (0..self.columns).flat_map(|c| column(c).chunks(per).map(spread).collect::<Vec<Vec<i64>>>()).collect()
    }

    /// The numbers in the slots of all ciphertexts, row after row.
    fn unpack(&self, slots: &[Vec<i64>]) -> Vec<i64> {
        let (per, per_column) = (self.per_ciphertext(), self.per_column());
        let number = |row: usize, column: usize| slots[column * per_column + row / per][row % per * self.stretch];
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| number(row, column))).collect()
    }
}

/// An encrypted table of whole numbers modulo t.
#[derive(Clone)]
pub struct IntegerTable {
    layout: IntegerLayout,
    ciphertexts: Vec<Ciphertext>,
}

impl IntegerTable {
    /// A table of these ciphertexts.
    ///
    /// # Errors
    /// [`Error::Length`] for a number of ciphertexts that is not that of the layout, [`Error::Parameters`] for slots or sizes
    /// that their parameters do not have, [`Error::ParameterMismatch`] for ciphertexts of different ones,
    /// [`Error::KeyMismatch`] for ciphertexts of different secret keys.
    pub fn new(layout: IntegerLayout, ciphertexts: Vec<Ciphertext>) -> Result<Self> {
        check_length("ciphertexts of the table", ciphertexts.len(), layout.ciphertexts())?;
        let first = ciphertexts[0].parameters();
        check(&layout, first)?;
        if let Some(other) = ciphertexts.iter().map(Ciphertext::parameters).find(|parameters| *parameters != first) {
            return Err(Error::mismatch(&first.fingerprint(), &other.fingerprint(), "a ciphertext of the table"));
        }
        let owner = ciphertexts[0].key_id();
        ciphertexts.iter().try_for_each(|other| owner.check(other.key_id(), "a ciphertext of the table"))?;
        Ok(Self { layout, ciphertexts })
    }

    /// Encrypts numbers that are given row after row.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of them than the layout has,
    /// [`IntegerError::NotAResidue`](crate::schemes::integers::IntegerError::NotAResidue) for one that is none modulo
    /// t; [`Error::Parameters`] if t has no slots; what the encryptor refuses.
    pub fn encrypt(
        encoder: &Encoder,
        encryptor: &Encryptor<'_>,
        layout: IntegerLayout,
        entries: &[i64],
    ) -> Result<Self> {
        let needed = layout.rows().saturating_mul(layout.columns());
        check_length("entries of the table", entries.len(), needed)?;
        let parameters = encoder.context().parameters();
        let words = (2 * parameters.max_limbs()).saturating_mul(parameters.degree()) + layout.slots();
        memory::ask_for::<u64>(words.saturating_mul(layout.ciphertexts()))?;
        let (columns, steps) = (layout.pack(entries), Steps::new(layout.ciphertexts()));
        let encrypt = |slots: &Vec<i64>| {
            steps.advance(1);
            let plaintext = encoder.encode(slots)?;
            let spread = layout.stretch() > 1;
            encryptor.encrypt(&if spread { plaintext.with_stretch(layout.stretch())? } else { plaintext })
        };
        // One after another, so that equal seeds give equal bytes.
        let ciphertexts = columns.iter().map(encrypt).collect::<Result<_>>()?;
        Self::new(layout, ciphertexts)
    }

    /// The numbers row after row, from 0 to t - 1.
    ///
    /// # Errors
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if they may be wrong,
    /// [`Error::ParameterMismatch`] for ciphertexts of other parameters.
    pub fn decrypt(&self, decryptor: &Decryptor<'_>, encoder: &Encoder) -> Result<Vec<i64>> {
        // The residues of all slots, and the numbers.
        memory::ask_for::<[i64; 2]>(self.layout.slots().saturating_mul(self.ciphertexts.len()))?;
        let decrypt = |ciphertext: &Ciphertext| encoder.decode(&decryptor.decrypt(ciphertext)?);
        let slots = decryptor.engine().map(self.ciphertexts.iter().collect(), decrypt);
        let slots = slots.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(self.layout.unpack(&slots))
    }

    /// The numbers row after row, from 0 to t - 1, in the plaintexts of its ciphertexts, where these were decrypted elsewhere.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of plaintexts than there are ciphertexts; what the encoder refuses.
    pub fn decode(&self, encoder: &Encoder, plaintexts: &[Plaintext]) -> Result<Vec<i64>> {
        check_length("plaintexts of the table", plaintexts.len(), self.ciphertexts.len())?;
        let slots = plaintexts.iter().map(|plaintext| encoder.decode(plaintext)).collect::<Result<Vec<_>>>()?;
        Ok(self.layout.unpack(&slots))
    }

    /// The identity of the secret key that decrypts it.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.ciphertexts[0].key_id()
    }

    /// Where the numbers lie.
    #[must_use]
    pub const fn layout(&self) -> &IntegerLayout {
        &self.layout
    }

    /// The ciphertexts, column after column.
    #[must_use]
    pub fn ciphertexts(&self) -> &[Ciphertext] {
        &self.ciphertexts
    }

    /// The ciphertexts of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn column(&self, column: usize) -> &[Ciphertext] {
        let per = self.layout.per_column();
        &self.ciphertexts[column * per..(column + 1) * per]
    }

    /// The table under the new secret of a re-encryption key.
    ///
    /// # Errors
    /// As [`Context::reencrypt`].
    pub fn reencrypt(&self, context: &Context, key: &ReencryptionKey) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many(self.ciphertexts(), key)?)
    }

    /// The table for another owner.
    ///
    /// # Errors
    /// As [`Context::reencrypt_for`].
    pub fn reencrypt_for(&self, context: &Context, key: &ReencryptionKey, cover: Cover, seed: &Seed) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many_for(self.ciphertexts(), key, cover, seed)?)
    }
}

/// Refuses layouts of other slots than the parameters have, and sizes that no residues have.
fn check(layout: &IntegerLayout, parameters: &Parameters) -> Result<()> {
    let (slots, t) = (parameters.slots(), parameters.modulus().value());
    if layout.slots() != slots {
        return Err(Error::parameter("slots", layout.slots(), format!("{slots}, as the parameters have")));
    }
    match layout.sizes().iter().find(|&&size| !(1..=t).contains(&(size as u64))) {
        Some(size) => Err(Error::parameter("size", size, format!("1 to the plaintext modulus {t}"))),
        None => Ok(()),
    }
}
