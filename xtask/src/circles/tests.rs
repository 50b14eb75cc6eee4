//! Tests of `cargo xtask circles` on made-up crates in a temporary folder.

use super::*;
use std::fs;

/// A temporary folder with files of one crate and a list of allowed circles.
fn tree(name: &str, files: &[(&str, &str)], allowed: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("sunzi-circles-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    for folder in ["crates/a/src", "research", "xtask"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join(ALLOWED), allowed).unwrap();
    for (file, text) in files {
        let path = root.join("crates/a/src").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn judged(name: &str, files: &[(&str, &str)], allowed: &str) -> Result<String, String> {
    let root = tree(name, files, allowed);
    let outcome = check(&root);
    fs::remove_dir_all(root).unwrap();
    outcome
}

const ROOT: (&str, &str) = ("lib.rs", "mod b; mod c; pub use b::B; pub use c::C;");

#[test]
fn a_circle_is_named_with_its_names() {
    let files = [
        ROOT,
        ("b.rs", "use crate::C; pub struct B;"),
        ("c.rs", "pub struct C; fn f() { super::b::B::new(); }"),
    ];
    let message = judged("circle", &files, "").unwrap_err();
    assert!(message.contains("crates/a/src/b.rs imports C from crates/a/src/c.rs"), "{message}");
    assert!(message.contains("crates/a/src/c.rs imports B from crates/a/src/b.rs"), "{message}");
    let list = "# Why not.\n\ncrates/a/src/c.rs\ncrates/a/src/b.rs\nreason: to be removed\n";
    judged("allowed", &files, list).unwrap();
    let message = judged("without-reason", &files, "crates/a/src/c.rs\n").unwrap_err();
    assert!(message.contains("reason"), "{message}");
}

#[test]
fn an_allowed_circle_that_is_gone_is_named() {
    let files = [ROOT, ("b.rs", "use crate::c::C; pub struct B;"), ("c.rs", "pub struct C;")];
    let list = "crates/a/src/b.rs\ncrates/a/src/c.rs\nreason: to be removed\n";
    let message = judged("gone", &files, list).unwrap_err();
    assert!(message.contains("b.rs is in no allowed circle"), "{message}");
}

#[test]
fn tests_comments_and_strings_import_nothing() {
    let quiet = "pub struct C; // crate::b::B\nconst T: &str = \"crate::b::B\";\n\
                 #[cfg(test)] mod tests { use crate::b::B; fn f() { B::new() } }\n\
                 #[cfg(test)] use crate::b::{B};\nfn g<'a>(_: &'a str) {}";
    judged("tests", &[ROOT, ("b.rs", "use crate::c::C; pub struct B;"), ("c.rs", quiet)], "").unwrap();
}

#[test]
fn a_module_and_its_folder_may_share_names() {
    let files = [
        ("lib.rs", "mod b; mod c; pub struct Error; fn f() { b::g(); }"),
        ("b.rs", "mod d; use d::D; use crate::Error; pub struct B; pub fn g() -> D {}"),
        ("b/d.rs", "use super::B; pub struct D(B);"),
        ("c.rs", "use crate::Error;"),
    ];
    judged("folder", &files, "").unwrap();
    // Through a file outside of the folder it is a circle.
    let mut outside = files;
    outside[2].1 = "use crate::c::C; pub struct D(C);";
    outside[3].1 = "use crate::b::B; pub struct C(B);";
    let message = judged("outside", &outside, "").unwrap_err();
    assert!(message.contains("a circle of 3 files"), "{message}");
}

#[test]
fn neighbours_in_a_folder_make_a_circle() {
    let files = [
        ("lib.rs", "mod b;"),
        ("b.rs", "mod d; mod e; pub use d::D as Other; pub use e::E; pub struct B;"),
        ("b/d.rs", "use super::{B, E}; pub struct D;"),
        ("b/e.rs", "use super::super::b; pub struct E; fn f(_: b::Other) {}"),
    ];
    let message = judged("neighbours", &files, "").unwrap_err();
    assert!(message.contains("a circle of 2 files"), "{message}");
    assert!(message.contains("b/e.rs imports D from crates/a/src/b/d.rs"), "{message}");
}

#[test]
fn what_is_left_of_an_allowed_circle_is_still_allowed() {
    let files = [ROOT, ("b.rs", "use crate::C; pub struct B;"), ("c.rs", "use crate::B; pub struct C;")];
    let list = "# Why.\n\ncrates/a/src/b.rs\ncrates/a/src/c.rs\ncrates/a/src/d.rs\nreason: to be removed\n";
    let message = judged("smaller", &files, list).unwrap_err();
    assert!(
        message.contains("crates/a/src/d.rs is in no allowed circle") && !message.contains("imports"),
        "{message}"
    );
}
