//! The same number modulo other primes.

use noren_math::modulus::Modulus;
use noren_math::ntt::transform::TransformScale;

use crate::basis::RnsBasis;

/// The numbers of a conversion, for the verbs that convert on their way.
///
/// With `Q` the product of the sources q_i and `y_i = x (Q/q_i)^-1 mod q_i`, the sum of `y_i Q/q_i` is `x + v Q` with
/// `v = round(sum y_i/q_i)` for the centred x, in `(-Q/2, Q/2)`. Source: Halevi, Polyakov, Shoup, section 2, eprint 2018/117. How
/// exact v is: [`DivideRound`](crate::divide::DivideRound).
///
/// The host scales each source row with [`BaseConversion::lift`], takes the [`BaseConversion::quotient`] of all, and then makes
/// the rows of a few targets with [`BaseConversion::convert`] just before it uses them. That reads the sources once for each group
/// of targets; to convert a block of coefficients to all targets at once would read them from a nearer cache, but the targets,
/// which are more, would leave the cache before they are used.
#[derive(Debug)]
pub(crate) struct BaseConversion {
    pub(crate) sources: Vec<usize>,
    /// The targets that are not sources, in ascending order.
    pub(crate) targets: Vec<usize>,
    /// `(Q/q_i)^-1 mod q_i`, for the transforms of the host; none where it has none.
    pub(crate) scales: Vec<TransformScale>,
    /// `1/q_i`.
    pub(crate) inverses: Vec<f64>,
    /// For each target p: `Q/q_i mod p` for each source, and `-Q mod p` for v.
    pub(crate) weights: Vec<Vec<u64>>,
    /// Whether scales and weights hold further factors.
    pub(crate) scaled: bool,
}

impl BaseConversion {
    /// Prepares the conversion to those of the limbs `targets` that are not sources.
    ///
    /// # Panics
    /// If `sources` is empty or repeats a limb, or a limb is not in the list.
    pub(crate) fn new(basis: &RnsBasis, sources: &[usize], targets: impl Iterator<Item = usize>) -> Self {
        Self::with_factors(basis, sources, targets, None)
    }

    /// [`BaseConversion::new`] of a conversion that multiplies on its way, at no cost: what is converted is the number with
    /// the residues `x_i f_i` modulo the sources, and each target gets that number times `f`, where `f_i` and `f` are what
    /// `factor` says for the limb. Range: factors in `[0, q)`.
    ///
    /// # Panics
    /// As [`BaseConversion::new`].
    pub(crate) fn scaled(
        basis: &RnsBasis,
        sources: &[usize],
        targets: impl Iterator<Item = usize>,
        factor: impl Fn(usize) -> u64,
    ) -> Self {
        Self::with_factors(basis, sources, targets, Some(&factor))
    }

    fn with_factors(
        basis: &RnsBasis,
        sources: &[usize],
        targets: impl Iterator<Item = usize>,
        factor: Option<&dyn Fn(usize) -> u64>,
    ) -> Self {
        assert!(!sources.is_empty(), "a conversion needs a source");
        assert!((1..sources.len()).all(|i| !sources[..i].contains(&sources[i])), "sources {sources:?} repeat a limb");
        let targets: Vec<usize> = targets.filter(|limb| !sources.contains(limb)).collect();
        let cofactor = |i: usize, q: &Modulus| {
            basis.product_mod(sources.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &limb)| limb), q)
        };
        let scale = |i: usize| {
            let q = basis.modulus(sources[i]);
            let inverse = q.inv(cofactor(i, q));
            basis
                .transform(sources[i])
                .inverse_scale(factor.map_or(inverse, |factor| q.mul(inverse, factor(sources[i]))))
        };
        let target_weights = |&target: &usize| {
            let p = basis.modulus(target);
            let product = basis.product_mod(sources.iter().copied(), p);
            let weights = (0..sources.len()).map(|i| cofactor(i, p)).chain([p.neg(product)]);
            match factor {
                Some(factor) => weights.map(|weight| p.mul(weight, factor(target))).collect(),
                None => weights.collect(),
            }
        };
        Self {
            scales: (0..sources.len()).filter(|_| basis.has_transforms()).map(scale).collect(),
            inverses: sources.iter().map(|&i| 1.0 / basis.modulus(i).value() as f64).collect(),
            weights: targets.iter().map(target_weights).collect(),
            sources: sources.to_vec(),
            targets,
            scaled: factor.is_some(),
        }
    }

    /// The sources, in the order that was given.
    pub(crate) fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Whether the representative is found without a product.
    pub(crate) fn is_single(&self) -> bool {
        self.sources.len() == 1 && !self.scaled
    }
}
