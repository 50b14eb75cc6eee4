//! Special moduli of the steps.

use sunzi_ring::GadgetOptions;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::*;

/// Tests that the special moduli of steps cost no more at their levels than those of the context, in every shipped set that has them.
#[test]
fn special_moduli_of_steps_cost_least() {
    for set in [Set::default_128(), Set::fast_128(), Set::n15_128()] {
        let parameters = set.parameters().unwrap();
        let steps = set.step_levels().unwrap();
        for range in [steps.coeffs_to_slots, steps.polynomial, steps.slots_to_coeffs] {
            let special_moduli = parameters.special_moduli_for(range.clone()).unwrap();
            let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
            let cost = |options: &GadgetOptions| {
                let limbs = range.clone().map(|level| parameters.limbs(level));
                SwitchCost::sum(options, parameters.moduli(), limbs, parameters.degree()).unwrap()
            };
            assert!(cost(&options) <= cost(parameters.key_switching()), "{} {range:?}", set.name);
        }
    }
}

#[test]
fn keys_that_steps_share_are_refused_where_steps_have_their_own() {
    let [own, shared] = [SpecialModuli::EachStep, SpecialModuli::Shared]
        .map(|special| Bench::new(&Set { special, ..Set::insecure_for_tests(7) }, 16));
    let mut bench = shared;
    let a = bench.encrypt(&numbers(16), 0);
    let error = own.bootstrapper.bootstrap(&a, &bench.keys).err().unwrap();
    assert!(error.to_string().contains("special moduli"), "{error}");
}
