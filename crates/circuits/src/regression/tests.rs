use super::*;

/// Returns a table whose labels depend on two of three features, with repeating noise.
fn table(count: usize) -> (Vec<Vec<f64>>, Vec<bool>) {
    let noise = |i: usize, seed: f64| ((i as f64 * 12.9898 + seed) * 43758.5453).sin();
    let row = |i: usize| vec![10.0 + noise(i, 1.0), 1e3 * noise(i, 2.0), 1e-3 * noise(i, 3.0)];
    let rows: Vec<_> = (0..count).map(row).collect();
    let labels =
        rows.iter().map(|row| 3.0 * (row[0] - 10.0) - row[1] / 1e3 + 0.3 * (row[2] * 5e4).sin() > 0.2);
    let labels = labels.collect();
    (rows, labels)
}

/// Trains by the textbook's algorithm, row by row, with the same polynomial.
fn reference(training: &Training, scaling: &Scaling, rows: &[Vec<f64>], labels: &[bool]) -> Vec<f64> {
    let logistic = Logistic::new(training.width);
    let signed = |row: &Vec<f64>, label: &bool| -> Vec<f64> {
        let sign = if *label { 1.0 } else { -1.0 };
        std::iter::once(1.0).chain(scaling.apply(row).unwrap()).map(|x| sign * x).collect()
    };
    let z: Vec<Vec<f64>> = rows.iter().zip(labels).map(|(row, label)| signed(row, label)).collect();
    let length = z[0].len();
    let (mut v, mut w, mut lambda) = (vec![0.0; length], vec![0.0; length], 1.0_f64);
    for _ in 0..training.iterations {
        let mut gradient = vec![0.0; length];
        for row in &z {
            let u: f64 = row.iter().zip(&v).map(|(x, y)| x * y).sum();
            let weight = logistic.at(u / training.width);
            gradient.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x / z.len() as f64);
        }
        let stepped: Vec<f64> = v.iter().zip(&gradient).map(|(v, g)| v + training.rate * g).collect();
        let following = f64::midpoint(1.0, (1.0 + 4.0 * lambda * lambda).sqrt());
        let eta = (lambda - 1.0) / following;
        v = stepped.iter().zip(&w).map(|(new, old)| new + eta * (new - old)).collect();
        (w, lambda) = (stepped, following);
    }
    w
}

#[test]
fn packed_training_is_the_textbooks_row_by_row() {
    for (count, most_slots) in [(1, 64), (5, 64), (33, 1 << 12), (33, 32), (40, 128)] {
        let (rows, labels) = table(count);
        let scaling = Scaling::of(&rows).unwrap();
        let layout = Layout::new(count, 3, most_slots).unwrap();
        assert_eq!(layout.blocks(), (count * 4).div_ceil(layout.slots()).max(1), "{layout:?}");
        let blocks = layout.pack(&scaling, &rows, &labels).unwrap();
        for iterations in [1, 2, 7] {
            let training = Training { iterations, ..Training::default() };
            let clear = ClearReals::new(layout.slots(), 10);
            let table: Vec<_> = blocks.iter().map(|block| clear.encrypt(block)).collect();
            let trained = train(&clear, &layout, &training, &table, &mut |_| ()).unwrap();
            let weights = layout.weights(trained.values());
            let expected = reference(&training, &scaling, &rows, &labels);
            for (got, expected) in weights.iter().zip(&expected) {
                assert!((got - expected).abs() < 1e-9, "{count} rows, {iterations}: {weights:?} {expected}");
            }
            // Every row holds the same weights.
            for (slot, value) in trained.values().iter().enumerate() {
                assert!((value - trained.values()[slot % 4]).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn an_iteration_takes_the_levels_and_rotations_it_says() {
    let (rows, labels) = table(20);
    let scaling = Scaling::of(&rows).unwrap();
    let layout = Layout::new(20, 3, 1 << 12).unwrap();
    let training = Training { iterations: 6, ..Training::default() };
    let run = |levels: usize| {
        let clear = ClearReals::new(layout.slots(), levels);
        let blocks = layout.pack(&scaling, &rows, &labels).unwrap();
        let table: Vec<_> = blocks.iter().map(|block| clear.encrypt(block)).collect();
        let mut refreshes = 0;
        let result = train(&clear, &layout, &training, &table, &mut |at| {
            refreshes = refreshes.max(at.refreshes + usize::from(at.refreshing));
        });
        let (rotations, products) = clear.counts();
        assert!(
            result.is_err() || rotations == 5 * (2 + 2 + 5) + 5 && products == 5 * 5,
            "{rotations}, {products}"
        );
        result.map(|_| refreshes)
    };
    // The first iteration takes one level, each of the other five takes five.
    assert_eq!(run(26).unwrap(), 0);
    assert_eq!(run(25).unwrap(), 1);
    assert_eq!(run(11).unwrap(), 2);
    assert_eq!(run(6).unwrap(), 4);
    assert!(matches!(run(4).unwrap_err(), CircuitError::Scheme(ClearRealsError::LevelsExhausted)));
}

#[test]
fn tables_of_several_owners_add_up() {
    let (rows, labels) = table(33);
    let scaling = Scaling::of(&rows).unwrap();
    for most_slots in [32, 1 << 12] {
        let layout = Layout::new(33, 3, most_slots).unwrap();
        let mut sum = vec![vec![0.0; layout.slots()]; layout.blocks()];
        for owned in [0..1, 1..20, 20..33] {
            let part = layout.pack_from(owned.start, &scaling, &rows[owned.clone()], &labels[owned]);
            for (sum, part) in sum.iter_mut().flatten().zip(part.unwrap().into_iter().flatten()) {
                assert!(*sum == 0.0 || part == 0.0, "a slot has one owner");
                *sum += part;
            }
        }
        assert_eq!(sum, layout.pack(&scaling, &rows, &labels).unwrap());
        for first in [1, 33, usize::MAX] {
            let refused = layout.pack_from(first, &scaling, &rows, &labels);
            assert!(matches!(refused, Err(RegressionError::Shape { what: "rows", .. })), "{first}");
        }
    }
    for (means, variances) in
        [(vec![0.0], vec![-1.0]), (vec![f64::NAN], vec![1.0]), (vec![0.0], vec![f64::INFINITY])]
    {
        assert_eq!(Scaling::from_moments(means, &variances).unwrap_err(), RegressionError::NotFinite);
    }
    assert_eq!(Scaling::from_moments(vec![], &[]).unwrap_err(), RegressionError::Empty);
    let odd = Scaling::from_moments(vec![0.0], &[]).unwrap_err();
    assert_eq!(odd, RegressionError::Shape { what: "variances", expected: 1, got: 0 });
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(Layout::new(0, 3, 64).unwrap_err(), RegressionError::Empty);
    assert_eq!(Layout::new(3, 64, 64).unwrap_err(), RegressionError::TooWide { features: 64, slots: 64 });
    assert_eq!(Scaling::of(&[]).unwrap_err(), RegressionError::Empty);
    assert_eq!(Scaling::of(&[vec![f64::NAN]]).unwrap_err(), RegressionError::NotFinite);
    let odd = Scaling::of(&[vec![1.0], vec![1.0, 2.0]]).unwrap_err();
    assert_eq!(odd, RegressionError::Shape { what: "features", expected: 1, got: 2 });
    let (rows, labels) = table(4);
    let (scaling, layout) = (Scaling::of(&rows).unwrap(), Layout::new(4, 3, 64).unwrap());
    assert!(matches!(layout.pack(&scaling, &rows[1..], &labels), Err(RegressionError::Shape { .. })));
    assert!(matches!(layout.pack(&scaling, &rows, &labels[1..]), Err(RegressionError::Shape { .. })));
    let far: Vec<Vec<f64>> = (0..2000).map(|i| vec![if i == 7 { 1e9 } else { f64::from(i % 2) }]).collect();
    let (scaling_of_far, labels_of_far) = (Scaling::of(&far).unwrap(), vec![true; far.len()]);
    let packed = Layout::new(far.len(), 1, 1 << 13).unwrap().pack(&scaling_of_far, &far, &labels_of_far);
    assert!(matches!(packed, Err(RegressionError::TooLarge { .. })));
    let clear = ClearReals::new(layout.slots(), 10);
    let none = train(&clear, &layout, &Training::default(), &[], &mut |_| ());
    assert!(matches!(none, Err(CircuitError::LengthsDiffer { left: 0, right: 1 })));
    let block = clear.encrypt(&layout.pack(&scaling, &rows, &labels).unwrap()[0]);
    let none =
        train(&clear, &layout, &Training { iterations: 0, ..Training::default() }, &[block], &mut |_| ());
    assert!(matches!(none, Err(CircuitError::Empty { .. })));
    for (value, bound) in [(0.8, 0.7), (-0.8, 0.7), (f64::NAN, 1.0)] {
        assert!(matches!(
            clear.bounded(clear.encrypt(&[value]), bound),
            Err(ClearRealsError::TooLarge { .. })
        ));
    }
}

#[test]
fn columns_that_never_change_get_no_weight() {
    let rows: Vec<Vec<f64>> = (0..16).map(|i| vec![f64::from(i), 7.0]).collect();
    let labels: Vec<bool> = (0..16).map(|i| i > 7).collect();
    let scaling = Scaling::of(&rows).unwrap();
    let layout = Layout::new(16, 2, 64).unwrap();
    let clear = ClearReals::new(layout.slots(), 30);
    let block = clear.encrypt(&layout.pack(&scaling, &rows, &labels).unwrap()[0]);
    let training = Training { iterations: 5, ..Training::default() };
    let trained = train(&clear, &layout, &training, &[block], &mut |_| ()).unwrap();
    let model = scaling.model(&layout.weights(trained.values()));
    assert_eq!(model.weights[1], 0.0);
    assert_eq!(accuracy(&model, &rows, &labels), 1.0);
}
