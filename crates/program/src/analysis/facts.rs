//! Facts of every node before the program runs: ranges, digits, depth.

mod choice;
pub(super) mod rounding;
mod together;

use self::together::Part;
use crate::graph::{Graph, Node};
use crate::schema::{Column, Kind, Schema};
use crate::{Decimal, Function, NodeId};

/// Largest log2 of an exact number; larger numbers are computed approximately.
const LARGEST_BITS: u32 = 120;
/// Largest number of decimals of an exact number; with more, numbers are computed approximately, since key holders
/// divide by a power of 10.
const MOST_DECIMALS: u32 = 256;

/// Range of an exact number: v·10^decimals is an integer from low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Number of digits after the point of an exact number.
    pub decimals: u32,
    /// Least v·10^decimals of an exact number v.
    pub low: i128,
    /// Largest v·10^decimals of an exact number v.
    pub high: i128,
    /// Value of v·10^decimals in slots that belong to no row.
    pub padding: i128,
}

/// Facts of a node: range, digits, depth and rounding errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Whether the node's value is hidden from the server.
    pub encrypted: bool,
    /// Least value of the node.
    pub low: f64,
    /// Largest value of the node.
    pub high: f64,
    /// Number of decimals and range, if exact schemes can compute the node.
    pub exact: Option<Exact>,
    /// Number of decimals and range of the right value, if it has any, whatever scheme computes it: encrypted
    /// comparisons are 0 or 1.
    pub grid: Option<Exact>,
    /// Multiplicative depth of the node in encrypted numbers.
    pub depth: usize,
    /// Bound on the rounding errors of a clear node computed in doubles: 0 for cells.
    pub rounding: f64,
    /// Whether the rounded value of the node has the sign of the right value.
    pub signed: bool,
}

impl Exact {
    fn new(decimals: u32, ends: [i128; 2], padding: i128) -> Option<Self> {
        let [low, high] = ends;
        let limit = 1_i128 << LARGEST_BITS;
        let fits = [low, high, padding].into_iter().all(|v| (-limit..=limit).contains(&v));
        (fits && decimals <= MOST_DECIMALS).then_some(Self { decimals, low, high, padding })
    }

    /// Returns an upper bound on |v·10^decimals| of an exact number v, padding included.
    #[must_use]
    pub fn magnitude(&self) -> u128 {
        [self.low, self.high, self.padding].map(i128::unsigned_abs).into_iter().max().unwrap_or(0)
    }

    /// Returns the range of the product of two exact numbers, a square if `same`.
    fn product(self, other: Self, same: bool) -> Option<Self> {
        let mut ends = Vec::with_capacity(4);
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                ends.push(a.checked_mul(b)?);
            }
        }
        let high = ends.iter().copied().max()?;
        let mut low = ends.iter().copied().min()?;
        if same {
            let nearest = 0.max(self.low).min(self.high);
            low = nearest.checked_mul(nearest)?;
        }
        let padding = self.padding.checked_mul(other.padding)?;
        Self::new(self.decimals.checked_add(other.decimals)?, [low, high], padding)
    }

    /// Returns the range of a sum with one more part, in units of more decimals.
    fn plus_part(self, part: &Part, factors: &[i128], ranges: &[Self], schema: &Schema) -> Option<Self> {
        let (factor, range) = (|at: usize| factors.get(at).copied(), |at: usize| ranges.get(at).copied());
        let ends = match part {
            Part::Alone(at) => return self.plus_term(factor(*at)?, range(*at)?),
            Part::Cells { column, number, indicator } => {
                let (low, high) = together::cells(schema.columns.get(*column)?)?;
                let there = |v: i128| factor(*number)?.checked_mul(v)?.checked_add(factor(*indicator)?);
                together::with_zero(there(low)?, there(high)?)
            }
            Part::Labels(labels) => {
                let all = labels.iter().map(|at| factor(*at)).collect::<Option<Vec<i128>>>()?;
                together::with_zero(all.iter().copied().min()?, all.iter().copied().max()?)
            }
        };
        let ends = [self.low.checked_add(ends.0)?, self.high.checked_add(ends.1)?];
        Self::new(self.decimals, ends, self.padding)
    }

    /// Returns the range of a sum with one more term c·v, in units of more decimals.
    fn plus_term(self, factor: i128, other: Self) -> Option<Self> {
        let ends = [other.low.checked_mul(factor)?, other.high.checked_mul(factor)?];
        let (low, high) = if factor < 0 { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
        let ends = [self.low.checked_add(low)?, self.high.checked_add(high)?];
        let padding = self.padding.checked_add(other.padding.checked_mul(factor)?)?;
        Self::new(self.decimals, ends, padding)
    }
}

/// Returns the decimals of Σ c_i·x_i + c, and each c_i in units that make the sum an integer.
pub(crate) fn linear_units(terms: &[(Decimal, u32)], constant: Decimal) -> Option<(u32, Vec<i128>, i128)> {
    let places = terms.iter().map(|(c, decimals)| c.decimals() + decimals);
    let decimals = places.chain([constant.decimals()]).max()?;
    let factors = terms.iter().map(|(c, own)| c.scaled(decimals - own)).collect::<Option<_>>()?;
    Some((decimals, factors, constant.scaled(decimals)?))
}

/// Returns the decimals of Σ a_k·x^k for x with `own` decimals, and each a_k in units that make the value an integer.
pub(crate) fn polynomial_units(coefficients: &[Decimal], own: u32) -> Option<(u32, Vec<i128>)> {
    let places = |(k, c): (usize, &Decimal)| c.decimals() + own * k as u32;
    let decimals = coefficients.iter().enumerate().map(places).max()?;
    let unit = |(k, c): (usize, &Decimal)| c.scaled(decimals.checked_sub(own * k as u32)?);
    Some((decimals, coefficients.iter().enumerate().map(unit).collect::<Option<_>>()?))
}

/// Returns the facts of the nodes of a graph without a program.
pub(crate) fn of_graph(graph: &Graph, schema: &Schema) -> Vec<Facts> {
    let mut known: Vec<Facts> = Vec::with_capacity(graph.nodes().len());
    extend(&mut known, graph, schema);
    known
}

/// Adds the facts of the nodes of a graph that are not known yet.
pub(crate) fn extend(known: &mut Vec<Facts>, graph: &Graph, schema: &Schema) {
    for node in graph.nodes().iter().skip(known.len()) {
        let facts = of_node(node, (schema, graph.nodes()), known);
        known.push(facts);
    }
}

/// Returns the facts of a column of numbers, or of an indicator of a column.
pub(crate) fn of_column(column: &Column, indicator: bool) -> Facts {
    let node = if indicator { Node::Indicator { column: 0, label: 0 } } else { Node::Column(0) };
    of_node(&node, (&Schema { rows: 1, columns: vec![column.clone()] }, &[]), &[])
}

/// Returns the facts of a node from those of the nodes before it, which are `nodes`.
fn of_node(node: &Node, (schema, nodes): (&Schema, &[Node]), known: &[Facts]) -> Facts {
    let operands: Vec<Facts> =
        node.operands().iter().filter_map(|id: &NodeId| known.get(id.index())).copied().collect();
    let column = node.column().and_then(|column| schema.columns.get(column));
    let encrypted = column.map_or(operands.iter().any(|f| f.encrypted), |column| column.encrypted);
    let depth = operands.iter().map(|f| f.depth).max().unwrap_or(0);
    let ranges = operands.iter().map(|facts| facts.exact).collect();
    let around = (schema, nodes);
    let exact = exact(node, around, ranges, !encrypted);
    let grid = exact.or_else(|| {
        let grids = operands.iter().map(|facts| facts.grid).collect();
        self::exact(node, around, grids, true)
    });
    let grid = grid.or_else(|| match node {
        Node::Positive { .. } => Exact::new(0, [0, 1], 0),
        _ => None,
    });
    let (low, high) = match exact {
        Some(Exact { decimals, low, high, .. }) => {
            let unit = 10_f64.powi(decimals as i32);
            (low as f64 / unit, high as f64 / unit)
        }
        None => interval(node, around, &operands),
    };
    let step = match node {
        Node::Product(..) => usize::from(operands.iter().all(|f| f.encrypted)),
        Node::Polynomial { coefficients, .. } if encrypted => {
            (coefficients.len() - 1).next_power_of_two().ilog2() as usize
        }
        // The polynomial through so many entries.
        Node::LookUp { values, .. } if encrypted => {
            values.len().saturating_sub(1).max(1).next_power_of_two().ilog2() as usize
        }
        _ => 0,
    };
    let (rounding, signed) = if encrypted { (0.0, true) } else { rounding::rounding(node, &operands) };
    let facts = Facts { encrypted, low, high, exact, grid, depth: depth + step, rounding, signed };
    if matches!(node, Node::Linear { .. }) { choice::of_choice(node, facts, around, known) } else { facts }
}

/// Returns the decimals and range of a node from those of its operands; comparisons have them if `compares`.
fn exact(
    node: &Node,
    (schema, nodes): (&Schema, &[Node]),
    operands: Option<Vec<Exact>>,
    compares: bool,
) -> Option<Exact> {
    let ranges = operands?;
    match node {
        Node::Column(column) => {
            let column = schema.columns.get(*column)?;
            let Kind::Decimal { decimals, .. } = column.kind else { return None };
            let (low, high) = together::cells(column)?;
            let (low, high) = if column.missing { together::with_zero(low, high) } else { (low, high) };
            Exact::new(decimals, [low, high], column.padding_units().into())
        }
        Node::Indicator { .. } => Exact::new(0, [0, 1], 0),
        Node::Linear { terms, constant } if is_equality(terms, *constant, nodes) => {
            let padding = ranges
                .first()
                .zip(ranges.get(1))
                .map(|(a, b)| factor_of(terms, 0) * a.padding + factor_of(terms, 1) * b.padding);
            Exact::new(0, [0, 1], padding?)
        }
        Node::Linear { terms, constant } => {
            let pairs: Vec<(Decimal, u32)> =
                terms.iter().zip(&ranges).map(|(&(_, c), range)| (c, range.decimals)).collect();
            let (decimals, factors, constant) = linear_units(&pairs, *constant)?;
            let start = Exact::new(decimals, [constant, constant], constant)?;
            let mut parts = together::parts(&together::operands(terms, nodes)?, schema).into_iter();
            parts.try_fold(start, |sum, part| sum.plus_part(&part, &factors, &ranges, schema))
        }
        Node::Product(a, b) => match ranges.as_slice() {
            [x, y] => x.product(*y, a == b),
            _ => None,
        },
        Node::Polynomial { coefficients, .. } => {
            let x = *ranges.first()?;
            let (decimals, factors) = polynomial_units(coefficients, x.decimals)?;
            let unit = Exact::new(0, [1, 1], 1)?;
            let (mut power, mut sum) = (unit, Exact::new(decimals, [0, 0], 0)?);
            for (k, &factor) in factors.iter().enumerate() {
                sum = sum.plus_term(factor, power)?;
                if k + 1 < factors.len() {
                    power = power.product(x, false)?;
                    // Even powers are not negative.
                    if k % 2 == 1 && power.low < 0 {
                        power.low = 0;
                    }
                }
            }
            Some(sum)
        }
        Node::Apply { .. } => None,
        Node::Positive { or_zero, .. } => {
            let x = ranges.first()?;
            let holds = |v: i128| i128::from(v > 0 || *or_zero && v == 0);
            if compares { Exact::new(0, [0, 1], holds(x.padding)) } else { None }
        }
        Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } if !compares => None,
        Node::Kth { .. } | Node::Sorted { .. } => {
            let x = ranges.first()?;
            let (low, high) = together::with_zero(x.low, x.high);
            Exact::new(x.decimals, [low, high], 0)
        }
        Node::Rank { .. } => Exact::new(0, [0, i128::from(schema.rows.saturating_sub(1))], 0),
        Node::LookUp { first, values, .. } => table(*first, values, ranges.first()?, compares),
    }
}

/// Whether a sum is x ≥ 0 without x > 0: 1 where x = 0.
fn is_equality(terms: &[(NodeId, Decimal)], constant: Decimal, nodes: &[Node]) -> bool {
    let of = |at: usize| {
        let (id, factor) = terms.get(at)?;
        match nodes.get(id.index())? {
            Node::Positive { of, or_zero } => Some((*of, *or_zero, *factor)),
            _ => None,
        }
    };
    let sign = |or_zero: bool| if or_zero { Decimal::ONE } else { Decimal::MINUS_ONE };
    match (terms.len(), of(0), of(1)) {
        (2, Some((a, first, c)), Some((b, second, d))) => {
            constant == Decimal::ZERO && a == b && first != second && c == sign(first) && d == sign(second)
        }
        _ => false,
    }
}

fn factor_of(terms: &[(NodeId, Decimal)], at: usize) -> i128 {
    terms.get(at).map_or(0, |(_, factor)| factor.mantissa())
}

/// Returns the range of a table's entries; a polynomial has those alone, and nothing where `anywhere` is false and the table
/// has no entry for what it is asked.
fn table(first: i64, values: &[Decimal], of: &Exact, anywhere: bool) -> Option<Exact> {
    let last = i128::from(first) + values.len() as i128 - 1;
    let there = i128::from(first) <= of.low.min(of.padding) && of.high.max(of.padding) <= last;
    if !(there || anywhere) {
        return None;
    }
    let decimals = values.iter().map(|value| value.decimals()).max()?;
    let units = values.iter().map(|value| value.scaled(decimals)).collect::<Option<Vec<i128>>>()?;
    let padding = usize::try_from(of.padding - i128::from(first)).ok().and_then(|at| units.get(at).copied());
    let ends = [units.iter().copied().min()?, units.iter().copied().max()?];
    Exact::new(decimals, ends, padding.unwrap_or(0))
}

/// Returns the range of a node by interval arithmetic in doubles, a little wider than rounding requires.
fn interval(node: &Node, (schema, nodes): (&Schema, &[Node]), operands: &[Facts]) -> (f64, f64) {
    let first = operands.first().map_or((0.0, 0.0), |facts| (facts.low, facts.high));
    let (low, high) = match node {
        Node::Column(column) => match schema.columns.get(*column) {
            Some(Column { kind: Kind::Real { low, high }, missing: false, .. }) => return (*low, *high),
            Some(Column { kind: Kind::Real { low, high }, .. }) => return (low.min(0.0), high.max(0.0)),
            _ => (0.0, 0.0),
        },
        Node::Indicator { .. } | Node::Positive { .. } => return (0.0, 1.0),
        Node::Kth { .. } | Node::Sorted { .. } => (first.0.min(0.0), first.1.max(0.0)),
        Node::Rank { .. } => (0.0, schema.rows as f64),
        Node::LookUp { values, .. } => {
            let values = || values.iter().map(|value| value.to_f64());
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        }
        Node::Linear { terms, constant } => {
            let start = (constant.to_f64(), constant.to_f64());
            let known = together::operands(terms, nodes).unwrap_or_default();
            together::parts(&known, schema).iter().fold(start, |(low, high), part| {
                let (a, b) = part_ends(part, terms, operands, schema);
                (low + a.min(b), high + a.max(b))
            })
        }
        Node::Product(a, b) => {
            let second = operands.get(1).map_or(first, |facts| (facts.low, facts.high));
            product(first, second, a == b)
        }
        Node::Polynomial { coefficients, .. } if coefficients.len() == 3 => {
            let at = |x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c.to_f64());
            let [b, a] = [1, 2].map(|k: usize| coefficients.get(k).map_or(0.0, |c| c.to_f64()));
            let vertex = (-b / (2.0 * a)).clamp(first.0, first.1);
            let ends = [at(first.0), at(first.1), at(vertex)];
            let low = ends.into_iter().fold(f64::INFINITY, f64::min);
            (low, ends.into_iter().fold(f64::NEG_INFINITY, f64::max))
        }
        Node::Polynomial { coefficients, .. } => {
            let (mut power, mut sum) = ((1.0, 1.0), (0.0, 0.0));
            for (k, c) in coefficients.iter().enumerate() {
                let (a, b) = (c.to_f64() * power.0, c.to_f64() * power.1);
                sum = (sum.0 + a.min(b), sum.1 + a.max(b));
                power = product(power, first, false);
                power.0 = if k % 2 == 1 { power.0.max(0.0) } else { power.0 };
            }
            sum
        }
        Node::Apply { function, interval, .. } => {
            let stated = interval.map_or(first, |(low, high)| (low.to_f64(), high.to_f64()));
            // NaN has no bound; plans refuse it.
            let (low, high) = if function.is_smooth(first.0, first.1) { first } else { stated };
            image(*function, low, high)
        }
    };
    let slack = 1e-12 * low.abs().max(high.abs());
    (low - slack, high + slack)
}

/// Returns the ends of a part of a sum.
fn part_ends(part: &Part, terms: &[(NodeId, Decimal)], operands: &[Facts], schema: &Schema) -> (f64, f64) {
    let factor = |at: usize| terms.get(at).map_or(0.0, |(_, c)| c.to_f64());
    let (a, b) = match part {
        Part::Alone(at) => {
            let (low, high) = operands.get(*at).map_or((0.0, 0.0), |x| (x.low, x.high));
            return (factor(*at) * low, factor(*at) * high);
        }
        Part::Cells { column, number, indicator } => {
            let (low, high) = together::real_cells(schema, *column).unwrap_or((0.0, 0.0));
            (factor(*number) * low + factor(*indicator), factor(*number) * high + factor(*indicator))
        }
        Part::Labels(labels) => {
            let all = labels.iter().map(|at| factor(*at));
            (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
        }
    };
    (a.min(b).min(0.0), a.max(b).max(0.0))
}

fn product(a: (f64, f64), b: (f64, f64), same: bool) -> (f64, f64) {
    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    let low = all.into_iter().fold(f64::INFINITY, f64::min);
    (if same { low.max(0.0) } else { low }, all.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// Returns the image of an interval under a function; functions are monotone where they are defined.
pub(super) fn image(function: Function, low: f64, high: f64) -> (f64, f64) {
    let (a, b) = (function.at(low), function.at(high));
    (a.min(b), a.max(b))
}
