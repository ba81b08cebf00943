//! Best approximations by a few functions on a set of points, by Remez's exchange.

/// Exchanges; each about squares the distance from the best approximation.
const ROUNDS: usize = 24;

/// An approximation is the best one when its largest error is so near to what no other can go below.
const NEAR: f64 = 1.0 + 1.0 / 1024.0;

/// The coefficients of the best approximation of a function by a sum of others, and its largest error.
///
/// `rows` are the points in ascending order: the values of all functions there. `values` are those of the function that is
/// approximated. The functions must be a Chebyshev system, such as even polynomials on positive points: then the best
/// approximation is the one whose largest errors, at one point more than there are functions, alternate.
///
/// `None` if there are too few points, or rounding hides the errors. Source: E. W. Cheney, Introduction to Approximation
/// Theory, chapter 3.
pub(crate) fn best(rows: &[Vec<f64>], values: &[f64]) -> Option<(Vec<f64>, f64)> {
    let needed = rows.first()?.len() + 1;
    if rows.len() < needed {
        return None;
    }
    // Denser at the end, where polynomials leave the interval.
    let angle = |i: usize| std::f64::consts::FRAC_PI_2 * i as f64 / (needed - 1) as f64;
    let last = (rows.len() - needed) as f64;
    let mut reference: Vec<usize> = (0..needed).map(|i| i + (last * libm::sin(angle(i))) as usize).collect();
    let mut found: Option<(Vec<f64>, f64)> = None;
    for _ in 0..ROUNDS {
        let solved = alternating(rows, values, &reference)?;
        let (&level, coefficients) = solved.split_last()?;
        let error = |(row, value): (&Vec<f64>, &f64)| value - dot(row, coefficients);
        let errors: Vec<f64> = rows.iter().zip(values).map(error).collect();
        let largest = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
        if found.as_ref().is_none_or(|(_, least)| largest < *least) {
            found = Some((coefficients.to_vec(), largest));
        }
        if largest <= NEAR * level.abs() {
            break;
        }
        let Some(next) = exchanged(&errors, needed) else { break };
        reference = next;
    }
    found.filter(|(_, error)| error.is_finite())
}

/// The point of the largest error in each run of one sign; while there are too many, without the smallest and the smaller
/// one beside it, so that signs still alternate, or at last without the smaller one at an end. `None` if there are too few.
fn exchanged(errors: &[f64], needed: usize) -> Option<Vec<usize>> {
    let indices: Vec<usize> = (0..errors.len()).collect();
    let runs = indices.chunk_by(|&i, &j| errors[i].is_sign_negative() == errors[j].is_sign_negative());
    let size = |i: &usize| errors[*i].abs();
    let largest = |run: &[usize]| run.iter().copied().max_by(|i, j| size(i).total_cmp(&size(j)));
    let mut kept: Vec<usize> = runs.filter_map(largest).collect();
    while kept.len() > needed {
        let smaller = |i: usize, j: usize| if size(&kept[i]) < size(&kept[j]) { i } else { j };
        let last = kept.len() - 1;
        if kept.len() == needed + 1 {
            kept.remove(smaller(0, last));
            continue;
        }
        let least = (0..last).fold(last, |least, i| smaller(i, least));
        if least == 0 || least == last {
            kept.remove(least);
        } else {
            let beside = smaller(least - 1, least + 1);
            kept.drain(least.min(beside)..=least.max(beside));
        }
    }
    (kept.len() == needed).then_some(kept)
}

/// The coefficients, and the error e, with which the approximation is off by `e, -e, e, ..` at the points of the reference.
fn alternating(rows: &[Vec<f64>], values: &[f64], reference: &[usize]) -> Option<Vec<f64>> {
    let sign = |place: usize| if place.is_multiple_of(2) { 1.0 } else { -1.0 };
    let equation = |(place, &point): (usize, &usize)| {
        rows[point].iter().copied().chain([sign(place), values[point]]).collect::<Vec<f64>>()
    };
    solve(reference.iter().enumerate().map(equation).collect())
}

/// The solution of linear equations, each with its right side behind, by elimination with pivots.
fn solve(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let count = equations.len();
    for column in 0..count {
        let pivot =
            (column..count).max_by(|&i, &j| equations[i][column].abs().total_cmp(&equations[j][column].abs()))?;
        equations.swap(column, pivot);
        let (done, rest) = equations.split_at_mut(column + 1);
        let pivot = &done[column];
        if pivot[column] == 0.0 {
            return None;
        }
        for equation in rest {
            let factor = equation[column] / pivot[column];
            equation.iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut solution = vec![0.0; count];
    for i in (0..count).rev() {
        let known = dot(&equations[i][i + 1..count], &solution[i + 1..]);
        solution[i] = (equations[i][count] - known) / equations[i][i];
    }
    Some(solution)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_line_below_a_square_is_the_one_of_chebyshev() {
        // x^2 - (x - 1/8) is T_2(2 x - 1) / 8 on [0, 1].
        let points: Vec<f64> = (0..=64).map(|i| f64::from(i) / 64.0).collect();
        let rows: Vec<Vec<f64>> = points.iter().map(|&x| vec![1.0, x]).collect();
        let values: Vec<f64> = points.iter().map(|x| x * x).collect();
        let (coefficients, error) = best(&rows, &values).expect("there are enough points");
        for (found, expected) in coefficients.iter().zip([-0.125, 1.0]) {
            assert!((found - expected).abs() < 1e-14, "{coefficients:?}");
        }
        assert!((error - 0.125).abs() < 1e-14, "{error}");
    }

    #[test]
    fn too_few_points_have_no_best_approximation() {
        assert_eq!(best(&[vec![1.0, 0.0], vec![1.0, 1.0]], &[0.0, 1.0]), None);
        assert_eq!(best(&[], &[]), None);
    }
}
