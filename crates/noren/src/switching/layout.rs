//! Which coefficient holds which value, and in which slice.
//!
//! Slot j of n is packed coefficient `c = brv(j)`, its bits reversed: real parts are the coefficients `c N / 2n` of a ring of
//! degree N, imaginary parts those `N/2` further ([`Direction`](crate::bootstrapping::Direction)). Coefficient `g i + s` is
//! coefficient i of slice s, of g slices of degree `N' = N / g`.

/// The places of the values of a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// N.
    pub degree: usize,
    /// g.
    pub slices: usize,
    /// n.
    pub slots: usize,
    /// Whether imaginary parts are values too.
    pub complex: bool,
}

/// A slice, and the values that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub number: usize,
    /// Its values, in the order of their coefficients, which are evenly spaced: over half of the slice where values are real, and
    /// else over all of it. Each is the number of its part, 0 for real parts and 1 for imaginary ones, and its slot.
    pub values: Vec<(usize, usize)>,
}

impl Layout {
    /// How many values a slot has: 1, or 2 for complex ones.
    pub(super) const fn parts(&self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    /// How many values there are.
    pub(super) const fn values(&self) -> usize {
        self.parts() * self.slots
    }

    /// The coefficient of the real part of a slot, or of its imaginary part.
    pub(super) fn coefficient(&self, (part, slot): (usize, usize)) -> usize {
        self.packed(slot) * self.gap() + part * self.degree / 2
    }

    /// All slices that hold values.
    pub(super) fn slices(&self) -> impl Iterator<Item = Slice> {
        // Coefficients that are g apart are in one slice.
        let stride = (self.slices / self.gap()).max(1);
        let layout = *self;
        (0..stride).map(move |first| {
            let slots = (first..layout.slots).step_by(stride).map(move |packed| layout.packed(packed));
            let values = (0..layout.parts()).flat_map(|part| slots.clone().map(move |slot| (part, slot))).collect();
            Slice { number: first * layout.gap() % layout.slices, values }
        })
    }

    /// By how many steps of the trace a slice is packed: the last one is for the second half of it.
    pub(super) const fn steps(&self) -> usize {
        let all = (self.degree / self.slices).ilog2() as usize;
        if self.complex { all } else { all - 1 }
    }

    const fn gap(&self) -> usize {
        self.degree / 2 / self.slots
    }

    /// The packed coefficient of a slot, and the slot of a packed coefficient.
    const fn packed(&self, slot: usize) -> usize {
        let bits = self.slots.ilog2();
        if bits == 0 { 0 } else { slot.reverse_bits() >> (usize::BITS - bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hold_every_value_once_at_its_coefficient() {
        for (degree, slices) in [(1024, 2), (1024, 16), (64, 1), (1 << 16, 32)] {
            for slots in (0..usize::ilog2(degree)).map(|log| 1 << log) {
                for complex in [false, true] {
                    let layout = Layout { degree, slices, slots, complex };
                    let mut met = vec![false; layout.values()];
                    let small = degree / slices;
                    for slice in layout.slices() {
                        let span = small >> usize::from(!complex);
                        assert_eq!(span, 1 << layout.steps());
                        for (place, &value) in slice.values.iter().enumerate() {
                            let within = place * span / slice.values.len();
                            assert_eq!(layout.coefficient(value), slices * within + slice.number);
                            let (part, slot) = value;
                            assert!(!std::mem::replace(&mut met[part * slots + slot], true));
                        }
                    }
                    assert!(met.iter().all(|&met| met), "{layout:?}");
                }
            }
        }
    }
}
