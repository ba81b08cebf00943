//! Samples and keys of ring learning with errors: what can be done to a ciphertext without knowing its message?
//!
//! The third layer of noren. It knows secrets, keys, ciphertexts and their noise; it knows nothing of messages, scales
//! or slots, which the schemes above give a meaning to.
//!
//! | room | what it holds |
//! |---|---|
//! | [`parameters`] | [`ParametersSpec`](parameters::ParametersSpec), checked into [`Parameters`](parameters::Parameters) |
//! | [`sizes`] | sizes of primes in bits, and the primes of a size |
//! | [`security`] | how large a modulus a ring of a given degree carries, by dated tables |
//! | [`context`] | [`Context`](context::Context): parameters with their rings and converters |
//! | [`ciphertext`] | [`Plaintext`](ciphertext::Plaintext), [`Ciphertext`](ciphertext::Ciphertext) |
//! | [`owner`] | [`KeyId`](owner::KeyId): whose a key or a ciphertext is |
//! | [`shape`] | [`KeyShape`](shape::KeyShape): what a key switching key covers |
//! | [`switching`] | [`Switching`](switching::Switching): the converters of a shape |
//! | [`keys`] | [`SecretKey`](keys::SecretKey), [`PublicKey`](keys::PublicKey), [`EvaluationKeys`](keys::EvaluationKeys) |
//! | [`key_use`] | [`KeyUse`](key_use::KeyUse): what an evaluation key is for |
//! | [`key_class`] | [`KeyClass`](key_class::KeyClass): keys that are planned |
//! | [`key_request`] | [`KeyRequest`](key_request::KeyRequest): which evaluation keys are wanted |
//! | [`keygen`] | [`KeyGenerator`](keygen::KeyGenerator): all keys from one seed |
//! | [`flood`] | noise that floods another |
//! | [`joint`] | keys of a secret that is the sum of those of several parties, and its decryption by all of them |
//! | [`streams`] | which randomness a seed gives, by purpose, parameters and secret key |
//! | [`encrypt`], [`decrypt`] | the two ends |
//! | [`linear`] | sums, products with plaintexts, rescaling |
//! | [`multiply`] | products of ciphertexts, relinearisation |
//! | [`product`] | products of ciphertexts of integers modulo t, scaled or switched |
//! | [`keyswitch`] | key switching, hoisting, sums of switched ciphertexts |
//! | [`reencryption`] | [`ReencryptionKey`](reencryption::ReencryptionKey): from one secret key to another |
//! | [`raise`] | more limbs for a ciphertext that has few left |
//! | [`hoisting`] | sums of rotations times plaintexts, with few divisions |
//! | [`streamed`] | sums of rotations times plaintexts that are transformed on the way |
//! | [`galois`] | automorphisms `X -> X^k` and their sums |
//! | [`noise`] | noise predicted without the key, measured with it |
//! | [`mapped`] | results of mapped files that have changed are refused |
//! | [`torus`] | samples and keys over the torus: LWE, GLWE, GGSW |
//! | `words` | words of elements outside of their rings |
//! | [`wire`] | bytes for files and for the network |
//! | [`resources`] | [`Resources`](resources::Resources): whether memory and disk suffice |
//! | [`error`] | [`Error`](error::Error): the one error type that a user meets |

#![forbid(unsafe_code)]

pub mod ciphertext;
pub mod context;
pub mod decrypt;
pub mod encrypt;
pub mod error;
pub mod flood;
pub mod galois;
pub mod hoisting;
pub mod joint;
pub mod key_class;
pub mod key_request;
pub mod key_use;
pub mod keygen;
pub mod keys;
pub mod keyswitch;
pub mod linear;
pub mod mapped;
pub mod multiply;
pub mod noise;
pub mod owner;
pub mod parameters;
pub mod product;
pub mod raise;
pub mod reencryption;
pub mod resources;
pub mod security;
pub mod shape;
pub mod sizes;
pub mod streamed;
pub mod streams;
pub mod switching;
pub mod torus;
pub mod wire;

mod words;
