//! Kinds of objects in containers.

use std::fmt;

/// The kind of object in a container: the registry of the whole format, of every floor.
///
/// A number is never given twice. The blocks of 256 belong to: 0 samples and keys, 1 CKKS, 2 programs, 3
/// bootstrapping, 4 exact integers, 5 lookups, 6 TFHE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// Parameters of ring learning with errors.
    Parameters = 0x0001,
    /// A secret key. It decrypts: its files are readable by their owner only.
    SecretKey = 0x0002,
    /// A public key.
    PublicKey = 0x0003,
    /// Evaluation keys.
    EvaluationKeys = 0x0004,
    /// A plaintext without a scale.
    Plaintext = 0x0005,
    /// A ciphertext without a scale.
    Ciphertext = 0x0006,
    /// A single key switching key.
    KeySwitchKey = 0x0007,
    /// Parameters of samples over the torus.
    TorusParameters = 0x0008,
    /// The secrets of samples over the torus.
    TorusSecret = 0x0009,
    /// Keys of a bootstrap over the torus; masks are seeds.
    TorusKeys = 0x000a,
    /// Keys of circuit bootstrapping over the torus; masks are seeds.
    CircuitKeys = 0x000c,
    /// Light keys of a bootstrap over the torus; masks are seeds.
    TorusLightKeys = 0x000d,
    /// Parameters of CKKS.
    CkksParameters = 0x0101,
    /// A plaintext of CKKS.
    CkksPlaintext = 0x0102,
    /// A ciphertext of CKKS.
    CkksCiphertext = 0x0103,
    /// Several ciphertexts of CKKS.
    CkksCiphertexts = 0x0104,
    /// A secret key with its CKKS parameters.
    CkksSecretKey = 0x0105,
    /// A public key with its CKKS parameters.
    CkksPublicKey = 0x0106,
    /// Evaluation keys with their CKKS parameters.
    CkksEvaluationKeys = 0x0107,
    /// An encrypted table with its layout.
    Table = 0x0201,
    /// Parameters of bootstrapping.
    BootstrapParameters = 0x0301,
    /// Bootstrapping keys with their parameters; uniform halves are seeds.
    BootstrapKeys = 0x0302,
    /// Bootstrapping keys with their parameters, as they lie in memory.
    ExpandedBootstrapKeys = 0x0303,
    /// Parameters of exact integers: of BGV and of BFV.
    IntegerParameters = 0x0401,
    /// A plaintext of integers.
    IntegerPlaintext = 0x0402,
    /// A ciphertext of BGV.
    BgvCiphertext = 0x0403,
    /// A ciphertext of BFV.
    BfvCiphertext = 0x0404,
    /// A secret key with parameters of exact integers.
    IntegerSecretKey = 0x0405,
    /// A public key with parameters of exact integers.
    IntegerPublicKey = 0x0406,
    /// Evaluation keys with parameters of exact integers.
    IntegerEvaluationKeys = 0x0407,
    /// An encrypted table of integers with its layout.
    IntegerTable = 0x0408,
    /// Several ciphertexts of BGV.
    BgvCiphertexts = 0x0409,
    /// Several ciphertexts of BFV.
    BfvCiphertexts = 0x040a,
    /// A function of two integers, prepared to be looked up.
    PreparedLookup = 0x0501,
    /// The keys of lookups with their parameters.
    LookupKeys = 0x0502,
    /// Parameters of TFHE.
    TfheParameters = 0x0601,
    /// Integers encrypted with TFHE.
    TfheCiphertexts = 0x0602,
    /// Bits encrypted with TFHE.
    TfheBits = 0x0603,
    /// A secret key with its TFHE parameters.
    TfheSecretKey = 0x0604,
    /// Keys of a bootstrap with their TFHE parameters; masks are seeds.
    TfheKeys = 0x0605,
    /// Integers of digits that are encrypted with TFHE.
    TfheIntegers = 0x0606,
    /// Keys of circuit bootstrapping with their TFHE parameters; masks are seeds.
    TfheCircuitKeys = 0x0607,
    /// Columns of integers and truth values, encrypted with TFHE, with their layout.
    TfheColumns = 0x0608,
    /// Keys of a bootstrap with their TFHE parameters, as they lie in memory.
    TfheServerKeys = 0x0609,
    /// Fresh ciphertexts of TFHE; masks are a seed.
    TfheSeededCiphertexts = 0x060a,
    /// Light keys of a bootstrap with their TFHE parameters; masks are seeds.
    TfheLightKeys = 0x060b,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 46] = [
        Self::Parameters,
        Self::SecretKey,
        Self::PublicKey,
        Self::EvaluationKeys,
        Self::Plaintext,
        Self::Ciphertext,
        Self::KeySwitchKey,
        Self::TorusParameters,
        Self::TorusSecret,
        Self::TorusKeys,
        Self::CircuitKeys,
        Self::TorusLightKeys,
        Self::CkksParameters,
        Self::CkksPlaintext,
        Self::CkksCiphertext,
        Self::CkksCiphertexts,
        Self::CkksSecretKey,
        Self::CkksPublicKey,
        Self::CkksEvaluationKeys,
        Self::Table,
        Self::BootstrapParameters,
        Self::BootstrapKeys,
        Self::ExpandedBootstrapKeys,
        Self::IntegerParameters,
        Self::IntegerPlaintext,
        Self::BgvCiphertext,
        Self::BfvCiphertext,
        Self::IntegerSecretKey,
        Self::IntegerPublicKey,
        Self::IntegerEvaluationKeys,
        Self::IntegerTable,
        Self::BgvCiphertexts,
        Self::BfvCiphertexts,
        Self::PreparedLookup,
        Self::LookupKeys,
        Self::TfheParameters,
        Self::TfheCiphertexts,
        Self::TfheBits,
        Self::TfheSecretKey,
        Self::TfheKeys,
        Self::TfheIntegers,
        Self::TfheCircuitKeys,
        Self::TfheColumns,
        Self::TfheServerKeys,
        Self::TfheSeededCiphertexts,
        Self::TfheLightKeys,
    ];

    /// The kind of this number, if there is one.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The number in the header.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::SecretKey => "secret key",
            Self::PublicKey => "public key",
            Self::EvaluationKeys => "evaluation keys",
            Self::Plaintext => "plaintext",
            Self::Ciphertext => "ciphertext",
            Self::KeySwitchKey => "key switching key",
            Self::TorusParameters => "torus parameters",
            Self::TorusSecret => "secret key over the torus",
            Self::TorusKeys => "bootstrapping keys over the torus",
            Self::CircuitKeys => "circuit bootstrapping keys over the torus",
            Self::TorusLightKeys => "light keys over the torus",
            Self::CkksParameters => "CKKS parameters",
            Self::CkksPlaintext => "CKKS plaintext",
            Self::CkksCiphertext => "CKKS ciphertext",
            Self::CkksCiphertexts => "CKKS ciphertexts",
            Self::CkksSecretKey => "secret key with CKKS parameters",
            Self::CkksPublicKey => "public key with CKKS parameters",
            Self::CkksEvaluationKeys => "evaluation keys with CKKS parameters",
            Self::Table => "encrypted table",
            Self::BootstrapParameters => "bootstrapping parameters",
            Self::BootstrapKeys => "bootstrapping keys",
            Self::ExpandedBootstrapKeys => "expanded bootstrapping keys",
            Self::IntegerParameters => "integer parameters",
            Self::IntegerPlaintext => "integer plaintext",
            Self::BgvCiphertext => "BGV ciphertext",
            Self::BfvCiphertext => "BFV ciphertext",
            Self::IntegerSecretKey => "secret key with integer parameters",
            Self::IntegerPublicKey => "public key with integer parameters",
            Self::IntegerEvaluationKeys => "evaluation keys with integer parameters",
            Self::IntegerTable => "encrypted table of integers",
            Self::BgvCiphertexts => "BGV ciphertexts",
            Self::BfvCiphertexts => "BFV ciphertexts",
            Self::PreparedLookup => "prepared function",
            Self::LookupKeys => "lookup keys",
            Self::TfheParameters => "TFHE parameters",
            Self::TfheCiphertexts => "TFHE ciphertexts",
            Self::TfheBits => "TFHE bits",
            Self::TfheSecretKey => "secret key with TFHE parameters",
            Self::TfheKeys => "bootstrapping keys with TFHE parameters",
            Self::TfheIntegers => "TFHE integers",
            Self::TfheCircuitKeys => "circuit bootstrapping keys with TFHE parameters",
            Self::TfheColumns => "columns of TFHE",
            Self::TfheServerKeys => "expanded bootstrapping keys with TFHE parameters",
            Self::TfheSeededCiphertexts => "seeded TFHE ciphertexts",
            Self::TfheLightKeys => "light keys with TFHE parameters",
        }
    }

    /// The version of the format since which the contents of this kind are what they are.
    ///
    /// Version 2 brought the identity of the secret key to all keys, ciphertexts and tables of ring learning with errors, and the
    /// length and period to vectors. Secret keys give their identity themselves, and objects of TFHE always had one.
    #[must_use]
    pub const fn since(self) -> u16 {
        match self {
            Self::PublicKey
            | Self::EvaluationKeys
            | Self::Ciphertext
            | Self::KeySwitchKey
            | Self::CkksPlaintext
            | Self::CkksCiphertext
            | Self::CkksCiphertexts
            | Self::CkksPublicKey
            | Self::CkksEvaluationKeys
            | Self::Table
            | Self::BootstrapKeys
            | Self::ExpandedBootstrapKeys
            | Self::IntegerPlaintext
            | Self::BgvCiphertext
            | Self::BfvCiphertext
            | Self::IntegerPublicKey
            | Self::IntegerEvaluationKeys
            | Self::IntegerTable
            | Self::LookupKeys => 2,
            _ => 1,
        }
    }

    /// Whether whoever reads the object can decrypt: then files get mode 0600, and buffers are wiped.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(
            self,
            Self::SecretKey | Self::CkksSecretKey | Self::IntegerSecretKey | Self::TorusSecret | Self::TfheSecretKey
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
