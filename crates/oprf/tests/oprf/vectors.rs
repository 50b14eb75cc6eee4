//! Test vectors of RFC 9497, appendix A.1.2: mode VOPRF over ristretto255 with SHA-512.

use std::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};
use sunzi_oprf::{Blinded, Element, Proof, ServerKey};

struct Vector {
    inputs: &'static [&'static str],
    blinds: &'static [&'static str],
    blinded: &'static [&'static str],
    evaluated: &'static [&'static str],
    proof: &'static str,
    nonce: &'static str,
    outputs: &'static [&'static str],
}

const SECRET: &str = "e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909";
const PUBLIC: &str = "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e";

const VECTORS: [Vector; 3] = [
    Vector {
        inputs: &["00"],
        blinds: &["64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"],
        blinded: &["863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945"],
        evaluated: &["aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e"],
        proof: "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd066d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d",
        nonce: "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e",
        outputs: &[
            "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7da4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c",
        ],
    },
    Vector {
        inputs: &["5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"],
        blinds: &["64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"],
        blinded: &["cc0b2a350101881d8a4cba4c80241d74fb7dcbfde4a61fde2f91443c2bf9ef0c"],
        evaluated: &["60a59a57208d48aca71e9e850d22674b611f752bed48b36f7a91b372bd7ad468"],
        proof: "401a0da6264f8cf45bb2f5264bc31e109155600babb3cd4e5af7d181a2c9dc0a67154fabf031fd936051dec80b0b6ae29c9503493dde7393b722eafdf5a50b02",
        nonce: "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e",
        outputs: &[
            "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6",
        ],
    },
    Vector {
        inputs: &["00", "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"],
        blinds: &[
            "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706",
            "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e",
        ],
        blinded: &[
            "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945",
            "90a0145ea9da29254c3a56be4fe185465ebb3bf2a1801f7124bbbadac751e654",
        ],
        evaluated: &[
            "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e",
            "cc5ac221950a49ceaa73c8db41b82c20372a4c8d63e5dded2db920b7eee36a2a",
        ],
        proof: "cc203910175d786927eeb44ea847328047892ddf8590e723c37205cb74600b0a5ab5337c8eb4ceae0494c2cf89529dcf94572ed267473d567aeed6ab873dee08",
        nonce: "419c4f4f5052c53c45f3da494d2b67b220d02118e0857cdbcf037f9ea84bbe0c",
        outputs: &[
            "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7da4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c",
            "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6",
        ],
    },
];

/// A generator that gives the nonce of a vector, in as many bytes as are asked for.
struct Nonce(Vec<u8>);

impl TryRng for Nonce {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(0);
        bytes[..self.0.len()].copy_from_slice(&self.0);
        Ok(())
    }
}

impl TryCryptoRng for Nonce {}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn array<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().unwrap()
}

#[test]
fn the_vectors_of_the_standard_hold() {
    let key = ServerKey::derive(&[0xa3; 32], b"test key").unwrap();
    assert_eq!(*key.to_bytes(), array(SECRET));
    assert_eq!(*key.public_key().as_bytes(), array(PUBLIC));
    for vector in &VECTORS {
        let inputs: Vec<Vec<u8>> = vector.inputs.iter().map(|hex| bytes(hex)).collect();
        let blinds: Vec<[u8; 32]> = vector.blinds.iter().map(|hex| array(hex)).collect();
        let blinded = Blinded::again(&inputs, &blinds).unwrap();
        let elements = |hex: &[&str]| -> Vec<[u8; 32]> { hex.iter().map(|hex| array(hex)).collect() };
        let of =
            |elements: &[Element]| -> Vec<[u8; 32]> { elements.iter().map(|one| *one.as_bytes()).collect() };
        assert_eq!(of(blinded.elements()), elements(vector.blinded));
        let (evaluated, proof) = key.evaluate(blinded.elements(), &mut Nonce(bytes(vector.nonce))).unwrap();
        assert_eq!(of(&evaluated), elements(vector.evaluated));
        assert_eq!(proof.to_bytes(), array(vector.proof));
        assert_eq!(Proof::from_bytes(&array(vector.proof)), Ok(proof));
        let outputs = blinded.finish(&evaluated, &proof, &key.public_key()).unwrap();
        for ((output, expected), input) in outputs.iter().zip(vector.outputs).zip(&inputs) {
            assert_eq!(**output, array(expected));
            assert_eq!(*output, key.output(input).unwrap());
        }
    }
}
