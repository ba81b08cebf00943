//! Where a digit lies in a torus word.

/// Where a digit lies in a word to which [`Gadget::offset`](crate::torus::gadget::Gadget::offset) was added: the unsigned digit there is `B/2` too large.
#[derive(Debug, Clone, Copy)]
pub struct Digit {
    /// Its lowest bit.
    pub(crate) shift: u32,
    /// How many bits it has: `log2 B`.
    pub(crate) bits: u32,
}
