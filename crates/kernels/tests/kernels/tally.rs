//! Counts with the feature `tally`.

use sunzi_kernels::{Conversion, Modulus, NttPlan, Tally};

#[test]
fn every_kind_of_work_is_counted_once() {
    let moduli = [97, 193].map(|q| Modulus::new(q).unwrap());
    let plan = NttPlan::new(Modulus::new(257).unwrap(), 64).unwrap();
    let mut words = vec![1; 64];
    let one = vec![1; 64];
    let [modulus, _] = moduli;
    let conversion = Conversion::new(&moduli, &[Modulus::new(257).unwrap()], |_, _| 1).unwrap();
    let mut work = || {
        plan.forward(&mut words).unwrap();
        plan.forward(&mut words).unwrap();
        plan.inverse(&mut words).unwrap();
        modulus.mul_assign(&mut words, &one).unwrap();
        modulus.inner_product(&mut words, &[&one, &one], &[&one, &one]).unwrap();
        conversion.apply(&[&one, &one], &mut [&mut words]).unwrap();
    };
    let counted = Tally { forward: 2, inverse: 1, conversion_products: 128, products: 3 * 64 };
    let ((), tally) = Tally::of(&mut work);
    assert_eq!(tally, counted);
    assert_eq!(tally.transforms(), 3);
    // What is not counted leaves no trace in what is; a call within a call counts for both.
    work();
    let (inner, outer) = Tally::of(|| {
        work();
        Tally::of(&mut work).1
    });
    assert_eq!(inner, counted);
    assert_eq!(outer - inner, counted);
}
