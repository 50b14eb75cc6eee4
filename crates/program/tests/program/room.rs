//! Tests that plans of BFV leave room for the order in which a program computes.

use sunzi_program::analysis::SchemeChoice;
use sunzi_program::{Column, Options, Plan, Program, Schema};
use sunzi_rlwe::Security;

#[test]
fn masks_that_multiply_have_room() {
    let columns = vec![
        Column::decimal("x", 1, -50, 90),
        Column::integer("y", 0, 9),
        Column::integer("k", 0, 7).in_the_clear(),
        Column::category("g", &["a", "b", "c"]),
        Column::category("s", &["f", "m"]).in_the_clear(),
    ];
    let schema = Schema::new(74, columns).unwrap();
    let options = Options {
        scheme: Some(SchemeChoice::Bfv),
        security: Security::InsecureForResearchOnly,
        log2_degree: Some(10),
        ..Options::default()
    };
    for text in [
        "dot((g == \"b\") * k, poly((s != \"m\"), 1, -2, 0.5)) by g",
        "sum(((s != \"m\") * (k > 3) - ((s != \"m\") + x))); sum((g == \"b\") * (k > 3) * (y + (k > 3))) by s",
    ] {
        let program = Program::parse(text, &schema).unwrap();
        let plan = Plan::new(&program, &options).unwrap();
        assert_eq!(plan.parameters.moduli().len(), 3, "{text}");
    }
}
