//! Scheme switching keys with the parameters of both schemes: one file that needs no other.
//!
//! The container and the sections of the keys are those of [`noren_rlwe`]; the parameters are written as each scheme writes its own.
//! `docs/wire.md` describes them byte by byte.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::torus::scheme_switch::keys::CompactSwitchKeys;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Reader;
use noren_rlwe::wire::writer::Writer;

use crate::bootstrapping;
use crate::schemes::{ckks, tfhe};
use crate::switching::context::Context;
use crate::switching::parameters::Parameters;

/// Scheme switching keys with their parameters, as a file holds them: those of bootstrapping in items 0 and 1, those of TFHE in
/// item 2, the keys from item 3 on.
pub struct KeyFile {
    /// The context of the ciphertexts.
    pub context: ckks::Context,
    /// The parameters of both schemes.
    pub parameters: Parameters,
    /// The keys.
    pub keys: CompactSwitchKeys,
}

impl KeyFile {
    /// Makes the keys between two secrets of one owner; as [`Context::generate_keys`].
    ///
    /// # Errors
    /// As [`Context::generate_keys`].
    pub fn generate(context: &Context, ckks: &SecretKey, tfhe: &tfhe::SecretKey, seed: &Seed) -> Result<Self> {
        let keys = context.generate_keys(ckks, tfhe, seed)?;
        Ok(Self { context: context.ckks().clone(), parameters: context.parameters().clone(), keys })
    }

    /// The parameters that a container begins with: of bootstrapping, and of TFHE.
    pub(crate) fn skim(reader: &mut Reader<'_>) -> Result<(bootstrapping::Parameters, tfhe::Parameters)> {
        let bootstrapping = bootstrapping::Parameters::read(&(), reader)?;
        reader.next_item()?;
        Ok((bootstrapping, tfhe::Parameters::read(&(), reader)?))
    }
}

impl Parameters {
    /// The BLAKE3 digest of the text `noren-switching-parameters-v1`, and the fingerprints of the parameters of bootstrapping, of
    /// those of TFHE, and of those of the keys between the secrets.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"noren-switching-parameters-v1").update(&self.bootstrapping().fingerprint());
        hasher.update(&self.tfhe().fingerprint()).update(&self.switch().fingerprint());
        *hasher.finalize().as_bytes()
    }
}

impl Object for KeyFile {
    type Context = ();
    const KIND: Kind = Kind::SWITCHING_KEYS;

    fn needed_fingerprint((): &()) -> Option<[u8; 32]> {
        None
    }

    fn fingerprint(&self, (): &()) -> [u8; 32] {
        self.parameters.fingerprint()
    }

    fn write<'a>(&'a self, (): &'a (), writer: &mut Writer<'a>) {
        self.parameters.bootstrapping().write(&(), writer);
        writer.next_item();
        self.parameters.tfhe().write(&(), writer);
        writer.next_item();
        self.keys.write_items(self.context.rlwe(), writer);
    }

    /// Reads the parameters and checks them again, alone and with each other, and the keys with them. Whether their security is
    /// enough is for the caller to say.
    fn read((): &(), reader: &mut Reader<'_>) -> Result<Self> {
        let (bootstrapping, tfhe) = Self::skim(reader)?;
        reader.next_item()?;
        let context = ckks::Context::new(bootstrapping.ckks()?)?;
        let both = (context.rlwe().clone(), tfhe.torus().clone());
        let keys = CompactSwitchKeys::read(&both, reader)?;
        let parameters = Parameters::with_digits(&bootstrapping, &tfhe, *keys.parameters().spec())?;
        Ok(Self { context, parameters, keys })
    }
}
