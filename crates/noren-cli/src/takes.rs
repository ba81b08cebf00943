//! The files of noren that arguments of verbs take: their kinds, and who may have made them.

use noren::wire::Kind;

/// The files of noren that one argument of a verb takes.
///
/// With `--signer` each of them must be signed. One's own secret key is exempt, where an argument takes nothing else: what a
/// file says of itself exempts no file.
#[derive(Debug)]
pub(crate) struct Takes {
    /// The argument, or the name of the file where it lies in a directory that an argument names.
    pub(crate) argument: &'static str,
    /// Nothing else is taken.
    pub(crate) kinds: &'static [Kind],
    /// These kinds in words.
    pub(crate) words: &'static str,
    /// Whether the file is the user's own secret key, which nobody else has to sign.
    pub(crate) is_own_secret: bool,
    /// Whether `--owner` asks for the owner: other keys say whose these are, which belong to a secret of their own.
    pub(crate) has_owner: bool,
}

impl Takes {
    const fn new(argument: &'static str, words: &'static str, kinds: &'static [Kind]) -> Self {
        Self { argument, kinds, words, is_own_secret: false, has_owner: true }
    }

    /// The user's own secret key, without which the verb cannot do its work.
    const fn own_secret(argument: &'static str, words: &'static str, kinds: &'static [Kind]) -> Self {
        let mut index = 0;
        while index < kinds.len() {
            assert!(kinds[index].is_secret(), "secret keys alone are exempt from signatures");
            index += 1;
        }
        Self { argument, kinds, words, is_own_secret: true, has_owner: true }
    }

    /// The same files for another argument.
    const fn named(self, argument: &'static str) -> Self {
        Self { argument, ..self }
    }
}

/// The secret keys that decrypt tables.
const SECRET: [Kind; 3] = [Kind::CKKS_SECRET_KEY, Kind::INTEGER_SECRET_KEY, Kind::TFHE_SECRET_KEY];
/// Encrypted tables.
const TABLES: [Kind; 3] = [Kind::TABLE, Kind::INTEGER_TABLE, Kind::TFHE_COLUMNS];
/// Server keys of TFHE.
const SERVER: [Kind; 3] = [Kind::TFHE_KEYS, Kind::TFHE_LIGHT_KEYS, Kind::TFHE_SERVER_KEYS];
/// Bootstrapping keys.
const BOOTSTRAP: [Kind; 2] = [Kind::BOOTSTRAP_KEYS, Kind::EXPANDED_BOOTSTRAP_KEYS];

/// The key of `encrypt`. A public key is enough for it: a secret key is signed too, or used without `--signer`.
pub(crate) const ENCRYPT_KEY: Takes = Takes::new(
    "--key",
    "public key, or secret key, with CKKS or integer parameters, or secret key with TFHE parameters",
    &[
        Kind::CKKS_PUBLIC_KEY,
        Kind::INTEGER_PUBLIC_KEY,
        Kind::CKKS_SECRET_KEY,
        Kind::INTEGER_SECRET_KEY,
        Kind::TFHE_SECRET_KEY,
    ],
);
/// The key of `encrypt` with `--type`.
pub(crate) const TYPED_KEY: Kind = Kind::TFHE_SECRET_KEY;
/// The key of `decrypt`.
pub(crate) const DECRYPT_KEY: Takes = Takes::own_secret("--key", "secret key", &SECRET);
/// The table of `decrypt`.
pub(crate) const DECRYPT_INPUT: Takes = Takes::new("the input", "encrypted table", &TABLES);

/// The keys of `eval`.
pub(crate) const EVAL_KEYS: Takes = Takes::new(
    "--keys",
    "evaluation keys with CKKS parameters or integer parameters, lookup keys, bootstrapping keys, or bootstrapping keys with TFHE parameters (server.keys)",
    &[
        Kind::CKKS_EVALUATION_KEYS,
        Kind::EXPANDED_CKKS_EVALUATION_KEYS,
        Kind::INTEGER_EVALUATION_KEYS,
        Kind::EXPANDED_INTEGER_EVALUATION_KEYS,
        Kind::LOOKUP_KEYS,
        Kind::EXPANDED_LOOKUP_KEYS,
        Kind::BOOTSTRAP_KEYS,
        Kind::EXPANDED_BOOTSTRAP_KEYS,
        Kind::TFHE_KEYS,
        Kind::TFHE_LIGHT_KEYS,
        Kind::TFHE_SERVER_KEYS,
    ],
);
/// The tables of `eval`.
pub(crate) const EVAL_INPUT: Takes = Takes::new("the input", "encrypted table", &TABLES);
/// The function of `eval lookup`.
pub(crate) const EVAL_FUNCTION: Takes = Takes::new("--function", "prepared function", &[Kind::PREPARED_LOOKUP]);
/// The matrix of `eval matrix`, unless its name says that it is a table in clear.
pub(crate) const EVAL_MATRIX: Takes = Takes::new(
    "--matrix",
    "prepared matrix of slots, or a table, .csv or .npy",
    &[Kind::PREPARED_SLOT_MATRIX, Kind::SLOT_MATRIX],
);
/// The circuit keys of lookups of TFHE.
pub(crate) const EVAL_CIRCUIT: Takes =
    Takes::new("--circuit", "circuit bootstrapping keys with TFHE parameters", &[Kind::TFHE_CIRCUIT_KEYS]);
/// The keys between the schemes of programs that compare entries.
pub(crate) const EVAL_SWITCHING: Takes =
    Takes::new("--switching-keys", "scheme switching keys with parameters of both schemes", &[Kind::SWITCHING_KEYS]);
/// The keys of TFHE of these programs, which the switching keys name.
pub(crate) const EVAL_SERVER: Takes = Takes {
    has_owner: false,
    ..Takes::new("--server-keys", "bootstrapping keys with TFHE parameters (server.keys)", &SERVER)
};

/// The keys of `expand`.
pub(crate) const EXPAND_INPUT: Takes = Takes::new(
    "the keys to expand",
    "evaluation keys, lookup keys, bootstrapping keys, or bootstrapping keys with TFHE parameters, which are not expanded yet",
    &[
        Kind::CKKS_EVALUATION_KEYS,
        Kind::INTEGER_EVALUATION_KEYS,
        Kind::LOOKUP_KEYS,
        Kind::BOOTSTRAP_KEYS,
        Kind::EXPANDED_BOOTSTRAP_KEYS,
        Kind::TFHE_KEYS,
        Kind::TFHE_LIGHT_KEYS,
    ],
);

/// The parameters of `keygen --program`.
pub(crate) const CKKS_PARAMS: Takes = Takes::new("--params", "CKKS parameters", &[Kind::CKKS_PARAMETERS]);
/// Parameters of exact integers, or a key that carries them: of `prepare`, and of lookups in `plan` and `keygen`.
pub(crate) const INTEGER_PARAMS: Takes = Takes::new(
    "--params",
    "integer parameters, or a key that carries them",
    &[
        Kind::INTEGER_PARAMETERS,
        Kind::INTEGER_PUBLIC_KEY,
        Kind::INTEGER_EVALUATION_KEYS,
        Kind::EXPANDED_INTEGER_EVALUATION_KEYS,
        Kind::LOOKUP_KEYS,
        Kind::EXPANDED_LOOKUP_KEYS,
        Kind::INTEGER_SECRET_KEY,
    ],
);
/// The parameters of `keygen --integers`.
pub(crate) const KEYGEN_INTEGERS: Takes = INTEGER_PARAMS.named("--integers");
/// The parameters of `params show` and `params check`.
pub(crate) const PARAMS_FILE: Takes = Takes::new(
    "the file of parameters",
    "CKKS parameters, integer parameters or TFHE parameters",
    &[Kind::CKKS_PARAMETERS, Kind::INTEGER_PARAMETERS, Kind::TFHE_PARAMETERS],
);

/// The secret key that `keygen --add` makes keys for.
pub(crate) const ADD_SECRET: Takes = Takes::own_secret(
    "secret.key of --add",
    "secret key of CKKS, or of exact integers",
    &[Kind::CKKS_SECRET_KEY, Kind::INTEGER_SECRET_KEY],
);
/// The public key in its directory.
pub(crate) const ADD_PUBLIC: Takes =
    Takes::new("public.key of --add", "public key", &[Kind::CKKS_PUBLIC_KEY, Kind::INTEGER_PUBLIC_KEY]);
/// The evaluation keys that are added to.
pub(crate) const ADD_EVALUATION: Takes = Takes::new(
    "eval.keys of --add",
    "evaluation keys with CKKS parameters or integer parameters",
    &[
        Kind::CKKS_EVALUATION_KEYS,
        Kind::EXPANDED_CKKS_EVALUATION_KEYS,
        Kind::INTEGER_EVALUATION_KEYS,
        Kind::EXPANDED_INTEGER_EVALUATION_KEYS,
    ],
);
/// The bootstrapping keys that are added to.
pub(crate) const ADD_BOOTSTRAP: Takes = Takes::new("bootstrap.keys of --add", "bootstrapping keys", &BOOTSTRAP);

/// The old secret key of `rekey`.
pub(crate) const REKEY_FROM: Takes = Takes::own_secret(
    "--from",
    "secret key of CKKS, or of exact integers",
    &[Kind::CKKS_SECRET_KEY, Kind::INTEGER_SECRET_KEY],
);
/// The new one.
pub(crate) const REKEY_TO: Takes = REKEY_FROM.named("--to");
/// Another owner's public key for re-encryption.
pub(crate) const REKEY_RECEIVER: Takes = Takes {
    has_owner: false,
    ..Takes::new(
        "--to",
        "public key for re-encryption with CKKS or integer parameters",
        &[Kind::CKKS_RECEIVER_KEY, Kind::INTEGER_RECEIVER_KEY],
    )
};
/// The secret key of `rekey --receive`.
pub(crate) const REKEY_RECEIVE: Takes = REKEY_FROM.named("--receive");
/// The key of `reencrypt`.
pub(crate) const REENCRYPT_KEY: Takes = Takes::new(
    "--key",
    "re-encryption key with CKKS or integer parameters",
    &[Kind::CKKS_REENCRYPTION_KEY, Kind::INTEGER_REENCRYPTION_KEY],
);
/// The ciphertexts of `reencrypt`, which belong to the secret that the key leads from.
pub(crate) const REENCRYPT_INPUT: Takes = Takes {
    has_owner: false,
    ..Takes::new(
        "the input",
        "encrypted table or ciphertexts of CKKS, BFV or BGV",
        &[
            Kind::TABLE,
            Kind::CKKS_CIPHERTEXT,
            Kind::CKKS_CIPHERTEXTS,
            Kind::INTEGER_TABLE,
            Kind::BFV_CIPHERTEXT,
            Kind::BFV_CIPHERTEXTS,
            Kind::BGV_CIPHERTEXT,
            Kind::BGV_CIPHERTEXTS,
        ],
    )
};

/// The compiled function of `function`. It belongs to no secret key, and neither do its inputs say of which they are.
pub(crate) const FUNCTION: Takes =
    Takes { has_owner: false, ..Takes::new("the function", "compiled function", &[Kind::FUNCTION]) };
/// The secret key of `function encrypt` and `function decrypt`.
pub(crate) const FUNCTION_SECRET: Takes = Takes::own_secret(
    "--key",
    "secret key",
    &[Kind::CKKS_SECRET_KEY, Kind::INTEGER_SECRET_KEY, Kind::TFHE_SECRET_KEY, Kind::FUNCTION_SECRET_KEYS],
);
/// The keys of `function run`: those that a plan of any scheme has.
pub(crate) const FUNCTION_KEYS: Takes = Takes {
    has_owner: false,
    ..Takes::new(
        "--keys",
        "server keys of a compiled function",
        &[
            Kind::CKKS_EVALUATION_KEYS,
            Kind::EXPANDED_CKKS_EVALUATION_KEYS,
            Kind::INTEGER_EVALUATION_KEYS,
            Kind::EXPANDED_INTEGER_EVALUATION_KEYS,
            Kind::LOOKUP_KEYS,
            Kind::EXPANDED_LOOKUP_KEYS,
            Kind::BOOTSTRAP_KEYS,
            Kind::EXPANDED_BOOTSTRAP_KEYS,
            Kind::TFHE_KEYS,
            Kind::FUNCTION_SERVER_KEYS,
        ],
    )
};
/// The input of `function run`.
pub(crate) const FUNCTION_INPUTS: Takes = Takes {
    has_owner: false,
    ..Takes::new("the input", "encrypted inputs of a compiled function", &[Kind::FUNCTION_INPUTS])
};
/// The input of `function decrypt`.
pub(crate) const FUNCTION_RESULTS: Takes = Takes {
    has_owner: false,
    ..Takes::new("the input", "encrypted results of a compiled function", &[Kind::FUNCTION_OUTPUTS])
};

/// The description of a table of `retrieval`. It belongs to no secret key, and neither do messages say of which they are.
pub(crate) const RETRIEVAL: Takes = Takes {
    has_owner: false,
    ..Takes::new("the description", "description of a table for private retrieval", &[Kind::RETRIEVAL])
};
/// The secret key of `retrieval` and `intersection`.
pub(crate) const RETRIEVAL_SECRET: Takes = Takes::own_secret("--key", "secret key", &[Kind::INTEGER_SECRET_KEY]);
/// The keys of `retrieval answer`.
pub(crate) const RETRIEVAL_KEYS: Takes = Takes::new(
    "--keys",
    "server keys of a private retrieval",
    &[Kind::INTEGER_EVALUATION_KEYS, Kind::EXPANDED_INTEGER_EVALUATION_KEYS],
);
/// The input of `retrieval answer`.
pub(crate) const RETRIEVAL_REQUESTS: Takes = Takes {
    has_owner: false,
    ..Takes::new("the input", "requests of a private retrieval", &[Kind::RETRIEVAL_REQUESTS])
};
/// The input of `retrieval decrypt`.
pub(crate) const RETRIEVAL_REPLIES: Takes =
    Takes { has_owner: false, ..Takes::new("the input", "replies of a private retrieval", &[Kind::RETRIEVAL_REPLIES]) };

/// The description of a table of `intersection`.
pub(crate) const INTERSECTION: Takes = Takes {
    has_owner: false,
    ..Takes::new("the description", "description of a table for private set intersection", &[Kind::INTERSECTION])
};
/// The keys of `intersection answer`.
pub(crate) const INTERSECTION_KEYS: Takes =
    Takes::new("--keys", "server keys of a private set intersection", &[Kind::INTEGER_PUBLIC_KEY]);
/// The input of `intersection answer`.
pub(crate) const INTERSECTION_REQUESTS: Takes = Takes {
    has_owner: false,
    ..Takes::new("the input", "request of a private set intersection", &[Kind::INTERSECTION_REQUESTS])
};
/// The input of `intersection decrypt`.
pub(crate) const INTERSECTION_REPLIES: Takes = Takes {
    has_owner: false,
    ..Takes::new("the input", "reply of a private set intersection", &[Kind::INTERSECTION_REPLIES])
};

/// The parameters of `party session`.
pub(crate) const PARTY_PARAMS: Takes = Takes::new("the parameters", "integer parameters", &[Kind::INTEGER_PARAMETERS]);
/// The session of `party`, which is made before there is a secret, as its messages are; shares say of which session they are.
pub(crate) const PARTY_SESSION: Takes =
    Takes { has_owner: false, ..Takes::new("the session", "session of joint keys", &[Kind::JOINT_SESSION]) };
/// The messages of `party join` and `party combine`.
pub(crate) const PARTY_MESSAGES: Takes = Takes {
    has_owner: false,
    ..Takes::new("the messages", "messages of joint key generation", &[Kind::JOINT_MESSAGE])
};
/// The table of `party share` and `party open`.
pub(crate) const PARTY_TABLE: Takes = Takes::new("the input", "encrypted table of integers", &[Kind::INTEGER_TABLE]);
/// The shares of `party open`.
pub(crate) const PARTY_SHARES: Takes =
    Takes { has_owner: false, ..Takes::new("the shares", "shares of a joint decryption", &[Kind::JOINT_OPENING]) };
