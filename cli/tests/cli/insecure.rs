//! Parameters without security: no command takes them unless it is told to by a name that says what they are.

use std::fs;

use crate::common::{Folder, json, stderr, stdout};
use sunzi::math::primes_with_bits;
use sunzi::rlwe::Security;
use sunzi::rlwe::wire::{NoContext, store};
use sunzi::{bfv, ckks};

const FLAG: &str = "--insecure-for-research-only";
const TABLE: &[u8] = b"x\n1\n2\n3\n4\n";

/// Parameters of n = 1024 with 106 bits: an attack takes 2^43 steps or so.
fn weak(security: Security) -> bfv::Parameters {
    let moduli = primes_with_bits(53, 2048, 2).unwrap_or_default();
    bfv::Parameters::new(10, moduli, 12289, security)
}

#[test]
fn every_command_refuses_parameters_without_security() {
    let folder = Folder::new("insecure");
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    store(&NoContext, &weak(Security::InsecureForResearchOnly), folder.path("weak.sz")).unwrap();
    let keygen = "keygen weak.sz --directory keys -q";
    let words = ["BFV", "n = 1024", "log2 QP = 106.0", FLAG];
    folder.refused(keygen, 2, &words);
    assert!(!folder.path("keys").exists());
    folder.fine(&format!("{keygen} {FLAG}"));
    folder.fine("schema --table t.csv -o s.json");
    let secret = "--keys keys/secret";
    for (command, made) in [
        ("check keys/public/public.sz --params weak.sz", None),
        ("inspect weak.sz", None),
        ("plan sum(x) --schema s.json --params weak.sz --no-time", None),
        ("encrypt --table t.csv --schema s.json --keys keys/public -o t.sz -q", Some("t.sz")),
        ("eval sum(x) --keys keys/eval t.sz -o r.sz -q", Some("r.sz")),
        (&format!("decrypt r.sz {secret}") as &str, None),
    ] {
        let refused = folder.run(command);
        assert_eq!(refused.status.code(), Some(2), "{command}: {}", stderr(&refused));
        for word in words {
            assert!(stderr(&refused).contains(word), "{command}: {}", stderr(&refused));
        }
        assert!(made.is_none_or(|file| !folder.path(file).exists()), "{command}");
        folder.fine(&format!("{command} {FLAG}"));
        assert!(made.is_none_or(|file| folder.path(file).exists()), "{command}");
    }
    assert!(folder.fine(&format!("decrypt r.sz {secret} {FLAG}")).contains("10"));
}

/// The opt-out is for files that say what they are.
#[test]
fn a_false_claim_is_refused_with_the_opt_out_too() {
    let folder = Folder::new("false-claim");
    for security in [Security::Bits128, Security::Bits192, Security::Bits256] {
        store(&NoContext, &weak(security), folder.path("weak.sz")).unwrap();
        for flag in ["", FLAG] {
            for command in ["inspect weak.sz", "keygen weak.sz --directory keys -q"] {
                let refused = folder.run(format!("{command} {flag}").trim_end());
                assert_eq!(refused.status.code(), Some(5), "{command} {flag}: {}", stderr(&refused));
                assert!(stderr(&refused).contains("ring degree 1024"), "{}", stderr(&refused));
            }
        }
    }
    assert!(!folder.path("keys").exists());
}

#[test]
fn security_is_printed() {
    let folder = Folder::new("security");
    store(&NoContext, &weak(Security::InsecureForResearchOnly), folder.path("weak.sz")).unwrap();
    folder.fine("params --scheme ckks --depth 1 --precision 20 -o real.sz");
    folder.fine("params --depth 1 -o small.sz");
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    for (file, scheme, flag, bits) in
        [("weak.sz", "BFV", FLAG, 0), ("small.sz", "BFV", "", 128), ("real.sz", "CKKS", "", 128)]
    {
        let text = folder.fine(format!("inspect {file} {flag}").trim_end());
        let said = if bits == 0 { "NO SECURITY".to_owned() } else { format!("security {bits} bits") };
        let words = [scheme, "n = ", "log2 QP = ", &said];
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        let seen = json(&folder.run(format!("inspect {file} --json {flag}").trim_end()))["security"].clone();
        assert_eq!((seen["scheme"].as_str(), seen["bits"].as_u64()), (Some(scheme), Some(bits)));
        assert!(seen["degree"].as_u64() >= Some(1024) && seen["log2_key_modulus"].as_f64() > Some(50.0));
        assert_eq!(seen["plain_moduli"].as_array().unwrap().is_empty(), scheme == "CKKS");
        if scheme == "BFV" {
            let made = folder
                .run(format!("keygen {file} --directory {file}.keys --rotations none {flag}").trim_end());
            assert!(words.iter().all(|word| stdout(&made).contains(word)), "{}", stdout(&made));
            let made = format!("keygen {file} --directory {file}.more --rotations none --json {flag}");
            assert_eq!(json(&folder.run(made.trim_end()))["security"], seen);
        }
    }
    for command in
        ["plan sum(x) --schema s.json --no-time", "plan mean(x) --schema s.json --scheme ckks --no-time"]
    {
        let text = folder.fine(command);
        assert!(["n = ", "log2 QP = ", "security 128 bits"].iter().all(|word| text.contains(word)), "{text}");
        let seen = json(&folder.run(&format!("{command} --json")))["security"].clone();
        assert_eq!((seen["bits"].as_u64(), seen["secrets"].as_str()), (Some(128), Some("ternary")));
    }
}

/// Sparse secrets are part of what is printed.
#[test]
fn sparse_secrets_are_named() {
    let folder = Folder::new("sparse");
    let sparse =
        ckks::Parameters::builder().depth(1).secrets(sunzi::rlwe::SecretDistribution::FixedWeight(192));
    let sparse = sparse.log2_degree(15).build().unwrap();
    store(&NoContext, &sparse, folder.path("sparse.sz")).unwrap();
    assert!(folder.fine("inspect sparse.sz").contains("secrets of weight 192"));
}
