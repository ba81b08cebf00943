//! Any function of two encrypted integers, by its table.
//!
//! Numbers x and y modulo a prime t become one-hot vectors by Fermat's little theorem: `1 - (x - i)^(t - 1)` is 1 in slot
//! `i = x` and 0 in all others. The table of f as a matrix, times the one-hot vector of x, gives the row of x; its product
//! with the one-hot vector of y, summed over all slots, is `f(x, y)` in every slot.
//!
//! ```no_run
//! use noren::bfv::{Context, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
//! use noren::lookup::{Function, Lookup, LookupKeys, LookupPlan};
//! use noren::Seed;
//!
//! let spec = ParametersSpec { log_n: 15, plaintext_modulus: 65537, ..ParametersSpec::default() };
//! let context = Context::new(ParametersSpec { log_q: vec![50; 13], log_p: vec![50; 4], dnum: 4, ..spec }.build()?)?;
//! let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
//! let keys = context.generate_keys(Seed::random()?, &request)?;
//!
//! let quotient = Function::rule([1 << 15, 1 << 15], |x, y| Some(x.checked_div(y).unwrap_or(0)));
//! let plan = LookupPlan::new(context.parameters(), quotient.domain())?;
//! let lookup_keys = LookupKeys::generate(&context, Seed::random()?, &keys.secret, &plan, None)?;
//! let lookup = Lookup::prepare(&context, &plan, &quotient, None)?;
//!
//! let encoder = Encoder::new(&context);
//! let encryptor = Encryptor::public(&context, &keys.public, Seed::random()?)?;
//! let encrypt = |number| encryptor.encrypt(&plan.layout().encode(&encoder, &[number], 1 << 15)?);
//! let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
//! let result = lookup.evaluate(&evaluator, &lookup_keys, &encrypt(30_000)?, &encrypt(7)?)?;
//! # Ok::<(), noren::error::Error>(())
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `function` | [`Function`]: a rule or a table |
//! | `error` | [`LookupError`] |
//! | `layout` | [`Layout`]: which value stands in which slot of which diagonal |
//! | `plan` | [`LookupPlan`]: how many limbs each step needs, and the noise in the end |
//! | `costs` | which keys a plan needs, how large they are, and how much memory a lookup takes |
//! | `keys` | [`LookupKeys`]: keys for few limbs under a sparse secret |
//! | `key_file` | [`LookupKeyFile`]: all keys of a server with their parameters, for files of their own |
//! | `one_hot` | one-hot vectors |
//! | `line` | [`LineLookup`]: functions of x + y, of x - y, and of one number, without a matrix |
//! | `polynomial` | `PolynomialLookup`: the same without a matrix, by a polynomial of x; to compare with, where the feature `papers` is on |
//! | `preset` | the parameters that lookups are made with unless others are given |
//! | `step` | [`Step`]: the steps of a lookup, of which a caller hears |
//! | `prepared` | [`Lookup`]: a function, prepared by its matrix, or without one where that will do |

pub(crate) mod costs;
pub(crate) mod error;
pub(crate) mod function;
pub(crate) mod key_file;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod line;
pub(crate) mod one_hot;
pub(crate) mod plan;
#[cfg(feature = "papers")]
pub(crate) mod polynomial;
pub(crate) mod prepared;
pub(crate) mod preset;

mod matrix;
mod sparse;
pub(crate) mod step;
#[cfg(test)]
mod steps;
mod table;
mod wire;

pub use costs::{KeyClass, Role};
pub use error::LookupError;
pub use function::Function;
pub use key_file::LookupKeyFile;
pub use keys::LookupKeys;
pub use layout::Layout;
pub use line::{Line, LineLookup};
pub use plan::{LookupPlan, Method};
#[cfg(feature = "papers")]
pub use polynomial::PolynomialLookup;
pub use prepared::Lookup;
pub use preset::{MODULUS, parameters_spec};
pub use step::Step;
pub use wire::LookupOutline;
