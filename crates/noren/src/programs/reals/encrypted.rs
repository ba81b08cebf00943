//! Tables of real numbers in CKKS: encryption, decryption, re-encryption.

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_ring::interrupt::Steps;
use noren_rlwe::error::{Result, cause};
use noren_rlwe::owner::KeyId;
use noren_rlwe::reencryption::{Cover, ReencryptionKey};

use crate::programs::layout::TableLayout;
use crate::programs::table::{EncryptedTable, Layout, Matrix};
use crate::schemes::ckks::context::Context;
use crate::schemes::ckks::encoder::Encoder;
use crate::schemes::ckks::encryption::{Ciphertext, Decryptor, Encryptor};
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::release::{Release, Releases};

impl EncryptedTable<Ciphertext> {
    /// Encrypts a table given row after row, at a level that is at least the depth of the programs to run on it.
    ///
    /// The ciphertexts say of their contents that they are at most 1, as the layout does, and nothing else.
    ///
    /// # Errors
    /// As [`TableLayout::pack`]; a level or slots that the parameters do not have; what the encryptor refuses.
    pub fn encrypt(
        encoder: &Encoder,
        encryptor: &Encryptor<'_>,
        layout: TableLayout,
        entries: &[f64],
        level: usize,
    ) -> Result<Self> {
        encoder.context().check_level(level)?;
        // Two polynomials of level + 1 limbs each, and the slots beside them.
        let words = (2 * (level + 1)).saturating_mul(encoder.context().parameters().degree()) + layout.slots();
        memory::ask_for::<u64>(words.saturating_mul(layout.ciphertexts()))?;
        let (columns, steps) = (layout.pack(entries)?, Steps::new(layout.ciphertexts()));
        let encrypt = |slots: &Vec<f64>| {
            steps.advance(1);
            encryptor.encrypt_within(&encoder.encode(slots, layout.slots(), level)?, 1.0)
        };
        // One after another, so that equal seeds give equal bytes.
        let ciphertexts = columns.iter().map(encrypt).collect::<Result<_>>()?;
        Self::new(Layout::Table(layout), ciphertexts)
    }

    /// The identity of the secret key that decrypts it, as its first ciphertext says. Of tables that were read, all ciphertexts
    /// have one.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        // A layout has at least one row and one column, so there is at least one ciphertext.
        self.ciphertexts()[0].key_id()
    }

    /// Decrypts a table, with the error bounds of its numbers.
    ///
    /// The numbers hold traces of the secret key in their last digits: they are for the owner of the key alone. To hand
    /// results on, see [`decrypt_for_release`](Self::decrypt_for_release).
    ///
    /// # Errors
    /// Ciphertexts of other parameters, or of other slots than the layout says; [`CkksError::Unbounded`] and
    /// [`ProgramError::ArgumentOutside`](crate::programs::ProgramError::ArgumentOutside) for numbers that cannot be
    /// trusted, unless the decryptor [allows them](Decryptor::allow_unbounded): they have infinite error bounds then.
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<Matrix> {
        self.layout().ask_for_matrix()?;
        let slots = self.decrypt_slots(decryptor)?;
        let bounds: Vec<f64> = self.ciphertexts().iter().map(Ciphertext::error_bound).collect();
        let matrix = self.layout().read(&slots, &bounds)?;
        if decryptor.allows_unbounded() { Ok(matrix) } else { self.layout().trusted(matrix) }
    }

    /// The slots of all ciphertexts. Where numbers are not as stated because arguments of the program left their interval, this
    /// is the error.
    fn decrypt_slots(&self, decryptor: &Decryptor<'_>) -> Result<Vec<Vec<f64>>> {
        let decrypt = |decryptor: &Decryptor<'_>| -> Result<Vec<Vec<f64>>> {
            let slots = decryptor.engine().map(self.ciphertexts().iter().collect(), |c| decryptor.decrypt_real(c));
            slots.into_iter().collect()
        };
        let slots = decrypt(decryptor);
        if matches!(cause(&slots), Some(CkksError::NotAsStated { .. })) {
            let (context, key) = decryptor.parts();
            let any = decrypt(&Decryptor::new(context, key)?.allow_unbounded())?;
            self.layout().trusted(self.layout().read(&any, &vec![0.0; any.len()])?)?;
        }
        slots
    }

    /// Decrypts a table to numbers that may be handed on: encoded entries are rounded to multiples of `2^-bits`, as
    /// [`Releases`] describes. The whole table is one release, of as many values as it has entries.
    ///
    /// Whether arguments of a program lie in their interval is found without noise, and shown.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt), more bits than the error bounds allow, and more releases than planned.
    pub fn decrypt_for_release(&self, decryptor: &Decryptor<'_>, bits: i32, releases: &mut Releases) -> Result<Matrix> {
        let (results, entries) = (&self.ciphertexts()[..self.layout().results()], self.layout().entries());
        self.layout().ask_for_matrix()?;
        let mut slots = self.decrypt_slots(decryptor)?;
        results.iter().try_for_each(|c| decryptor.check_release(c, bits, releases, entries))?;
        let made = decryptor.engine().map(results.iter().collect(), |c| Release::of(decryptor, c, bits));
        made.iter().zip(&mut slots).for_each(|(release, slots)| release.apply(slots));
        // A release is within 3/2 of its spacing of the decryption.
        let spacing = libm::ldexp(1.5, -bits);
        let added = (0..slots.len()).map(|index| if index < results.len() { spacing } else { 0.0 });
        let bounds: Vec<f64> = self.ciphertexts().iter().zip(added).map(|(c, added)| c.error_bound() + added).collect();
        let matrix = self.layout().read(&slots, &bounds)?;
        let matrix = if decryptor.allows_unbounded() { matrix } else { self.layout().trusted(matrix)? };
        releases.count(Release::name(&made))?;
        Ok(matrix)
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
