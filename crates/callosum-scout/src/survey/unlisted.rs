//! Declarations that are not in a file's outline: Python's module variables, and items that Rust's
//! macros declare.
//!
//! `request: Request = LocalProxy(…)` of Flask is neither a constant nor a function, and
//! `top_level_handler_fn!(get, GET);` of axum declares a function that no grammar sees.

use std::collections::BTreeSet;

use callosum_source::outline::{Outline, Symbol, SymbolKind};

/// A call of a macro among a file's items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MacroCall {
    /// The macro.
    pub(crate) name: Box<str>,
    /// The line of the call.
    pub(crate) line: u32,
}

/// Adds the variables that a Python module assigns at its top level, each once. Those with an underscore
/// in front are not public.
pub(super) fn add_python_variables(text: &str, symbols: &mut Vec<Symbol>) {
    let mut known: BTreeSet<String> = symbols
        .iter()
        .filter(|symbol| symbol.container.is_none())
        .map(|symbol| symbol.name.clone())
        .collect();
    let mut quotes = OpenQuotes::default();
    let mut found = Vec::new();
    let mut block = OpenBlock::default();
    for (number, line) in (1..).zip(text.lines()) {
        if quotes.hold_start_of(line) {
            continue;
        }
        if let Some(name) = assigned(block.statement(line))
            && known.insert(name.to_owned())
        {
            found.push(Symbol {
                kind: SymbolKind::Constant,
                name: name.to_owned(),
                container: None,
                module: None,
                line: number,
                last_line: number,
                // Type variables are for the checker.
                public: !name.starts_with('_') && !line.contains("TypeVar("),
                test: false,
                declaration: line.trim().to_owned(),
                about: None,
            });
        }
    }
    if !found.is_empty() {
        symbols.extend(found);
        symbols.sort_by_key(|symbol| symbol.line);
    }
}

/// The variable that a line at the top level assigns.
fn assigned(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let (name, rest) = line.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let rest = rest.trim_start();
    let value = match rest.strip_prefix(':') {
        Some(annotated) => annotated.split_once('=')?.1,
        None => rest.strip_prefix('=')?,
    };
    // `x == y` compares.
    let is_value = !value.starts_with('=');
    (is_value && !KEYWORDS.contains(&name)).then_some(name)
}

/// Words that may stand before a colon on a line with `=`.
const KEYWORDS: [&str; 9] = [
    "if", "else", "elif", "for", "while", "with", "try", "except", "lambda",
];

/// The block of a module that runs or fails with the module: `if TYPE_CHECKING:`, `try:`.
#[derive(Default)]
struct OpenBlock<'t> {
    is_open: bool,
    indent: Option<&'t str>,
}

impl<'t> OpenBlock<'t> {
    /// Returns a line as it would be at the top level: without the indent of the open block.
    fn statement(&mut self, line: &'t str) -> &'t str {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        if code.is_empty() || code.starts_with('#') {
            return line;
        }
        if indent.is_empty() {
            let word = code.split(|c: char| !c.is_alphabetic()).next();
            let opens = ["if", "elif", "else", "try", "except", "finally"];
            let is_header = code.trim_end().ends_with(':');
            self.is_open = is_header && word.is_some_and(|word| opens.contains(&word));
            self.indent = None;
            return line;
        }
        if self.is_open && *self.indent.get_or_insert(indent) == indent {
            return code;
        }
        line
    }
}

/// The string of several lines that a line begins in, if any.
#[derive(Default)]
struct OpenQuotes(Option<&'static str>);

impl OpenQuotes {
    /// Returns whether the start of `line` is within a string, and reads the line.
    fn hold_start_of(&mut self, line: &str) -> bool {
        let holds = self.0.is_some();
        let mut rest = line;
        loop {
            let next = if let Some(mark) = self.0 {
                rest.find(mark).map(|at| (at, mark))
            } else {
                let code = rest.split('#').next().unwrap_or_default();
                let marks = ["\"\"\"", "'''"].into_iter();
                marks
                    .filter_map(|mark| Some((code.find(mark)?, mark)))
                    .min()
            };
            let Some((at, mark)) = next else {
                return holds;
            };
            self.0 = self.0.is_none().then_some(mark);
            rest = &rest[at + mark.len()..];
        }
    }
}

/// Adds the members of TypeScript's interfaces: `get: RouteShorthandMethod` is how a method is declared.
pub(super) fn add_interface_members(text: &str, symbols: &mut Vec<Symbol>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for interface in symbols.iter().filter(|s| s.kind == SymbolKind::Interface) {
        let last = (interface.last_line as usize).min(lines.len());
        let body = lines.get(interface.line as usize..last).unwrap_or_default();
        // The type's parameters are indented as its members are: these are behind the brace.
        let opens = body
            .iter()
            .position(|line| line.trim_end().ends_with('{') && !line.starts_with(' '));
        let is_open = lines[interface.line as usize - 1].trim_end().ends_with('{');
        let start = if is_open {
            Some(0)
        } else {
            opens.map(|at| at + 1)
        };
        let Some(start) = start else { continue };
        let mut known = BTreeSet::new();
        for (at, line) in body.iter().enumerate().skip(start) {
            if let Some(name) = member(line)
                && known.insert(name)
            {
                let number = interface.line + at as u32 + 1;
                found.push(Symbol {
                    kind: SymbolKind::Method,
                    name: name.to_owned(),
                    container: Some(interface.name.clone()),
                    module: interface.module.clone(),
                    line: number,
                    last_line: number,
                    public: interface.public,
                    test: false,
                    declaration: line.trim().to_owned(),
                    about: None,
                });
            }
        }
    }
    let listed: BTreeSet<u32> = symbols.iter().map(|symbol| symbol.line).collect();
    symbols.extend(
        found
            .into_iter()
            .filter(|symbol| !listed.contains(&symbol.line)),
    );
    symbols.sort_by_key(|symbol| symbol.line);
}

/// The member that a line of an interface declares, indented once.
fn member(line: &str) -> Option<&str> {
    let code = line
        .strip_prefix("  ")
        .or_else(|| line.strip_prefix('\t'))?;
    let end = code.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))?;
    let (name, rest) = code.split_at(end);
    let rest = rest.strip_prefix('?').unwrap_or(rest);
    (!name.is_empty() && rest.starts_with(['(', '<', ':'])).then_some(name)
}

/// The calls of macros among the items of a Rust file, in whose arguments the outline sees nothing.
pub(super) fn macro_calls(text: &str, outline: &Outline) -> Vec<MacroCall> {
    let seen: BTreeSet<u32> = outline
        .symbols
        .iter()
        .map(|symbol| symbol.line)
        .chain(outline.imports.iter().map(|import| import.line))
        .collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut calls = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = called(line) else { continue };
        let closes = |line: &&str| line.starts_with(['}', ')', ']']);
        let is_whole = line.trim_end().ends_with([';', '}']);
        let length = match lines[at + 1..].iter().position(closes) {
            Some(length) if !is_whole => length as u32 + 1,
            _ => 0,
        };
        let first = at as u32 + 1;
        if seen.range(first..=first + length).next().is_none() {
            calls.push(MacroCall {
                name: name.into(),
                line: first,
            });
        }
    }
    calls
}

/// The macro that a line at the top level calls.
fn called(line: &str) -> Option<&str> {
    let (name, arguments) = line.split_once('!')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let has_arguments = arguments.trim_start().starts_with(['(', '{', '[']);
    (is_name && has_arguments).then_some(name)
}

/// The macros of a Rust file whose bodies declare public items.
pub(super) fn declaring_macros(text: &str, outline: &Outline) -> BTreeSet<Box<str>> {
    const ITEMS: [&str; 9] = [
        "pub fn",
        "pub async fn",
        "pub const",
        "pub struct",
        "pub enum",
        "pub trait",
        "pub type",
        "pub static",
        "pub mod",
    ];
    let macros = outline.symbols.iter();
    let macros = macros.filter(|symbol| symbol.kind == SymbolKind::Macro);
    let lines: Vec<&str> = text.lines().collect();
    let declaring = macros.filter(|symbol| {
        let first = symbol.line.saturating_sub(1) as usize;
        let last = (symbol.last_line as usize).min(lines.len());
        let body = lines.get(first..last).unwrap_or_default();
        body.iter()
            .any(|line| ITEMS.iter().any(|item| line.contains(item)))
    });
    declaring
        .map(|symbol| symbol.name.as_str().into())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use callosum_source::{language::Language, outline::outline};

    use super::*;

    #[test]
    fn variables_of_a_module_are_listed_and_text_is_not() {
        let text = "\"\"\"Globals.\n\nexample = 1\n\"\"\"\n\nrequest: Request = LocalProxy(\n    \"request\"\n)\nsession = LocalProxy()\n\
                    _hidden = 1\nrequest = 2\nif x: y = 1\na == b\nT = t.TypeVar(\"T\")\n    inner = 1\nu: int\n\
                    if TYPE_CHECKING:\n    Kind = int\n    f(\n        argument=1,\n    )\nelse:\n    other = 2\ndef f():\n    inner = 3\n";
        let mut symbols = Vec::new();
        add_python_variables(text, &mut symbols);
        let seen = symbols.iter().map(|s| (s.name.as_str(), s.line, s.public));
        let seen: Vec<(&str, u32, bool)> = seen.collect();
        let expected = [
            ("request", 6, true),
            ("session", 9, true),
            ("_hidden", 10, false),
            ("T", 14, false),
            ("Kind", 18, true),
            ("other", 23, true),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn members_of_interfaces_are_listed_and_type_parameters_are_not() {
        let text = "export interface Server<\n  Raw extends Base = Base\n> {\n  version: string;\n  get: Shorthand<Raw>;\n  \
                    route<T>(options: T): Server;\n  route(options: string,\n    path: string): Server;\n}\n";
        let language = Language::of(Path::new("a.d.ts")).unwrap();
        let mut symbols = outline(language, "a.d.ts", text).symbols;
        add_interface_members(text, &mut symbols);
        let members = symbols
            .iter()
            .filter(|s| s.container.as_deref() == Some("Server"));
        let names: Vec<(&str, u32)> = members.map(|s| (s.name.as_str(), s.line)).collect();
        assert_eq!(names, [("version", 4), ("get", 5), ("route", 6)]);
    }

    #[test]
    fn calls_that_hide_their_items_are_listed() {
        let text = "macro_rules! handler {\n    ($n:ident) => {\n        pub fn $n() {}\n    };\n}\n\
                    macro_rules! quiet {\n    () => {};\n}\nhandler!(get);\nhandler! {\n    post\n}\n\
                    cfg_rt! {\n    pub mod rt;\n}\nfn f() {\n    println!(\"x\");\n}\n";
        let language = Language::of(Path::new("a.rs")).unwrap();
        let outline = outline(language, "src/a.rs", text);
        let calls = macro_calls(text, &outline);
        let seen: Vec<(&str, u32)> = calls.iter().map(|c| (&*c.name, c.line)).collect();
        assert_eq!(seen, [("handler", 9), ("handler", 10)]);
        let declaring = declaring_macros(text, &outline);
        assert_eq!(declaring, BTreeSet::from(["handler".into()]));
    }
}
