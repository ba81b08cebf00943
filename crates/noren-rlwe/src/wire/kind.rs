//! Kinds of objects in containers.

use std::fmt;

/// Defines [`Kind`] from a table: a line for each kind, with its number, its name in messages, and the version of the format
/// since which its contents are what they are.
macro_rules! kinds {
    ($($(#[$documentation:meta])+ $kind:ident = $code:literal, $name:literal, since $since:literal;)+) => {
        /// The kind of object in a container: the registry of the whole format, of every floor.
        ///
        /// A number is never given twice. The blocks of 256 belong to: 0 samples and keys, 1 CKKS, 2 programs, 3
        /// bootstrapping, 4 exact integers, 5 lookups, 6 TFHE.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Kind {
            $($(#[$documentation])+ $kind = $code,)+
        }

        impl Kind {
            /// All kinds, in the order of their numbers.
            pub const ALL: [Self; [$($code),+].len()] = [$(Self::$kind),+];

            /// Its name in messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// The version of the format since which the contents of this kind are what they are.
            ///
            /// Version 2 brought the identity of the secret key to all keys, ciphertexts and tables of ring learning with
            /// errors, and the length and period to vectors. Secret keys give their identity themselves, and objects of TFHE
            /// always had one.
            #[must_use]
            pub const fn since(self) -> u16 {
                match self {
                    $(Self::$kind => $since,)+
                }
            }
        }
    };
}

kinds! {
    /// Parameters of ring learning with errors.
    Parameters = 0x0001, "parameters", since 1;
    /// A secret key. It decrypts: its files are readable by their owner only.
    SecretKey = 0x0002, "secret key", since 1;
    /// A public key.
    PublicKey = 0x0003, "public key", since 2;
    /// Evaluation keys.
    EvaluationKeys = 0x0004, "evaluation keys", since 2;
    /// A plaintext without a scale.
    Plaintext = 0x0005, "plaintext", since 1;
    /// A ciphertext without a scale.
    Ciphertext = 0x0006, "ciphertext", since 2;
    /// A single key switching key.
    KeySwitchKey = 0x0007, "key switching key", since 2;
    /// Parameters of samples over the torus.
    TorusParameters = 0x0008, "torus parameters", since 1;
    /// The secrets of samples over the torus.
    TorusSecret = 0x0009, "secret key over the torus", since 1;
    /// Keys of a bootstrap over the torus; masks are seeds.
    TorusKeys = 0x000a, "bootstrapping keys over the torus", since 1;
    /// Keys of circuit bootstrapping over the torus; masks are seeds.
    CircuitKeys = 0x000c, "circuit bootstrapping keys over the torus", since 1;
    /// Light keys of a bootstrap over the torus; masks are seeds.
    TorusLightKeys = 0x000d, "light keys over the torus", since 1;
    /// Parameters of CKKS.
    CkksParameters = 0x0101, "CKKS parameters", since 1;
    /// A plaintext of CKKS.
    CkksPlaintext = 0x0102, "CKKS plaintext", since 2;
    /// A ciphertext of CKKS.
    CkksCiphertext = 0x0103, "CKKS ciphertext", since 2;
    /// Several ciphertexts of CKKS.
    CkksCiphertexts = 0x0104, "CKKS ciphertexts", since 2;
    /// A secret key with its CKKS parameters.
    CkksSecretKey = 0x0105, "secret key with CKKS parameters", since 1;
    /// A public key with its CKKS parameters.
    CkksPublicKey = 0x0106, "public key with CKKS parameters", since 2;
    /// Evaluation keys with their CKKS parameters.
    CkksEvaluationKeys = 0x0107, "evaluation keys with CKKS parameters", since 2;
    /// An encrypted table with its layout.
    Table = 0x0201, "encrypted table", since 2;
    /// Parameters of bootstrapping.
    BootstrapParameters = 0x0301, "bootstrapping parameters", since 1;
    /// Bootstrapping keys with their parameters; uniform halves are seeds.
    BootstrapKeys = 0x0302, "bootstrapping keys", since 2;
    /// Bootstrapping keys with their parameters, as they lie in memory.
    ExpandedBootstrapKeys = 0x0303, "expanded bootstrapping keys", since 2;
    /// Parameters of exact integers: of BGV and of BFV.
    IntegerParameters = 0x0401, "integer parameters", since 1;
    /// A plaintext of integers.
    IntegerPlaintext = 0x0402, "integer plaintext", since 2;
    /// A ciphertext of BGV.
    BgvCiphertext = 0x0403, "BGV ciphertext", since 2;
    /// A ciphertext of BFV.
    BfvCiphertext = 0x0404, "BFV ciphertext", since 2;
    /// A secret key with parameters of exact integers.
    IntegerSecretKey = 0x0405, "secret key with integer parameters", since 1;
    /// A public key with parameters of exact integers.
    IntegerPublicKey = 0x0406, "public key with integer parameters", since 2;
    /// Evaluation keys with parameters of exact integers.
    IntegerEvaluationKeys = 0x0407, "evaluation keys with integer parameters", since 2;
    /// An encrypted table of integers with its layout.
    IntegerTable = 0x0408, "encrypted table of integers", since 2;
    /// Several ciphertexts of BGV.
    BgvCiphertexts = 0x0409, "BGV ciphertexts", since 1;
    /// Several ciphertexts of BFV.
    BfvCiphertexts = 0x040a, "BFV ciphertexts", since 1;
    /// A function of two integers, prepared to be looked up.
    PreparedLookup = 0x0501, "prepared function", since 1;
    /// The keys of lookups with their parameters.
    LookupKeys = 0x0502, "lookup keys", since 2;
    /// Parameters of TFHE.
    TfheParameters = 0x0601, "TFHE parameters", since 1;
    /// Integers encrypted with TFHE.
    TfheCiphertexts = 0x0602, "TFHE ciphertexts", since 1;
    /// Bits encrypted with TFHE.
    TfheBits = 0x0603, "TFHE bits", since 1;
    /// A secret key with its TFHE parameters.
    TfheSecretKey = 0x0604, "secret key with TFHE parameters", since 1;
    /// Keys of a bootstrap with their TFHE parameters; masks are seeds.
    TfheKeys = 0x0605, "bootstrapping keys with TFHE parameters", since 1;
    /// Integers of digits that are encrypted with TFHE.
    TfheIntegers = 0x0606, "TFHE integers", since 1;
    /// Keys of circuit bootstrapping with their TFHE parameters; masks are seeds.
    TfheCircuitKeys = 0x0607, "circuit bootstrapping keys with TFHE parameters", since 1;
    /// Columns of integers and truth values, encrypted with TFHE, with their layout.
    TfheColumns = 0x0608, "columns of TFHE", since 1;
    /// Keys of a bootstrap with their TFHE parameters, as they lie in memory.
    TfheServerKeys = 0x0609, "expanded bootstrapping keys with TFHE parameters", since 1;
    /// Fresh ciphertexts of TFHE; masks are a seed.
    TfheSeededCiphertexts = 0x060a, "seeded TFHE ciphertexts", since 1;
    /// Light keys of a bootstrap with their TFHE parameters; masks are seeds.
    TfheLightKeys = 0x060b, "light keys with TFHE parameters", since 1;
}

impl Kind {
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
