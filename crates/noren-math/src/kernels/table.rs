//! All verbs: one private function pointer each. The safe methods that call them are in the `verbs` of the rooms.

use std::fmt;

use crate::kernels::random::chacha::Chacha20;
use crate::kernels::random::normal::{InsideCircle, Normal};
use crate::kernels::rows::operands::{MovedProducts, WeightedRows, WeightedSum};
use crate::kernels::rows::panels::PanelKernels;
use crate::kernels::torus::multiples::SubMultiples;
use crate::kernels::torus::operands::TorusKernels;
use crate::modulus::{Modulus, ShoupFactor};
use crate::roots::fft::FftTable;
use crate::roots::ntt::{InverseScale, NttTable};

type Map1 = unsafe fn(&mut [u64], &[u64], &Modulus);
type Map1Assign = unsafe fn(&mut [u64], &Modulus);
type Map2 = unsafe fn(&mut [u64], &[u64], &[u64], &Modulus);
type Map2Assign = unsafe fn(&mut [u64], &[u64], &Modulus);
type ScalarMap1 = unsafe fn(&mut [u64], &[u64], ShoupFactor, &Modulus);
type InnerProduct = unsafe fn(&mut [u64], &[(&[u64], &[u64])], &Modulus);
type InnerProductPair = unsafe fn([&mut [u64]; 2], &[&[u64]], &[u64], &Modulus);
type AddMovedProducts = unsafe fn([&mut [u64]; 2], &MovedProducts, bool, &Modulus);
type WeightedSums = unsafe fn(&mut [WeightedSum], &WeightedRows);
type NttForward = unsafe fn(&mut [u64], &NttTable);
type NttInverse = unsafe fn(&mut [u64], &NttTable, &InverseScale);
type Fft = unsafe fn(&mut [f64], &mut [f64], &FftTable);
type AddBinaryProduct = unsafe fn(&mut [u64], &[u64], &[u64]);
type Windows = unsafe fn(&mut [u64], &[u64], &[u64], &[u32]);
type Horner = unsafe fn(&mut [f64], &mut [f64], &[f64], [&[f64]; 2]);

/// The row kernels of one instruction set.
///
/// A row is a slice of residues modulo one prime. All rows of a call have one length, which may be
/// 0. Every result is canonical, in `[0, q)`, so that all tables agree bit for bit. A value outside a
/// stated range gives an unspecified result or a panic, never undefined behaviour.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub(super) name: &'static str,
    pub(super) supported: fn() -> bool,
    pub(super) add: Map2,
    pub(super) add_streamed: Map2,
    pub(super) add_assign: Map2Assign,
    pub(super) sub: Map2,
    pub(super) sub_streamed: Map2,
    pub(super) sub_assign: Map2Assign,
    pub(super) neg: Map1,
    pub(super) neg_assign: Map1Assign,
    pub(super) mul: Map2,
    pub(super) mul_streamed: Map2,
    pub(super) mul_assign: Map2Assign,
    pub(super) mul_add_assign: Map2,
    pub(super) mul_scalar: ScalarMap1,
    pub(super) mul_scalar_assign: unsafe fn(&mut [u64], ShoupFactor, &Modulus),
    pub(super) mul_scalar_add_assign: ScalarMap1,
    pub(super) sub_mul_scalar_assign: ScalarMap1,
    pub(super) add_scalar_assign: unsafe fn(&mut [u64], u64, &Modulus),
    pub(super) inner_product: InnerProduct,
    pub(super) inner_product_pair: InnerProductPair,
    pub(super) add_moved_products: AddMovedProducts,
    pub(super) weighted_sums: WeightedSums,
    pub(super) quotients: unsafe fn(&mut [u64], &[&[u64]], &[f64]),
    pub(super) reduce: Map1,
    pub(super) reduce_centred: unsafe fn(&mut [u64], &[u64], &Modulus, &Modulus),
    pub(super) reduce_signed: unsafe fn(&mut [u64], &[i64], &Modulus),
    pub(super) unpack_halves: Map1,
    pub(super) gaussian: unsafe fn(&mut [i64], &[u64]),
    pub(super) permute: unsafe fn(&mut [u64], &[u64], &[u32]),
    pub(super) permute_add_assign: unsafe fn(&mut [u64], &[u64], &[u32], &Modulus),
    pub(super) ntt_forward: NttForward,
    pub(super) ntt_inverse: NttInverse,
    pub(super) fft_forward: Fft,
    pub(super) fft_inverse: Fft,
    pub(super) horner: Horner,
    pub(super) add_binary_product: AddBinaryProduct,
    pub(super) window_combination: Windows,
    pub(super) window_dots: Windows,
    pub(super) chacha20: Chacha20,
    pub(super) normal: Normal,
    pub(super) inside_circle: InsideCircle,
    pub(super) sub_multiples: SubMultiples,
    pub(super) torus32: TorusKernels<u32>,
    pub(super) torus64: TorusKernels<u64>,
    pub(super) panels: PanelKernels,
}

impl Kernels {
    /// The name by which `NOREN_ISA` asks for this table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn is_supported(&self) -> bool {
        (self.supported)()
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernels").field(&self.name).finish()
    }
}
