//! Tests of Sunzi against itself over the protocol of rivals.

use std::path::Path;

use lab::bench::rivals::{self, Absence, Choice, Scheme, Selection};
use lab::bench::{Options, report};

const OURS: &str = env!("CARGO_BIN_EXE_lab");

#[test]
fn every_operation_of_a_rival_is_compared_and_right() {
    let options = Options { rounds: 3, log_n: vec![13], ..Options::default() };
    let itself: Selection = format!("sunzi={OURS}").parse().unwrap();
    let mut heard = Vec::new();
    let rows = rivals::run(Path::new(OURS), &options, &[itself], &Choice::default(), &mut |at| {
        heard.push((at.done, at.total))
    })
    .unwrap();
    // BFV, BGV and CKKS; product trees do not fit at this degree.
    assert_eq!(rows.len(), 13 + 15 + 15);
    assert_eq!(heard, (0..43).map(|done| (done, 43)).collect::<Vec<_>>());
    let (trees, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.failed.is_some());
    assert!(trees.len() == 3 && trees.iter().all(|row| row.name.ends_with("product_tree_128")), "{trees:?}");
    for row in &rows {
        assert!(row.correct && row.ours_us > 0.0, "{row:?}");
        assert!(row.peer.as_ref().unwrap().starts_with("Sunzi 0."), "{row:?}");
        assert!((row.peer_log_q.unwrap() - row.log_q).abs() < 1e-6, "{row:?}");
        let [ours, theirs] = [row.log_key_modulus, row.peer_log_key_modulus].map(Option::unwrap);
        assert!((ours - theirs).abs() < 1e-6, "{row:?}");
        assert!((189.0..214.0).contains(&row.log_key_modulus.unwrap()), "{row:?}");
        let [ours, theirs] = [&row.about, &row.peer_about].map(|about| about.as_ref().unwrap());
        assert_eq!(ours.ciphertext_bytes, theirs.ciphertext_bytes);
        assert_eq!(ours.secret.as_deref(), theirs.secret.as_deref());
        assert!(ours.galois_key_bytes.unwrap() > ours.ciphertext_bytes.unwrap(), "{row:?}");
        assert_eq!(row.bandwidth.is_some(), row.name.ends_with(" add") || row.name.ends_with(" decrypt"));
    }
    // Two copies of one program: a busy machine may tell them apart in three rounds of one operation, not in most of them.
    let mut ratios: Vec<f64> = rows.iter().map(|row| row.ratio.unwrap()).collect();
    ratios.sort_by(f64::total_cmp);
    assert!((0.5..2.0).contains(&ratios[ratios.len() / 2]), "{ratios:?}");
}

#[test]
fn a_rival_that_is_not_there_is_a_row_that_says_so() {
    let options = Options { rounds: 1, log_n: vec![13], ..Options::default() };
    let choice = Choice { schemes: vec![Scheme::Bgv], ..Choice::default() };
    for (program, expected) in [("./no-such-program", "cannot start"), ("true", "hello")] {
        let selection = format!("seal={program}").parse().unwrap();
        let rows = rivals::run(Path::new(OURS), &options, &[selection], &choice, &mut |_| ()).unwrap();
        assert!(rows.len() == 1 && rows[0].failed.as_ref().unwrap().contains(expected), "{rows:?}");
    }
    let absent: Absence = "helib=no program".parse().unwrap();
    let rows = rivals::run(Path::new(OURS), &options, &[absent.into()], &choice, &mut |_| ()).unwrap();
    assert_eq!((rows.len(), rows[0].failed.as_deref()), (1, Some("no program")));
    assert!(report::all_correct(&rows) && report::table(&rows).contains("no program"));
}

#[test]
fn rounds_end_when_the_time_is_over() {
    let options = Options { rounds: 1000, log_n: vec![13], ..Options::default() };
    let itself: Selection = format!("sunzi={OURS}").parse().unwrap();
    let (schemes, operations) = (vec![Scheme::Bfv], vec!["add".to_owned()]);
    let choice = Choice { schemes, operations, seconds: Some(0.0), ..Choice::default() };
    let rows = rivals::run(Path::new(OURS), &options, &[itself], &choice, &mut |_| ()).unwrap();
    assert_eq!((rows.len(), rows[0].rounds), (1, 3));
}

#[test]
fn an_operation_that_no_rival_has_is_an_error() {
    let choice = Choice { operations: vec!["divide".to_owned()], ..Choice::default() };
    let error = rivals::run(Path::new(OURS), &Options::default(), &[], &choice, &mut |_| ()).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("multiply_relinearize"), "{error}");
}
