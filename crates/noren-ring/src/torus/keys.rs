//! Keys and encrypted bits in the memory of a device, as handles.

use noren_math::torus::gadget::Gadget;

use crate::handle::KeyHandle;
use crate::torus::shape::{GlweShape, RotationShape};

/// The rows of GGSW samples of the bits of a short secret.
///
/// The GGSW sample of s has the rows (i, j), `i = 0..=k` and `j = 1..=l`: a GLWE sample of 0 plus `s 2^64 / B^j` in
/// polynomial i. In pairs, the bits s and t have samples of s, t and `st`, whose rows take turns.
#[derive(Clone, Copy)]
pub struct GgswRows<'a> {
    /// The shape of the samples.
    pub shape: RotationShape,
    /// How many bits there are.
    pub bits: usize,
    /// Writes the words `[k + 1, N]` of a row, which hold anything, given the number of the step and that of the row:
    /// `i l + j - 1` is (i, j) of a bit; of a pair, three times that is of the first bit, one more of the second, and
    /// two more of their product.
    pub write: &'a WriteGlwe<'a>,
}

/// The rows of a key switch from samples of dimension d, of words of 64 bits, to samples of dimension n, of words of 32
/// bits: row (i, j) is a sample of `S_i 2^32 / B^j` under the short secret, for coefficient i of the long one and
/// `j = 1..=l`.
#[derive(Clone, Copy)]
pub struct LweSwitchRows<'a> {
    /// d.
    pub from: usize,
    /// n.
    pub to: usize,
    /// B and l.
    pub gadget: Gadget,
    /// Writes the rows (i, 1) to (i, l), of n + 1 words each, which are 0, given i.
    pub write: &'a WriteLwe<'a>,
}

/// The rows of key switches of GLWE samples: row `i l + j - 1` of a switch is a sample of `T_i 2^64 / B^j` for the
/// secret polynomials `T_0 ... T_{k-1}` of the switch.
#[derive(Clone, Copy)]
pub struct GlweSwitchRows<'a> {
    /// B and l.
    pub gadget: Gadget,
    /// Writes the words `[k + 1, N]` of a row, which hold anything, given the number of the switch and that of the row.
    pub write: &'a WriteGlwe<'a>,
}

/// Writes a row of words, given the number of the sample or of the switch, and that of the row.
pub type WriteGlwe<'a> = dyn Fn(usize, usize, &mut [u64]) + Send + Sync + 'a;

/// Writes rows of words of 32 bits, given the number of the coefficient.
pub type WriteLwe<'a> = dyn Fn(usize, &mut [&mut [u32]]) + Send + Sync + 'a;

/// The rows of the keys of a bootstrap.
#[derive(Clone, Copy)]
pub struct BootstrapRows<'a> {
    /// The key switch to the short secret.
    pub switch: LweSwitchRows<'a>,
    /// The bits of the short secret.
    pub rotation: GgswRows<'a>,
}

/// The rows of the keys of circuit bootstrapping.
#[derive(Clone, Copy)]
pub struct CircuitRows<'a> {
    /// The bits of the short secret, with finer digits than those of a bootstrap.
    pub rotation: GgswRows<'a>,
    /// For each step i of the trace the switch of the secrets `-S_r(X^d)`, `d = 2^(L-i) + 1`.
    pub trace: GlweSwitchRows<'a>,
    /// For each polynomial r of the secret the switch of the products `S_i S_r`.
    pub square: GlweSwitchRows<'a>,
}

/// Handles of keys for samples of a shape.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            pub(crate) shape: GlweShape,
            pub(crate) held: KeyHandle,
        }

        impl $name {
            /// The shape of the samples.
            #[must_use]
            pub const fn shape(&self) -> GlweShape {
                self.shape
            }

            /// The handle of the key on its device.
            #[must_use]
            pub const fn held(&self) -> &KeyHandle {
                &self.held
            }
        }
    )*};
}

handles! {
    /// The keys of a bootstrap: key switch and blind rotation.
    BootstrapKey;
    /// The keys of circuit bootstrapping, but for the key switch to short samples.
    CircuitKey;
    /// The keys of all automorphisms of a trace, which pack samples.
    PackingKey;
    /// The key of one key switch of GLWE samples.
    GlweSwitchKey;
}

/// GGSW samples of the control bits of digits: the results of circuit bootstraps.
#[derive(Debug)]
pub struct Controls {
    pub(crate) shape: RotationShape,
    pub(crate) digits: usize,
    pub(crate) bits: usize,
    pub(crate) held: KeyHandle,
}

impl Controls {
    /// The shape of the samples.
    #[must_use]
    pub const fn shape(&self) -> RotationShape {
        self.shape
    }

    /// How many digits there are.
    #[must_use]
    pub const fn digits(&self) -> usize {
        self.digits
    }

    /// How many bits a digit has.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// The handle of the samples on their device.
    #[must_use]
    pub const fn held(&self) -> &KeyHandle {
        &self.held
    }
}
