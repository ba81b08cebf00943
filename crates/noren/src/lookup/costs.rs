//! Costs of lookups: keys and memory, before there are any.

use std::collections::BTreeSet;

use noren_rlwe::error::Result;
use noren_rlwe::resources::Resources;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::lookup::plan::{LookupPlan, Method};

/// The use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Encryption by anybody.
    Public,
    /// The squarings of one-hot vectors.
    Relinearization,
    /// From the usual secret to the sparse one.
    ToSparse,
    /// From the sparse secret back to the usual one.
    FromSparse,
    /// Rotations and the product of few limbs.
    Matrix,
}

impl Role {
    /// The name of the key in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public key",
            Self::Relinearization => "relinearisation key",
            Self::ToSparse => "key to the sparse secret",
            Self::FromSparse => "key from the sparse secret",
            Self::Matrix => "keys of the matrix",
        }
    }
}

/// Keys of lookups of one use and one size.
pub type KeyClass = noren_rlwe::key_class::KeyClass<Role>;

impl LookupPlan {
    /// All keys, each in one class.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyClass> {
        let parameters = self.parameters().rlwe();
        let listed = parameters.p().len();
        let class = |role, count, secret, KeyShape { limbs, special, digits }| {
            let primes = parameters.q()[..limbs].iter().chain(&parameters.p()[listed - special..]);
            let log_qp = primes.map(|&prime| libm::log2(prime as f64)).sum();
            KeyClass { role, count, limbs, special, digits, secret, log_qp, degree: parameters.degree() }
        };
        let usual = parameters.secret();
        let public = KeyShape { limbs: parameters.max_limbs(), special: 0, digits: 1 };
        let exponents = self.rotations().into_iter().map(|steps| self.layout().rotation_exponent(steps));
        let rotations: BTreeSet<u32> = exponents.collect();
        // Beside the rotations: the swap of rows, and the relinearisation.
        let matrix = |secret: SecretDistribution| class(Role::Matrix, rotations.len() + 2, secret, self.shape());
        let mut classes =
            vec![class(Role::Public, 1, usual, public), class(Role::Relinearization, 1, usual, parameters.shape())];
        match self.method() {
            Method::Fast => classes.extend([
                class(Role::ToSparse, 1, self.secret(), self.entry_shape()),
                class(Role::FromSparse, 1, usual, self.shape()),
                matrix(self.secret()),
            ]),
            Method::Linear => classes.push(matrix(usual)),
        }
        classes
    }

    /// The bytes of all evaluation keys in memory.
    #[must_use]
    pub fn key_bytes(&self) -> u64 {
        self.evaluation_keys().map(|class| class.bytes()).sum()
    }

    /// About the bytes of all evaluation keys in a file.
    #[must_use]
    pub fn key_disk_bytes(&self) -> u64 {
        self.evaluation_keys().map(|class| class.disk_bytes()).sum()
    }

    /// The bytes that `pairs` pairs of ciphertexts take while the matrix is multiplied, beside keys and factors: all
    /// rotations of the vectors, and all sums.
    #[must_use]
    pub fn working_bytes(&self, pairs: usize) -> u64 {
        let layout = self.layout();
        let [blocks, results] = layout.blocks();
        let vectors = blocks * layout.babies() + results * layout.halves() * layout.giants();
        (pairs as u64).saturating_mul((2 * vectors * self.limbs() * layout.degree() * size_of::<u64>()) as u64)
    }

    /// Refuses lookups of `pairs` pairs at once that take more memory than there is, for the keys and beside the factors, which
    /// lie in a file that is mapped: the system reads them again where memory is short.
    ///
    /// # Errors
    /// [`Error::Resources`](noren_rlwe::error::Error::Resources) with both numbers.
    pub fn check_evaluation(&self, pairs: usize, resources: &Resources) -> Result<()> {
        let advice = "close other programs, or raise the limit of the process or container";
        resources.check_memory(
            self.key_bytes().saturating_add(self.working_bytes(pairs)),
            "memory for a lookup",
            advice,
        )
    }

    /// All keys but the public one.
    pub fn evaluation_keys(&self) -> impl Iterator<Item = KeyClass> {
        self.keys().into_iter().filter(|class| class.role != Role::Public)
    }
}
