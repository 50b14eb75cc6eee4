//! Least-squares solver, for systems of a few dozen unknowns.

/// Returns the c that minimises ‖Σ c_k·columns_k − values‖, by the modified Gram–Schmidt process with the values as one more column:
/// as stable as reflections. Columns must be independent.
pub(crate) fn least_squares(mut columns: Vec<Vec<f64>>, mut values: Vec<f64>) -> Vec<f64> {
    let mut triangle: Vec<(Vec<f64>, f64)> = Vec::with_capacity(columns.len());
    while !columns.is_empty() {
        let mut unit = columns.remove(0);
        let norm = dot(&unit, &unit).sqrt().max(f64::MIN_POSITIVE);
        unit.iter_mut().for_each(|x| *x /= norm);
        let mut row = vec![norm];
        for column in &mut columns {
            row.push(project(&unit, column));
        }
        triangle.push((row, project(&unit, &mut values)));
    }
    let mut solution: Vec<f64> = Vec::with_capacity(triangle.len());
    for (row, value) in triangle.iter().rev() {
        // The last unknowns come first.
        let known: f64 = row.iter().skip(1).rev().zip(&solution).map(|(r, c)| r * c).sum();
        solution.push((value - known) / row.first().copied().unwrap_or(1.0));
    }
    solution.reverse();
    solution
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the inner product ⟨unit, x⟩ and subtracts the projection from x.
fn project(unit: &[f64], x: &mut [f64]) -> f64 {
    let share = dot(unit, x);
    x.iter_mut().zip(unit).for_each(|(x, u)| *x -= share * u);
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_and_overdetermined_systems() {
        let columns = vec![vec![2.0, 1.0, 0.0], vec![1.0, 3.0, 1.0], vec![0.0, 1.0, 4.0]];
        let c = least_squares(columns, vec![3.0, 5.0, 6.0]);
        let back = [2.0 * c[0] + c[1], c[0] + 3.0 * c[1] + c[2], c[1] + 4.0 * c[2]];
        for (got, wanted) in back.iter().zip([3.0, 5.0, 6.0]) {
            assert!((got - wanted).abs() < 1e-14);
        }
        // The line through (0, 1), (1, 2), (2, 4): slope 3/2, at the mean 7/3.
        let c = least_squares(vec![vec![1.0; 3], vec![0.0, 1.0, 2.0]], vec![1.0, 2.0, 4.0]);
        assert!((c[1] - 1.5).abs() < 1e-14 && (c[0] + 1.5 - 7.0 / 3.0).abs() < 1e-14);
    }
}
