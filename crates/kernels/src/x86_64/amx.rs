//! Products of bytes in tiles (AMX), on Linux, which gives them to a process that asks.
#![expect(unsafe_code, reason = "instructions without intrinsics in stable Rust, used where they were found")]

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

use super::matrix_bytes::{add, cut};
use crate::matrix::layout::{ByteKernel, Factors, Line, PANEL};

/// Number of rows of two tiles.
const ROWS: usize = 32;

pub(crate) static KERNEL: ByteKernel = ByteKernel { rows: ROWS, run, add, cut };

/// Whether the processor has tiles of bytes and the operating system lets this process use them; asks it once.
pub(crate) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_instructions() && is_permitted())
}

/// Whether the processor has tiles (bit 24) of bytes (bit 25), and the system saves them (bits 17 and 18 of XCR0).
fn has_instructions() -> bool {
    /// Bits of XSAVE and its use by the system in leaf 1.
    const XSAVE: u32 = 3 << 26;
    let has_xsave = __cpuid(1).ecx & XSAVE == XSAVE;
    let tiles = __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx >> 24 & 3 == 3;
    // SAFETY: the system enabled the instruction, as leaf 1 says.
    has_xsave && tiles && unsafe { _xgetbv(0) } >> 17 & 3 == 3
}

/// Asks the system for tile data, which every thread of this process then has: arch_prctl(ARCH_REQ_XCOMP_PERM, 18).
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    let result: i64;
    // SAFETY: the call reads no memory and changes nothing but what this process may use; Linux changes three registers.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") 158_i64 => result,
            in("rdi") 0x1023_u64,
            in("rsi") 18_u64,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// Shapes of the eight tiles: palette 1, 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    /// Bytes of a row of each tile.
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPES: Shapes = Shapes {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Computes the sums of products of pairs of digits of 32 rows and 32 columns, in four tiles.
fn run(pairs: &[Factors<'_>], sums: &mut [i32]) {
    let mut list: [[*const Line; 2]; 8] = [[std::ptr::null(); 2]; 8];
    let steps = pairs.iter().map(|(ours, theirs)| (ours.len().min(theirs.len())) / ROWS).min().unwrap_or(0);
    for (pointers, (ours, theirs)) in list.iter_mut().zip(pairs) {
        *pointers = [ours.as_ptr(), theirs.as_ptr()];
    }
    if steps == 0 || pairs.len() > list.len() || sums.len() < ROWS * PANEL {
        sums.fill(0);
        return;
    }
    // SAFETY: the tiles were found before the kernel was chosen; every pair has `steps` times 32 lines of both factors, and the sums
    // are 32 rows of 128 bytes.
    unsafe {
        asm!(
            "ldtilecfg [{shapes}]",
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "mov {ours}, [{list}]",
            "mov {theirs}, [{list} + 8]",
            "mov {left}, {steps}",
            "3:",
            "tileloadd tmm4, [{ours} + {line}*1]",
            "tileloadd tmm6, [{theirs} + {line}*2]",
            "tdpbusd tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{theirs} + {line}*2 + 64]",
            "tdpbusd tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{ours} + {line}*1 + 1024]",
            "tdpbusd tmm2, tmm5, tmm6",
            "tdpbusd tmm3, tmm5, tmm7",
            "add {ours}, 2048",
            "add {theirs}, 2048",
            "dec {left}",
            "jnz 3b",
            "add {list}, 16",
            "dec {count}",
            "jnz 2b",
            "tilestored [{sums} + {line}*2], tmm0",
            "tilestored [{sums} + {line}*2 + 64], tmm1",
            "tilestored [{sums} + {line}*2 + 2048], tmm2",
            "tilestored [{sums} + {line}*2 + 2112], tmm3",
            "tilerelease",
            shapes = in(reg) &raw const SHAPES,
            list = inout(reg) list.as_ptr() => _,
            count = inout(reg) pairs.len() => _,
            steps = in(reg) steps,
            line = in(reg) 64_usize,
            sums = in(reg) sums.as_mut_ptr(),
            ours = out(reg) _,
            theirs = out(reg) _,
            left = out(reg) _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}
