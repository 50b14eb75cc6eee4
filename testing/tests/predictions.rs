//! What plans say of keys and memory, beside what runs take.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use sunzi_program::analysis::SchemeChoice;
    use sunzi_program::contexts::{EncryptionKey, SecretKey};
    use sunzi_program::run::{Cells, Input, evaluate};
    use sunzi_program::{Column, Contexts, NodeId, Options, Plan, Program, Schema};

    use super::MEMORY;

    /// Keys are counted to the byte, but for what pads a polynomial to 64 and the last words of a packed row.
    const KEYS: f64 = 1.02;
    /// Memory is planned for the worst, and by no more than this: the most that was seen is 4.6.
    const MEMORY_FACTOR: f64 = 5.0;
    const ROWS: u64 = 20_000;

    struct Taken {
        keys: f64,
        memory: f64,
    }

    fn run(plan: &Plan) -> Taken {
        let contexts = Contexts::new(&plan.parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(41);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let codec = contexts.codec(&plan.layout).unwrap();
        let inputs = sunzi_program::run::encrypted_inputs(&plan.program);
        // As files of one chunk, which all are alike.
        let files: BTreeMap<NodeId, Vec<u8>> = inputs
            .into_iter()
            .map(|id| {
                let node = plan.program.graph().node(id).unwrap();
                let column = &plan.program.schema().columns[node.column().unwrap()];
                let cells = Cells::Units((0..plan.layout.span).map(|i| i as i64 % 10).collect());
                let key = EncryptionKey::Secret(&secret);
                let chunk = codec.encrypt(column, None, &cells, key, &mut rng).unwrap();
                (id, contexts.to_bytes(&chunk).unwrap())
            })
            .collect();
        let before = MEMORY.current_usage();
        let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng).unwrap();
        MEMORY.reset_peak_usage();
        let input = |id, _| Ok(Input::Encrypted(contexts.from_bytes(&files[&id], None).unwrap()));
        let totals = evaluate(plan, &codec, &keys, input, |_, _, _| Ok(())).unwrap();
        assert!(!totals.is_empty());
        let memory = (MEMORY.peak_usage() - before) as f64;
        Taken { keys: keys.byte_len() as f64, memory }
    }

    /// One test: the peak is that of the process.
    #[test]
    fn runs_take_what_plans_say() {
        let columns = ["x", "y", "z"].map(|name| Column::integer(name, 0, 9));
        let schema = Schema::new(ROWS, columns.to_vec()).unwrap();
        let exact = "sum(x*y); var(x); mean(y); sum(x*y*z)";
        let real = "mean(x); corr(x, y); sum(sigmoid(0.1 * x - 0.5, -1, 1))";
        let mut wrong = Vec::new();
        for (scheme, text) in [
            (SchemeChoice::Bfv, exact),
            (SchemeChoice::Bgv, exact),
            (SchemeChoice::Ckks, "mean(x); var(y)"),
            (SchemeChoice::Ckks, real),
        ] {
            let options = Options { scheme: Some(scheme), ..Options::default() };
            let plan = Plan::new(&Program::parse(text, &schema).unwrap(), &options).unwrap();
            let Taken { keys, memory } = run(&plan);
            for (what, planned, taken, allowed) in [
                ("bytes of keys", plan.key_bytes as f64, keys, 1.0 / KEYS..=KEYS),
                ("bytes", plan.memory_bytes as f64, memory, 1.0..=MEMORY_FACTOR),
            ] {
                let (name, ratio) = (plan.parameters.name(), planned / taken);
                let line =
                    format!("{name}, {text}: {planned:.3e} {what} planned, {taken:.3e} taken, {ratio:.2}");
                println!(
                    "{line}; {:.1} ciphertexts beside keys",
                    (taken - keys) / plan.ciphertext_bytes as f64
                );
                if !allowed.contains(&ratio) {
                    wrong.push(line);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
