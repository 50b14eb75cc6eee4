//! Every example runs, and each returns an error on a wrong answer.

/// Declares an example as a module and a test that runs it.
macro_rules! examples {
    ($($(#[$condition:meta])* $name:ident in $path:literal;)*) => {$(
        $(#[$condition])*
        #[path = $path]
        mod $name;

        $(#[$condition])*
        #[test]
        fn $name() -> Result<(), Box<dyn std::error::Error>> {
            $name::main()
        }
    )*};
}

examples! {
    first_product in "../examples/01_first_product.rs";
    choosing_parameters in "../examples/02_choosing_parameters.rs";
    sums_of_slots in "../examples/03_sums_of_slots.rs";
    wide_integers in "../examples/04_wide_integers.rs";
    two_parties in "../examples/05_two_parties.rs";
    noise_budget in "../examples/06_noise_budget.rs";
    polynomial in "../examples/07_polynomial.rs";
    matrix_vector in "../examples/08_matrix_vector.rs";
    ckks in "../examples/09_ckks.rs";
    galois_slots in "../examples/10_galois_slots.rs";
    #[cfg(feature = "fermat")]
    fermat_moduli in "../examples/11_fermat_moduli.rs";
    program in "../examples/12_program.rs";
    ported_from_seal in "../examples/13_ported_from_seal.rs";
    ported_from_lattigo in "../examples/14_ported_from_lattigo.rs";
    three_hospitals in "../examples/15_three_hospitals.rs";
    proxy_reencryption in "../examples/16_proxy_reencryption.rs";
}
