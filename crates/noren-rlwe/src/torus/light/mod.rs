//! Light keys: a few GLWE samples that hold all bits of the short secret, of which a server makes the keys of blind rotation.
//!
//! The message of a row of a GGSW sample that is not multiplied by a secret is a coefficient of a packed sample; the first steps
//! of a trace make a sample of it ([`unpack`](noren_ring::host::torus::unpacking::unpack)). Of that, products with secrets make the
//! other rows, as in circuit bootstrapping. A client makes and sends a tenth of the rows, and they have more noise, for which
//! blind rotation needs finer digits.
//!
//! | room | what it holds |
//! |---|---|
//! | [`spec`] | [`LightSpec`](spec::LightSpec): how many messages are packed, and digits |
//! | [`law`] | [`LightLaw`](law::LightLaw): the noise of rows |
//! | [`keygen`] | all keys from one seed |
//! | [`keys`] | [`LightKeys`](keys::LightKeys) for transport, and their expansion |
//! | [`wire`] | bytes of the keys |

pub mod keygen;
pub mod keys;
pub mod law;
pub mod spec;
pub mod wire;
