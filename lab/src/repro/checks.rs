//! What tests of all papers ask of a report: that its checks can fail.

use super::report::{Quantity, Report, Value, Verdict};

/// Checks that the verdict on every judged value turns once the value is another one, and that no row that
/// needs a reason lacks it.
pub(crate) fn assert_that_checks_can_fail(report: &Report) {
    assert_eq!(report.unexplained(), Vec::<String>::new());
    let mut judged = 0;
    for row in report.tables.iter().flat_map(|table| &table.rows) {
        for one in row.quantities.iter().filter(|one| one.paper.is_some() && one.ours.is_some()) {
            judged += 1;
            let number = one.paper.as_ref().and_then(Value::number).unwrap_or_default();
            let others = [
                one.paper.clone().unwrap_or(Value::Text("")),
                Value::Text("corrupt"),
                Value::Decimal(number * 1e6 + 1e6, 1),
                Value::Decimal(number * 1e-6 - 1e6, 1),
            ];
            let verdict = |ours| Quantity { ours: Some(ours), ..one.clone() }.verdict();
            let turned = others.into_iter().map(verdict).filter(|other| *other != one.verdict()).count();
            assert!(turned >= 1, "{}: {one:?}", row.name());
            if !one.verdict().is_some_and(Verdict::needs_reason) {
                assert_eq!(verdict(Value::Text("corrupt")), Some(Verdict::Differs), "{one:?}");
            }
        }
    }
    assert!(judged > 0, "nothing is judged");
}
