//! Files of results at the ends of what they may say.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::contexts::EncryptionKey;
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{Answer, Cells, Opening};
use sunzi_program::{Column, Contexts, Options, Plan, Program, ProgramError, Schema};
use sunzi_rlwe::wire::WireError;
use sunzi_rlwe::{SecretKey, Security};

#[derive(Debug)]
enum Failed {
    Wire,
    Program,
}

impl From<WireError> for Failed {
    fn from(_: WireError) -> Self {
        Self::Wire
    }
}

impl From<ProgramError> for Failed {
    fn from(_: ProgramError) -> Self {
        Self::Program
    }
}

/// 10^decimals is computed for whoever decrypts: a description that asks for more than 4096 digits is refused before that.
#[test]
fn results_have_at_most_4096_digits_behind_the_point() {
    let age = Column::integer("age", 0, 9);
    let schema = Schema::new(3, vec![age.clone()]).unwrap();
    let (security, log2_degree) = (Security::InsecureForResearchOnly, Some(6));
    let options = Options { scheme: Some(SchemeChoice::Bfv), security, log2_degree, ..Options::default() };
    let plan = Plan::new(&Program::parse("sum(age)", &schema).unwrap(), &options).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let cells = Cells::Units(vec![7, 7, 7]);
    let chunk = codec.encrypt(&age, None, &cells, EncryptionKey::Secret(&secret), &mut rng).unwrap();
    for (digits, fits) in [(0, true), (4096, true), (4097, false), (u32::MAX, false)] {
        let mut description = Description::of(&plan).unwrap();
        for opening in description.openings.values_mut() {
            let Opening::Exact { decimals, .. } = opening else { panic!("BFV was asked for") };
            *decimals = digits;
        }
        let mut file = Vec::new();
        let mut writer = ResultsWriter::new(&contexts, secret.id(), description, &mut file).unwrap();
        writer.put(&Answer::Encrypted(chunk.clone())).unwrap();
        let reader = ResultsReader::open(&contexts, file.as_slice());
        assert_eq!(reader.is_ok(), fits, "{digits}");
        let Ok(mut reader) = reader else { continue };
        let totals = reader.decrypt::<Failed>(&codec, &secret, |_, _, _| Ok(())).unwrap();
        let total = totals.values().next().unwrap().number.to_f64();
        assert_eq!(total, if digits == 0 { 7.0 } else { 0.0 });
    }
}
