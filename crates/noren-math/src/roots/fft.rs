//! The roots of the special FFT, which is the canonical embedding that CKKS encodes through.
//!
//! A polynomial `m` with real coefficients `c_0, .., c_{2n-1}` modulo `X^{2n} + 1` has the value
//! `m(zeta^(5^j))` in slot `j < n`, where `zeta = exp(i pi / 2n)`. Since `zeta^(n 5^j) = i`, packing
//! `v_k = c_k + i c_{k+n}` turns this into the values of a complex polynomial of degree below `n`,
//! which split by `Y -> Y^2` like any FFT, with the powers of 5 as the order of the points.
//!
//! Every table of kernels adds and multiplies in the same order and never contracts a product with a
//! sum, and the roots come from the `libm` crate: the same input gives the same bits on every machine.

use std::f64::consts::PI;

use crate::machine::aligned::AlignedVec;

/// The largest number of slots: that of degree 2^17.
pub const MAX_SLOTS: usize = 1 << 16;

/// Numbers of one half of a twiddle vector: eight real parts, then eight imaginary parts.
pub(crate) const LANES: usize = 8;

/// Layers whose butterflies lie closer than [`LANES`]: those with 1, 2 and 4 roots.
pub(crate) const HEAD_LAYERS: usize = 3;

/// Fewest slots that are worth a transposed head and vector passes: one tile of 8 by 8.
pub(crate) const TILE: usize = LANES * LANES;

/// Layers that one sweep over the data merges, at most.
const MERGED_LAYERS: usize = 3;

/// Values this far apart lie 4 KiB apart and share a set of a nearest cache of 32 KiB, 8 ways: from here on
/// a sweep merges two layers, whose eight streams fit, and not three.
const FAR: usize = 512;

/// The roots of the special FFT of `n` slots, `n` a power of two up to [`MAX_SLOTS`].
///
/// Layer `h` (`h = 1, 2, 4, .., n/2`) joins two halves of `h` values with the roots
/// `w_h[j] = exp(2 pi i 5^j / 8h)`, `j < h`: `x, y -> x + w y, x - w y`.
#[derive(Debug, Clone)]
pub struct FftTable {
    slots: usize,
    head: Head,
    passes: Vec<FftPass>,
}

/// The roots of the layers below `TILE / 2`: `w_h[j]` at index `h + j`.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) re: [f64; TILE / 2],
    pub(crate) im: [f64; TILE / 2],
}

/// Consecutive layers `h, 2h, ..` that vector kernels do in one sweep, with their roots in reading order.
///
/// Column group `g` (`j = 8g .. 8g+8`) has `2^layers - 1` entries of eight real and eight imaginary
/// parts: first `w_h[j]`, then `w_2h[j]`, `w_2h[j + h]`, then `w_4h[j + r h]` for `r < 4`.
#[derive(Debug, Clone)]
pub(crate) struct FftPass {
    half: usize,
    layers: usize,
    roots: AlignedVec<f64>,
}

impl FftTable {
    /// Computes the roots for `slots` slots.
    ///
    /// # Panics
    /// If `slots` is not a power of two, or exceeds [`MAX_SLOTS`].
    #[must_use]
    pub fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two() && slots <= MAX_SLOTS, "{slots} slots: needs a power of two up to {MAX_SLOTS}");
        let mut head = Head { re: [0.0; TILE / 2], im: [0.0; TILE / 2] };
        for layer in 0..slots.min(TILE / 2).ilog2() {
            let half = 1 << layer;
            for (j, exponent) in powers_of_five(half).enumerate() {
                (head.re[half + j], head.im[half + j]) = root(exponent, 8 * half);
            }
        }
        let mut passes = Vec::new();
        if slots >= TILE {
            let mut half = LANES;
            let mut left = slots.ilog2() as usize - HEAD_LAYERS;
            while left > 0 {
                // Four layers are better done as 2 + 2 than as 3 + 1.
                let most = if half >= FAR || left == MERGED_LAYERS + 1 { 2 } else { MERGED_LAYERS };
                let layers = left.min(most);
                passes.push(FftPass::new(half, layers));
                half <<= layers;
                left -= layers;
            }
        }
        Self { slots, head, passes }
    }

    /// The number of slots `n`.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// The roots of the layers that vector kernels do by transposing, or of all layers below a tile.
    pub(crate) const fn head(&self) -> &Head {
        &self.head
    }

    /// The layers from 8 on in the order of the forward transform; none below a tile.
    pub(crate) fn passes(&self) -> &[FftPass] {
        &self.passes
    }
}

impl FftPass {
    fn new(half: usize, layers: usize) -> Self {
        let entries = (1 << layers) - 1;
        let mut roots = AlignedVec::zeroed(entries * 2 * half);
        for layer in 0..layers {
            let span = half << layer;
            for (j, exponent) in powers_of_five(span).enumerate() {
                let (re, im) = root(exponent, 8 * span);
                let (row, column) = (j / half, j % half);
                let entry = column / LANES * entries + (1 << layer) - 1 + row;
                let at = entry * 2 * LANES + column % LANES;
                roots[at] = re;
                roots[at + LANES] = im;
            }
        }
        Self { half, layers, roots }
    }

    /// `h`: the distance of the values that the first layer joins, a multiple of [`LANES`].
    pub(crate) const fn half(&self) -> usize {
        self.half
    }

    /// How many layers this pass merges: 1 to 3.
    pub(crate) const fn layers(&self) -> usize {
        self.layers
    }

    /// The values that this pass joins with one another: `h 2^layers`.
    pub(crate) const fn block(&self) -> usize {
        self.half << self.layers
    }

    /// The roots, in the order that [`FftPass`] says.
    pub(crate) fn roots(&self) -> &[f64] {
        &self.roots
    }
}

/// `5^j mod 8 half` for `j < half`.
fn powers_of_five(half: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |&power| Some(5 * power % (8 * half))).take(half)
}

/// `exp(2 pi i t / order)` for `t < order`, `order` a power of two from 8 on: `(cos, sin)`.
///
/// By symmetry only angles up to `pi / 4` are computed, so that conjugate and rotated roots agree in
/// every bit and the eighth roots of unity have equal parts.
pub(crate) fn root(t: usize, order: usize) -> (f64, f64) {
    let eighth = order / 8;
    let (octant, offset) = (t / eighth, t % eighth);
    // Odd octants are mirrored: their angle is counted from their end.
    let from_axis = if octant % 2 == 0 { offset } else { eighth - offset };
    let (cos, sin) = first_octant(from_axis, order);
    match octant {
        0 => (cos, sin),
        1 => (sin, cos),
        2 => (-sin, cos),
        3 => (-cos, sin),
        4 => (-cos, -sin),
        5 => (-sin, -cos),
        6 => (sin, -cos),
        _ => (cos, -sin),
    }
}

/// `(cos, sin)` of `2 pi t / order` for `t <= order / 8`, each within about one unit in the last place.
fn first_octant(t: usize, order: usize) -> (f64, f64) {
    /// `pi - PI`, what the nearest `f64` leaves out.
    const PI_REST: f64 = 1.224_646_799_147_353_2e-16;
    if t == order / 8 {
        return (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2);
    }
    // Exact: `t` has few bits and `order` is a power of two.
    let half_turns = 2.0 * t as f64 / order as f64;
    let angle = PI * half_turns;
    let rest = libm::fma(PI, half_turns, -angle) + PI_REST * half_turns;
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    (cos - rest * sin, sin + rest * cos)
}
