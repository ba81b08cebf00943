//! The error that each ciphertext carries, and how it grows.

use num_complex::Complex64;

use crate::schemes::ckks::tail::{self, CLASSES, Spread};
use crate::schemes::range::{Range, modulus};

/// The estimate, without any key, of the message and the error of a ciphertext or plaintext.
///
/// The error of slot j, in units of the message, is a sum of independent sources (an encryption, a key switch, a
/// rounding), each random and of the same size in every slot, and of a systematic part. An estimate holds
///
/// - the [range](Range) of the message: an interval that holds every slot, or, for complex messages, a bound on their
///   absolute value;
/// - `bias`: a bound on the systematic part (constants and scales that integers cannot meet exactly, `f64` transforms);
/// - the sources, in groups that are known to be independent of each other, with the variance of each group.
///
/// Two errors of unknown common part add linearly, and independent ones in quadrature. Which sources a group contains
/// is remembered as a set of 128 bits that moves with rotations, so that `x + x` counts double, the sum of a thousand
/// encryptions or of a thousand rotations grows with the square root, and both are told apart without a key.
/// `docs/noise.md` derives the rules, and the tail that [`Estimate::bound`] rests on.
///
/// An estimate is public: it is stored with its ciphertext. The magnitude of a fresh ciphertext is an eighth of a
/// power of two, from 1 up; see [`Encryptor::encrypt`](crate::schemes::ckks::encryption::Encryptor::encrypt). It is computed with
/// operations that round alike on every machine.
///
/// A message that may be too large for the modulus of its ciphertext is no longer known: what is computed from it has an
/// infinite bias, at any level.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    range: Range,
    bias: f64,
    /// How large message and error may be together, so that the modulus of the ciphertext holds them.
    room: f64,
    /// Names the polynomials: what is computed from the same ones in the same way has the same error.
    tag: u64,
    /// Sorted by key, one for each.
    groups: Vec<Group>,
}

/// Sources that are treated as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Group {
    pub(crate) key: Key,
    /// Which sources are in it, by one bit of each.
    pub(crate) members: u128,
    /// `E |error|^2` of one slot, over all slots of the full embedding.
    pub(crate) variance: f64,
}

/// Where a source is counted: sources with different keys are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The distribution of the size of the error in a slot.
    pub(crate) nature: Nature,
    /// By how many slots the error was rotated since it arose, modulo [`CLASSES`].
    pub(crate) class: u8,
    /// Part of the name of the source.
    pub(crate) bucket: u8,
}

/// The distribution of the size of an error in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nature {
    /// Nothing: complex Gaussian in every slot, such as the error of a symmetric encryption.
    Plain,
    /// The secret: a random polynomial times `s`, complex Gaussian times the value of `s` in that slot.
    Secret,
    /// The error of the public key, in the same way.
    PublicKey,
}

/// The bits of a set of members.
const MEMBER_BITS: usize = 128;
/// Groups are folded together, where that changes nothing, above this number.
const FOLD_ABOVE: usize = 1024;
/// The groups that may be folded: those whose deviations add up to this part of the whole.
const FOLDED_PART: f64 = 1.0 / 256.0;

impl Estimate {
    /// A message without error, whose polynomial is named by `tag`.
    pub(crate) fn exact(range: Range, tag: u64) -> Self {
        Self { range, bias: 0.0, room: f64::INFINITY, tag, groups: Vec::new() }
    }

    /// An estimate of its parts, as a file holds them; `None` if a size is negative or not a number, the range is
    /// empty, or the groups are out of order.
    pub(crate) fn from_parts(range: Range, bias: f64, tag: u64, groups: Vec<Group>) -> Option<Self> {
        let sorted = groups.windows(2).all(|pair| pair[0].key < pair[1].key);
        let size = |x: f64| x >= 0.0 && x.is_sign_positive();
        let proper = groups.iter().all(|g| size(g.variance) && usize::from(g.key.class) < CLASSES);
        let filled = range.interval().is_none_or(|[low, high]| low <= high);
        let room = f64::INFINITY;
        let sound = filled && size(range.magnitude()) && size(bias) && sorted && proper;
        sound.then_some(Self { range, bias, room, tag, groups })
    }

    /// A bound on the absolute value of the message in every slot.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.range.magnitude()
    }

    /// Where the message lies in every slot.
    #[must_use]
    pub fn range(&self) -> &Range {
        &self.range
    }

    /// A bound on the systematic error in every slot.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The root of the mean square of the random error in the slots of the full embedding, `n/2` for degree n.
    #[must_use]
    pub fn std(&self) -> f64 {
        self.variance().sqrt()
    }

    /// A bound on the error in each of `slots` slots, in a ring that has `max_slots`.
    ///
    /// It is exceeded in some slot with probability below `2^-40`. With fewer slots than the ring has, the error of a
    /// slot is the mean over `max_slots / slots` slots of the full embedding, and smaller by the root of that.
    #[must_use]
    pub fn bound(&self, slots: usize, max_slots: usize) -> f64 {
        let copies = max_slots / slots;
        self.bias + tail::quantile(&self.spread(), slots, copies) / (copies as f64).sqrt()
    }

    /// The same with a better bound on the message, which the caller knows; the smaller bound counts.
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        self.range = self.range.within(magnitude);
        self
    }

    /// The same of a message whose slots are all real, and from `low` to `high`, as the caller knows; the narrower range
    /// counts.
    #[must_use]
    pub fn with_range(mut self, low: f64, high: f64) -> Self {
        self.range = self.range.clipped(low, high);
        self
    }

    /// The same message with this bound on its error, which the caller knows, in place of all that was known of it.
    #[must_use]
    pub fn with_error_bound(self, bound: f64) -> Self {
        // A NaN bounds nothing.
        let bias = if bound >= 0.0 { bound } else { f64::INFINITY };
        Self { bias, groups: Vec::new(), ..self }
    }

    /// The same for a ciphertext whose modulus holds messages of this size.
    pub(crate) fn with_room(mut self, room: f64) -> Self {
        self.room = room;
        self
    }

    /// Whether the modulus may be too small for the message with its error. Nothing is known of it then.
    pub(crate) fn overflows(&self) -> bool {
        // Written so that a bound that is not a number counts as none.
        !(self.room == f64::INFINITY || self.magnitude() + self.worst() < self.room)
    }

    /// The estimate where the message is used: nothing of one that may have left its modulus.
    pub(crate) fn settled(mut self) -> Self {
        if self.overflows() {
            self.forget();
        }
        self.room = f64::INFINITY;
        self
    }

    /// The message without what is known of its error.
    pub(crate) fn without_error(&self) -> Self {
        Self { range: self.range, bias: 0.0, room: self.room, tag: self.tag, groups: Vec::new() }
    }

    pub(crate) fn tag(&self) -> u64 {
        self.tag
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The same message and error in a result named `tag`.
    pub(crate) fn named(self, tag: u64) -> Self {
        Self { tag, ..self.settled() }
    }

    /// The negative message; it keeps its name.
    pub(crate) fn negated(self) -> Self {
        Self { range: self.range.negated(), ..self.settled() }
    }

    /// The imaginary unit times the message; it keeps its name.
    pub(crate) fn turned(self) -> Self {
        Self { range: self.range.turned(), ..self.settled() }
    }

    /// Adds a new source of this variance. Sources of one `tag` differ by their domain separator.
    pub(crate) fn with_source(mut self, nature: Nature, variance: f64, separator: u64) -> Self {
        let name = mix(self.tag, separator);
        let key = Key { nature, class: 0, bucket: (name >> 8) as u8 };
        let group = Group { key, members: 1 << (name as usize % MEMBER_BITS), variance };
        match self.groups.binary_search_by_key(&key, |g| g.key) {
            Ok(at) => self.groups[at] = self.groups[at].join(&group),
            Err(at) => self.groups.insert(at, group),
        }
        self
    }

    /// Adds a systematic error.
    pub(crate) fn with_bias(mut self, bias: f64) -> Self {
        self.bias += bias;
        self
    }

    /// Message and error times a factor.
    pub(crate) fn multiplied(self, factor: Complex64) -> Self {
        let range = self.range.multiplied(factor);
        Self { range, ..self.settled().amplified(modulus(factor)) }
    }

    /// The same message with further errors, each times a factor of this absolute value.
    pub(crate) fn with_errors(mut self, errors: &[(&Self, f64)]) -> Self {
        for &(error, gain) in errors {
            let part = error.clone().amplified(gain);
            self.bias += part.bias;
            self.groups = merge(&self.groups, &part.groups);
        }
        self.folded()
    }

    /// The sum of two messages.
    pub(crate) fn sum(&self, other: &Self) -> Self {
        self.joined(other, self.range.plus(&other.range))
    }

    /// The difference of two messages.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.joined(other, self.range.plus(&other.range.negated()))
    }

    /// The product of two messages: the error is `m_1 e_2 + m_2 e_1 + e_1 e_2`.
    pub(crate) fn product(&self, other: &Self) -> Self {
        self.multiplied_by(other, self.range.times(&other.range))
    }

    /// The product of a message with itself.
    pub(crate) fn squared(&self) -> Self {
        self.multiplied_by(self, self.range.squared())
    }

    /// The message rotated by `steps` of `slots` slots; both count modulo `slots`.
    ///
    /// A source that was rotated by r is another one than itself, unless r is a multiple of the number of slots: then
    /// the slots that are read are the same again.
    pub(crate) fn rotated(self, steps: usize, slots: usize) -> Self {
        let mut rotated = self.settled();
        let steps = steps % slots;
        let classes = slots.min(CLASSES);
        let width = (slots / classes).min(MEMBER_BITS);
        for group in &mut rotated.groups {
            let position = usize::from(group.key.class) + steps;
            group.key.class = (position % classes) as u8;
            group.members = rotate_blocks(group.members, width, position / classes);
        }
        rotated.groups.sort_unstable_by_key(|g| g.key);
        // Errors that were rotated among more slots than they are read in meet.
        rotated.groups.dedup_by(|group, kept| {
            let same = group.key == kept.key;
            if same {
                *kept = kept.join(group);
            }
            same
        });
        rotated.tag = mix(rotated.tag, mix(ROTATION, steps as u64));
        rotated
    }

    /// The error of a sum of `count` slots that are `stride` apart, each times a factor of absolute value `1 / count`; both are
    /// powers of two.
    ///
    /// Slots have errors independent of each other, given the secret: the variance is divided by the count, and what it
    /// depends on in one slot is averaged over all of them. A systematic error stays as large as it may be.
    pub(crate) fn averaged(&self, count: usize, stride: usize, slots: usize) -> Self {
        let classes = slots.min(CLASSES);
        let distinct = (classes / stride.min(classes)).min(count);
        let part = 1.0 / (count * distinct) as f64;
        let spread = self.spread();
        let name = mix(self.tag, AVERAGE);
        let key = |nature, class: usize| Key { nature, class: class as u8, bucket: (name >> 8) as u8 };
        let mean = |weights: &[f64; CLASSES], class: usize| {
            (0..distinct).map(|i| weights[(classes + class - i * stride % classes) % classes] * part).sum::<f64>()
        };
        let plain = [(key(Nature::Plain, 0), spread.plain / count as f64)];
        let natures = [(Nature::Secret, spread.secret), (Nature::PublicKey, spread.public_key)];
        let others = natures
            .iter()
            .flat_map(|(nature, weights)| (0..classes).map(move |class| (key(*nature, class), mean(weights, class))));
        let members = 1 << (name as usize % MEMBER_BITS);
        let groups = plain.into_iter().chain(others).filter(|(_, variance)| *variance > 0.0);
        Self { groups: groups.map(|(key, variance)| Group { key, members, variance }).collect(), ..*self }
    }

    /// The distribution of the tail of the error.
    fn spread(&self) -> Spread {
        let mut spread = Spread::default();
        for group in &self.groups {
            match group.key.nature {
                Nature::Plain => spread.plain += group.variance,
                Nature::Secret => spread.secret[usize::from(group.key.class)] += group.variance,
                Nature::PublicKey => spread.public_key[usize::from(group.key.class)] += group.variance,
            }
        }
        spread
    }

    fn variance(&self) -> f64 {
        self.groups.iter().map(|g| g.variance).sum()
    }

    /// A bound on the error in every slot of the full embedding of any ring.
    pub(crate) fn worst(&self) -> f64 {
        self.bias + tail::LARGEST_QUANTILE * self.std()
    }

    /// The error times a factor of this absolute value, for any message.
    fn amplified(mut self, gain: f64) -> Self {
        if self.bias == 0.0 && self.groups.is_empty() {
            return self;
        }
        if !(gain * gain).is_finite() {
            self.forget();
            return self;
        }
        self.bias = systematic(gain, self.bias);
        self.groups.iter_mut().for_each(|g| g.variance *= gain * gain);
        self
    }

    /// Says that nothing is known of the error.
    fn forget(&mut self) {
        self.bias = f64::INFINITY;
        self.groups.clear();
    }

    fn joined(&self, other: &Self, range: Range) -> Self {
        let mut sum = Self {
            range,
            bias: self.bias + other.bias,
            room: f64::INFINITY,
            tag: mix(SUM, mix_symmetric(self.tag, other.tag)),
            groups: merge(&self.groups, &other.groups),
        };
        if self.overflows() || other.overflows() {
            sum.forget();
        }
        sum.folded()
    }

    fn multiplied_by(&self, other: &Self, range: Range) -> Self {
        let (own, others) = (self.magnitude(), other.magnitude());
        let (a, b) = (self.clone().amplified(others), other.clone().amplified(own));
        let both = systematic(self.worst(), other.worst());
        let mut product = Self {
            range,
            bias: a.bias + b.bias + both,
            room: f64::INFINITY,
            tag: mix(PRODUCT, mix_symmetric(self.tag, other.tag)),
            groups: merge(&a.groups, &b.groups),
        };
        if self.overflows() || other.overflows() {
            product.forget();
        }
        product.folded()
    }

    /// Folds the smallest groups into the largest, linearly, where that hardly adds anything.
    fn folded(mut self) -> Self {
        if self.groups.len() <= FOLD_ABOVE {
            return self;
        }
        let allowed = self.std() * FOLDED_PART;
        if !allowed.is_finite() {
            self.forget();
            return self;
        }
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&i, &j| self.groups[i].variance.total_cmp(&self.groups[j].variance));
        let largest = order[order.len() - 1];
        let mut deviation = 0.0;
        let small = order.iter().take_while(|&&i| {
            deviation += self.groups[i].variance.sqrt();
            deviation <= allowed
        });
        let small: Vec<usize> = small.copied().collect();
        let total: f64 = small.iter().map(|&i| self.groups[i].variance.sqrt()).sum();
        let host = &mut self.groups[largest];
        // A group that holds everything is independent of nothing in its key.
        host.members = u128::MAX;
        host.variance = square(host.variance.sqrt() + total);
        small.iter().for_each(|&i| self.groups[i].variance = f64::NAN);
        self.groups.retain(|g| !g.variance.is_nan());
        self
    }
}

impl Group {
    /// The sum of two groups of one key: in quadrature if they share no source.
    fn join(&self, other: &Self) -> Self {
        let variance = if self.members & other.members == 0 {
            self.variance + other.variance
        } else {
            square(self.variance.sqrt() + other.variance.sqrt())
        };
        Self { key: self.key, members: self.members | other.members, variance }
    }
}

/// Domain separators of [`mix`], one for each operation.
const SUM: u64 = 0x11;
const PRODUCT: u64 = 0x12;
const ROTATION: u64 = 0x13;
const AVERAGE: u64 = 0x14;

/// The name of what is computed from `a` with `b`: two words to one, by the finaliser of SplitMix64.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b ^ 0xd1b5_4a32_d192_ed03);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// As [`mix`], whichever comes first.
fn mix_symmetric(a: u64, b: u64) -> u64 {
    mix(a.min(b), a.max(b))
}

/// Rotates each block of `width` bits to the left.
fn rotate_blocks(members: u128, width: usize, by: usize) -> u128 {
    let by = by % width;
    if by == 0 {
        return members;
    }
    // One bit at the start of each block, then `by` bits.
    let starts = if width == MEMBER_BITS { 1 } else { u128::MAX / ((1 << width) - 1) };
    let low = starts * ((1 << by) - 1);
    ((members << by) & !low) | ((members >> (width - by)) & low)
}

/// The union of two sorted lists, equal keys joined.
fn merge(a: &[Group], b: &[Group]) -> Vec<Group> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let group = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.key == y.key => x.join(y),
            (Some(x), Some(y)) if x.key < y.key => **x,
            (_, Some(y)) => **y,
            (Some(x), None) => **x,
            (None, None) => return merged,
        };
        a.next_if(|x| x.key == group.key);
        b.next_if(|y| y.key == group.key);
        merged.push(group);
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// The product of two bounds; nothing is known of what is infinite times zero.
fn systematic(a: f64, b: f64) -> f64 {
    let product = a * b;
    if product.is_nan() { f64::INFINITY } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(tag: u64) -> Estimate {
        Estimate::exact(Range::symmetric(1.0), tag).with_source(Nature::Plain, 1.0, 0)
    }

    #[test]
    fn equal_sources_add_linearly_and_others_in_quadrature() {
        let (x, y) = (fresh(1), fresh(2));
        assert_eq!(x.sum(&x).std(), 2.0);
        assert!((x.sum(&y).std() - 2f64.sqrt()).abs() < 1e-15);
        // x^2: the derivative at 1 is 2.
        assert_eq!(x.product(&x).std(), 2.0);
        assert_eq!(x.product(&y).std(), 2f64.sqrt());
        // (x + y) + x: 2 and 1.
        assert!((x.sum(&y).sum(&x).std() - 5f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn sums_of_many_encryptions_grow_with_the_square_root() {
        for count in [10usize, 100, 1000, 10_000] {
            let sum = (1..count as u64).fold(fresh(0), |sum, tag| sum.sum(&fresh(tag)));
            let ratio = sum.std() / (count as f64).sqrt();
            // One bit of the three that a bound may be loose by.
            assert!((1.0 - 1e-9..2.0).contains(&ratio), "{count}: {ratio}");
        }
    }

    #[test]
    fn traces_grow_with_the_square_root() {
        for slots in [8usize, 64, 256, 8192] {
            let mut sum = fresh(7);
            for doubling in 0..slots.ilog2() {
                sum = sum.sum(&sum.clone().rotated(1 << doubling, slots));
            }
            assert!((sum.std() / (slots as f64).sqrt() - 1.0).abs() < 1e-9, "{slots}");
            // Once more: every slot already holds the whole sum.
            assert!((sum.sum(&sum.clone().rotated(1, slots)).std() / sum.std() - 2.0).abs() < 1e-9, "{slots}");
        }
    }

    #[test]
    fn rotations_compose_and_come_back() {
        for slots in [1usize, 16, 64, 128, 1024, 8192, 65536] {
            let there = fresh(3).rotated(3 * slots / 4, slots);
            assert_eq!(there.clone().rotated(slots - 3 * slots / 4, slots).groups, fresh(3).groups);
            assert_eq!(
                there.rotated(slots / 4, slots).rotated(slots + 1, slots).groups,
                fresh(3).rotated(1, slots).groups
            );
        }
        assert_eq!(fresh(3).rotated(1, 8).sum(&fresh(3)).std(), 2f64.sqrt());
        assert_eq!(fresh(3).rotated(8, 8).sum(&fresh(3)).std(), 2.0);
        // Rotations that differ in 16 slots can be equal in 8, and groups stay in order.
        let wide = fresh(3).sum(&fresh(3).rotated(8, 16));
        let read = wide.rotated(1, 8);
        assert_eq!((read.groups.len(), read.std()), (1, 2.0));
        assert!(Estimate::from_parts(read.range, read.bias, read.tag, read.groups).is_some());
    }

    #[test]
    fn folding_keeps_the_bound_and_the_size() {
        let mut sum = fresh(0);
        for tag in 1..3000 {
            sum = sum.sum(&fresh(tag).rotated(tag as usize, 8192).multiplied(Complex64::from(1e-6)));
        }
        assert!(sum.groups.len() <= FOLD_ABOVE + 1, "{}", sum.groups.len());
        assert!(sum.std() >= 1.0 && sum.std() < 1.1, "{}", sum.std());
    }

    #[test]
    fn what_may_have_left_its_modulus_stays_unknown() {
        let large = fresh(1).with_room(0.5);
        let unknown = [
            large.sum(&fresh(2)),
            fresh(2).difference(&large),
            large.product(&fresh(2)),
            large.squared(),
            large.clone().multiplied(Complex64::from(1e-9)),
            large.clone().rotated(1, 8),
            large.clone().negated(),
            large.clone().named(3),
        ];
        for estimate in unknown {
            assert_eq!(estimate.bias(), f64::INFINITY);
            // However small it becomes.
            assert_eq!(estimate.multiplied(Complex64::from(1e-300)).with_room(1e9).bound(1, 1), f64::INFINITY);
        }
        // Who knows that it is smaller says so before it is used.
        let known = fresh(1).multiplied(Complex64::from(0.001)).with_room(0.5).with_magnitude(0.01);
        assert!(known.sum(&fresh(2)).bound(1, 1).is_finite());
    }

    #[test]
    fn infinite_errors_do_not_vanish() {
        let huge = (0..2000).fold(fresh(0), |sum, tag| sum.sum(&fresh(tag).multiplied(Complex64::from(1e150))));
        let huge = huge.multiplied(Complex64::from(1e150));
        assert_eq!(huge.sum(&fresh(1)).bound(1, 1), f64::INFINITY);
        let larger = huge.multiplied(Complex64::from(1e200));
        assert_eq!(larger.bound(1, 1), f64::INFINITY);
        let zero = Estimate::exact(Range::symmetric(0.0), 5);
        assert_eq!(larger.product(&zero).bound(1, 1), f64::INFINITY);
    }

    #[test]
    fn rotate_blocks_rotates_each_block() {
        assert_eq!(rotate_blocks(0b1001_0001, 4, 1), 0b0011_0010);
        assert_eq!(rotate_blocks(1 << 127 | 2, 128, 1), 0b101);
        assert_eq!(rotate_blocks(u128::MAX, 32, 5), u128::MAX);
        assert_eq!(rotate_blocks(5, 1, 3), 5);
    }
}
