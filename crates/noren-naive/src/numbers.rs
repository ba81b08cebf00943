//! Elements as the integers that they stand for.

use noren_ring::window::Window;
use num_bigint::BigInt;

use crate::element::Element;

/// The product of the primes at some limbs.
pub(crate) fn product(window: &Window, limbs: impl IntoIterator<Item = usize>) -> BigInt {
    limbs.into_iter().map(|limb| BigInt::from(window.basis().modulus(limb).value())).product()
}

/// The residue of x in `[0, q)`.
pub(crate) fn residue(x: &BigInt, q: u64) -> u64 {
    let q = BigInt::from(q);
    u64::try_from(((x % &q) + &q) % &q).expect("a residue is one word")
}

/// The representative of x modulo an odd q in `(-q/2, q/2)`.
pub(crate) fn centred(x: &BigInt, q: &BigInt) -> BigInt {
    let residue = ((x % q) + q) % q;
    if &residue * 2 > *q { residue - q } else { residue }
}

/// The coefficients in `(-D/2, D/2)` that an element in evaluation form has modulo the primes at some limbs, of product D:
/// by the Chinese remainder theorem.
pub(crate) fn coefficients(window: &Window, a: &Element, limbs: &[usize]) -> Vec<BigInt> {
    let picked: Vec<Vec<u64>> = limbs
        .iter()
        .map(|&limb| Element::build(limb..limb + 1, a.is_secret(), |limb| a.row(limb).to_vec()))
        .map(|row| row.inverse(window).row(row.window().start).to_vec())
        .collect();
    numbers(window, limbs, &picked)
}

/// The numbers in `(-D/2, D/2)` with these residues modulo the primes at some limbs.
pub(crate) fn numbers(window: &Window, limbs: &[usize], rows: &[Vec<u64>]) -> Vec<BigInt> {
    let d = product(window, limbs.iter().copied());
    let weights: Vec<BigInt> = limbs
        .iter()
        .map(|&limb| {
            let q = BigInt::from(window.basis().modulus(limb).value());
            let cofactor = &d / &q;
            // Fermat: the inverse is the power of exponent q - 2.
            &cofactor * cofactor.modpow(&(&q - 2), &q)
        })
        .collect();
    let number = |i: usize| centred(&weights.iter().zip(rows).map(|(weight, row)| weight * row[i]).sum(), &d);
    (0..rows[0].len()).map(number).collect()
}

/// The element with these coefficients, in evaluation form.
pub(crate) fn element(window: &Window, coefficients: &[BigInt], secret: bool) -> Element {
    let row = |limb| coefficients.iter().map(|x| residue(x, window.basis().modulus(limb).value())).collect();
    Element::build(window.range(), secret, row).forward(window)
}
