//! `noren reencrypt` with a key of CKKS.

use noren::ReencryptionKey;
use noren::ckks::{Ciphertext, Ciphertexts, Context};
use noren::programs::EncryptedTable;
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::reencryption::{Convert, Covering, Reencryption, Stored, convert, reencrypt};

/// The kinds of files, tables first.
const KINDS: [(Kind, Convert<Context>); 3] = [
    (Kind::TABLE, convert::<EncryptedTable<Ciphertext>>),
    (Kind::CKKS_CIPHERTEXT, convert::<Ciphertext>),
    (Kind::CKKS_CIPHERTEXTS, convert::<Ciphertexts>),
];

pub(super) fn run(job: Reencryption<'_>, console: &Console) -> Result<(), Failure> {
    reencrypt(&KINDS, job, console)
}

impl Stored for EncryptedTable<Ciphertext> {
    fn reencrypted(&self, context: &Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => self.reencrypt(context, key),
            Some((cover, seed)) => self.reencrypt_for(context, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        self.ciphertexts().len()
    }
}

impl Stored for Ciphertext {
    fn reencrypted(&self, context: &Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt(self, key),
            Some((cover, seed)) => context.reencrypt_for(self, key, cover, seed),
        }
    }

    fn count(&self) -> usize {
        1
    }
}

impl Stored for Ciphertexts {
    fn reencrypted(&self, context: &Context, key: &ReencryptionKey, cover: Covering<'_>) -> noren::Result<Self> {
        match cover {
            None => context.reencrypt_many(&self.0, key).map(Self),
            Some((cover, seed)) => context.reencrypt_many_for(&self.0, key, cover, seed).map(Self),
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}
