//! Picture of a plan: its moduli level by level, noise beside room through the computation, and sizes.

use sunzi::program::analysis::{Parameters, Role, Stage};
use sunzi::program::{Plan, packed::Packed};
use sunzi::rlwe::words::{bytes, counted};

use super::refuse;
use crate::error::CliError;
use crate::svg::{Anchor, FAINT, Picture, cut};

/// Most lines of the part on noise; where there are more ciphertexts, those with least room are shown.
const MOST_LINES: usize = 24;
/// Where bars begin and how wide all of them are, in pixels.
const LEFT: f64 = 210.0;
const ACROSS: f64 = 320.0;
/// Height in pixels of a line with a bar, and of the bar.
const LINE: f64 = 20.0;
const BAR: f64 = 14.0;
/// Most characters of an expression, of a line across the picture, and of the title.
const MOST_EXPRESSION: usize = 26;
const MOST_ACROSS: usize = 88;

/// Returns the picture of a plan as SVG.
pub(super) fn draw(plan: &Plan) -> Result<String, CliError> {
    let course = plan.course().map_err(refuse)?;
    let parameters = &plan.parameters;
    let mut picture =
        Picture::new(&format!("A plan in {}, ring degree {}", parameters.name(), parameters.degree()));
    let names: Vec<&str> = plan.program.outputs().iter().map(|output| output.name.as_str()).collect();
    for line in [
        format!("computes {}", names.join("; ")),
        parameters.claim().to_string(),
        format!(
            "{} in {} of up to {}",
            counted(plan.layout.rows, "row", "rows"),
            counted(plan.layout.chunks, "chunk", "chunks"),
            plan.layout.span
        ),
    ] {
        picture.height += 18.0;
        picture.text((20.0, picture.height), Anchor::Start, FAINT, &cut(&line, MOST_ACROSS));
    }
    levels(&mut picture, parameters, &course);
    noise(&mut picture, parameters, &course);
    sizes(&mut picture, plan)?;
    Ok(picture.finish())
}

/// Draws the moduli of the keys and of every level, the highest on top.
fn levels(picture: &mut Picture, parameters: &Parameters, course: &[Stage]) {
    let special = &parameters.key_switching().special_moduli;
    let light = if special.is_empty() { "" } else { " Light primes are for keys alone." };
    let explained = format!("A box is a prime. Computing goes down; \"here\" counts ciphertexts.{light}");
    picture.section("Moduli, level by level", &explained);
    let bits = |q: &u64| (*q as f64).log2();
    let all: f64 = parameters.moduli().iter().chain(special).map(bits).sum();
    let scale = ACROSS / all.max(1.0);
    let mut row = |name: &str, limbs: &[usize], special: &[u64], told: String| {
        let (y, mut x, mut sum) = (picture.height, LEFT, 0.0);
        picture.text((LEFT - 8.0, y + BAR - 3.0), Anchor::End, "", name);
        let own = limbs.iter().filter_map(|&limb| parameters.moduli().get(limb)).map(|q| (q, "room"));
        for (q, class) in own.chain(special.iter().map(|q| (q, "special"))) {
            let tip = format!("{q}, {:.1} bits", bits(q));
            picture.bar((x, y), (scale * bits(q) - 1.0, BAR), class, &tip);
            (x, sum) = (x + scale * bits(q), sum + bits(q));
        }
        let told = format!("{sum:.0} bits{told}");
        picture.text((x.max(LEFT) + 6.0, y + BAR - 3.0), Anchor::Start, FAINT, &told);
        picture.height += LINE;
    };
    let every: Vec<usize> = (0..parameters.moduli().len()).collect();
    row("keys", &every, special, String::new());
    let chain = parameters.chain();
    let depth = match parameters {
        Parameters::Bfv(_) | Parameters::Integers(_) => 0,
        Parameters::Bgv { parameters, .. } => parameters.depth(),
        Parameters::Ckks(parameters) => parameters.depth(),
        Parameters::Bootstrapped(own) => own.ckks().depth(),
    };
    for (at, limbs) in chain.iter().enumerate() {
        let level = chain.len() - 1 - at;
        let name = match parameters {
            Parameters::Bfv(_) => "ciphertexts".to_owned(),
            _ if level > depth => "fresh".to_owned(),
            _ => format!("level {level}"),
        };
        let count = course.iter().filter(|stage| stage.limbs == *limbs).count();
        let told = if count > 0 { format!(", {count} here") } else { String::new() };
        row(&name, limbs, &[], told);
    }
}

/// Ciphertexts with the same noise and room, of which the first is named.
struct Group<'a> {
    first: &'a Stage,
    count: usize,
}

impl Group<'_> {
    fn name(&self) -> String {
        let name = &self.first.expression;
        match self.count {
            1 => cut(name, MOST_EXPRESSION),
            count => {
                let more = format!(" and {} more", count - 1);
                cut(name, MOST_EXPRESSION - more.len().min(MOST_EXPRESSION / 2)) + &more
            }
        }
    }
}

/// Puts ciphertexts of the same kind and bits together, and leaves those with least room where there are too many.
fn groups(course: &[Stage]) -> Vec<Group<'_>> {
    let key = |stage: &Stage| (stage.role, stage.limbs.len(), stage.noise.round(), stage.room.round());
    let mut groups: Vec<Group<'_>> = Vec::new();
    for stage in course {
        match groups.iter_mut().find(|group| key(group.first) == key(stage)) {
            Some(group) => group.count += 1,
            None => groups.push(Group { first: stage, count: 1 }),
        }
    }
    if groups.len() > MOST_LINES {
        let mut rooms: Vec<f64> = groups.iter().map(|group| group.first.room).collect();
        rooms.sort_by(f64::total_cmp);
        let most = rooms.get(MOST_LINES).copied().unwrap_or(f64::INFINITY);
        groups.retain(|group| group.first.room < most || group.first.role == Role::Input);
        groups.truncate(MOST_LINES);
    }
    groups
}

/// Draws the bits of every ciphertext: noise, message and room.
fn noise(picture: &mut Picture, parameters: &Parameters, course: &[Stage]) {
    let ckks = matches!(parameters, Parameters::Ckks(_) | Parameters::Bootstrapped(_));
    let explained = if ckks {
        "Bits of each ciphertext, in order. Noise is an estimate; room is what products may still drop."
    } else {
        "Bits of each ciphertext, in order. Noise is a bound; where the room is used up, decryption refuses."
    };
    picture.section("Noise beside the room", explained);
    legend(picture, &[("noise", "noise"), ("message", "message"), ("room", "room left")]);
    let groups = groups(course);
    let widest = groups.iter().map(|group| group.first.modulus).fold(1.0, f64::max);
    let (top, scale) = (picture.height, ACROSS / widest);
    axis(picture, widest, groups.len() as f64 * LINE);
    picture.height = top;
    for group in &groups {
        let (stage, y) = (group.first, picture.height);
        picture.text((LEFT - 8.0, y + BAR - 3.0), Anchor::End, "", &group.name());
        let mut x = LEFT;
        let shares = [("noise", stage.noise), ("message", stage.message()), ("room", stage.room)];
        for (class, bits) in shares {
            let tip = format!("{}: {class} {bits:.1} bits", stage.expression);
            picture.bar((x, y), (scale * bits, BAR), class, &tip);
            x += scale * bits.max(0.0);
        }
        let told = format!("{:.0} left", stage.room);
        picture.text((x + 6.0, y + BAR - 3.0), Anchor::Start, FAINT, &told);
        picture.height += LINE;
    }
    picture.height += 16.0;
    let shown: usize = groups.iter().map(|group| group.count).sum();
    if shown < course.len() {
        let told = format!(
            "Those with least room are shown, and {} not.",
            counted(course.len() - shown, "ciphertext is", "ciphertexts are")
        );
        picture.height += 18.0;
        picture.text((20.0, picture.height), Anchor::Start, FAINT, &told);
    }
}

fn legend(picture: &mut Picture, entries: &[(&str, &str)]) {
    let (mut x, y) = (LEFT, picture.height);
    for (class, name) in entries {
        picture.bar((x, y), (12.0, 12.0), class, name);
        picture.text((x + 18.0, y + 10.0), Anchor::Start, FAINT, name);
        x += 90.0;
    }
    picture.height += 20.0;
}

/// Draws an axis of bits below lines of this height.
fn axis(picture: &mut Picture, widest: f64, height: f64) {
    let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    let step = steps.into_iter().find(|&step| widest / f64::from(step) <= 8.0).unwrap_or(2000);
    let top = picture.height;
    let ticks = (0..).map(|tick| f64::from(tick * step)).take_while(|&bits| bits <= widest);
    for bits in ticks {
        let x = LEFT + ACROSS / widest * bits;
        picture.line(x, top - 2.0, top + height);
        picture.text((x, top + height + 12.0), Anchor::Middle, FAINT, &format!("{bits}"));
    }
    picture.text((LEFT - 8.0, top + height + 12.0), Anchor::End, FAINT, "bits of the modulus");
}

/// Draws the bytes of keys and ciphertexts.
fn sizes(picture: &mut Picture, plan: &Plan) -> Result<(), CliError> {
    picture.section("Sizes", "Keys for the server in files, once; the columns it reads, for every table.");
    let [relinearization, rotations] = plan.key_sizes().map_err(refuse)?;
    let table = plan.packed().map_or(plan.table_bytes(), |packed: &Packed| packed.sizes().inputs);
    let inputs = plan.packed().map_or(plan.inputs, |packed| packed.sizes().input_ciphertexts);
    let all = [
        ("key for products".to_owned(), relinearization),
        (counted(plan.rotations.len(), "key for rotations", "keys for rotations"), rotations),
        (counted(inputs, "ciphertext", "ciphertexts"), table),
    ];
    let most = all.iter().map(|(_, size)| *size).max().unwrap_or(1).max(1);
    for (name, size) in all {
        let (y, told) = (picture.height, bytes(size));
        picture.text((LEFT - 8.0, y + BAR - 3.0), Anchor::End, "", &name);
        let width = ACROSS * size as f64 / most as f64;
        picture.bar((LEFT, y), (width, BAR), "size", &format!("{name}: {size} bytes"));
        picture.text((LEFT + width + 6.0, y + BAR - 3.0), Anchor::Start, FAINT, &told);
        picture.height += LINE;
    }
    Ok(())
}
