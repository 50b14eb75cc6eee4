//! Sunzi against itself over the protocol of rivals.
#![cfg(feature = "peers")]

use bench::Options;
use bench::rivals::{self, Choice, Selection};

#[test]
fn every_operation_of_a_rival_is_compared_and_right() {
    let options = Options { rounds: 3, log_n: vec![13], ..Options::default() };
    let itself: Selection = format!("sunzi={}", env!("CARGO_BIN_EXE_bench")).parse().unwrap();
    let mut heard = Vec::new();
    let rows =
        rivals::run(&options, &[itself], &Choice::default(), &mut |at| heard.push((at.done, at.total)))
            .unwrap();
    assert_eq!(rows.len(), 9 + 11);
    // Four of the operations are those of one scheme alone.
    assert_eq!(heard, (0..20).map(|done| (done, 26)).collect::<Vec<_>>());
    for row in &rows {
        assert!(row.correct && row.ours_us > 0.0, "{row:?}");
        assert!(row.peer.as_ref().unwrap().starts_with("Sunzi 0."), "{row:?}");
        assert!((row.peer_log_q.unwrap() - row.log_q).abs() < 1e-6, "{row:?}");
        let [ours, theirs] = [row.log_key_modulus, row.peer_log_key_modulus].map(Option::unwrap);
        assert!((ours - theirs).abs() < 1e-6, "{row:?}");
        assert!((213.9..214.0).contains(&row.log_key_modulus.unwrap()), "{row:?}");
        // Two copies of one program; a busy machine may still tell them apart in three rounds.
        assert!((0.2..5.0).contains(&row.ratio.unwrap()), "{row:?}");
    }
}

#[test]
fn a_program_that_is_no_rival_is_an_error() {
    let options = Options { rounds: 1, log_n: vec![13], ..Options::default() };
    for (program, expected) in [("./no-such-program", "cannot start"), ("true", "hello")] {
        let selection = format!("lattigo={program}").parse().unwrap();
        let error = rivals::run(&options, &[selection], &Choice::default(), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn an_operation_that_no_rival_has_is_an_error() {
    let choice = Choice { operations: vec!["divide".to_owned()], ..Choice::default() };
    let error = rivals::run(&Options::default(), &[], &choice, &mut |_| ()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("multiply_relinearize"), "{error}");
}
