//! First bytes of uploads: what they say they are, before anything else of them counts.
//!
//! This refuses mistakes early, a secret key above all. All of a file is read by its own reader in the process of a job.

use sunzi_rlwe::wire::{HEADER_LEN, Header, Kind, MAGIC};

use crate::records::Place;
use crate::refusal::Refusal;

/// Number of bytes that say what an upload is.
pub(crate) const BEGINNING: usize = HEADER_LEN;
/// First bytes of a file in Parquet.
const PARQUET: &[u8] = b"PAR1";
/// Status code for content that is refused.
const UNPROCESSABLE: u16 = 422;

/// Checks the first bytes of an upload: [`BEGINNING`] of them, or all if there are fewer.
pub(crate) fn check(place: Place, first: &[u8]) -> Result<(), Refusal> {
    if first.is_empty() {
        return Err(Refusal::new(UNPROCESSABLE, "the upload is empty").remedy("send the file as the body"));
    }
    let is_own = first.starts_with(&MAGIC);
    if place == Place::Programs {
        return if is_own { Err(refuse(place, "a file of Sunzi")) } else { Ok(()) };
    }
    if place == Place::Tables && first.starts_with(PARQUET) {
        return Ok(());
    }
    let mut rest = first;
    let header =
        Header::read(&mut rest).map_err(|_| refuse(place, "bytes that begin as no file of Sunzi"))?;
    let kind = Kind::of(header.kind);
    if kind.is_some_and(Kind::is_secret) {
        return Err(Refusal::new(UNPROCESSABLE, "this is a secret: it was not stored")
            .expected(wanted(place))
            .got(Kind::describe(header.kind))
            .remedy("a server never needs a secret: keep it with its owner, and if the connection was not encrypted, make new keys"));
    }
    let fits = kind.is_some_and(|kind| match place {
        Place::Keys => is_for_evaluation(kind),
        Place::Tables => kind.is_table(),
        Place::Programs => false,
    });
    if fits { Ok(()) } else { Err(refuse(place, &Kind::describe(header.kind))) }
}

/// Whether whoever computes needs objects of this kind.
fn is_for_evaluation(kind: Kind) -> bool {
    kind.is_parameters()
        || matches!(
            kind,
            Kind::RelinearizationKey
                | Kind::GaloisKeys
                | Kind::EncapsulationKeys
                | Kind::RaisingKeys
                | Kind::BootstrapKeys
                | Kind::RealBootstrapKeys
        )
}

fn wanted(place: Place) -> &'static str {
    match place {
        Place::Keys => "a file of the folder eval that sunzi keygen made",
        Place::Programs => "the text of a program, or a program as JSON",
        Place::Tables => "a table as sunzi encrypt writes it",
    }
}

fn refuse(place: Place, got: &str) -> Refusal {
    Refusal::new(UNPROCESSABLE, "this is another kind of file")
        .expected(wanted(place))
        .got(got)
        .remedy("send the file that belongs here")
}

#[cfg(test)]
mod tests {
    use sunzi_rlwe::wire::Fingerprint;

    use super::*;

    fn header(kind: u16) -> Vec<u8> {
        let parameters = Fingerprint { ring: [1; 8], scheme: [2; 8] };
        Header { kind, parameters, key: None, body_len: 0 }.to_bytes()
    }

    #[test]
    fn no_secret_is_taken_anywhere() {
        for kind in Kind::ALL.iter().filter(|kind| kind.is_secret()) {
            for place in [Place::Keys, Place::Tables] {
                let refusal = check(place, &header(*kind as u16)).unwrap_err();
                assert!(refusal.error.contains("a secret: it was not stored"), "{refusal}");
            }
            assert!(check(Place::Programs, &header(*kind as u16)).is_err());
        }
    }

    #[test]
    fn each_place_takes_its_kind() {
        check(Place::Keys, &header(Kind::GaloisKeys as u16)).unwrap();
        check(Place::Keys, &header(Kind::BgvParameters as u16)).unwrap();
        check(Place::Tables, &header(Kind::CkksTable as u16)).unwrap();
        check(Place::Tables, b"PAR1....").unwrap();
        check(Place::Programs, b"mean(age)").unwrap();
        for (place, bytes) in [
            (Place::Keys, header(Kind::BfvTable as u16)),
            (Place::Keys, header(0xFFFF)),
            (Place::Tables, header(Kind::GaloisKeys as u16)),
            (Place::Tables, b"age,cost\n1,2\n".to_vec()),
            (Place::Programs, Vec::new()),
        ] {
            assert_eq!(check(place, &bytes).unwrap_err().status, UNPROCESSABLE);
        }
    }
}
