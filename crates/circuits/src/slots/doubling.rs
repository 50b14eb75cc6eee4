//! Products and sums of many images of one ciphertext, at the least depth, by doubling.

/// Returns P_count, where P_1 = `first` and P_(i+j) = join(i, P_i, P_j): by doubling, and the bits of the count from the lowest on. It takes
/// ⌊log2 count⌋ joins and one for each further bit, ⌈log2 count⌉ of them deep; i is always a power of two.
pub(super) fn doubled<T: Clone, E>(
    count: usize,
    first: &T,
    join: &mut impl FnMut(usize, &T, &T) -> Result<T, E>,
) -> Result<T, E> {
    let mut power = first.clone();
    let mut gathered: Option<T> = None;
    let mut step = 1;
    loop {
        if count & step != 0 {
            gathered = Some(match &gathered {
                Some(rest) => join(step, &power, rest)?,
                None => power.clone(),
            });
        }
        if step > count / 2 {
            return Ok(gathered.unwrap_or(power));
        }
        power = join(step, &power, &power)?;
        step *= 2;
    }
}

/// Yields the steps i that [`doubled`] joins by: all powers of two below the count.
pub(super) fn doublings(count: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |step| step.checked_mul(2)).take_while(move |&step| step < count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_reached_at_the_least_depth() {
        for count in 1..200_usize {
            let mut joins = 0;
            let mut steps = Vec::new();
            let (reached, depth) = doubled(count, &(1, 0), &mut |step, &(a, left), &(b, right)| {
                joins += 1;
                steps.push(step);
                assert_eq!(step, a);
                Ok::<_, ()>((a + b, left.max(right) + 1))
            })
            .unwrap();
            assert_eq!(reached, count);
            assert_eq!(depth, count.next_power_of_two().ilog2());
            assert_eq!(joins, count.ilog2() + count.count_ones() - 1);
            steps.sort_unstable();
            steps.dedup();
            assert_eq!(steps, doublings(count).collect::<Vec<_>>());
        }
    }
}
