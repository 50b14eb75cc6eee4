//! Counts with the feature `tally`.

use sunzi_kernels::{Conversion, Modulus, NttPlan, Tally};

#[test]
fn every_kind_of_work_is_counted_once() {
    let moduli = [97, 193].map(|q| Modulus::new(q).unwrap());
    let plan = NttPlan::new(Modulus::new(257).unwrap(), 64).unwrap();
    let mut words = vec![1; 64];
    let before = Tally::now();
    plan.forward(&mut words).unwrap();
    plan.forward(&mut words).unwrap();
    plan.inverse(&mut words).unwrap();
    let one = vec![1; 64];
    let [modulus, _] = moduli;
    modulus.mul_assign(&mut words, &one).unwrap();
    modulus.inner_product(&mut words, &[&one, &one], &[&one, &one]).unwrap();
    let conversion = Conversion::new(&moduli, &[Modulus::new(257).unwrap()], |_, _| 1).unwrap();
    conversion.apply(&[&one, &one], &mut [&mut words]).unwrap();
    let tally = Tally::now() - before;
    assert_eq!(tally, Tally { forward: 2, inverse: 1, conversion_products: 128, products: 3 * 64 });
    assert_eq!(tally.transforms(), 3);
}
