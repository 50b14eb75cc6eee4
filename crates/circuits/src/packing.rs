//! Bytes in numbers of a given width.

/// Returns numbers of so many bits each that hold bytes, the lowest bits first.
pub(crate) fn packed(bytes: &[u8], bits: usize) -> Vec<u64> {
    let (mut numbers, mut held, mut count) = (Vec::with_capacity(bytes.len() * 8 / bits + 1), 0_u128, 0);
    for byte in bytes {
        held |= u128::from(*byte) << count;
        count += 8;
        while count >= bits {
            numbers.push((held & ((1 << bits) - 1)) as u64);
            held >>= bits;
            count -= bits;
        }
    }
    if count > 0 {
        numbers.push(held as u64);
    }
    numbers
}

/// Returns the whole bytes that numbers of so many bits each hold.
pub(crate) fn unpacked(numbers: &[u64], bits: usize) -> Vec<u8> {
    let (mut bytes, mut held, mut count) = (Vec::with_capacity(numbers.len() * bits / 8), 0_u128, 0);
    for number in numbers {
        held |= (u128::from(*number) & ((1 << bits) - 1)) << count;
        count += bits;
        while count >= 8 {
            bytes.push(held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_numbers_of_any_width() {
        let bytes: Vec<u8> = (0..96).map(|at| (at * 37 + 11) as u8).collect();
        for bits in [8, 9, 15, 16, 17, 20, 31, 60] {
            let numbers = packed(&bytes, bits);
            assert_eq!(numbers.len(), (96 * 8_usize).div_ceil(bits));
            assert!(numbers.iter().all(|one| *one < 1 << bits), "{bits}");
            let mut back = unpacked(&numbers, bits);
            // The last coefficient may hold more bytes than there were.
            assert!(back.len() >= 96 || bits * numbers.len() < 96 * 8);
            back.truncate(96);
            assert_eq!(back, bytes, "{bits}");
        }
    }
}
