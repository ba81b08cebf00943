//! Numbers in a text: whole ones exactly, others as floating point that is nearest to them.

/// The number that a text states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decimal {
    /// A whole number: up to 2^53 however it is written, such as `5.0` and `1e2`; beyond, with all its digits and nothing
    /// else, because what writes a point or an exponent there has a floating-point number, which may be rounded.
    Whole(i128),
    /// Any other number; infinite where it is too large.
    Nearest(f64),
}

/// Every whole number up to this one is a number of 64-bit floating point.
pub(super) const LARGEST_EXACT: i128 = 1 << 53;

impl Decimal {
    /// The number in a text: digits, at most one point, and an exponent. Nothing for a text that is no number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let nearest: f64 = text.parse().ok()?;
        // The nearest number to a whole one is whole.
        if !nearest.is_finite() || nearest.fract() != 0.0 {
            return Some(Self::Nearest(nearest));
        }
        Some(whole(text).map_or(Self::Nearest(nearest), Self::Whole))
    }
}

/// The whole number in the text of a finite number, if it is one.
fn whole(text: &str) -> Option<i128> {
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [before, after].concat();
    let kept = digits.trim_end_matches('0');
    let significant = kept.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // Exponents beyond 64 bits are those of numbers that are tiny: infinite ones are no finite numbers.
    let exponent: i64 = exponent.parse().ok()?;
    let behind = i64::try_from(after.len()).ok()? - i64::try_from(digits.len() - kept.len()).ok()?;
    // The zeros behind the last digit that is not zero.
    let zeros = usize::try_from(exponent.checked_sub(behind)?).ok()?;
    if significant.len().checked_add(zeros)? > LARGEST_EXACT.ilog10() as usize + 1 {
        return None;
    }
    let magnitude: i128 = (significant.to_owned() + &"0".repeat(zeros)).parse().ok()?;
    (magnitude <= LARGEST_EXACT).then_some(if is_negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact_however_they_are_written() {
        for (text, needed) in [
            ("0", 0),
            ("-0.000", 0),
            ("0e99999999999999999999", 0),
            ("0.0e-7", 0),
            ("9007199254740993", 9_007_199_254_740_993),
            ("-9007199254740993", -9_007_199_254_740_993),
            ("+18446744073709551615", u64::MAX.into()),
            ("90071992547409920e-1", 9_007_199_254_740_992),
            ("9.007199254740991e15", 9_007_199_254_740_991),
            ("0001234567890123450000e-4", 123_456_789_012_345),
            ("000018446744073709551615", u64::MAX.into()),
            (".5e1", 5),
            ("5.", 5),
            ("1E2", 100),
            ("99999999999999999999999999999999999999", 10_i128.pow(38) - 1),
        ] {
            assert_eq!(Decimal::parse(text), Some(Decimal::Whole(needed)), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_the_nearest_and_never_whole() {
        for (text, needed) in [
            ("0.99999999999999999999", 1.0),
            ("9007199254740992.5", 9_007_199_254_740_992.0),
            ("4503599627370496.25", 4_503_599_627_370_496.0),
            ("1e-400", 0.0),
            ("-0.0000000000000000000000000000001e-300", -0.0),
            ("1e-99999999999999999999", 0.0),
            ("0.1", 0.1),
            ("5e-1", 0.5),
            ("1e39", 1e39),
            ("90071992547409930e-1", 9_007_199_254_740_992.0),
            ("9007199254740993.0", 9_007_199_254_740_992.0),
            ("1.8446744073709552e19", 18_446_744_073_709_551_616.0),
            ("1e400", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(Decimal::parse(text), Some(Decimal::Nearest(needed)), "{text}");
        }
        for text in ["", ".", "-", "e5", "1e", "0x10", "1_000", "1,5", " 1", "--1", "1e5.0", "٣"] {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
        assert!(matches!(Decimal::parse("nan"), Some(Decimal::Nearest(x)) if x.is_nan()));
    }

    /// Random texts, against sums of their digits.
    #[test]
    fn texts_at_random_are_the_whole_numbers_of_their_digits() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..20_000 {
            let digits: Vec<u64> = (0..=below(22)).map(|_| if below(3) == 0 { 0 } else { below(10) }).collect();
            let point = below(digits.len() as u64 + 1) as usize;
            let exponent = below(30) as i32 - 15;
            let text: String = digits.iter().map(ToString::to_string).collect();
            let text = format!("{}.{}e{exponent}", &text[..point], &text[point..]);
            // Times 10^40, so that every place is a whole number.
            let mut scaled: Option<(i128, bool)> = Some((0, true));
            for (place, digit) in digits.iter().enumerate() {
                let power = point as i32 - 1 - place as i32 + exponent;
                scaled = scaled.and_then(|(sum, is_whole)| match u32::try_from(power) {
                    Ok(power) => {
                        Some((sum.checked_add(10_i128.checked_pow(power)?.checked_mul(i128::from(*digit))?)?, is_whole))
                    }
                    Err(_) => Some((sum, is_whole && *digit == 0)),
                });
            }
            match (Decimal::parse(&text), scaled) {
                (Some(Decimal::Whole(found)), Some((needed, true))) => assert_eq!(found, needed, "{text}"),
                (Some(Decimal::Nearest(_)), Some((_, false)) | None) => {}
                // With a point and an exponent.
                (Some(Decimal::Nearest(_)), Some((needed, true))) => assert!(needed > LARGEST_EXACT, "{text}"),
                found => panic!("{text}: {found:?}"),
            }
        }
    }
}
