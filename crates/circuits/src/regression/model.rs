//! Scaling of features before training, and the model after it.

/// Scaling that makes features comparable: each less its mean, divided by twice its standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    means: Vec<f64>,
    widths: Vec<f64>,
}

/// A trained model, for unscaled features: a row is in the class if constant + Σ weight·feature > 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Constant term of the score.
    pub constant: f64,
    /// Weight of every feature in the score.
    pub weights: Vec<f64>,
}

/// Reason why a table cannot be trained on.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// The table has no rows, or no features.
    #[error("the table is empty: give it at least one row and one column of numbers")]
    Empty,
    /// A row of the table does not fit a vector of slots.
    #[error(
        "{features} features and a constant do not fit {slots} slots: take fewer columns or a larger ring"
    )]
    TooWide {
        /// Number of features of the table.
        features: usize,
        /// Largest number of slots of a vector.
        slots: usize,
    },
    /// A part of the table has the wrong size.
    #[error("{got} {what}, expected {expected}: use one layout and one scaling for one table")]
    Shape {
        /// Name of the part that was counted.
        what: &'static str,
        /// Number of rows, labels or features expected.
        expected: usize,
        /// Number of rows, labels or features found.
        got: usize,
    },
    /// A feature is too far from the others of its column.
    #[error(
        "a cell is {got:.1} double deviations from its mean, at most {most} are possible: remove or limit outliers"
    )]
    TooLarge {
        /// Value of the scaled feature of the cell.
        got: f64,
        /// Largest possible value of a scaled feature.
        most: f64,
    },
    /// A cell of the table is no finite number.
    #[error("a cell is infinite or no number: clean the table first")]
    NotFinite,
}

impl Scaling {
    /// Computes the scaling of features from the rows to train on.
    ///
    /// # Errors
    /// [`RegressionError::Empty`]; [`RegressionError::Shape`] for rows of different lengths; [`RegressionError::NotFinite`].
    pub fn of(rows: &[Vec<f64>]) -> Result<Self, RegressionError> {
        let expected =
            rows.first().map(Vec::len).filter(|features| *features > 0).ok_or(RegressionError::Empty)?;
        if let Some(odd) = rows.iter().find(|row| row.len() != expected) {
            return Err(RegressionError::Shape { what: "features", expected, got: odd.len() });
        }
        if rows.iter().flatten().any(|cell| !cell.is_finite()) {
            return Err(RegressionError::NotFinite);
        }
        let count = rows.len() as f64;
        let mut means = vec![0.0; expected];
        for row in rows {
            means.iter_mut().zip(row).for_each(|(mean, cell)| *mean += cell / count);
        }
        let mut widths = vec![0.0; expected];
        for row in rows {
            for ((width, cell), mean) in widths.iter_mut().zip(row).zip(&means) {
                *width += (cell - mean).powi(2) / count;
            }
        }
        Self::from_moments(means, &widths)
    }

    /// Makes the scaling of features from their means and variances Σ(x − mean)²/n, for rows of which nobody has all.
    ///
    /// ```
    /// use sunzi_circuits::regression::Scaling;
    ///
    /// let rows = [vec![1.0, 5.0], vec![3.0, 5.0]];
    /// assert_eq!(Scaling::from_moments(vec![2.0, 5.0], &[1.0, 0.0])?, Scaling::of(&rows)?);
    /// # Ok::<(), sunzi_circuits::regression::RegressionError>(())
    /// ```
    ///
    /// # Errors
    /// [`RegressionError::Empty`]; [`RegressionError::Shape`] unless there are as many variances as means; [`RegressionError::NotFinite`], for a negative variance too.
    pub fn from_moments(means: Vec<f64>, variances: &[f64]) -> Result<Self, RegressionError> {
        let (expected, got) = (means.len(), variances.len());
        if expected == 0 {
            return Err(RegressionError::Empty);
        }
        if got != expected {
            return Err(RegressionError::Shape { what: "variances", expected, got });
        }
        let sound = |variance: &f64| variance.is_finite() && *variance >= 0.0;
        if !means.iter().all(|mean| mean.is_finite()) || !variances.iter().all(sound) {
            return Err(RegressionError::NotFinite);
        }
        // A column that never changes has no information and gets no weight.
        let width = |&variance: &f64| if variance > 0.0 { 2.0 * variance.sqrt() } else { 1.0 };
        Ok(Self { means, widths: variances.iter().map(width).collect() })
    }

    /// Returns the scaled features of a row.
    pub(super) fn apply<'a>(
        &'a self,
        row: &'a [f64],
    ) -> Result<impl Iterator<Item = f64> + 'a, RegressionError> {
        let (expected, got) = (self.means.len(), row.len());
        if got != expected {
            return Err(RegressionError::Shape { what: "features", expected, got });
        }
        let parts = row.iter().zip(&self.means).zip(&self.widths);
        Ok(parts.map(|((cell, mean), width)| (cell - mean) / width))
    }

    /// Returns the model for unscaled features, from the weights for scaled ones, constant first.
    #[must_use]
    pub fn model(&self, weights: &[f64]) -> Model {
        let (constant, weights) =
            weights.split_first().map_or((0.0, weights), |(first, rest)| (*first, rest));
        let scaled: Vec<f64> =
            weights.iter().zip(&self.widths).map(|(weight, width)| weight / width).collect();
        let shift: f64 = scaled.iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum();
        Model { constant: constant - shift, weights: scaled }
    }
}

impl Model {
    /// Whether the model puts a row in the class.
    #[must_use]
    pub fn classify(&self, row: &[f64]) -> bool {
        self.constant + self.weights.iter().zip(row).map(|(weight, cell)| weight * cell).sum::<f64>() > 0.0
    }
}

/// Returns the fraction of rows that a model classifies as their labels say; 0 for no rows.
#[must_use]
pub fn accuracy(model: &Model, rows: &[Vec<f64>], labels: &[bool]) -> f64 {
    let right = rows.iter().zip(labels).filter(|(row, label)| model.classify(row) == **label).count();
    right as f64 / rows.len().max(1) as f64
}
