//! Bootstrapping sets by their names.

use pyo3::prelude::*;
use sunzi_circuits::bootstrap::{BootstrapError, Order, Set, Summary};

use super::tables::order;
use crate::compute::run;
use crate::error::{Failure, OrRaise as _};

/// Largest number of levels of tables in a small set.
const MOST_LEVELS: usize = 8;

/// Returns a set of bootstrapping parameters by its name; `insecure-10` is the small one for tests at n =
/// 2^10, `insecure-10-9` that set with nine levels left, `insecure-10-9-first` that set with SlotsToCoeffs first, `insecure-10-9-first-s16`
/// that set for 16 slots, `insecure-10-table-4` a set for tables of 4 levels, `insecure-10-integer` one for integers.
pub(super) fn named(name: &str) -> Result<Set, Failure> {
    let unknown = || {
        let names = Set::shipped().map(|set| set.name).join(", ");
        let message = format!("there is no bootstrapping set {name:?}: take one of {names}");
        Failure::new("UnknownSet", message)
    };
    small(name).or_else(|| Set::named(name)).ok_or_else(unknown)
}

fn small(name: &str) -> Option<Set> {
    let numbers = name.strip_prefix("insecure-")?;
    if let Some((bits, levels)) = numbers.split_once("-table-") {
        let levels = levels.parse().ok().filter(|levels| (1..=MOST_LEVELS).contains(levels))?;
        return Some(Set::insecure_for_tables(bits.parse().ok()?, levels));
    }
    if let Some(bits) = numbers.strip_suffix("-integer") {
        return Some(Set::insecure_for_integers(bits.parse().ok()?));
    }
    let (numbers, slots) = match numbers.split_once("-s") {
        Some((numbers, slots)) => (numbers, Some(slots.parse().ok()?)),
        None => (numbers, None),
    };
    let (numbers, order) = match numbers.strip_suffix("-first") {
        Some(numbers) => (numbers, Order::First),
        None => (numbers, Order::Last),
    };
    let (bits, levels) = numbers.split_once('-').unwrap_or((numbers, ""));
    let set = Set { order, ..Set::insecure_for_tests(bits.parse().ok()?) };
    let set = if levels.is_empty() { set } else { set.with_levels_left(levels.parse().ok()?) };
    Some(slots.map_or(set.clone(), |slots| set.for_slots(slots)))
}

/// Returns the name of a set by which [`named`] finds it.
pub(super) fn name_of(set: &Set) -> String {
    let own = Set::insecure_for_tests(set.log2_degree);
    if set.name != own.name {
        return set.to_string();
    }
    if *set == Set::insecure_for_integers(set.log2_degree) {
        return format!("insecure-{}-integer", set.log2_degree);
    }
    if let Some(tables) = set.tables {
        return format!("insecure-{}-table-{}", set.log2_degree, tables.levels);
    }
    let levels = Some(set.levels_left()).filter(|&levels| levels != own.levels_left());
    let levels = levels.map_or(String::new(), |levels| format!("-{levels}"));
    let first = if set.order == Order::First { "-first" } else { "" };
    let slots = set.slots.map_or(String::new(), |slots| format!("-s{slots}"));
    format!("insecure-{}{levels}{first}{slots}", set.log2_degree)
}

/// Returns the one name of a set, with this many levels left and for this many slots if numbers are given.
#[pyfunction]
#[pyo3(signature = (name, levels=None, slots=None))]
pub(crate) fn bootstrap_set(
    py: Python<'_>,
    name: &str,
    levels: Option<usize>,
    slots: Option<usize>,
) -> PyResult<String> {
    let mut set = named(name).or_raise(py)?;
    if let Some(levels) = levels {
        set = set.with_levels_left(levels);
    }
    if let Some(slots) = slots {
        set = set.for_slots(slots);
    }
    Ok(name_of(&set))
}

/// Number of slots of the messages that a set is for.
#[pyfunction]
pub(crate) fn bootstrap_slots(py: Python<'_>, set: &str) -> PyResult<usize> {
    let set = named(set).or_raise(py)?;
    Ok(set.slots.unwrap_or(1_usize.checked_shl(set.log2_degree.saturating_sub(1)).unwrap_or(usize::MAX)))
}

/// Lists all sets of bootstrapping parameters, each with its cost.
#[pyfunction]
pub(crate) fn bootstrap_sets(py: Python<'_>) -> PyResult<Vec<(String, String)>> {
    run(py, || {
        let line = |set: &Set| Ok::<_, BootstrapError>((set.name.to_owned(), Summary::new(set)?.to_string()));
        Ok(Set::shipped().iter().map(line).collect::<Result<_, _>>()?)
    })
}

/// Returns the name of the set for tables of messages of this many bits.
#[pyfunction]
pub(crate) fn table_set(py: Python<'_>, bits: i64) -> PyResult<String> {
    let unknown = || {
        let widths = (1..=usize::BITS as usize).filter(|&bits| Set::for_tables(bits).is_some());
        let ends = (widths.clone().min().unwrap_or_default(), widths.max().unwrap_or_default());
        let message = format!(
            "there is no set for tables of messages of {bits} bits: take {} to {} bits",
            ends.0, ends.1
        );
        Failure::new("UnknownSet", message)
    };
    let set = usize::try_from(bits).ok().and_then(Set::for_tables);
    set.map(|set| name_of(&set)).ok_or_else(unknown).or_raise(py)
}

/// Returns the name of the set for integers.
#[pyfunction]
pub(crate) fn integer_set() -> String {
    name_of(&Set::for_integers())
}

/// Returns whether a set has what integers take: tables of their digits, and levels for a product and for carries.
#[pyfunction]
pub(crate) fn has_integers(py: Python<'_>, set: &str) -> PyResult<bool> {
    Ok(is_for_integers(&named(set).or_raise(py)?))
}

fn is_for_integers(set: &Set) -> bool {
    let [own, of_integers] = [set, &Set::for_integers()].map(|set| {
        (set.tables.map_or(0, |range| range.levels), set.residual.levels.saturating_sub(set.lowest_level()))
    });
    own.0 >= of_integers.0 && own.1 >= of_integers.1
}

/// Number of bits of the messages that a set has tables for; `None` for a set without tables, and for one that is for integers.
#[pyfunction]
pub(crate) fn table_bits(py: Python<'_>, set: &str) -> PyResult<Option<usize>> {
    let set = named(set).or_raise(py)?;
    let Some(tables) = set.tables.filter(|_| !is_for_integers(&set)) else { return Ok(None) };
    let fits = |bits: &usize| order(1 << bits).depth(1 << bits) <= tables.levels;
    Ok((1..=tables.levels).rev().find(fits))
}
