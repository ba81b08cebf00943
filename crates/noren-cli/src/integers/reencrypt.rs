//! `noren reencrypt` with a key of exact integers.

use noren::ReencryptionKey;
use noren::bfv::{self, Bfv, Context};
use noren::bgv::{self, Bgv};
use noren::programs::IntegerTable;
use noren::schemes::integers::{Ciphertext, Ciphertexts, Scheme};
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::reencryption::{Convert, Covering, Reencryption, Stored, convert, reencrypt};

/// The kinds of files, tables first.
const KINDS: [(Kind, Convert<Context>); 5] = [
    (Kind::INTEGER_TABLE, convert::<IntegerTable>),
    (Kind::BFV_CIPHERTEXT, convert::<bfv::Ciphertext>),
    (Kind::BFV_CIPHERTEXTS, convert::<Ciphertexts<Bfv>>),
    (Kind::BGV_CIPHERTEXT, convert::<bgv::Ciphertext>),
    (Kind::BGV_CIPHERTEXTS, convert::<Ciphertexts<Bgv>>),
];

pub(super) fn run(job: Reencryption<'_>, console: &Console) -> Result<(), Failure> {
    reencrypt(&KINDS, job, console)
}

impl Stored for IntegerTable {
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

impl<S: Scheme> Stored for Ciphertext<S> {
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

impl<S: Scheme> Stored for Ciphertexts<S> {
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
