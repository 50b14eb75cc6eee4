//! Marks of secret words for valgrind's memcheck, which then reports every branch and every index that
//! depends on them. Outside valgrind nothing happens.
#![expect(unsafe_code, reason = "instructions that valgrind knows as requests")]

use std::arch::asm;

/// Request code of `valgrind/memcheck.h`, tool "MC", by which bytes are marked as undefined.
const UNDEFINED: u64 = 0x4d43_0001;
const DEFINED: u64 = 0x4d43_0002;
/// Request code of `valgrind/valgrind.h` that asks whether valgrind runs.
const RUNNING: u64 = 0x1001;

/// Whether memcheck watches this process.
#[must_use]
pub fn is_watching() -> bool {
    request(RUNNING, &[] as &[u8]) > 0
}

/// Marks words as secret: from now on no branch and no index may depend on them, or on what is computed from them.
pub fn mark_secret<T>(words: &[T]) {
    request(UNDEFINED, words);
}

/// Marks words as public: branches and indices may depend on them again.
pub fn mark_public<T>(words: &[T]) {
    request(DEFINED, words);
}

/// Sends valgrind a request about the bytes of a slice; returns 0 outside valgrind.
fn request<T>(code: u64, words: &[T]) -> u64 {
    let arguments = [code, words.as_ptr().addr() as u64, size_of_val(words) as u64, 0, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: on a processor these are rotations by 128 bits together and an exchange of a register with itself, which change
    // nothing. Valgrind reads six words of `arguments`, which live, and sets rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            options(nostack)
        );
    }
    answer
}
