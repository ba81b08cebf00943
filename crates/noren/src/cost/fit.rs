//! Least squares whose solution has no negative component.

/// The x with `x_j >= 0` that makes `sum_i (sum_j a_ij x_j - b_i)^2` smallest.
///
/// Coordinate descent on the normal equations: each component in turn is set to its best value, cut off at 0. The function
/// is convex, so that it ends at the minimum. A component that no row has stays 0.
///
/// # Panics
/// Rows of different lengths, or a right side for another number of rows.
#[must_use]
pub fn non_negative_least_squares(rows: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    assert_eq!(rows.len(), right.len(), "a right side for each row");
    let unknowns = rows.first().map_or(0, Vec::len);
    assert!(rows.iter().all(|row| row.len() == unknowns), "rows of one length");
    // Columns of one norm, so that all components converge alike.
    let norms: Vec<f64> = (0..unknowns).map(|j| rows.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt()).collect();
    let column = |row: &[f64], j: usize| if norms[j] > 0.0 { row[j] / norms[j] } else { 0.0 };
    let mut gram = vec![vec![0.0; unknowns]; unknowns];
    let mut target = vec![0.0; unknowns];
    for (row, &b) in rows.iter().zip(right) {
        for i in 0..unknowns {
            let a = column(row, i);
            target[i] += a * b;
            (0..unknowns).for_each(|j| gram[i][j] += a * column(row, j));
        }
    }
    let mut x = vec![0.0; unknowns];
    for _ in 0..SWEEPS {
        let mut moved: f64 = 0.0;
        for i in 0..unknowns {
            if gram[i][i] == 0.0 {
                continue;
            }
            let slope: f64 = target[i] - gram[i].iter().zip(&x).map(|(g, x)| g * x).sum::<f64>();
            let next = (x[i] + slope / gram[i][i]).max(0.0);
            moved = moved.max((next - x[i]).abs());
            x[i] = next;
        }
        if moved <= PRECISION * x.iter().fold(0.0, |most: f64, x| most.max(x.abs())) {
            break;
        }
    }
    x.iter().zip(&norms).map(|(x, norm)| if *norm > 0.0 { x / norm } else { 0.0 }).collect()
}

/// The most rounds of descent.
const SWEEPS: usize = 20_000;
/// Rounds end when no component moves by this part of the largest.
const PRECISION: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_that_are_positive_are_found() {
        let rows = [vec![1.0, 2.0, 0.0], vec![3.0, 1.0, 0.0], vec![1.0, 1.0, 0.0], vec![5.0, 7.0, 0.0]];
        let right: Vec<f64> = rows.iter().map(|row| 2.0 * row[0] + 0.5 * row[1]).collect();
        let x = non_negative_least_squares(&rows, &right);
        assert!((x[0] - 2.0).abs() < 1e-6 && (x[1] - 0.5).abs() < 1e-6 && x[2] == 0.0, "{x:?}");
    }

    #[test]
    fn components_that_would_be_negative_are_zero() {
        // Without the condition the solution is (2, -1).
        let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
        let x = non_negative_least_squares(&rows, &[2.0, -1.0, 1.0]);
        // The best with x_1 = 0: (x - 2)^2 + 1 + (x - 1)^2.
        assert!((x[0] - 1.5).abs() < 1e-9 && x[1] == 0.0, "{x:?}");
    }
}
