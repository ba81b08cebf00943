//! Kinds of objects in containers.

use std::fmt;

/// Defines the kinds of this library from a table: a line for each kind, with its number, its name in messages, and the
/// version of the format since which its contents are what they are.
macro_rules! kinds {
    ($($(#[$documentation:meta])+ $kind:ident = $code:literal, $name:literal, since $since:literal;)+) => {
        impl Kind {
            $($(#[$documentation])+ pub const $kind: Self = Self($code);)+

            /// All kinds of this library, in the order of their numbers.
            pub const ALL: [Self; [$($code),+].len()] = [$(Self::$kind),+];

            /// Its name in messages; all kinds that are defined elsewhere have one.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                    _ if self.is_secret() => "secret key of another library",
                    _ => "object of another library",
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
                    _ => 2,
                }
            }
        }
    };
}

/// The kind of object in a container: a number.
///
/// The kinds of this library are in one table, of all layers, so that a number is never given twice. The blocks of 256
/// below `0x8000` belong to: 0 samples and keys, 1 CKKS, 2 programs, 3 bootstrapping, 4 exact integers, 5 lookups, 6
/// TFHE, 7 switching between CKKS and TFHE, 8 compiled functions, 9 retrieval and intersection, 10 joint keys. From `0x8000` on they are free: for schemes in other crates ([`Kind::elsewhere`]).
///
/// ```
/// use noren_rlwe::wire::kind::Kind;
///
/// const CIPHERTEXT: Kind = Kind::elsewhere(1);
/// const SECRET: Kind = Kind::secret_elsewhere(1);
/// assert_eq!((CIPHERTEXT.code(), SECRET.code()), (0x8001, 0xc001));
/// assert!(SECRET.is_secret() && !CIPHERTEXT.is_secret() && Kind::from_code(0x7fff).is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(u16);

kinds! {
    /// Parameters of ring learning with errors.
    PARAMETERS = 0x0001, "parameters", since 1;
    /// A secret key. It decrypts: its files are readable by their owner only.
    SECRET_KEY = 0x0002, "secret key", since 1;
    /// A public key.
    PUBLIC_KEY = 0x0003, "public key", since 2;
    /// Evaluation keys.
    EVALUATION_KEYS = 0x0004, "evaluation keys", since 2;
    /// A plaintext without a scale.
    PLAINTEXT = 0x0005, "plaintext", since 1;
    /// A ciphertext without a scale.
    CIPHERTEXT = 0x0006, "ciphertext", since 2;
    /// A single key switching key.
    KEY_SWITCH_KEY = 0x0007, "key switching key", since 2;
    /// Parameters of samples over the torus.
    TORUS_PARAMETERS = 0x0008, "torus parameters", since 1;
    /// The secrets of samples over the torus.
    TORUS_SECRET = 0x0009, "secret key over the torus", since 1;
    /// Keys of a bootstrap over the torus; masks are seeds.
    TORUS_KEYS = 0x000a, "bootstrapping keys over the torus", since 1;
    /// Keys of circuit bootstrapping over the torus; masks are seeds.
    CIRCUIT_KEYS = 0x000c, "circuit bootstrapping keys over the torus", since 1;
    /// Light keys of a bootstrap over the torus; masks are seeds.
    TORUS_LIGHT_KEYS = 0x000d, "light keys over the torus", since 1;
    /// Keys that switch between samples over the torus and those of RLWE; masks and uniform halves are seeds.
    SWITCH_KEYS = 0x000e, "scheme switching keys", since 2;
    /// The share of a party in the keys of a joint secret.
    JOINT_KEY_SHARE = 0x000f, "share of joint keys", since 2;
    /// A key that re-encrypts ciphertexts of one secret key for another.
    REENCRYPTION_KEY = 0x0010, "re-encryption key", since 2;
    /// A public key modulo the special primes too, under which others make re-encryption keys.
    RECEIVER_KEY = 0x0011, "public key for re-encryption", since 2;
    /// Parameters of CKKS.
    CKKS_PARAMETERS = 0x0101, "CKKS parameters", since 1;
    /// A plaintext of CKKS.
    CKKS_PLAINTEXT = 0x0102, "CKKS plaintext", since 2;
    /// A ciphertext of CKKS.
    CKKS_CIPHERTEXT = 0x0103, "CKKS ciphertext", since 2;
    /// Several ciphertexts of CKKS.
    CKKS_CIPHERTEXTS = 0x0104, "CKKS ciphertexts", since 2;
    /// A secret key with its CKKS parameters.
    CKKS_SECRET_KEY = 0x0105, "secret key with CKKS parameters", since 1;
    /// A public key with its CKKS parameters.
    CKKS_PUBLIC_KEY = 0x0106, "public key with CKKS parameters", since 2;
    /// Evaluation keys with their CKKS parameters.
    CKKS_EVALUATION_KEYS = 0x0107, "evaluation keys with CKKS parameters", since 2;
    /// Evaluation keys with their CKKS parameters, as they lie in memory.
    EXPANDED_CKKS_EVALUATION_KEYS = 0x0108, "expanded evaluation keys with CKKS parameters", since 2;
    /// A re-encryption key with its CKKS parameters.
    CKKS_REENCRYPTION_KEY = 0x0109, "re-encryption key with CKKS parameters", since 2;
    /// A public key for re-encryption with its CKKS parameters.
    CKKS_RECEIVER_KEY = 0x010a, "public key for re-encryption with CKKS parameters", since 2;
    /// An encrypted table with its layout.
    TABLE = 0x0201, "encrypted table", since 2;
    /// Parameters of bootstrapping.
    BOOTSTRAP_PARAMETERS = 0x0301, "bootstrapping parameters", since 1;
    /// Bootstrapping keys with their parameters; uniform halves are seeds.
    BOOTSTRAP_KEYS = 0x0302, "bootstrapping keys", since 2;
    /// Bootstrapping keys with their parameters, as they lie in memory.
    EXPANDED_BOOTSTRAP_KEYS = 0x0303, "expanded bootstrapping keys", since 2;
    /// Parameters of exact integers: of BGV and of BFV.
    INTEGER_PARAMETERS = 0x0401, "integer parameters", since 1;
    /// A plaintext of integers.
    INTEGER_PLAINTEXT = 0x0402, "integer plaintext", since 2;
    /// A ciphertext of BGV.
    BGV_CIPHERTEXT = 0x0403, "BGV ciphertext", since 2;
    /// A ciphertext of BFV.
    BFV_CIPHERTEXT = 0x0404, "BFV ciphertext", since 2;
    /// A secret key with parameters of exact integers.
    INTEGER_SECRET_KEY = 0x0405, "secret key with integer parameters", since 1;
    /// A public key with parameters of exact integers.
    INTEGER_PUBLIC_KEY = 0x0406, "public key with integer parameters", since 2;
    /// Evaluation keys with parameters of exact integers.
    INTEGER_EVALUATION_KEYS = 0x0407, "evaluation keys with integer parameters", since 2;
    /// An encrypted table of integers with its layout.
    INTEGER_TABLE = 0x0408, "encrypted table of integers", since 2;
    /// Several ciphertexts of BGV.
    BGV_CIPHERTEXTS = 0x0409, "BGV ciphertexts", since 1;
    /// Several ciphertexts of BFV.
    BFV_CIPHERTEXTS = 0x040a, "BFV ciphertexts", since 1;
    /// A matrix that multiplies encrypted slots.
    SLOT_MATRIX = 0x040b, "matrix of slots", since 2;
    /// A matrix that multiplies encrypted slots, with its transformed factors.
    PREPARED_SLOT_MATRIX = 0x040c, "prepared matrix of slots", since 2;
    /// Evaluation keys with parameters of exact integers, as they lie in memory.
    EXPANDED_INTEGER_EVALUATION_KEYS = 0x040d, "expanded evaluation keys with integer parameters", since 2;
    /// A re-encryption key with parameters of exact integers.
    INTEGER_REENCRYPTION_KEY = 0x040e, "re-encryption key with integer parameters", since 2;
    /// A public key for re-encryption with parameters of exact integers.
    INTEGER_RECEIVER_KEY = 0x040f, "public key for re-encryption with integer parameters", since 2;
    /// A function of two integers, prepared to be looked up.
    PREPARED_LOOKUP = 0x0501, "prepared function", since 1;
    /// The keys of lookups with their parameters.
    LOOKUP_KEYS = 0x0502, "lookup keys", since 2;
    /// The keys of lookups with their parameters, as they lie in memory.
    EXPANDED_LOOKUP_KEYS = 0x0503, "expanded lookup keys", since 2;
    /// Parameters of TFHE.
    TFHE_PARAMETERS = 0x0601, "TFHE parameters", since 1;
    /// Integers encrypted with TFHE.
    TFHE_CIPHERTEXTS = 0x0602, "TFHE ciphertexts", since 1;
    /// Bits encrypted with TFHE.
    TFHE_BITS = 0x0603, "TFHE bits", since 1;
    /// A secret key with its TFHE parameters.
    TFHE_SECRET_KEY = 0x0604, "secret key with TFHE parameters", since 1;
    /// Keys of a bootstrap with their TFHE parameters; masks are seeds.
    TFHE_KEYS = 0x0605, "bootstrapping keys with TFHE parameters", since 1;
    /// Integers of digits that are encrypted with TFHE.
    TFHE_INTEGERS = 0x0606, "TFHE integers", since 1;
    /// Keys of circuit bootstrapping with their TFHE parameters; masks are seeds.
    TFHE_CIRCUIT_KEYS = 0x0607, "circuit bootstrapping keys with TFHE parameters", since 1;
    /// Columns of integers and truth values, encrypted with TFHE, with their layout.
    TFHE_COLUMNS = 0x0608, "columns of TFHE", since 1;
    /// Keys of a bootstrap with their TFHE parameters, as they lie in memory.
    TFHE_SERVER_KEYS = 0x0609, "expanded bootstrapping keys with TFHE parameters", since 1;
    /// Fresh ciphertexts of TFHE; masks are a seed.
    TFHE_SEEDED_CIPHERTEXTS = 0x060a, "seeded TFHE ciphertexts", since 1;
    /// Light keys of a bootstrap with their TFHE parameters; masks are seeds.
    TFHE_LIGHT_KEYS = 0x060b, "light keys with TFHE parameters", since 1;
    /// Scheme switching keys with the parameters of both schemes; masks and uniform halves are seeds.
    SWITCHING_KEYS = 0x0701, "scheme switching keys with parameters of both schemes", since 2;
    /// A compiled function.
    FUNCTION = 0x0801, "compiled function", since 2;
    /// Encrypted inputs of a compiled function.
    FUNCTION_INPUTS = 0x0802, "encrypted inputs of a compiled function", since 2;
    /// Encrypted outputs of a compiled function.
    FUNCTION_OUTPUTS = 0x0803, "encrypted results of a compiled function", since 2;
    /// Several keys of the server of a compiled function.
    FUNCTION_SERVER_KEYS = 0x0804, "server keys of a compiled function", since 2;
    /// Several secret keys of a compiled function.
    FUNCTION_SECRET_KEYS = 0x0805, "secret keys of a compiled function", since 2;
    /// What both halves of a private retrieval know.
    RETRIEVAL = 0x0901, "description of a table for private retrieval", since 2;
    /// Encrypted requests of a private retrieval.
    RETRIEVAL_REQUESTS = 0x0902, "requests of a private retrieval", since 2;
    /// Encrypted replies of a private retrieval.
    RETRIEVAL_REPLIES = 0x0903, "replies of a private retrieval", since 2;
    /// What both halves of a private set intersection know.
    INTERSECTION = 0x0904, "description of a table for private set intersection", since 2;
    /// Encrypted keywords of a private set intersection.
    INTERSECTION_REQUESTS = 0x0905, "request of a private set intersection", since 2;
    /// The encrypted reply of a private set intersection.
    INTERSECTION_REPLIES = 0x0906, "reply of a private set intersection", since 2;
    /// The session of a joint secret.
    JOINT_SESSION = 0x0a01, "session of joint keys", since 2;
    /// The message of a party in one round of key generation.
    JOINT_MESSAGE = 0x0a02, "message of joint key generation", since 2;
    /// The shares of a party in decryptions.
    JOINT_OPENING = 0x0a03, "shares of a joint decryption", since 2;
    /// The secret key of a party. It makes its shares.
    JOINT_PARTY = 0x0a04, "secret key of a party of joint keys", since 2;
    /// The second parts of ciphertexts that parties are asked to open.
    JOINT_REQUEST = 0x0a05, "request of a joint decryption", since 2;
}

/// The first number of kinds that are defined in other crates.
const ELSEWHERE: u16 = 0x8000;
/// The first number of those that decrypt.
const SECRET_ELSEWHERE: u16 = 0xc000;

impl Kind {
    /// A kind that another crate defines, for what may be shown to everybody.
    ///
    /// # Panics
    /// If the number is not below `0x4000`.
    #[must_use]
    pub const fn elsewhere(number: u16) -> Self {
        assert!(number < SECRET_ELSEWHERE - ELSEWHERE, "a number of another crate's kind is below 0x4000");
        Self(ELSEWHERE + number)
    }

    /// A kind that another crate defines, for secret keys: see [`Kind::is_secret`].
    ///
    /// # Panics
    /// As [`Kind::elsewhere`].
    #[must_use]
    pub const fn secret_elsewhere(number: u16) -> Self {
        Self(Self::elsewhere(number).0 + (SECRET_ELSEWHERE - ELSEWHERE))
    }

    /// The kind of this number: one of the table, or any from `0x8000` on.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Self> {
        let kind = Self(code);
        (code >= ELSEWHERE || Self::ALL.contains(&kind)).then_some(kind)
    }

    /// The number in the header.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.0
    }

    /// These kinds in words, one of which is needed.
    #[must_use]
    pub fn any_of(kinds: &[Self]) -> String {
        let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        match names.split_last() {
            Some((last, [_, ..])) => format!("{} or {last}", names[..names.len() - 1].join(", ")),
            _ => names.concat(),
        }
    }

    /// Whether it holds key switching keys as they lie in memory.
    #[must_use]
    pub const fn is_expanded(self) -> bool {
        matches!(
            self,
            Self::EXPANDED_CKKS_EVALUATION_KEYS
                | Self::EXPANDED_BOOTSTRAP_KEYS
                | Self::EXPANDED_INTEGER_EVALUATION_KEYS
                | Self::EXPANDED_LOOKUP_KEYS
        )
    }

    /// Whether whoever reads the object can decrypt: then files get mode 0600, and buffers are wiped.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(
            self,
            Self::SECRET_KEY
                | Self::CKKS_SECRET_KEY
                | Self::INTEGER_SECRET_KEY
                | Self::TORUS_SECRET
                | Self::TFHE_SECRET_KEY
                | Self::FUNCTION_SECRET_KEYS
                | Self::JOINT_PARTY
        ) || self.0 >= SECRET_ELSEWHERE
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.0 >= ELSEWHERE { write!(f, " (kind {:#06x})", self.0) } else { Ok(()) }
    }
}
