//! A page for browsers: files of its folder, and nothing else.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use sunzi_service::Page;
use tempfile::TempDir;

use crate::common::{Client, Place, Running, private_folder};

const SCRIPT: &str = "export const answer = 42;\n";

/// Makes the folder of a page, beside a file that is none of it.
fn folder() -> TempDir {
    let folder = private_folder();
    let page = folder.path().join("build").join("page");
    fs::create_dir_all(&page).unwrap();
    fs::write(page.join("index.html"), "<!doctype html><title>Sunzi</title>").unwrap();
    fs::write(page.join("main.js"), SCRIPT.repeat(100)).unwrap();
    fs::write(page.join("notes.txt"), "not served").unwrap();
    fs::write(folder.path().join("secret.js"), "outside").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret.js"), page.join("link.js")).unwrap();
    folder
}

fn load(folder: &TempDir) -> Result<Page, String> {
    Page::load(&folder.path().join("build")).map_err(|error| error.to_string())
}

fn running(folder: &TempDir) -> Running {
    let data = private_folder();
    let token = Place::folder().account(data.path(), "ada");
    Running::with_page(&Place::folder(), data, &token, Some(load(folder).unwrap()), |_| {})
}

fn get(client: &Client, path: &str, lines: &str) -> crate::common::Answer {
    client.try_call("GET", path, b"", lines).unwrap()
}

#[test]
fn files_come_with_their_type_a_policy_and_a_tag() {
    let folder = folder();
    let running = running(&folder);
    let root = get(&running.client, "/", "");
    assert_eq!((root.status, root.header("location")), (307, Some("/page/index.html")));
    let page = get(&running.client, "/page/index.html", "");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    let script = get(&running.client, "/page/main.js", "");
    assert_eq!((script.status, script.body), (200, SCRIPT.repeat(100).into_bytes()));
    let tag = page.header("etag").unwrap();
    let again = get(&running.client, "/page/index.html", &format!("if-none-match: \"x\", {tag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(get(&running.client, "/page/index.html", "if-none-match: \"x\"\r\n").status, 200);
}

#[test]
fn files_are_compressed_for_those_who_take_it() {
    let folder = folder();
    let running = running(&folder);
    let short = get(&running.client, "/page/main.js", "accept-encoding: br, gzip;q=0.5\r\n");
    assert_eq!((short.status, short.header("content-encoding")), (200, Some("gzip")));
    assert!(short.body.len() < SCRIPT.len() * 10);
    let mut text = String::new();
    GzDecoder::new(&*short.body).read_to_string(&mut text).unwrap();
    assert_eq!(text, SCRIPT.repeat(100));
    for lines in
        ["", "accept-encoding: br\r\n", "accept-encoding: gzip;q=0\r\n", "accept-encoding: gzip; q=0.00\r\n"]
    {
        let long = get(&running.client, "/page/main.js", lines);
        assert_eq!((long.header("content-encoding"), long.body.len()), (None, SCRIPT.len() * 100), "{lines}");
    }
}

#[test]
fn nothing_but_the_page_is_served() {
    let folder = folder();
    let running = running(&folder);
    for path in [
        "/page/notes.txt",
        "/page/link.js",
        "/page/../../secret.js",
        "/page/..%2f..%2fsecret.js",
        "/page/%2e%2e/%2e%2e/secret.js",
        "//page/index.html",
        "/page//index.html",
        "/page/",
        "/page/index.html/",
        "/PAGE/index.html",
        "/page/index.html%00.js",
        "/secret.js",
    ] {
        let answer = get(&running.client, path, "");
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(answer.json()["error"].is_string(), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_eq!(running.client.call(method, "/page/index.html", b"").status, 404, "{method}");
    }
    assert_eq!(running.client.call("GET", "/health", b"").status, 200);
    assert_eq!(running.client.call("GET", "/v1/account", b"").status, 200);
}

#[test]
fn folders_that_are_no_page_are_refused() {
    let folder = folder();
    assert!(load(&folder).is_ok());
    let build = folder.path().join("build");
    let refused = |change: &dyn Fn(&Path), text: &str| {
        change(&build);
        let error = load(&folder).err().unwrap_or_default();
        assert!(error.contains(text), "{text}: {error:?}");
    };
    refused(&|build| fs::File::create(build.join("long.js")).unwrap().set_len(1 << 26).unwrap(), "64 MiB");
    fs::remove_file(build.join("long.js")).unwrap();
    refused(
        &|build| (0..600).for_each(|i| fs::write(build.join(format!("{i}.js")), "").unwrap()),
        "512 files",
    );
    refused(&|build| fs::remove_file(build.join("page/index.html")).unwrap(), "files");
    (0..600).for_each(|i| fs::remove_file(build.join(format!("{i}.js"))).unwrap());
    refused(&|_| (), "page/index.html");
    refused(&|build| fs::remove_dir_all(build).unwrap(), "");
    assert!(load(&folder).is_err());
}
