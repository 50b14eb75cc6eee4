//! Descriptions of objects of the Python package, from their own fields and the objects of the library behind them.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use serde::Serialize;
use sunzi::rlwe::wire::{
    Accept, CHECKSUM_LEN, FieldReader, HEADER_LEN, Header, Kind, Reader, SecurityClaim, Source, WireError,
    open_regular,
};
use sunzi::rlwe::words::{bytes, counted};

use super::super::stored::Stored;
use crate::error::one_line;

/// Bytes of the fields of an object; a plan has the clear numbers of its program among them.
const MOST_FIELDS: usize = 1 << 16;
const MOST_PLAN: usize = 1 << 30;
/// Dimensions of an array, bytes of a text, arguments of a program.
const MOST_DIMENSIONS: usize = 32;
const MOST_TEXT: usize = 4096;
const MOST_ARGUMENTS: usize = 4096;
/// Largest number of bits of a message.
const MOST_BITS: usize = 14;

/// Numbers of an array or of an argument.
#[derive(Debug, PartialEq, Serialize)]
struct Numbers {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Lengths of the dimensions.
    shape: Vec<u64>,
    /// Ends of the interval that the numbers lie in, as the sender says; none where they were not declared.
    low: Option<f64>,
    high: Option<f64>,
    /// Divisor of the integers of an array after decryption.
    #[serde(skip_serializing_if = "Option::is_none")]
    divisor: Option<String>,
}

impl Numbers {
    /// Reads the type of numbers and the ends of their interval.
    fn new(shape: Vec<u64>, kind: usize, (low, high): (f64, f64)) -> Self {
        let kind = ["integers", "reals", "complex numbers"].get(kind).copied().unwrap_or_default();
        let end = |end: f64| end.is_finite().then_some(end);
        Self { kind, shape, low: end(low), high: end(high), divisor: None }
    }
}

/// Formats numbers as text: `integers of shape (3, 4), 0 to 9 as declared`.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of shape {}", self.kind, tuple(&self.shape))?;
        if let Some(divisor) = &self.divisor {
            write!(f, ", divided by {}", one_line(divisor))?;
        }
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, ", {low} to {high} as declared"),
            _ => f.write_str(", bounds not declared"),
        }
    }
}

/// Messages modulo a power of two in an array.
#[derive(Debug, Serialize)]
struct Messages {
    /// Number of bits of a message.
    bits: usize,
    /// Lengths of the dimensions.
    shape: Vec<u64>,
}

/// Formats messages as text: `of 4 bits, shape (3, 4)`.
impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of {}, shape {}", counted(self.bits, "bit", "bits"), tuple(&self.shape))
    }
}

/// Integers of a type of numpy in an array.
#[derive(Debug, Serialize)]
struct Integers {
    /// Type of the integers, such as `uint8`.
    dtype: String,
    /// Lengths of the dimensions.
    shape: Vec<u64>,
}

/// Formats integers as text: `of uint8, shape (3, 4)`.
impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of {}, shape {}", self.dtype, tuple(&self.shape))
    }
}

/// Objects of one kind within an object.
#[derive(Debug, Serialize)]
struct Part {
    object: String,
    count: u64,
    bytes: u64,
    /// Rotations that Galois keys serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    rotations: Option<u64>,
    #[serde(skip)]
    kind: u16,
    /// Where the first of them begins in the file.
    #[serde(skip)]
    place: u64,
}

/// Formats a part as text: `a BFV ciphertext, 3 of them, 72.4 KiB`.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.object)?;
        if let Some(rotations) = self.rotations {
            write!(f, " for {}", counted(rotations as usize, "rotation", "rotations"))?;
        }
        if self.count > 1 {
            write!(f, ", {} of them", self.count)?;
        }
        write!(f, ", {}", bytes(self.bytes))
    }
}

/// Description of an object of the Python package by its fields.
#[derive(Debug, Default, Serialize)]
pub(super) struct PythonObject {
    /// The call that reads it.
    read_by: &'static str,
    /// Name of the scheme.
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Numbers>,
    /// Lengths of the dimensions of an array of field elements, the last one that of their coefficients.
    #[serde(skip_serializing_if = "Option::is_none")]
    elements: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    integers: Option<Integers>,
    /// Lengths of the dimensions of an array of conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<Vec<u64>>,
    /// Lengths of the dimensions of additive shares that are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<u64>>,
    /// Rows and features of a table to train on.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<u64>,
    /// Name of the bootstrapping set.
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrapping_set: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<Numbers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    /// Results that may be shared, and the statistical bits that hide the noise of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<[u64; 2]>,
    parts: Vec<Part>,
}

impl PythonObject {
    /// Reads what the object in a file says, and walks through the headers of the objects in it.
    pub(super) fn read(path: &Path) -> Result<Self, WireError> {
        let mut file = open_regular(path)?;
        let end = file.metadata().map_err(WireError::Io)?.len();
        let header = Header::read(&mut file)?;
        Self::within(&mut file, &header, 0, end)
    }

    /// Reads the object between two places of a file.
    fn within(file: &mut File, header: &Header, place: u64, end: u64) -> Result<Self, WireError> {
        let (mut object, count, first) = fields(file, header, place, end)?;
        object.parts = parts(file, first, end)?;
        let found: u64 = object.parts.iter().map(|part| part.count).sum();
        if found != count {
            return Err(WireError::value("the count of objects", count, found));
        }
        object.scheme = object.parts.iter().find_map(|part| scheme_of(part.kind));
        if header.kind == Kind::PythonTable as u16 {
            object.look_into_blocks(file)?;
        }
        Ok(object)
    }

    /// Takes scheme and numbers of a table from its first array.
    fn look_into_blocks(&mut self, file: &mut File) -> Result<(), WireError> {
        let Some(block) = self.parts.iter().find(|part| part.kind == Kind::PythonArray as u16) else {
            return Err(WireError::value("the objects of a table", "arrays", "others"));
        };
        let header = header_at(file, block.place)?;
        let array = Self::within(file, &header, block.place, after(&header, block.place))?;
        (self.scheme, self.numbers) = (array.scheme, array.numbers);
        Ok(())
    }

    /// Returns the grounds of the security of the parameters in the object, if it has parameters.
    pub(super) fn claim(&self, accept: Accept, path: &Path) -> Result<Option<SecurityClaim>, WireError> {
        let is_parameters = |part: &&Part| Kind::of(part.kind).is_some_and(Kind::is_parameters);
        let Some(part) = self.parts.iter().find(is_parameters) else { return Ok(None) };
        claims(accept, path, part.place, part.count)
    }

    /// The name of the scheme.
    pub(super) fn scheme(&self) -> Option<&'static str> {
        self.scheme
    }

    /// The lines about the object in a report for people.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("read by", self.read_by.to_owned())];
        if let (Some(numbers), None) = (&self.numbers, self.rows) {
            lines.push(("numbers", numbers.to_string()));
        }
        if let Some((degree, elements)) = self.elements.as_ref().and_then(|shape| shape.split_last()) {
            lines.push(("elements", format!("of {degree} coefficients, shape {}", tuple(elements))));
        }
        if let Some(messages) = &self.messages {
            lines.push(("messages", messages.to_string()));
        }
        if let Some(integers) = &self.integers {
            lines.push(("integers", integers.to_string()));
        }
        if let Some(shape) = &self.conditions {
            lines.push(("conditions", format!("shape {}", tuple(shape))));
        }
        if let Some(shape) = &self.shares {
            lines.push(("shares", format!("shape {}", tuple(shape))));
        }
        if let (Some(rows), Some(features)) = (self.rows, self.features) {
            lines.push(("table", format!("{rows} rows, {features} features")));
        }
        if let Some(set) = self.bootstrapping_set.as_ref().filter(|set| !set.is_empty()) {
            lines.push(("set", one_line(set)));
        }
        lines.extend(self.arguments.iter().map(|argument| ("argument", argument.to_string())));
        if let Some(operations) = self.operations {
            lines.push(("operations", operations.to_string()));
        }
        if let Some([queries, statistical_bits]) = self.sharing {
            lines.push(("shared", format!("{queries} results, with {statistical_bits} statistical bits")));
        }
        lines.extend(self.parts.iter().map(|part| ("has", part.to_string())));
        lines
    }

    /// Reads the fields of an object of this kind, as far as they are told.
    fn get(kind: u16, fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let mut object = Self::default();
        match Kind::of(kind) {
            Some(Kind::PythonArray) => {
                object.read_by = "sunzi.EncryptedArray.from_bytes(data, keys)";
                object.numbers = Some(layout(fields)?);
            }
            Some(Kind::PythonKeys) => {
                object.read_by = "sunzi.PublicKeys.from_bytes(data)";
                object.bootstrapping_set = Some(text(fields)?);
            }
            Some(Kind::PythonPlan) => {
                object.read_by = "sunzi.Plan.from_bytes(data)";
                object.get_plan(fields)?;
            }
            Some(Kind::PythonContext) => {
                object.read_by = "sunzi.Context.from_bytes(data)";
                object.bootstrapping_set = Some(text(fields)?);
            }
            Some(Kind::PythonElements) => {
                object.read_by = "sunzi.FieldArray.from_bytes(data, keys)";
                object.elements = Some(fields.list("a dimension", MOST_DIMENSIONS)?);
            }
            Some(Kind::PythonMessages) => {
                object.read_by = "sunzi.MessageArray.from_bytes(data, keys)";
                let shape = fields.list("a dimension", MOST_DIMENSIONS)?;
                object.messages =
                    Some(Messages { bits: fields.usize_in("the bits of messages", 1..=MOST_BITS)?, shape });
            }
            Some(Kind::PythonIntegers) => {
                object.read_by = "sunzi.IntegerArray.from_bytes(data, keys)";
                let shape = fields.list("a dimension", MOST_DIMENSIONS)?;
                let bits = fields.usize_in("the bits of integers", 8..=64)?;
                let signed = fields.flag("whether integers have a sign")?;
                let dtype = format!("{}{bits}", if signed { "int" } else { "uint" });
                object.integers = Some(Integers { dtype, shape });
            }
            Some(Kind::PythonConditions) => {
                object.read_by = "sunzi.ConditionArray.from_bytes(data, keys)";
                object.conditions = Some(fields.list("a dimension", MOST_DIMENSIONS)?);
            }
            Some(Kind::PythonSharesRequest) => {
                object.read_by = "sunzi.parties.Encrypting.of(public, data)";
                object.shares = Some(fields.list("a dimension", MOST_DIMENSIONS)?);
            }
            Some(Kind::PythonShare) => object.read_by = "sunzi.parties.Encrypting.receive(sender, data)",
            _ => {
                object.read_by = "sunzi.ml.EncryptedTable.from_bytes(data, keys)";
                let [rows, features] = pair(fields, "rows and features")?;
                (object.rows, object.features) = (Some(rows), Some(features));
            }
        }
        Ok(object)
    }

    /// Reads the fields of a planned program up to its operations.
    fn get_plan(&mut self, fields: &mut FieldReader<'_>) -> Result<(), WireError> {
        self.bootstrapping_set = Some(text(fields)?);
        if fields.flag("whether there is a policy of sharing")? {
            self.sharing = Some(pair(fields, "a policy of sharing")?);
        }
        for _ in 0..fields.usize_in("the count of arguments", 1..=MOST_ARGUMENTS)? {
            let (shape, kind) = (fields.list("a dimension", MOST_DIMENSIONS)?, number_type(fields)?);
            let _largest = fields.f64()?;
            self.arguments.push(Numbers::new(shape, kind, (fields.f64()?, fields.f64()?)));
        }
        self.operations = Some(fields.u64()?);
        Ok(())
    }
}

/// Reads the fields of an object, and returns what they say, the number of objects behind them, and where these begin.
fn fields(
    file: &mut File,
    header: &Header,
    place: u64,
    end: u64,
) -> Result<(PythonObject, u64, u64), WireError> {
    let start = place + HEADER_LEN as u64;
    let mut source = Source::new(at(file, start, end)?, header.body_len);
    let lengths = source.sealed("the lengths", 16)?;
    let mut lengths = FieldReader::new(&lengths);
    let most = if header.kind == Kind::PythonPlan as u16 { MOST_PLAN } else { MOST_FIELDS };
    let len = lengths.usize_in("the length of the fields", 0..=most)?;
    let count = lengths.u64()?;
    let record = source.sealed("the fields", len)?;
    let object = PythonObject::get(header.kind, &mut FieldReader::new(&record))?;
    Ok((object, count, start + (16 + len + 2 * CHECKSUM_LEN) as u64))
}

/// Walks through the headers of the objects between two places of a file; those of one kind that follow one another are one part.
fn parts(file: &mut File, mut place: u64, end: u64) -> Result<Vec<Part>, WireError> {
    let mut parts: Vec<Part> = Vec::new();
    while place < end {
        let header = header_at(file, place)?;
        let next = after(&header, place);
        if next > end {
            return Err(WireError::Truncated);
        }
        match parts.last_mut().filter(|part| part.kind == header.kind) {
            Some(part) => (part.count, part.bytes) = (part.count + 1, part.bytes + (next - place)),
            None => parts.push(Part {
                object: Kind::describe(header.kind),
                count: 1,
                bytes: next - place,
                rotations: rotations(file, &header, place, next)?,
                kind: header.kind,
                place,
            }),
        }
        place = next;
    }
    Ok(parts)
}

/// Returns how many rotations the Galois keys between two places of a file serve.
fn rotations(file: &mut File, header: &Header, place: u64, end: u64) -> Result<Option<u64>, WireError> {
    if header.kind != Kind::GaloisKeys as u16 {
        return Ok(None);
    }
    Reader::with_len(at(file, place, end)?, end - place)?.count()
}

/// Returns the grounds of the security of parameters that stand one after the other in a file, one for each plaintext modulus.
pub(super) fn claims(
    accept: Accept,
    path: &Path,
    mut place: u64,
    count: u64,
) -> Result<Option<SecurityClaim>, WireError> {
    let (mut file, mut joined): (_, Option<SecurityClaim>) = (open_regular(path)?, None);
    for _ in 0..count {
        let header = header_at(&mut file, place)?;
        let next = after(&header, place);
        let reader = Reader::with_len(at(&mut file, place, next)?, next - place)?;
        let claim = Stored::read(accept, reader)?.claim();
        match &mut joined {
            Some(joined) => joined.plain_moduli.extend(claim.plain_moduli),
            None => joined = Some(claim),
        }
        place = next;
    }
    Ok(joined)
}

/// Returns the bytes between two places of a file.
fn at(file: &mut File, place: u64, end: u64) -> Result<BufReader<Take<&mut File>>, WireError> {
    file.seek(SeekFrom::Start(place)).map_err(WireError::Io)?;
    Ok(BufReader::new(file.take(end.saturating_sub(place))))
}

fn header_at(file: &mut File, place: u64) -> Result<Header, WireError> {
    file.seek(SeekFrom::Start(place)).map_err(WireError::Io)?;
    Header::read(file)
}

/// Returns where the object ends that begins at a place.
fn after(header: &Header, place: u64) -> u64 {
    place.saturating_add(HEADER_LEN as u64).saturating_add(header.body_len)
}

/// Returns the scheme of an object that is of one scheme alone.
fn scheme_of(kind: u16) -> Option<&'static str> {
    match Kind::of(kind)? {
        Kind::BfvParameters | Kind::BfvCiphertext => Some("BFV"),
        Kind::BgvParameters | Kind::BgvCiphertext => Some("BGV"),
        Kind::CkksParameters | Kind::CkksCiphertext => Some("CKKS"),
        _ => None,
    }
}

/// Reads the layout of an array: shape, type and bounds of its numbers.
fn layout(fields: &mut FieldReader<'_>) -> Result<Numbers, WireError> {
    let shape = fields.list("a dimension", MOST_DIMENSIONS)?;
    let _period = fields.u64()?;
    let kind = number_type(fields)?;
    let divisor = text(fields)?;
    if fields.flag("whether there is a fill")? {
        if kind == 0 {
            text(fields)?;
        } else {
            let _fill: [u8; 16] = fields.array()?;
        }
    }
    let numbers = Numbers::new(shape, kind, (fields.f64()?, fields.f64()?));
    Ok(Numbers { divisor: (divisor != "1").then_some(divisor), ..numbers })
}

/// Formats a shape as Python does: `(3, 4)`, `(5,)`.
fn tuple(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({}{})", lengths.join(", "), if lengths.len() == 1 { "," } else { "" })
}

/// Reads a type of numbers: 0 integers, 1 reals, 2 complex numbers.
fn number_type(fields: &mut FieldReader<'_>) -> Result<usize, WireError> {
    fields.usize_in("the type of the numbers", 0..=2)
}

fn text(fields: &mut FieldReader<'_>) -> Result<String, WireError> {
    fields.text("a text", MOST_TEXT).map(str::to_owned)
}

fn pair(fields: &mut FieldReader<'_>, what: &'static str) -> Result<[u64; 2], WireError> {
    let numbers = fields.list(what, 2)?;
    <[u64; 2]>::try_from(numbers).map_err(|numbers| WireError::value(what, "two numbers", numbers.len()))
}
