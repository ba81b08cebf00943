//! Tables encrypted with CKKS: keys for programs, encryption, decryption.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::KeyId;

use crate::circuits::recorder::Demands;
use crate::programs::layout::TableLayout;
use crate::programs::table::{EncryptedTable, Layout, Matrix};
use crate::schemes::ckks::encoder::Encoder;
use crate::schemes::ckks::encryption::{Ciphertext, Decryptor, Encryptor};
use crate::schemes::ckks::keys::KeyRequest;

impl Demands {
    /// The keys for tables that are encrypted at this level: each for the highest level at which it is used.
    ///
    /// # Errors
    /// A level below the depth.
    pub fn key_request(&self, level: usize) -> Result<KeyRequest> {
        if level < self.depth {
            return Err(Error::LevelExhausted { needed: self.depth, left: level });
        }
        Ok(KeyRequest {
            relinearization: self.relinearization.is_some(),
            rotations_at: self.rotations.iter().map(|(&steps, &depth)| (steps, level - depth)).collect(),
            level: self.relinearization.map(|depth| level - depth),
            ..KeyRequest::default()
        })
    }
}

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
        // One after another, so that equal seeds give equal bytes.
        let ciphertexts = layout
            .pack(entries)?
            .iter()
            .map(|slots| encryptor.encrypt_within(&encoder.encode(slots, layout.slots(), level)?, 1.0))
            .collect::<Result<_>>()?;
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
    /// Ciphertexts of other parameters, or of other slots than the layout says; [`Error::Unbounded`] and
    /// [`Error::ArgumentOutside`] for numbers that cannot be trusted, unless the decryptor
    /// [allows them](Decryptor::allow_unbounded): they have infinite error bounds then.
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<Matrix> {
        let slots = decryptor.engine().map(self.ciphertexts().iter().collect(), |c| decryptor.decrypt_real(c));
        let slots = slots.into_iter().collect::<Result<Vec<_>>>()?;
        let bounds: Vec<f64> = self.ciphertexts().iter().map(Ciphertext::error_bound).collect();
        let matrix = self.layout().read(&slots, &bounds)?;
        if decryptor.allows_unbounded() { Ok(matrix) } else { self.layout().trusted(matrix) }
    }

    /// Decrypts a table to numbers that may be handed on: encoded entries are rounded to multiples of `2^-bits`, as
    /// [`Decryptor::decrypt_for_release`] describes.
    ///
    /// The seed must be fresh: it is used for nothing else.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt), and more bits than the error bounds allow.
    pub fn decrypt_for_release(&self, decryptor: &Decryptor<'_>, bits: i32, seed: &Seed) -> Result<Matrix> {
        let release = |(index, c): (usize, &Ciphertext)| {
            decryptor.decrypt_for_release(c, bits, &seed.derive(&format!("table/{index}")))
        };
        let slots = decryptor.engine().map(self.ciphertexts().iter().enumerate().collect(), release);
        let slots = slots.into_iter().collect::<Result<Vec<_>>>()?;
        // A release is within 3/2 of its spacing of the decryption.
        let spacing = libm::ldexp(1.5, -bits);
        let bounds: Vec<f64> = self.ciphertexts().iter().map(|c| c.error_bound() + spacing).collect();
        let mut matrix = self.layout().read(&slots, &bounds)?;
        if self.layout().has_arguments() {
            // Noise hides whether arguments are inside their interval.
            let exact = self.decrypt(decryptor)?;
            let doubtful = exact.errors.iter().zip(&mut matrix.errors).filter(|(error, _)| error.is_infinite());
            doubtful.for_each(|(_, error)| *error = f64::INFINITY);
            matrix.out_of_range = exact.out_of_range;
        }
        if decryptor.allows_unbounded() { Ok(matrix) } else { self.layout().trusted(matrix) }
    }
}
