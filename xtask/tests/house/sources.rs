//! How a source file opens, what it is called, and what it doesn't contain.

use std::path::Path;

use crate::{
    none_of,
    tree::{Tree, in_crate},
};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 13] = [
    "common", "core", "error", "errors", "helper", "helpers", "imp", "misc", "shared", "types",
    "util", "utility", "utils",
];

/// Returns what is wrong with where a file stands.
fn misnamed(path: &str, all: &[&str]) -> Option<String> {
    let file = Path::new(path);
    let stem = file.file_stem()?.to_str()?;
    let folder = file.parent()?;
    let name = if stem == "mod" {
        folder.file_name()?.to_str()?
    } else {
        stem
    };
    if EMPTY_NAMES.contains(&name) {
        return Some(format!(
            "{path}: `{name}` is no noun of ours; name the thing inside"
        ));
    }
    let beside = format!("{}/", path.strip_suffix(".rs")?);
    if all.iter().any(|other| other.starts_with(&beside)) {
        return Some(format!(
            "{path}: stands beside its own folder; make it {beside}mod.rs"
        ));
    }
    None
}

/// Returns whether a line is a rule drawn across a file: `// ----`, `//////`, `/* ===`.
fn is_banner(line: &str) -> bool {
    let line = line.trim_start();
    let Some(comment) = line.strip_prefix("//").or_else(|| line.strip_prefix("/*")) else {
        return false;
    };
    let mut marks = comment.trim_start_matches(['!', ' ']).chars();
    let Some(first) = marks.next() else {
        return false;
    };
    "-=*#~_+/─━═".contains(first) && marks.take(3).filter(|&mark| mark == first).count() == 3
}

fn wrong_within(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if !text
        .lines()
        .next()
        .is_some_and(|line| line.starts_with("//! "))
    {
        findings.push(format!(
            "{path}: the first line is not `//! ` and what the file is"
        ));
    }
    for (index, line) in text.lines().enumerate() {
        if is_banner(line) {
            findings.push(format!(
                "{path}:{}: a banner; the outline is the modules",
                index + 1
            ));
        }
    }
    findings
}

#[test]
fn every_source_file_opens_with_what_it_is_and_draws_no_banners() {
    let tree = Tree::read();
    let findings: Vec<String> = tree
        .with_extension("rs")
        .flat_map(|path| wrong_within(path, &tree.text(path)))
        .collect();
    none_of(&findings);
}

#[test]
fn every_source_file_is_named_for_a_thing_and_folders_have_a_contents_page() {
    let tree = Tree::read();
    let all: Vec<&str> = tree.with_extension("rs").collect();
    let findings: Vec<String> = all.iter().filter_map(|path| misnamed(path, &all)).collect();
    none_of(&findings);
}

/// Whether a doc comment has an example that `cargo test` would run.
fn has_example(text: &str) -> bool {
    let mut open = false;
    text.lines().any(|line| {
        let line = line.trim_start();
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(tag) = comment.and_then(|comment| comment.trim_start().strip_prefix("```")) else {
            return false;
        };
        open = !open;
        open && (tag.is_empty() || tag.contains("rust") || tag.contains("compile_fail"))
    })
}

/// A crate without examples saves the start of `rustdoc`; one that gets an example must run it.
#[test]
fn every_example_in_a_doc_comment_is_run() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for path in tree.with_extension("rs") {
        let Some((name, rest)) = in_crate(path) else {
            continue;
        };
        let manifest = format!("crates/{name}/Cargo.toml");
        if rest.starts_with("src/")
            && has_example(&tree.text(path))
            && tree.text(&manifest).contains("\ndoctest = false\n")
        {
            findings.push(format!(
                "{path}: {manifest} has `doctest = false`, so its example would not run"
            ));
        }
    }
    none_of(&findings);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_opening_is_found() {
        assert_eq!(
            wrong_within("a.rs", "//! What it is.\nfn a() {}\n"),
            [""; 0]
        );
        for text in [
            "",
            "fn a() {}\n",
            "//!\n",
            "// What it is.\n",
            "\n//! Late.\n",
        ] {
            assert_eq!(wrong_within("a.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_banner_is_found_and_a_sentence_or_an_option_is_not() {
        for line in [
            "// ---- a",
            "    // ====",
            "//////////",
            "/* **** */",
            "//! ════",
            "//-----",
        ] {
            assert!(is_banner(line), "{line:?}");
        }
        for line in [
            "// why",
            "/// Doc.",
            "//! | a | b |",
            "// --json",
            "let a = b; // - c",
            "// - item",
            "",
        ] {
            assert!(!is_banner(line), "{line:?}");
        }
    }

    #[test]
    fn a_name_that_says_nothing_is_found_as_file_and_as_folder() {
        for path in ["src/utils.rs", "src/types/mod.rs", "src/core/errors.rs"] {
            assert!(misnamed(path, &[]).is_some(), "{path}");
        }
        for path in ["src/lib.rs", "src/journal/mod.rs", "src/main.rs"] {
            assert_eq!(misnamed(path, &[]), None);
        }
    }

    #[test]
    fn a_file_beside_its_own_folder_is_found() {
        let all = ["src/lock.rs", "src/lock/order.rs", "src/locks.rs"];
        assert!(misnamed("src/lock.rs", &all).is_some());
        assert_eq!(misnamed("src/locks.rs", &all), None);
    }

    #[test]
    fn an_example_is_a_fence_that_holds_rust() {
        for text in [
            "/// ```\n/// f();\n/// ```",
            "//! ```compile_fail\n",
            "    /// ```rust\n",
        ] {
            assert!(has_example(text), "{text}");
        }
        for text in [
            "/// ```text\n/// a\n/// ```\n/// words",
            "// ```",
            "let a = \"```\";",
        ] {
            assert!(!has_example(text), "{text}");
        }
    }
}
