//! Rust code of docs/book: each block is compiled and run as a documentation test.

macro_rules! chapters {
    ($($name:ident: $path:literal;)*) => {
        $(#[doc = include_str!(concat!("../../docs/book/", $path))] struct $name;)*
    };
}

chapters! {
    QuickStart: "quick-start.md";
    Examples: "examples.md";
    Parameters: "parameters.md";
    Format: "format.md";
    RecipesForCode: "recipes-code.md";
    Interfaces: "api.md";
    FromSeal: "from-seal.md";
    FromLattigo: "from-lattigo.md";
}
