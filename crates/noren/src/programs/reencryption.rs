//! Re-encryption of tables: their layout stays, and all ciphertexts become those of another secret key.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::reencryption::{Cover, ReencryptionKey};

use crate::programs::integers::IntegerTable;
use crate::programs::table::EncryptedTable;
use crate::schemes::{bfv, ckks};

impl EncryptedTable<ckks::Ciphertext> {
    /// The table under the new secret of a re-encryption key.
    ///
    /// # Errors
    /// As [`ckks::Context::reencrypt`].
    pub fn reencrypt(&self, context: &ckks::Context, key: &ReencryptionKey) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many(self.ciphertexts(), key)?)
    }

    /// The table for another owner.
    ///
    /// # Errors
    /// As [`ckks::Context::reencrypt_for`].
    pub fn reencrypt_for(
        &self,
        context: &ckks::Context,
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many_for(self.ciphertexts(), key, cover, seed)?)
    }
}

impl IntegerTable {
    /// The table under the new secret of a re-encryption key.
    ///
    /// # Errors
    /// As [`bfv::Context::reencrypt`].
    pub fn reencrypt(&self, context: &bfv::Context, key: &ReencryptionKey) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many(self.ciphertexts(), key)?)
    }

    /// The table for another owner.
    ///
    /// # Errors
    /// As [`bfv::Context::reencrypt_for`].
    pub fn reencrypt_for(
        &self,
        context: &bfv::Context,
        key: &ReencryptionKey,
        cover: Cover,
        seed: &Seed,
    ) -> Result<Self> {
        Self::new(self.layout().clone(), context.reencrypt_many_for(self.ciphertexts(), key, cover, seed)?)
    }
}
