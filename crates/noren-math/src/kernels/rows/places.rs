//! Where a permutation sends words, eight by eight.

/// How many words move together.
pub const GROUP: usize = 8;

/// Bits of a place in a group.
pub(in crate::kernels) const LANE_BITS: usize = 3;
/// Bits of all places in a group.
const ORDER_BITS: usize = GROUP * LANE_BITS;

/// Where a permutation sends eight words from a multiple of eight on: to eight words from another on, in some order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(
    /// The group above the order, which has three bits for each word of the group: the place that it came from.
    pub(in crate::kernels) u64,
);

impl Place {
    /// The places of all groups under `out[j] = a[permutation[j]]`.
    ///
    /// # Panics
    /// If a group comes from several, as it does not under an automorphism, or half a group from both halves of one.
    #[must_use]
    pub fn of(permutation: &[u32]) -> Vec<Self> {
        let (groups, rest) = permutation.as_chunks::<GROUP>();
        assert!(rest.is_empty(), "{} words are not groups of {GROUP}", permutation.len());
        let mut places = vec![Self(0); groups.len()];
        for (to, from) in groups.iter().enumerate() {
            for half in from.as_chunks::<{ GROUP / 2 }>().0 {
                let together = |size: usize| half.iter().all(|source| source / size as u32 == half[0] / size as u32);
                assert!(
                    together(GROUP / 2) && from[0] / GROUP as u32 == half[0] / GROUP as u32,
                    "groups must stay whole"
                );
            }
            let lane = |(i, source): (usize, &u32)| u64::from(source % GROUP as u32) << (i * LANE_BITS);
            let order: u64 = from.iter().enumerate().map(lane).sum();
            places[from[0] as usize / GROUP] = Self((to as u64) << ORDER_BITS | order);
        }
        places
    }

    /// The place of a group that stays where it is.
    #[must_use]
    pub fn identity(group: usize) -> Self {
        Self((0..GROUP).fold((group as u64) << ORDER_BITS, |place, lane| place | (lane << (lane * LANE_BITS)) as u64))
    }

    /// Which group the words go to.
    #[inline]
    #[must_use]
    pub const fn group(self) -> usize {
        (self.0 >> ORDER_BITS) as usize
    }

    /// Which of the eight words goes to place `i` of that group.
    #[inline]
    #[must_use]
    pub const fn lane(self, i: usize) -> usize {
        (self.0 >> (i * LANE_BITS)) as usize % GROUP
    }
}
