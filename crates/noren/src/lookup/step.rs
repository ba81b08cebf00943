//! The steps of a lookup, of which a caller hears.

/// The steps of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Both one-hot vectors; of a polynomial, the second alone.
    OneHot,
    /// The powers of the first number, of a polynomial.
    Powers,
    /// The rotations of the first one-hot vector.
    Babies,
    /// All products with the factors of the matrix, or with the coefficients of the polynomial.
    Matrix,
    /// The rotations of their sums; of a polynomial, their products with powers.
    Giants,
    /// The product with the second one-hot vector, and the sum over slots.
    Select,
}
