//! Files that the Python package wrote: `inspect` says what they are, and damaged ones are refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sunzi::rlwe::wire::{Fields, Header, Kind, checksum};

use crate::common::{Folder, json as report, stderr, stdout};

/// A file that Python wrote, once.
fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/tests/golden");
    fs::read(folder.join(format!("{name}.sz"))).unwrap()
}

/// A record with its checksum.
fn record(bytes: &[u8]) -> Vec<u8> {
    [bytes, &checksum(bytes).to_le_bytes()].concat()
}

/// An object of the Python package with these fields and objects.
fn packed(kind: Kind, fields: &[u8], objects: &[&[u8]], like: Option<&Header>) -> Vec<u8> {
    let mut lengths = Fields::default();
    lengths.usize(fields.len());
    lengths.usize(objects.len());
    let body = [record(lengths.as_bytes()), record(fields), objects.concat()].concat();
    let (parameters, key) = like.map_or_else(Default::default, |like| (like.parameters, like.key));
    let header = Header { kind: kind as u16, parameters, key, body_len: body.len() as u64 };
    [header.to_bytes(), body].concat()
}

fn header(bytes: &[u8]) -> Header {
    Header::read(&mut &bytes[..]).unwrap()
}

/// The parameters in the plan, its last object.
fn parameters() -> Vec<u8> {
    let plan = golden("plan");
    let place = (64..plan.len() - 64).find(|&at| Header::read(&mut &plan[at..]).is_ok()).unwrap();
    plan[place..].to_vec()
}

fn inspected(folder: &Folder, name: &str, bytes: &[u8]) -> (Value, String) {
    fs::write(folder.path(name), bytes).unwrap();
    let option = "--insecure-for-research-only";
    let seen = report(&folder.run(&format!("inspect {name} {option} --json")));
    assert_eq!((&seen["bytes"], &seen["file_bytes"]), (&bytes.len().into(), &bytes.len().into()));
    (seen, folder.fine(&format!("inspect {name} {option}")))
}

#[test]
fn what_python_wrote_is_told() {
    let folder = Folder::new("python-inspect");
    let (seen, text) = inspected(&folder, "array.sz", &golden("array"));
    assert_eq!((&seen["object"], &seen["kind"]), (&"an encrypted array".into(), &0x0D01.into()));
    let array = &seen["python"];
    let expected = json!({ "type": "integers", "shape": [2, 3], "low": -11.0, "high": 10.0, "divisor": "2" });
    assert_eq!((&array["numbers"], &array["scheme"]), (&expected, &"BFV".into()));
    assert_eq!(array["parts"].as_array().unwrap().len(), 1);
    assert!(
        text.contains("numbers      integers of shape (2, 3), divided by 2, -11 to 10 as declared"),
        "{text}"
    );
    assert!(text.contains("has          a BFV ciphertext, 2"), "{text}");
    assert!(
        text.contains("(BFV)") && text.contains("read by      sunzi.EncryptedArray.from_bytes"),
        "{text}"
    );
    let (seen, text) = inspected(&folder, "keys.sz", &golden("keys"));
    assert_eq!((&seen["object"], &seen["security"]["degree"]), (&"public keys".into(), &2048.into()));
    let parts: Vec<&str> = seen["python"]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["object"].as_str().unwrap())
        .collect();
    assert_eq!(parts, ["BFV parameters", "a public key", "a relinearisation key", "Galois keys"]);
    assert!(text.contains("Galois keys for ") && text.contains("n = 2048"), "{text}");
    assert_eq!(seen["key"], report(&folder.run("inspect array.sz --json"))["key"]);
    let (seen, text) = inspected(&folder, "plan.sz", &golden("plan"));
    assert_eq!((&seen["object"], &seen["security"]["scheme"]), (&"a planned program".into(), &"BFV".into()));
    let argument = json!({ "type": "integers", "shape": [3], "low": -3.0, "high": 3.0 });
    assert_eq!(seen["python"]["arguments"], json!([argument]));
    assert!(text.contains("argument     integers of shape (3,), -3 to 3 as declared"), "{text}");
    assert!(seen["python"]["operations"].as_u64().unwrap() >= 2);
}

#[test]
fn field_elements_of_python_are_told() {
    let folder = Folder::new("python-elements");
    let (mut fields, object) = (Fields::default(), parameters());
    fields.list([2, 3, 16].into_iter());
    let elements = packed(Kind::PythonElements, fields.as_bytes(), &[&object], Some(&header(&object)));
    let (seen, text) = inspected(&folder, "elements.sz", &elements);
    assert_eq!(
        (&seen["object"], &seen["kind"]),
        (&"an encrypted array of field elements".into(), &0x0D06.into())
    );
    assert_eq!(seen["python"]["elements"], json!([2, 3, 16]));
    assert!(text.contains("elements     of 16 coefficients, shape (2, 3)"), "{text}");
    assert!(text.contains("sunzi.FieldArray.from_bytes"), "{text}");
}

#[test]
fn messages_of_python_are_told() {
    let folder = Folder::new("python-messages");
    let (mut fields, object) = (Fields::default(), parameters());
    fields.list([2, 3].into_iter());
    fields.u64(4);
    fields.u64(1);
    let messages = packed(Kind::PythonMessages, fields.as_bytes(), &[&object], Some(&header(&object)));
    let (seen, text) = inspected(&folder, "messages.sz", &messages);
    assert_eq!((&seen["object"], &seen["kind"]), (&"an encrypted array of messages".into(), &0x0D07.into()));
    assert_eq!(seen["python"]["messages"], json!({"bits": 4, "shape": [2, 3]}));
    assert!(text.contains("messages     of 4 bits, shape (2, 3)"), "{text}");
    assert!(text.contains("sunzi.MessageArray.from_bytes"), "{text}");
}

#[test]
fn integers_and_conditions_of_python_are_told() {
    let folder = Folder::new("python-integers");
    let (mut fields, object) = (Fields::default(), parameters());
    fields.list([2, 3].into_iter());
    fields.u64(16);
    fields.u64(1);
    let integers = packed(Kind::PythonIntegers, fields.as_bytes(), &[&object], Some(&header(&object)));
    let (seen, text) = inspected(&folder, "integers.sz", &integers);
    assert_eq!((&seen["object"], &seen["kind"]), (&"an encrypted array of integers".into(), &0x0D08.into()));
    assert_eq!(seen["python"]["integers"], json!({"dtype": "int16", "shape": [2, 3]}));
    assert!(text.contains("integers     of int16, shape (2, 3)"), "{text}");
    assert!(text.contains("sunzi.IntegerArray.from_bytes"), "{text}");
    let mut fields = Fields::default();
    fields.list([2, 3].into_iter());
    let conditions = packed(Kind::PythonConditions, fields.as_bytes(), &[&object], Some(&header(&object)));
    let (seen, text) = inspected(&folder, "conditions.sz", &conditions);
    assert_eq!(
        (&seen["object"], &seen["kind"]),
        (&"an encrypted array of conditions".into(), &0x0D09.into())
    );
    assert_eq!(seen["python"]["conditions"], json!([2, 3]));
    assert!(text.contains("conditions   shape (2, 3)"), "{text}");
    assert!(text.contains("sunzi.ConditionArray.from_bytes"), "{text}");
}

#[test]
fn additive_shares_of_python_are_told() {
    let folder = Folder::new("python-shares");
    let (mut fields, object) = (Fields::default(), parameters());
    fields.list([2, 3].into_iter());
    fields.text("a key");
    let request = packed(Kind::PythonSharesRequest, fields.as_bytes(), &[], None);
    let (seen, text) = inspected(&folder, "request.sz", &request);
    let expected = (&"a request to encrypt additive shares".into(), &0x0D0A.into());
    assert_eq!((&seen["object"], &seen["kind"]), expected);
    assert_eq!(seen["python"]["shares"], json!([2, 3]));
    assert!(text.contains("shares       shape (2, 3)"), "{text}");
    assert!(text.contains("sunzi.parties.Encrypting.of"), "{text}");
    let share = packed(Kind::PythonShare, &[7; 40], &[&object], Some(&header(&object)));
    let (seen, text) = inspected(&folder, "share.sz", &share);
    assert_eq!((&seen["object"], &seen["kind"]), (&"an encrypted additive share".into(), &0x0D0B.into()));
    assert!(text.contains("sunzi.parties.Encrypting.receive"), "{text}");
}

#[test]
fn contexts_and_tables_of_python_are_told() {
    let folder = Folder::new("python-context");
    let (mut fields, parameters) = (Fields::default(), parameters());
    fields.text("insecure-10");
    let context = packed(Kind::PythonContext, fields.as_bytes(), &[&parameters], Some(&header(&parameters)));
    let (seen, text) = inspected(&folder, "context.sz", &context);
    assert_eq!(seen["object"], "the context of a bootstrapping set");
    assert_eq!(seen["python"]["bootstrapping_set"], "insecure-10");
    assert!(text.contains("set          insecure-10") && text.contains("n = 2048"), "{text}");
    let (mut fields, array) = (Fields::default(), golden("array"));
    fields.list([2, 1].into_iter());
    let table = packed(Kind::PythonTable, fields.as_bytes(), &[&array, &array], Some(&header(&array)));
    let (seen, text) = inspected(&folder, "table.sz", &table);
    assert_eq!(seen["object"], "an encrypted table to train on");
    assert_eq!((&seen["python"]["rows"], &seen["python"]["scheme"]), (&2.into(), &"BFV".into()));
    assert!(text.contains("table        2 rows, 1 features"), "{text}");
    assert!(text.contains("has          an encrypted array, 2 of them, "), "{text}");
    // A context of several plaintext moduli has parameters for each.
    let (seen, text) = inspected(&folder, "wide.sz", &[&parameters[..], &parameters].concat());
    assert_eq!(
        (&seen["objects"], seen["security"]["plain_moduli"].as_array().unwrap().len()),
        (&2.into(), 2)
    );
    assert!(text.contains("in 2 objects"), "{text}");
}

/// Insecure parameters within other objects are refused as everywhere, after what the file says.
#[test]
fn insecure_parameters_within_are_refused() {
    let folder = Folder::new("python-insecure");
    for name in ["keys", "plan"] {
        fs::write(folder.path("file.sz"), golden(name)).unwrap();
        let output = folder.run("inspect file.sz");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stdout(&output).contains("has          BFV parameters"), "{}", stdout(&output));
    }
}

#[test]
fn damaged_objects_of_python_are_refused() {
    let folder = Folder::new("python-damage");
    for name in ["array", "keys", "plan"] {
        let bytes = golden(name);
        for at in [64, 90, 100] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(folder.path("file.sz"), &damaged).unwrap();
            folder.refused("inspect file.sz --insecure-for-research-only", 5, &["checksum"]);
        }
        for cut in [bytes.len() - 1, 100, 70] {
            fs::write(folder.path("file.sz"), &bytes[..cut]).unwrap();
            folder.refused("inspect file.sz --insecure-for-research-only", 5, &[]);
        }
    }
    // A length that nothing follows, counts that are wrong, and a table of no array.
    let (array, none) = (golden("array"), Fields::default());
    let mut huge = Fields::default();
    huge.u64(1 << 40);
    huge.u64(0);
    let body = record(huge.as_bytes());
    let head = Header { body_len: body.len() as u64, ..header(&array) };
    let mut counts = Fields::default();
    counts.list([1, 1].into_iter());
    for bytes in [
        [head.to_bytes(), body].concat(),
        packed(Kind::PythonArray, none.as_bytes(), &[&array], None),
        packed(Kind::PythonTable, counts.as_bytes(), &[], None),
        packed(Kind::PythonTable, counts.as_bytes(), &[b"no object at all"], None),
    ] {
        fs::write(folder.path("file.sz"), bytes).unwrap();
        folder.refused("inspect file.sz", 5, &[]);
    }
}
