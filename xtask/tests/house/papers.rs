//! The root folder, the licence texts, the links between pages, and the pages on formats.

use std::path::{Component, Path, PathBuf};

use crate::{markdown, none_of, tree::Tree};

/// All that the root folder shows. Plans, summaries and notes have no place in it.
const ROOT: [&str; 20] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-AGPL",
    "LICENSE-MIT",
    "NOTICE",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "fuzz",
    "justfile",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "typos.toml",
    "xtask",
];

/// Returns the page that a relative link of `page` leads to, as a path from the root.
fn target(page: &str, link: &str) -> Option<PathBuf> {
    let mut path = Path::new(page).parent()?.to_path_buf();
    for component in Path::new(link).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Returns the links of one page that lead nowhere.
fn broken_links(tree: &Tree, page: &str) -> Vec<String> {
    let text = tree.text(page);
    let mut findings = Vec::new();
    for (line, link) in markdown::links(&text) {
        if link.starts_with("https://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let to = if path.is_empty() {
            Some(PathBuf::from(page))
        } else {
            target(page, path)
        };
        let to = to
            .and_then(|to| to.to_str().map(str::to_owned))
            .filter(|to| tree.has(to));
        match to {
            None => findings.push(format!("{page}:{line}: `{link}` leads nowhere")),
            Some(to) if !anchor.is_empty() => {
                if !markdown::anchors(&tree.text(&to))
                    .iter()
                    .any(|known| known == anchor)
                {
                    findings.push(format!("{page}:{line}: `{to}` has no heading `{anchor}`"));
                }
            }
            Some(_) => {}
        }
    }
    findings
}

/// Returns the pages that `page` links to, as paths from the root.
fn linked_from(tree: &Tree, page: &str) -> Vec<PathBuf> {
    markdown::links(&tree.text(page))
        .iter()
        .filter_map(|(_, link)| target(page, link.split('#').next()?))
        .collect()
}

/// The text with all white space made one blank, since licence texts differ in their line ends.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Hidden names are left out: an editor's folder is its user's own affair.
#[test]
fn the_root_folder_shows_its_papers_and_nothing_else() {
    let findings: Vec<String> = Tree::read()
        .names_in("")
        .into_iter()
        .filter(|name| !name.starts_with('.') && !ROOT.contains(&name.as_str()))
        .map(|name| format!("{name}: has no place in the root folder"))
        .collect();
    none_of(&findings);
}

/// CAL-LIC-1: both texts are whole, and README, NOTICE and manifests say the same.
#[test]
fn both_licences_stand_here_in_full_and_are_declared_alike() {
    let tree = Tree::read();
    let agpl = spdx::license_id("AGPL-3.0-only").unwrap().text();
    assert_eq!(words(&tree.text("LICENSE-AGPL")), words(agpl));

    let mit = words(spdx::license_id("MIT").unwrap().text());
    let (_, permission) = mit.split_once("<copyright holders> ").unwrap();
    let ours = words(&tree.text("LICENSE-MIT"));
    assert!(ours.ends_with(permission));
    assert!(ours.contains("Copyright (c) 2025 Sasser Development LLC / Gorombo Labs"));

    let declared = "MIT OR AGPL-3.0-only";
    let cargo: toml::Table = tree.text("Cargo.toml").parse().unwrap();
    assert_eq!(
        cargo["workspace"]["package"]["license"].as_str(),
        Some(declared)
    );
    for page in ["README.md", "NOTICE"] {
        let line = format!("SPDX-License-Identifier: {declared}");
        assert!(
            tree.text(page).contains(&line),
            "{page} does not declare {declared}"
        );
    }
}

/// CAL-LIC-1: the attribution of seed CAL §15.3, and where schema and governance mapping stand.
#[test]
fn the_notice_keeps_the_attribution_and_names_pages_that_exist() {
    let tree = Tree::read();
    let notice = words(&tree.text("NOTICE"));
    assert!(notice.contains("Copyright (c) 2025 Sasser Development LLC / Gorombo Labs"));
    assert!(notice.contains(
        "This tool extends the Context Arbitration Layer (CAL) architecture developed by \
         Dan Sasser / Gorombo Labs AI Research."
    ));
    let pages = notice
        .split([' ', ','])
        .filter(|word| word.starts_with("docs/"));
    let missing: Vec<String> = pages
        .filter(|page| !tree.has(page))
        .map(str::to_owned)
        .collect();
    none_of(&missing);
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let tree = Tree::read();
    let findings: Vec<String> = tree
        .with_extension("md")
        .flat_map(|page| broken_links(&tree, page))
        .collect();
    none_of(&findings);
}

#[test]
fn every_page_under_docs_is_on_its_contents_page() {
    let tree = Tree::read();
    let listed = linked_from(&tree, "docs/README.md");
    let findings: Vec<String> = tree
        .with_extension("md")
        .filter(|page| page.starts_with("docs/") && *page != "docs/README.md")
        .filter(|page| !listed.contains(&PathBuf::from(page)))
        .map(|page| format!("docs/README.md does not list {page}"))
        .collect();
    none_of(&findings);
}

/// CAL-GOV-3: a schema without a page would be a promise that nobody explains.
#[test]
fn every_schema_is_explained_by_a_page_and_carries_its_draft() {
    let tree = Tree::read();
    let explained: Vec<PathBuf> = tree
        .with_extension("md")
        .filter(|page| page.starts_with("docs/"))
        .flat_map(|page| linked_from(&tree, page))
        .collect();
    let mut findings = Vec::new();
    for schema in tree
        .with_extension("json")
        .filter(|path| path.starts_with("docs/schemas/"))
    {
        if !schema.ends_with(".schema.json") {
            findings.push(format!("{schema}: a schema's name ends in .schema.json"));
        }
        if !explained.contains(&PathBuf::from(schema)) {
            findings.push(format!("{schema}: no page under docs/ links to it"));
        }
        if !tree
            .text(schema)
            .contains("\"https://json-schema.org/draft/2020-12/schema\"")
        {
            findings.push(format!("{schema}: is not of draft 2020-12"));
        }
    }
    none_of(&findings);
}

/// The command that README shows is the one that is run for every change, with features for more tests.
#[test]
fn the_test_command_of_the_readme_is_a_line_of_the_ci_script() {
    let tree = Tree::read();
    let readme = tree.text("README.md");
    let shown: Vec<&str> = markdown::code(&readme)
        .into_iter()
        .filter(|line| line.starts_with("cargo test"))
        .collect();
    assert_eq!(
        shown.len(),
        1,
        "README.md shows one test command: {shown:?}"
    );
    let with_features = format!("{} --features \"$features\"", shown[0]);
    assert!(
        tree.text(".ci/run")
            .lines()
            .any(|line| line == with_features)
    );
}

/// Returns the numbers in the text of a page, without its code blocks, comments and links.
fn numbers(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut is_code = false;
    let mut is_comment = false;
    for line in page.lines() {
        is_comment |= line.starts_with("<!--");
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !is_comment && !line.contains("SPDX") && !line.contains("LICENSE") {
            // The targets of links are names of files.
            let parts = line.split("](");
            text.extend(parts.map(|part| part.split_once(')').map_or(part, |(_, rest)| rest)));
            text.push('\n');
        }
        is_comment &= !line.ends_with("-->");
    }
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    words
        .filter(is_number)
        .map(|word| word.trim_end_matches('.').to_owned())
        .collect()
}

/// README names few numbers: those of its examples run in a test of the program, and the others are here.
#[test]
fn the_numbers_of_the_readme_are_those_of_the_manifest_and_of_the_measurements() {
    let tree = Tree::read();
    let readme = tree.text("README.md");
    let cargo: toml::Table = tree.text("Cargo.toml").parse().unwrap();
    let rust = cargo["workspace"]["package"]["rust-version"].as_str();
    let measured = tree.text("docs/performance/build.md");
    let minutes: Vec<String> = markdown::rows(&measured)
        .into_iter()
        .filter(|cells| cells[0].starts_with("`cargo run") || cells[0].starts_with("`cargo test"))
        .map(|cells| cells[1].trim_end_matches(" min").to_owned())
        .collect();
    assert_eq!(
        minutes.len(),
        2,
        "the page has a row for each command of README"
    );
    for minutes in &minutes {
        let expected = format!("about {minutes} minutes");
        assert!(
            readme.contains(&expected),
            "README.md does not say {expected:?}"
        );
    }
    // The version of Python, the processors, and the items of its list.
    let mut known = vec!["1", "2", "3", "4", "5", "6"];
    known.extend(rust);
    known.extend(minutes.iter().map(String::as_str));
    let unknown: Vec<String> = numbers(&readme)
        .into_iter()
        .filter(|number| !known.contains(&number.as_str()))
        .map(|number| format!("README.md: nothing checks the number {number}"))
        .collect();
    none_of(&unknown);
}

#[test]
fn no_page_carries_emoji() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for page in tree.with_extension("md") {
        for (index, line) in tree.text(page).lines().enumerate() {
            if line
                .chars()
                .any(|c| matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..))
            {
                findings.push(format!("{page}:{}: {line}", index + 1));
            }
        }
    }
    none_of(&findings);
}

#[test]
fn a_link_is_followed_from_the_folder_of_its_page() {
    assert_eq!(
        target("docs/README.md", "formats/a.md"),
        Some("docs/formats/a.md".into())
    );
    assert_eq!(
        target("docs/design/a.md", "../b.md"),
        Some("docs/b.md".into())
    );
    assert_eq!(target("README.md", "../outside.md"), None);
    assert_eq!(target("README.md", "/etc/passwd"), None);
}

/// CALC-PAR-1, CALC-FAIL-1: each row of the checklist of seed CALC §11, and each part that may fail (§9), is shown by tests that there
/// are, but for those that are not begun.
#[test]
fn every_test_that_the_page_on_the_mesh_names_is_there() {
    let tree = Tree::read();
    let page = tree.text("docs/requirements.md");
    let sources: String = tree
        .with_extension("rs")
        .filter(|path| path.contains("/tests/"))
        .map(|path| tree.text(path))
        .collect();
    let mut findings = Vec::new();
    let rows = |title: &str| markdown::rows(markdown::section(&page, title).unwrap());
    let (clients, faults) = (rows("What each client has"), rows("When a part fails"));
    assert_eq!(clients.len(), 12, "a head, and the seed's eleven rows");
    assert!(faults.len() > 7, "a head, the seed's six rows, and others");
    for cells in clients[1..].iter().chain(&faults[1..]) {
        let [what, has, shown] = cells[..] else {
            panic!("{cells:?}")
        };
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if names.is_empty() != (has == "not begun") {
            findings.push(format!("{what}: {has}, shown by {shown}"));
        }
        let is_there = |name: &str| {
            let functions = ["", "#[cfg(target_os = \"linux\")]\n"]
                .map(|only| format!("#[test]\n{only}fn {name}()"));
            let case = format!("\"{name}\"");
            functions.iter().any(|function| sources.contains(function)) || sources.contains(&case)
        };
        let missing = names.into_iter().filter(|name| !is_there(name));
        findings.extend(missing.map(|name| format!("{what}: no test `{name}`")));
    }
    none_of(&findings);
}
