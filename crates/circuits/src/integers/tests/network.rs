use super::*;

/// A layer of a network: weights and biases of its neurons, and the bits that its results are shifted by.
struct Layer {
    weights: Vec<Vec<i128>>,
    biases: Vec<i128>,
    shift: u32,
}

impl Layer {
    fn random(bench: &mut Bench, [inputs, neurons]: [usize; 2], shift: u32) -> Self {
        let mut draw = || i128::from(bench.rng.next_u64() % 7) - 3;
        let weights = (0..neurons).map(|_| (0..inputs).map(|_| draw()).collect()).collect();
        Self { weights, biases: (0..neurons).map(|_| 4 * draw()).collect(), shift }
    }

    fn clear(&self, x: &[i128]) -> Vec<i128> {
        let neuron = |(weights, bias): (&Vec<i128>, &i128)| {
            let sum = weights.iter().zip(x).map(|(w, x)| w * x).sum::<i128>() + bias;
            sum.max(0) >> self.shift
        };
        self.weights.iter().zip(&self.biases).map(neuron).collect()
    }

    fn encrypted(&self, e: &IntegerEvaluator<'_>, x: &[Integers]) -> Vec<Integers> {
        let neuron = |(weights, bias): (&Vec<i128>, &i128)| {
            let terms: Vec<Integers> =
                x.iter().zip(weights).map(|(x, &w)| e.multiply_clear(x, w).unwrap()).collect();
            let sum = e.add_clear(&e.sum(&terms).unwrap(), *bias).unwrap();
            e.shift_right(&e.relu(&sum).unwrap(), self.shift).unwrap()
        };
        self.weights.iter().zip(&self.biases).map(neuron).collect()
    }
}

/// Tests a network of three layers: every row gets the class that it gets in the clear, and bounds show that nothing overflows.
#[test]
fn a_network_scores_rows_as_in_the_clear() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::new(12, true).unwrap();
    let shapes = [([5, 4], 2), ([4, 4], 2), ([4, 3], 1)];
    let rows = 100;
    let columns: Vec<Vec<i128>> =
        (0..5).map(|_| (0..rows).map(|_| i128::from(bench.rng.next_u64() % 16)).collect()).collect();
    let classes = |layers: &[Layer]| -> Vec<usize> {
        let class = |row: usize| {
            let own = columns.iter().map(|column| column[row]).collect::<Vec<_>>();
            let scores = layers.iter().fold(own, |x, layer| layer.clear(&x));
            scores.iter().position(|score| score == scores.iter().max().unwrap()).unwrap()
        };
        (0..rows).map(class).collect()
    };
    // A network that tells rows apart.
    let (layers, expected) = (0..200)
        .map(|_| {
            let layers: Vec<Layer> =
                shapes.iter().map(|&(shape, shift)| Layer::random(&mut bench, shape, shift)).collect();
            let expected = classes(&layers);
            (layers, expected)
        })
        .find(|(_, classes)| (0..3).all(|class| classes.iter().filter(|own| **own == class).count() > 9))
        .unwrap();
    let mut encrypted: Vec<Integers> =
        columns.iter().map(|column| bench.encrypt_within(kind, [0, 15], column)).collect();
    let e = bench.evaluator().with_overflow(Overflow::Refuse);
    for layer in &layers {
        encrypted = layer.encrypted(&e, &encrypted);
    }
    let [_, class] = e.argmax_of(&encrypted).unwrap();
    let expected: Vec<i128> = expected.into_iter().map(|class| class as i128).collect();
    assert_eq!(bench.open(&class), expected);
}
