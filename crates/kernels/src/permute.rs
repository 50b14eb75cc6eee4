//! Reordering of words.

use crate::error::{KernelError, check_length};

/// `out[i] = input[index[i]]`
///
/// # Errors
/// [`KernelError::LengthMismatch`] unless `out` and `index` are equally long,
/// [`KernelError::IndexOutOfRange`].
pub fn permute(out: &mut [u64], input: &[u64], index: &[u32]) -> Result<(), KernelError> {
    check_length(out.len(), index.len())?;
    for (to, &index) in out.iter_mut().zip(index) {
        let word = input.get(index as usize);
        *to = *word.ok_or(KernelError::IndexOutOfRange { index, len: input.len() })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutes_or_refuses() {
        let mut out = [0; 3];
        permute(&mut out, &[10, 20, 30], &[2, 0, 1]).unwrap();
        assert_eq!(out, [30, 10, 20]);
        assert!(permute(&mut out, &[10], &[0, 0]).is_err());
        let missing = KernelError::IndexOutOfRange { index: 1, len: 1 };
        assert_eq!(permute(&mut out, &[10], &[0, 1, 0]), Err(missing));
    }
}
