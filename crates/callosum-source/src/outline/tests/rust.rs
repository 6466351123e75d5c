//! Rust.

use insta::assert_snapshot;

use super::{mentioned, outline, shown};
use crate::language::Language;

#[test]
fn items_have_their_container_visibility_and_documentation() {
    assert_snapshot!(shown("src/disk.rs", r#"
//! Files, by way of one handle.
//! More words.

use std::{fs, io::{self, Read as _}};
pub use crate::other::*;
mod atomic;
#[path = "unix.rs"]
mod machine;

/// A handle. It is cheap.
#[derive(Clone)]
pub struct Disk<T> { inner: T }

impl<'a, T: Clone> Disk<T> {
    /// Opens it.
    pub fn open(&self) -> usize { fn hidden() {} 1 }
    pub(crate) fn inner(&self) {}
}

impl<T> std::fmt::Debug for &Disk<T> { fn fmt(&self) {} }

pub trait Store { const N: u8; type Item; fn put(&self); }
pub(crate) enum Kind { A, B }
const LIMIT: usize = 3;
static mut ONE: u8 = 1;
pub type Alias = Disk<u8>;
const _: () = ();
/// Adds.
#[macro_export]
macro_rules! add { () => {} }
mod inner { pub fn unseen() {} }
fn main() {}
"#), @r"
2: about: Files, by way of one handle.
5: Use std::fs
5: Use std::io
5: Use std::io::Read
6: ReExport crate::other::*
7: DeclareModule atomic
9: DeclareModule machine (unix.rs)
21: Path std::fmt::Debug
13-13: pub Type Disk -- A handle.
17-17: pub Method Disk . open -- Opens it.
18-18: Method Disk . inner
21-21: Method Disk . fmt
23-23: pub Interface Store
23-23: pub Method Store . put
24-24: Type Kind
25-25: Constant LIMIT
26-26: Constant ONE
27-27: pub Type Alias
31-31: pub Macro add -- Adds.
32-32: Module inner
32-32: Function inner . unseen
33-33: Function main
33: entry point
");
}

#[test]
fn methods_of_a_private_type_are_not_public() {
    assert_snapshot!(shown("src/a.rs", r"
struct Hidden;
impl Hidden { pub fn unseen() {} }
pub struct Shown;
impl Shown { pub fn seen() {} }
impl Elsewhere { pub fn other() {} }
"), @r"
2-2: Type Hidden
3-3: Method Hidden . unseen
4-4: pub Type Shown
5-5: pub Method Shown . seen
6-6: pub Method Elsewhere . other
");
}

#[test]
fn a_declaration_on_a_long_line_is_the_piece_around_it() {
    let functions = "pub fn one() {} pub fn two() {} ".repeat(50);
    let found = outline(Language::Rust, "a.rs", &functions).symbols;
    let declared: Vec<_> = found.iter().map(|f| f.declaration.as_str()).collect();
    assert_eq!(declared[..2], ["pub fn one() {}", "pub fn two() {}"]);
    let long = format!("pub fn long() -> &str {{ \"{}\" }}", "é".repeat(400));
    let declared = &outline(Language::Rust, "a.rs", &long).symbols[0].declaration;
    assert!(declared.starts_with("pub fn long()") && long.contains(declared));
}

#[test]
fn a_licence_in_the_documentation_of_a_file_is_passed_over_whole() {
    assert_snapshot!(shown("src/a.rs", "//! Copyright 2020\n//! You may use it.\n//!\n//! Reads.\n"),
        @"4: about: Reads.");
    assert_snapshot!(shown("src/a.rs", "//! Copyright 2020\n//! You may use it.\n"), @"");
}

#[test]
fn tests_are_known_by_their_attribute() {
    assert_snapshot!(shown("src/lib.rs", r#"
#[cfg(test)]
mod tests {
    use super::*;
    fn helper() {}
    #[test]
    fn adds() {}
    #[tokio::test(flavor = "multi_thread")]
    async fn waits() {}
    #[rstest]
    #[case(1)]
    fn cases(#[case] n: u8) {}
    proptest! {
        #![proptest_config(Config::default())]
        /// Law.
        #[test]
        fn holds(x in 0..10u8, y in any::<u8>()) { prop_assert!(x < 10); }
        #[test]
        fn holds_too(x: u8) {}
    }
}
"#), @r"
4: Use self::*
8: Path tokio::test
3-21: Module tests
5-5: Function tests . helper
7-7: test Function tests . adds
9-9: test Function tests . waits
12-12: test Function tests . cases
17-17: test Function tests . holds
19-19: test Function tests . holds_too
");
}

#[test]
fn full_paths_in_code_are_imports_where_nothing_announces_them() {
    assert_snapshot!(shown("src/a.rs", r#"
use std::fmt;
mod near;
fn f(x: serde_json::Value) -> fmt::Result {
    crate::disk::open(near::x());
    u32::from_str_radix("", 2); Vec::<u8>::new(); Self::g();
    serde_json::from_str::<u8>("");
    super::other::VALUE
}
"#), @r"
2: Use std::fmt
3: DeclareModule near
4: Path serde_json::Value
5: Path crate::disk::open
7: Path serde_json::from_str
8: Path super::other::VALUE
4-9: Function f
");
}

#[test]
fn servers_of_axum_actix_and_rocket_are_recognised() {
    assert_snapshot!(shown("src/a.rs", r#"
fn router() {
    Router::new()
        .route("/users", get(list).post(users::create))
        .route("/any", any(|| async {}))
        .route("/old", web::get().to(index));
    table.route("not a server");
}
#[get("/hello/<name>")]
async fn hello(name: String) {}
#[actix_web::route("/both", method = "PUT")]
async fn both() {}
"#), @r"
4: Path users::create
6: Path web::get
11: Path actix_web::route
2-8: Function router
10-10: Function hello
12-12: Function both
4: GET /users -> list
4: POST /users -> users::create
5: ANY /any -> ?
6: GET /old -> index
9: GET /hello/<name> -> hello
11: PUT /both -> both
");
}

#[test]
fn commands_of_clap_are_recognised() {
    assert_snapshot!(shown("src/main.rs", r#"
use clap::{Parser, Arg, Command};
/// Moves things. Quickly.
#[derive(Parser)]
#[command(name = "mover", version)]
struct Cli {
    /// Says more
    #[arg(short, long)]
    verbose_output: bool,
    #[arg(short = 'q')]
    quiet: bool,
    /// The file
    file: String,
    #[command(subcommand)]
    verb: Verb,
}
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Adds one
    AddOne { #[arg(long = "at")] place: u8 },
    #[command(name = "rm", about = "Removes one")]
    Remove(RemoveArgs),
}
fn build() {
    Command::new("built").about("By hand").arg(Arg::new("x").long("ex").help("The x"));
}
"#), @r"
2: Use clap::Parser
2: Use clap::Arg
2: Use clap::Command
17: Path clap::Subcommand
6-16: Type Cli -- Moves things.
18-23: Type Verb
24-26: Function build
6: $ mover -- Moves things.
9: $ --verbose-output -- Says more
11: $ -q
20: $ add-one -- Adds one
20: $ --at
22: $ rm -- Removes one
25: $ built -- By hand
25: $ --ex -- The x
");
}

#[test]
fn mentions_leave_out_imports_and_the_names_of_declarations() {
    assert_snapshot!(mentioned("a.rs", r"use a::b;
fn own(x: Kind) -> u8 {
    x.read(); b::call(vec![inside(1)]);
}
"), @r"
Kind:2 b:3 call:3 inside:3 read:3 vec:3 x:2
");
}

#[test]
fn paths_among_a_macros_arguments_are_imports() {
    assert_snapshot!(shown("src/lib.rs", r#"
mod sum;
#[derive(serde::Serialize)]
#[expect(clippy::all, reason = "a::b")]
fn own() {
    println!("{} notes::none", sum::total(&[1]));
    vec![crate::shelf::Book::new(), self::inner::deep(), ::std::mem::take(x), a.b()];
    format!("{}", <T>::name());
}
macro_rules! pass { () => { $crate::left::out(callers::own()) }; }
"#), @r"
2: DeclareModule sum
3: Path serde::Serialize
7: Path crate::shelf::Book::new
7: Path self::inner::deep
5-9: Function own
10-10: Macro pass
");
}

#[test]
fn path_heads_are_those_of_code_alone() {
    let source = r##"
fn own() {
    let text = "inside::string";
    let raw = r#"raw::string"#;
    // comment::only
    vec![total::sum(), crate::a::b()];
    shelf::put(text);
}
"##;
    let heads = outline(Language::Rust, "src/a.rs", source).path_heads;
    let heads: Vec<_> = heads
        .iter()
        .map(|head| (head.text.as_str(), head.line))
        .collect();
    assert_eq!(heads, [("shelf", 7), ("total", 6)]);
}

/// A field, a method or a variable of a function's name does not mean the function.
#[test]
fn only_calls_and_paths_mean_a_function_by_themselves() {
    let source = "fn own(db: Db) { db.find(); x.y; open(db); a::close(); map(Limit); }\n";
    let references = outline(Language::Rust, "src/a.rs", source).references;
    let bare = references.iter().filter(|found| found.bare.is_some());
    let bare: Vec<_> = bare.map(|found| found.name.as_str()).collect();
    assert_eq!(bare, ["Db", "Limit", "close", "map", "open"]);
}

#[test]
fn commands_inside_commands_of_clap_have_their_path() {
    assert_snapshot!(shown("src/cli.rs", r#"
use clap::{Args, Parser, Subcommand};
#[derive(Parser)]
struct Cli { #[command(subcommand)] verb: Verb }
#[derive(Subcommand)]
enum Verb { Ledger(LedgerArgs), Init }
#[derive(Args)]
struct LedgerArgs { #[command(subcommand)] verb: LedgerVerb }
#[derive(Subcommand)]
enum LedgerVerb { Show { #[arg(long)] all: bool }, Verify }
fn build() {
    App::new("app").subcommand(SubCommand::with_name("remote").subcommand(SubCommand::with_name("add")))
        .subcommand(SubCommand::with_name("list"));
}
"#), @r"
2: Use clap::Args
2: Use clap::Parser
2: Use clap::Subcommand
4-4: Type Cli
6-6: Type Verb
8-8: Type LedgerArgs
10-10: Type LedgerVerb
11-14: Function build
6: $ ledger
6: $ init
10: $ ledger show
10: $ --all
10: $ ledger verify
12: $ app
12: $ remote
12: $ remote add
13: $ list
");
}

/// The macros of conditional compilation are the only thing around the items of some crates.
#[test]
fn items_in_the_braces_of_a_macro_stand_where_its_call_does() {
    let source = r"
cfg_rt! {
    /// Runs things.
    pub mod runtime;
    cfg_net! { pub use crate::net::connect; }

    #[test]
    fn it_runs() {}
}
/// Said of the call.
cfg_time! { pub fn sleep() {} }
impl Builder {
    cfg_rt! {
        /// Builds.
        pub fn build(&self) { cfg_inside! { pub fn unseen() {} } }
    }
}
pub struct Builder;
pub fn after() {}
";
    assert_snapshot!(shown("src/lib.rs", source), @r"
4: DeclareModule runtime
5: ReExport crate::net::connect
8-8: test Function it_runs
11-11: pub Function sleep
15-15: pub Method Builder . build -- Builds.
18-18: pub Type Builder
19-19: pub Function after
");
    assert_snapshot!(mentioned("src/lib.rs", source), @"Builder:12 cfg_inside:15 cfg_net:5 cfg_rt:2 cfg_time:11 runtime:4 test:7 unseen:15");
}

#[test]
fn what_only_looks_like_items_in_a_macro_is_left_alone() {
    assert_snapshot!(shown("src/lib.rs", r"
bitflags! { pub struct Flags: u32 { const A = 1; } }
select! { a = b => {} }
cfg_rt!(pub fn parenthesised() {});
made::up! { pub fn by_a_crate() {} }
broken! { pub fn a() { pub struct }
}
"), @"5: Path made::up");
}

#[test]
fn symbols_in_a_module_with_a_body_know_its_path() {
    let source = r"
pub struct Widget;
impl Widget { pub fn outer(&self) {} }
pub mod inner {
    struct Widget;
    impl Widget { pub fn hidden(&self) {} }
    pub mod deep { pub struct Gadget; }
}
";
    let outline = outline(Language::Rust, "src/lib.rs", source);
    let symbols: Vec<_> = outline
        .symbols
        .iter()
        .map(|symbol| (symbol.module.as_deref(), &*symbol.name, symbol.public))
        .collect();
    assert_eq!(
        symbols,
        [
            (None, "Widget", true),
            (None, "outer", true),
            (None, "inner", true),
            (Some("inner"), "Widget", false),
            (Some("inner"), "hidden", false),
            (Some("inner"), "deep", true),
            (Some("inner::deep"), "Gadget", true),
        ]
    );
}

/// `#[doc(hidden)]` macros are there for other macros.
#[test]
fn a_hidden_macro_is_not_offered() {
    assert_snapshot!(shown("src/macros.rs", r"
/// Makes one.
#[macro_export]
macro_rules! json { () => {} }
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal { () => {} }
"), @r"
4-4: pub Macro json -- Makes one.
7-7: Macro json_internal
");
}
