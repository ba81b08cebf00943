//! Values of polynomials by Horner's rule.

use noren_math::kernels::{Kernels, available, by_name};

#[test]
fn values_by_horners_rule_have_the_same_bits() {
    // Blocks of all lanes, and points that are left over.
    for points in [0, 1, 31, 32, 64, 77] {
        for coefficients in [0, 1, 2, 50] {
            let a: Vec<f64> = (1..=coefficients).map(|i| (i * 7919 % 2003) as f64 - 1001.5).collect();
            // Points of the unit circle.
            let [c, s] = [f64::cos, f64::sin].map(|part| (0..points).map(|j| part(j as f64)).collect::<Vec<_>>());
            let values = |table: &Kernels| {
                let (mut re, mut im) = (vec![f64::NAN; points], vec![f64::NAN; points]);
                table.horner(&mut re, &mut im, &a, [&c, &s]);
                [re, im].map(|part| part.into_iter().map(f64::to_bits).collect::<Vec<_>>())
            };
            let [re, im] = values(by_name("portable").expect("always there"));
            for table in available() {
                assert!(values(table) == [re.clone(), im.clone()], "{} of {points} points", table.name());
            }
            for (j, (re, im)) in re.iter().zip(&im).enumerate() {
                let powers = std::iter::successors(Some([1.0, 0.0]), |[x, y]: &[f64; 2]| {
                    Some([x * c[j] - y * s[j], x * s[j] + y * c[j]])
                });
                let terms = a.iter().zip(powers).map(|(a, [x, y])| [a * x, a * y]);
                let expected = terms.fold([0.0, 0.0], |[x, y], [a, b]| [x + a, y + b]);
                for (found, expected) in [f64::from_bits(*re), f64::from_bits(*im)].iter().zip(expected) {
                    assert!((found - expected).abs() <= 1e-9, "point {j}: {found}, {expected}");
                }
            }
        }
    }
}
