//! Special moduli of the steps.

use sunzi_ring::GadgetOptions;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::*;

/// Tests that shipped sets have steps with special moduli of their own within the security limit, which cost less than those of the context, and that
/// keys of one step are no keys of another.
#[test]
fn steps_have_special_moduli_of_their_own() {
    for set in [Set::default_128(), Set::fast_128(), Set::n15_128()] {
        let parameters = set.parameters().unwrap();
        let steps = set.step_levels().unwrap();
        for range in [steps.coeffs_to_slots, steps.polynomial, steps.slots_to_coeffs] {
            let options = parameters.key_switching_for(range.clone()).unwrap();
            let cost = |options: &GadgetOptions| {
                let limbs = range.clone().map(|level| parameters.limbs(level));
                SwitchCost::sum(options, parameters.moduli(), limbs, parameters.degree()).unwrap()
            };
            assert!(cost(&options) <= cost(parameters.key_switching()), "{} {range:?}", set.name);
        }
    }
    // Keys that all steps share are refused by name where steps have their own.
    let [own, shared] = [SpecialModuli::EachStep, SpecialModuli::Shared]
        .map(|special| Bench::new(&Set { special, ..Set::insecure_for_tests(7) }, 16));
    let mut bench = shared;
    let a = bench.encrypt(&numbers(16), 0);
    let error = own.bootstrapper.bootstrap(&a, &bench.keys).err().unwrap();
    assert!(error.to_string().contains("special moduli"), "{error}");
}
