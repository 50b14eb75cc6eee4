//! Variants of the shipped sets, and their names.

use std::fmt;

use sunzi_ckks::LevelRange;

use super::{Back, Encapsulation, Set};

impl Set {
    /// Returns the set with this many levels left after its rounds: the fewer, the less time, memory and keys a bootstrapping takes, at the same precision
    /// and security. The name of a shipped set then has the number behind it.
    ///
    /// More levels than a shipped set has may pass the security limit, which [`parameters`](Self::parameters) checks; fewer than SlotsToCoeffs takes from a
    /// message are refused there too.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::Set;
    ///
    /// let set = Set::fast_128().with_levels_left(8);
    /// assert_eq!((set.to_string(), set.levels_left()), ("n16-128-fast-8".to_owned(), 8));
    /// assert!(Set::fast_128().with_levels_left(40).parameters().is_err());
    /// ```
    #[must_use]
    pub fn with_levels_left(self, levels: usize) -> Self {
        let levels = levels.saturating_add(self.rounds.max(1) - 1);
        self.changed(|set| Self { residual: LevelRange { levels, ..set.residual }, ..set })
    }

    /// Returns the set with a key switch back from the sparse secret, and one more level of CoeffsToSlots for its first matrix. Shipped sets have `-switch`
    /// behind their name then.
    #[must_use]
    pub fn with_key_switch_back(self) -> Self {
        self.changed(Self::switched_back)
    }

    fn switched_back(self) -> Self {
        if !self.raises_with_matrix() {
            return self;
        }
        let levels = self.coeffs_to_slots.levels + 1;
        let encapsulation =
            self.encapsulation.map(|capsule| Encapsulation { back: Back::KeySwitch, ..capsule });
        let (name, digits) = match self.name {
            "n16-128" => ("n16-128-switch", self.digits),
            "n16-128-fast" => ("n16-128-fast-switch", self.digits),
            // A level more leaves no room for as many special moduli.
            "n16-128-precise" => ("n16-128-precise-switch", 4),
            "n15-128" => ("n15-128-switch", 9),
            name => (name, self.digits),
        };
        let coeffs_to_slots = LevelRange { levels, ..self.coeffs_to_slots };
        Self { name, digits, coeffs_to_slots, encapsulation, ..self }
    }

    /// Returns the set with the first matrix of CoeffsToSlots applied while the modulus is raised, which saves a level: a set without a sparse secret, or
    /// with one level of CoeffsToSlots, as it is.
    #[must_use]
    pub fn with_first_matrix_back(self) -> Self {
        self.changed(Self::led_back)
    }

    fn led_back(self) -> Self {
        if self.raises_with_matrix() || self.encapsulation.is_none() || self.coeffs_to_slots.levels < 2 {
            return self;
        }
        let levels = self.coeffs_to_slots.levels - 1;
        let encapsulation =
            self.encapsulation.map(|capsule| Encapsulation { back: Back::FirstMatrix, ..capsule });
        let name = self.name.strip_suffix("-switch").unwrap_or(self.name);
        Self { name, coeffs_to_slots: LevelRange { levels, ..self.coeffs_to_slots }, encapsulation, ..self }
    }

    /// Returns the shipped set of this name, or a variant of it: `-switch` behind its name stands for a [key switch back](Self::with_key_switch_back),
    /// a number for the [levels left](Self::with_levels_left), and `-s16` at the end for [16 slots](Self::for_slots). `n16-table-8` is the set
    /// [for tables](Self::for_tables) of 8 bits, `n16-integer` that [for integers](Self::for_integers).
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::{Back, Set};
    ///
    /// let set = Set::named("n16-128-fast-switch").expect("it is shipped");
    /// assert_eq!(set, Set::fast_128().with_key_switch_back());
    /// assert!(set.encapsulation.is_some_and(|sparse| sparse.back == Back::KeySwitch));
    /// assert_eq!(Set::named("n16-128-fast-switch-5"), Some(set.with_levels_left(5)));
    /// assert_eq!(Set::named("n16-128-fast-8-s16"), Some(Set::fast_128().with_levels_left(8).for_slots(16)));
    /// assert!(Set::named("n17").is_none());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let of_name = |name: &str| {
            let all = Self::shipped().into_iter().flat_map(|set| [set.clone(), set.with_key_switch_back()]);
            let tables = || Self::for_tables(name.strip_prefix("n16-table-")?.parse().ok()?);
            all.into_iter().chain([Self::for_integers()]).find(|set| set.name == name).or_else(tables)
        };
        let of_levels = |name: &str| {
            let (name, levels) = name.rsplit_once('-')?;
            Some(of_name(name)?.with_levels_left(levels.parse().ok()?))
        };
        let (name, slots) = slots_of(name);
        let set = of_name(name).or_else(|| of_levels(name))?;
        match slots {
            // Tables are for all slots.
            Some(_) if set.tables.is_some() => None,
            Some(slots) => Some(set.for_slots(slots)),
            None => Some(set),
        }
    }
}

/// Returns a name without the number of slots at its end, and that number.
#[must_use]
fn slots_of(name: &str) -> (&str, Option<usize>) {
    let parts = name.rsplit_once("-s").and_then(|(name, slots)| Some((name, Some(slots.parse().ok()?))));
    parts.unwrap_or((name, None))
}

/// The name of the set, by which [`Set::named`] finds it: that of the shipped set, the number of levels left where it has another, and that of slots where
/// they are few.
impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match Self::named(self.name) {
            Some(shipped) if shipped.levels_left() != self.levels_left() => {
                write!(f, "-{}", self.levels_left())?;
            }
            _ => {}
        }
        self.slots.map_or(Ok(()), |slots| write!(f, "-s{slots}"))
    }
}
