//! Graph of imports: files that reach one another along them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Arrows, Circle};

/// Every circle of imports but those of a module and files of its own folder.
pub(crate) fn circles(arrows: &Arrows) -> Vec<Circle> {
    let mut next: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
        next.entry(to).or_default();
    }
    let mut found = Vec::new();
    let mut pending = vec![next];
    while let Some(graph) = pending.pop() {
        for component in components(&graph) {
            let above = component.iter().find(|module| {
                component.iter().all(|file| file == *module || file.starts_with(super::folder(module)))
            });
            match above {
                None => found.push(component.iter().map(PathBuf::from).collect()),
                Some(module) => pending.push(within(&graph, &component, module)),
            }
        }
    }
    found.sort();
    found
}

/// The import graph of a component without one file.
fn within<'a>(
    graph: &BTreeMap<&'a Path, BTreeSet<&'a Path>>,
    component: &BTreeSet<&'a Path>,
    without: &Path,
) -> BTreeMap<&'a Path, BTreeSet<&'a Path>> {
    let files = component.iter().copied().filter(|file| *file != without);
    let left: BTreeSet<&Path> = files.collect();
    left.iter()
        .map(|file| {
            (*file, graph.get(file).into_iter().flatten().copied().filter(|to| left.contains(to)).collect())
        })
        .collect()
}

/// Components of the import graph: sets of two files or more that all reach one another.
fn components<'a>(graph: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> Vec<BTreeSet<&'a Path>> {
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        graph.keys().map(|file| (*file, reach(graph, file))).collect();
    let mut found: Vec<BTreeSet<&Path>> = Vec::new();
    for (file, targets) in &reached {
        if !targets.contains(file) || found.iter().any(|component| component.contains(file)) {
            continue;
        }
        let comes_back = |target: &&Path| reached.get(target).is_some_and(|back| back.contains(file));
        let component: BTreeSet<&Path> = targets.iter().copied().filter(comes_back).collect();
        if component.len() > 1 {
            found.push(component);
        }
    }
    found
}

/// Files that imports lead to from the file `start`.
fn reach<'a>(graph: &BTreeMap<&'a Path, BTreeSet<&'a Path>>, start: &Path) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut pending = vec![start];
    while let Some(file) = pending.pop() {
        for target in graph.get(file).into_iter().flatten() {
            if found.insert(*target) {
                pending.push(target);
            }
        }
    }
    found
}
