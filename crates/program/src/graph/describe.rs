//! Descriptions of nodes in the program language, for messages.

use super::{Graph, Node, NodeId};
use crate::Decimal;
use crate::schema::{Kind, Schema};

/// Largest number of characters of a description; longer ones are cut.
const LONGEST: usize = 120;
/// Largest depth of a described expression; deeper ones are cut, since writing is recursive.
const DEEPEST: usize = 200;

impl Graph {
    /// Returns the expression of a node in the program language, cut after 120 characters.
    #[must_use]
    pub fn describe(&self, id: NodeId, schema: &Schema) -> String {
        let mut text = String::new();
        self.write(id, (schema, DEEPEST), false, &mut text);
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).chain("…".chars()).collect();
        }
        text
    }

    /// Appends a node's expression to a text, in parentheses if it is a sum and must be one factor.
    fn write(&self, id: NodeId, (schema, deepest): (&Schema, usize), factor: bool, text: &mut String) {
        // Text after the cut is not needed, and shared nodes may be very long in words.
        if text.len() > 4 * LONGEST {
            return;
        }
        let Some(deepest) = deepest.checked_sub(1) else {
            text.push('…');
            return;
        };
        let below = (schema, deepest);
        let name = |column: usize| schema.columns.get(column).map_or("?", |column| column.name.as_str());
        match self.node(id) {
            None => text.push('?'),
            Some(Node::Column(column)) => text.push_str(name(*column)),
            Some(Node::Indicator { column, label }) => {
                let label = match schema.columns.get(*column).map(|column| &column.kind) {
                    Some(Kind::Category { labels }) => labels.get(*label).map_or("?", String::as_str),
                    Some(_) => return text.push_str(&format!("({} is there)", name(*column))),
                    None => "?",
                };
                text.push_str(&format!("({} == {label:?})", name(*column)));
            }
            Some(Node::Linear { terms, constant }) => {
                text.push_str(if factor { "(" } else { "" });
                self.write_linear(terms, *constant, below, text);
                text.push_str(if factor { ")" } else { "" });
            }
            Some(Node::Product(a, b)) => {
                self.write(*a, below, true, text);
                text.push_str(" * ");
                self.write(*b, below, true, text);
            }
            Some(Node::Polynomial { of, coefficients }) => {
                text.push_str("poly(");
                self.write(*of, below, false, text);
                coefficients.iter().for_each(|c| text.push_str(&format!(", {c}")));
                text.push(')');
            }
            Some(Node::Apply { of, function, interval }) => {
                text.push_str(function.name());
                text.push('(');
                self.write(*of, below, false, text);
                if let Some((low, high)) = interval {
                    text.push_str(&format!(", {low}, {high}"));
                }
                text.push(')');
            }
            Some(Node::Positive { of, or_zero }) => {
                text.push('(');
                self.write(*of, below, false, text);
                text.push_str(if *or_zero { " >= 0)" } else { " > 0)" });
            }
            Some(node) => self.write_order(node, below, text),
        }
    }

    /// Appends the expression of a node of order or of a table.
    fn write_order(&self, node: &Node, below: (&Schema, usize), text: &mut String) {
        match node {
            Node::Kth { of, place } => {
                let place = place.saturating_add(1);
                match place {
                    1 => self.write_call("min", *of, below, text),
                    _ if place == below.0.rows => self.write_call("max", *of, below, text),
                    _ => {
                        text.push_str(&format!("(number {place} of "));
                        self.write(*of, below, false, text);
                        text.push_str(" in order)");
                    }
                }
            }
            Node::Sorted { of, .. } => self.write_call("sort", *of, below, text),
            Node::Rank { of, .. } => self.write_call("rank", *of, below, text),
            Node::LookUp { of, .. } => self.write_call("lookup", *of, below, text),
            _ => text.push('?'),
        }
    }

    fn write_call(&self, name: &str, of: NodeId, below: (&Schema, usize), text: &mut String) {
        text.push_str(name);
        text.push('(');
        self.write(of, below, false, text);
        text.push(')');
    }

    fn write_linear(
        &self,
        terms: &[(NodeId, Decimal)],
        constant: Decimal,
        below: (&Schema, usize),
        text: &mut String,
    ) {
        let magnitude = |c: Decimal| if c.mantissa() < 0 { c.checked_neg().unwrap_or(c) } else { c };
        let mut first = true;
        for &(id, c) in terms {
            text.push_str(match (first, c.mantissa() < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            if magnitude(c) != Decimal::ONE {
                text.push_str(&format!("{} * ", magnitude(c)));
            }
            self.write(id, below, true, text);
            first = false;
        }
        match (first, constant.mantissa()) {
            (true, _) => text.push_str(&constant.to_string()),
            (false, 0) => {}
            (false, mantissa) => {
                let sign = if mantissa < 0 { '-' } else { '+' };
                text.push_str(&format!(" {sign} {}", magnitude(constant)));
            }
        }
    }
}
