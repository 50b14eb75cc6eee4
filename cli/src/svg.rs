//! Pictures as SVG, and text as it stands in XML and HTML.
//!
//! A picture has a background and colours of its own, and follows a reader who prefers a dark screen.

use std::fmt::Write;

/// Width of pictures in pixels.
pub(crate) const WIDTH: f64 = 640.0;

/// Colours by class, on a light and on a dark screen.
const STYLE: &str = "text{fill:#1f2328}.back{fill:#fff}.faint{fill:#57606a}.edge{stroke:#d0d7de}\
    .noise{fill:#d55e00}.message{fill:#8c959f}.room{fill:#0072b2}.special{fill:#b8bfc6}.size{fill:#00795c}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#15191e}.faint{fill:#9da7b1}.edge{stroke:#3d444d}\
    .message{fill:#6e7681}.room{fill:#4aa3df}.special{fill:#4d555e}.size{fill:#2aa583}}";

/// Side of a text at which it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text begins at its place.
    Start,
    /// The text is centred on its place.
    Middle,
    /// The text ends at its place.
    End,
}

/// Picture that grows downwards.
pub(crate) struct Picture {
    title: String,
    body: String,
    /// Height in pixels so far.
    pub(crate) height: f64,
}

impl Picture {
    /// Begins a picture with a title, which is drawn.
    pub(crate) fn new(title: &str) -> Self {
        let mut picture = Self { title: escaped(title), body: String::new(), height: 32.0 };
        picture.text((20.0, 28.0), Anchor::Start, "font-size=\"18\" font-weight=\"bold\"", title);
        picture
    }

    /// Draws a text at a place; `more` are further attributes.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.write(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{text}</text>"));
    }

    /// Draws a box of a class of colours; `tip` is what it tells when it is pointed at.
    pub(crate) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, tip: &str) {
        let tip = escaped(tip);
        let width = width.max(0.0);
        self.write(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"><title>{tip}</title></rect>"
        ));
    }

    /// Draws a vertical line.
    pub(crate) fn line(&mut self, x: f64, top: f64, bottom: f64) {
        self.write(&format!(
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" class=\"edge\"/>"
        ));
    }

    /// Begins a section with a heading and a line that explains it.
    pub(crate) fn section(&mut self, heading: &str, explained: &str) {
        self.height += 34.0;
        self.text((20.0, self.height), Anchor::Start, "font-weight=\"bold\"", heading);
        self.height += 18.0;
        self.text((20.0, self.height), Anchor::Start, FAINT, explained);
        self.height += 12.0;
    }

    /// Returns the whole picture.
    pub(crate) fn finish(self) -> String {
        let (title, body, height) = (self.title, self.body, self.height + 20.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" class=\"back\"/>\n{body}</svg>\n"
        )
    }

    fn write(&mut self, shape: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{shape}");
    }
}

/// Attributes of a text beside the matter.
pub(crate) const FAINT: &str = "class=\"faint\" font-size=\"12\"";

/// Returns a text as it stands in XML and HTML. Characters that XML has no place for, and those that turn the direction of what follows, become
/// replacement characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push('\u{fffd}')
            }
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns the first characters of a text, with a mark where it is cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_are_text() {
        let text = "</text><script>\"'&\u{0}\u{1b}[2J\u{202e}\u{ffff}\nä";
        let safe = escaped(text);
        assert_eq!(safe, "&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;\u{fffd}\u{fffd}[2J\u{fffd}\u{fffd} ä");
        let mut picture = Picture::new(text);
        picture.text((1.0, 2.0), Anchor::End, FAINT, text);
        picture.bar((1.0, 2.0), (3.0, 4.0), "room", text);
        picture.section(text, text);
        let svg = picture.finish();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let shown = document
            .descendants()
            .filter(|node| node.text().is_some_and(|own| own.starts_with("</text><script>")));
        // A title, its text, a text, a tip, a heading and its line; an element has its text as a child besides.
        assert_eq!(shown.filter(|node| node.is_element()).count(), 6);
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(
            (cut("äöü", 3).as_str(), cut("äöüß", 3).as_str(), cut("", 3).as_str()),
            ("äöü", "äö…", "")
        );
    }
}
