//! Input that was made to hurt.

use super::*;

const EVERY_LANGUAGE: [&str; 9] = [
    "a.rs", "a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.java", "a.c", "a.cpp",
];

fn read(path: &str, text: &str) -> Outline {
    outline(
        Language::of(std::path::Path::new(path)).unwrap(),
        path,
        text,
    )
}

/// CAL-EXE-3: no input ends the process.
#[test]
fn nesting_does_not_use_the_stack() {
    for path in EVERY_LANGUAGE {
        read(
            path,
            &format!("x = {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        );
        read(path, &"[".repeat(20_000));
        for (open, close) in [("{", "}"), ("a(", ")"), ("a.b(", ")")] {
            read(
                path,
                &format!("x = {}1{}", open.repeat(3_000), close.repeat(3_000)),
            );
        }
    }
}

/// CAL-EXE-3: no input holds the process up, and what is well-formed is never given up.
#[test]
fn a_text_that_the_grammar_is_lost_in_is_given_up() {
    let lost = read("a.rs", &") } ] 3x @ = ".repeat(3_000));
    assert!(lost.has_errors && lost.references.is_empty());
    let long = "/// Adds.\nfn add(a: u8) -> u8 { a.max(1) + 2 }\n".repeat(1_000);
    let read = read("a.rs", &long);
    assert!(!read.has_errors);
    assert_eq!(read.symbols.len(), 1_000);
}

/// CAL-EXE-3: no input ends the process.
#[test]
fn garbage_gives_an_outline_that_says_so() {
    for path in EVERY_LANGUAGE {
        for text in [
            "\u{1}\u{2}}})]>",
            "\"\"\"",
            "fn (",
            "class {{{ def",
            "'\\",
            "/*",
            "é\u{202e}ß(",
        ] {
            read(path, text);
        }
        assert!(read(path, "} ] ) = = = 3x").has_errors, "{path}");
    }
}

#[test]
fn every_prefix_of_a_file_can_be_read() {
    let sources = [
        (
            "a.rs",
            "#[derive(Parser)]\n#[command(name = \"x\")]\nstruct A { #[arg(long = \"y\")] y: u8 }\nuse a::{b, c as d};\n",
        ),
        (
            "a.py",
            "@app.route(\"/x\", methods=[\"GET\"])\ndef f(a): \"\"\"Doc.\"\"\"\nfrom .a import (b, c)\n",
        ),
        (
            "a.ts",
            "export const f = async () => { app.get('/x', g) }\nexport * from './a'\nclass A { @Get(':id') b() {} }",
        ),
        (
            "a.go",
            "package a\n// F f.\nfunc (r *T) F() { r.GET(\"/x\", h) }\nimport ( b \"c/d\" )\n",
        ),
        (
            "A.java",
            "package a;\n@RequestMapping(\"/a\") class A { @GetMapping(\"/b\") void c() {} }",
        ),
        (
            "a.cpp",
            "#include \"a.h\"\nnamespace a::b { class C : D { public: int e(); }; }\nTEST(A, B) {}\nint C::e() {}",
        ),
    ];
    for (path, source) in sources {
        for (end, _) in source.char_indices() {
            read(path, &source[..end]);
        }
    }
}

/// A text near the limit of what is read: `head`, then `open` and `close` around each other as
/// often as there is room, then `tail`.
fn long(head: &str, open: &str, close: &str, tail: &str) -> String {
    const ROOM: usize = 1 << 20;
    let count = (ROOM - head.len() - tail.len()) / (open.len() + close.len());
    format!("{head}{}{}{tail}", open.repeat(count), close.repeat(count))
}

/// CAL-EXE-3: no input holds the process up. A step that goes over all of a text for each of its
/// parts would take minutes to hours for each of these.
#[test]
fn long_texts_are_read_in_one_pass() {
    let word = "a".repeat(500_000);
    let pad = " ".repeat(24);
    let texts = [
        ("a.rs", long("", "//! Copyright\n", "", "")),
        ("a.rs", long("", "mod a { ", "}", "")),
        ("a.rs", long("fn f() { a", "::a", "", "; }")),
        (
            "a.rs",
            long(&format!("use {word}::{{"), &format!("a,{pad}"), "", "};"),
        ),
        ("a.rs", long(&format!("mod {word} {{"), "fn a(){}", "", "}")),
        ("a.rs", long("", &format!("fn a(){{}}{pad}"), "", "")),
        (
            "a.rs",
            long("// clap\n", "#[derive(Parser)]struct A{}\n", "", ""),
        ),
        (
            "a.py",
            long("", &format!("A=1{pad}\n__all__+=['A']{pad}\n"), "", ""),
        ),
        ("a.py", long("A", &format!("={pad}A"), "", "=1")),
        (
            "a.py",
            long("# starlette\n", &format!("Route({pad})\n"), "", ""),
        ),
        ("a.js", long("class A{", &format!("a(){{{pad}}}"), "", "}")),
        ("a.js", long("a", &format!("({pad})"), "", "")),
        (
            "a.go",
            long(
                "package a // spf13/\nfunc f(){",
                &format!("{pad}flag.String(\"a\");{pad}"),
                "",
                "}",
            ),
        ),
        (
            "a.java",
            long(
                "class A{@Path(\"a\")",
                &format!("@GET {pad}"),
                "",
                "void a(){}}",
            ),
        ),
        (
            "a.java",
            long(
                "class A{/** A. */static final int A",
                &format!(",{pad}A"),
                "",
                ";}",
            ),
        ),
        ("a.c", long("int a", &format!(",{pad}a"), "", ";")),
        (
            "a.cpp",
            long(
                "",
                &format!("class A{{{pad}"),
                &format!("int a();{pad}}};"),
                "",
            ),
        ),
        ("a.cpp", long("int ", &format!("A::{pad}"), "", "a(){}")),
    ];
    for (path, text) in texts {
        let outline = read(path, &text);
        assert!(!outline.has_errors, "{path} {}", &text[..60]);
        // Nor is what is large kept again for each thing in it.
        for symbol in &outline.symbols {
            assert!(symbol.declaration.len() <= 300);
            assert!(
                symbol
                    .container
                    .as_ref()
                    .is_none_or(|name| name.len() <= 300)
            );
        }
        let longest = outline.imports.iter().map(|import| import.target.len());
        assert!(longest.max().is_none_or(|bytes| bytes <= 600));
    }
}
