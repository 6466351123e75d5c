//! [`Outline`]: declarations, imports, tests and interfaces of one file, each with its line.
//!
//! Lines count from 1, as editors and citations do.

use super::uses::{Binding, Export, Purpose, Use};

/// The contents of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The first sentence of the file's own documentation, with its line.
    pub about: Option<Note>,
    /// Its declarations, in order of appearance.
    pub symbols: Vec<Symbol>,
    /// Types that it declares inside functions, which no other code can name, in order of
    /// appearance.
    pub locals: Vec<Local>,
    /// Its imports, in order of appearance.
    pub imports: Vec<Import>,
    /// The names that it calls or mentions, other than in imports; sorted, each once, with the
    /// line of its first mention.
    pub references: Vec<Reference>,
    /// The names that it uses, with what is in front of each, without those that a parameter or
    /// local variable hides; sorted.
    pub uses: Vec<Use>,
    /// Of JavaScript and TypeScript, the names under which it exports its own ones.
    pub exports: Vec<Export>,
    /// Of Go and Java, the package that it says it belongs to.
    pub package: Option<String>,
    /// Of Rust, what paths in the code begin with (`serde_json` of `serde_json::from_str`), those
    /// among a macro's arguments too; sorted, each once, with the line of its first mention.
    pub path_heads: Vec<Note>,
    /// Of Rust, the same for paths that only tests next to the code name.
    pub test_path_heads: Vec<Note>,
    /// Requests that it answers, if the framework can be recognized; those that only a test sets up
    /// are left out.
    pub routes: Vec<Route>,
    /// Commands and flags that it offers, if the library can be recognized; those that only a test
    /// sets up are left out.
    pub commands: Vec<Command>,
    /// The line where a program begins, if one begins here: `fn main`,
    /// `if __name__ == "__main__"`, …
    pub entry_point: Option<u32>,
    /// Whether the grammar could not read some of it.
    pub has_errors: bool,
}

/// A sentence and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The sentence, on one line.
    pub text: String,
    /// Its line.
    pub line: u32,
}

/// Something that a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its kind.
    pub kind: SymbolKind,
    /// Its name, without what contains it.
    pub name: String,
    /// The type, trait, class or module that contains it, if any.
    pub container: Option<String>,
    /// The modules or namespaces with a body in this file that contain it, outermost first: `inner`
    /// or `outer::inner`; none at the top level of the file.
    pub module: Option<String>,
    /// The line of its name; of a C type that a `typedef` names behind its body, the first one.
    pub line: u32,
    /// The last line of its body.
    pub last_line: u32,
    /// Whether others may use it: `pub`, exported, capitalised in Go, no underscore in Python…
    /// Methods that implement a Rust trait are not, since the trait declares them, nor are those
    /// of a Rust type that is private to this file.
    pub public: bool,
    /// Whether it is a test that a test runner would run.
    pub test: bool,
    /// The line `line` as it is in the file, trimmed: fit for a quotation. Of a line above 300
    /// bytes only the piece with the symbol.
    pub declaration: String,
    /// The first sentence of its documentation, on one line, if any.
    pub about: Option<String>,
}

/// A type inside of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its kind.
    pub kind: SymbolKind,
    /// Its name.
    pub name: String,
    /// The line of its name.
    pub line: u32,
    /// The last line of its body.
    pub last_line: u32,
}

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A free function.
    Function,
    /// A function of a type.
    Method,
    /// A struct, class, enum, union, record or type alias.
    Type,
    /// A trait, interface, protocol or abstract base.
    Interface,
    /// A constant or a global variable.
    Constant,
    /// A macro.
    Macro,
    /// A module or namespace with a body in this file.
    Module,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The imported target, as written but without quotes, braces and aliases: `crate::disk::Disk`,
    /// `.models`, `../db`, `net/http`, `java.util.List`, `sys/types.h`. One import per leaf of a
    /// braced list. A Rust path that climbs out of a module with a body in this file is relative to
    /// the file's own module: `super::*` in `mod tests { … }` is `self::*`.
    pub target: String,
    /// Its syntax.
    pub kind: ImportKind,
    /// Names taken from the target, if the language names them apart (`from x import a, b`); the
    /// file that a `#[path]` gives to a `mod`.
    pub names: Vec<String>,
    /// The local names that it introduces.
    pub bindings: Vec<Binding>,
    /// When it is needed.
    pub purpose: Purpose,
    /// Its line.
    pub line: u32,
}

/// The syntax of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// Rust's `use`, Python's, Go's and Java's `import`, JavaScript's `import` and `require`.
    Use,
    /// Rust's `mod name;`.
    DeclareModule,
    /// `#include "…"`, looked up next to the file first.
    IncludeLocal,
    /// `#include <…>`.
    IncludeSystem,
    /// `pub use`, `export … from`: imported in order to be offered.
    ReExport,
    /// A full path in Rust's code that no `use` announces: `serde_json::to_string(…)`,
    /// `crate::disk::open(…)`. Each path once, at its first line.
    Path,
}

/// A name that is mentioned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The last part of the name: `read` of `disk.read(…)`.
    pub name: String,
    /// The line of its first mention.
    pub line: u32,
    /// The line of its first mention that can mean a declaration by itself: in Rust and C not
    /// behind a dot, in Rust not a name in small letters that is neither called nor part of a path,
    /// in Go not behind a dot, in Go and JavaScript not a name that the file has for a local
    /// variable.
    pub bare: Option<u32>,
    /// The line of its last mention of that kind.
    pub last_bare: Option<u32>,
}

/// A request that a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// `GET`, `POST`, …; `ANY` if the framework does not name one.
    pub method: String,
    /// The path pattern as written, behind what the file says that its group or router begins with.
    pub path: String,
    /// The function that answers, if it is named.
    pub handler: Option<String>,
    /// The line of the registration.
    pub line: u32,
}

/// A command or flag of a command-line program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name: `delegate`, `--json`; with its parent in front if the file shows it:
    /// `ledger show`. The program's own name is not included.
    pub name: String,
    /// Its own description, if it has one.
    pub about: Option<String>,
    /// Its line.
    pub line: u32,
}
