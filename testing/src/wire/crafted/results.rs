//! Crafted files of results, whose description in JSON has an excessive part.

use std::ops::Range;

use serde_json::Value;

use super::{Crafted, LONG, craft, many};
use crate::wire::Specimen;
use crate::wire::specimens::Failure;

/// Returns the JSON of a balanced tree of an operation over totals.
fn tree(operation: &str, levels: usize, leaf: &str) -> String {
    (0..levels).fold(leaf.to_owned(), |tree, _| format!(r#"{{"{operation}":[{tree},{tree}]}}"#))
}

/// A description of results in JSON, of which parts are exchanged.
struct Description {
    json: Value,
    text: String,
}

impl Description {
    fn new(specimen: &Specimen, record: Range<usize>) -> Result<Self, Failure> {
        let json: Value = serde_json::from_slice(specimen.bytes.get(record).unwrap_or_default())?;
        // With the order of members that parts of it have, too.
        let text = json.to_string();
        Ok(Self { json, text })
    }

    fn part(&self, path: &str) -> Result<String, Failure> {
        Ok(self.json.pointer(path).ok_or("a part")?.to_string())
    }

    /// Returns the JSON text with another value at a path.
    fn with(&self, path: &str, new: &str) -> Result<String, Failure> {
        let text = self.text.replace(&self.part(path)?, new);
        if text == self.text { Err("another part was expected".into()) } else { Ok(text) }
    }

    /// Returns the JSON text with more elements in a list.
    fn longer(&self, path: &str, more: &str) -> Result<String, Failure> {
        let list = self.part(path)?;
        self.with(path, &format!("{},{more}]", list.strip_suffix(']').unwrap_or_default()))
    }
}

const NODES: &str = "/description/program/nodes";
const OUTPUTS: &str = "/description/program/outputs";

fn named(i: usize, value: &str) -> String {
    format!(r#"{{"name":"{i}","value":{value}}}"#)
}

fn number(i: usize, formula: &str) -> String {
    named(i, &format!(r#"{{"number":{formula}}}"#))
}

pub(super) fn of_results(specimen: &Specimen) -> Result<Vec<Crafted>, Failure> {
    let record = specimen.records.first().cloned().ok_or("a description")?;
    let description = Description::new(specimen, record.clone())?;
    let mut texts = of_outputs(&description)?;
    let first = description.json.pointer(NODES).and_then(Value::as_array).map_or(0, Vec::len);
    let more = |part: &dyn Fn(usize) -> String| description.longer(NODES, &many(|i| part(first + i)));
    let terms = format!(r#"{{"linear":{{"terms":[{}[1,"2"]],"constant":"1"}}}}"#, r#"[0,"2"],"#.repeat(99));
    let openings = description.json.pointer("/description/openings").and_then(Value::as_object);
    let opening = openings.and_then(|all| all.values().next()).ok_or("an opening")?.to_string();
    let extra = many(|i| format!(r#""{}":{opening}"#, 1000 + i));
    let layout = description.part("/description/layout")?;
    let labels = many(|i| format!("\"{i}\""));
    let category =
        format!(r#"[{{"name":"c","kind":{{"category":{{"labels":[{labels}]}}}},"encrypted":true}}]"#);
    texts.extend([
        ("nesting", "[".repeat(LONG)),
        ("nesting of objects", r#"{"description":"#.repeat(LONG / 15)),
        ("squares", more(&|i| format!(r#"{{"product":[{0},{0}]}}"#, i - 1))?),
        ("terms", more(&|_| terms.clone())?),
        ("comparisons", more(&|i| format!(r#"{{"positive":{{"of":{},"or_zero":false}}}}"#, i % first))?),
        ("openings", description.with("/description/openings", &format!("{{{extra}}}"))?),
        (
            "filled",
            description
                .with("/description/layout", &format!(r#"{layout},"filled":[{}]"#, many(|_| "1".into())))?,
        ),
        ("labels", description.with("/description/program/schema/columns", &category)?),
    ]);
    let craft = |(name, text): (&str, String)| craft(specimen, record.clone(), name, text.into_bytes());
    Ok(texts.into_iter().map(craft).collect())
}

/// Returns descriptions of results with long formulas, and with many of them.
fn of_outputs(description: &Description) -> Result<Vec<(&'static str, String)>, Failure> {
    let total = first_total(&description.json).ok_or("a total")?;
    let constant = format!(r#"{{"number":"{}.123456"}}"#, "9".repeat(30));
    let mut texts = Vec::new();
    for (name, operation, leaf) in [
        ("sums", "add", total.as_str()),
        ("products", "multiply", &total),
        ("quotients", "divide", &total),
        ("long constants", "multiply", &constant),
        ("differences of rows", "subtract", "\"rows\""),
    ] {
        let tree = tree(operation, 14, leaf);
        texts.push((name, description.longer(OUTPUTS, &number(0, &tree))?));
    }
    let powers = tree("multiply", 6, &total);
    let group = format!(r#"{{"labels":["a"],"formula":{total}}}"#);
    let groups = format!(r#"{{"groups":[{}]}}"#, many(|_| group.clone()));
    texts.extend([
        ("outputs", description.longer(OUTPUTS, &many(|i| number(i, &total)))?),
        ("powers", description.longer(OUTPUTS, &many(|i| number(i, &powers)))?),
        ("groups", description.longer(OUTPUTS, &named(0, &groups))?),
    ]);
    Ok(texts)
}

/// Returns a formula of the first total that a program has.
fn first_total(description: &Value) -> Option<String> {
    fn total(value: &Value) -> Option<&Value> {
        match value {
            Value::Object(members) if members.len() == 1 && members.contains_key("total") => Some(value),
            Value::Object(members) => members.values().find_map(total),
            Value::Array(items) => items.iter().find_map(total),
            _ => None,
        }
    }
    total(description.get("description")?.get("program")?.get("outputs")?).map(Value::to_string)
}
