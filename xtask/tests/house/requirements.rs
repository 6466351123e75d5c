//! What `docs/requirements.md` calls done is cited by a test; what a comment cites exists.

use std::collections::{BTreeMap, BTreeSet};

use crate::{markdown, none_of, tree::Tree};

/// The words that a row's last cell may say.
const STATES: [&str; 4] = ["done", "begun", "open", "not begun"];

/// Returns whether `word` has the shape of an id: `CAL-LED-1`, `CALC-PAT-2b`, `REQ-LED-001`.
fn is_id(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let [seed, area, number] = parts.as_slice() else {
        return false;
    };
    ["CAL", "LOA", "CCOS", "CALC", "CAKE", "REQ"].contains(seed)
        && !area.is_empty()
        && area
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && number.starts_with(|c: char| c.is_ascii_digit())
}

fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| is_id(word))
}

/// Returns the state of each id that has a row of its own.
fn states(page: &str) -> BTreeMap<&str, &str> {
    markdown::rows(page)
        .into_iter()
        .filter(|cells| is_id(cells[0]))
        .map(|cells| (cells[0], *cells.last().unwrap()))
        .collect()
}

/// Returns the ids in the doc comments of a file's tests.
///
/// Any comment counts in a benchmark, whose numbers are never asserted, and in the tier with the real
/// clients, whose cases have no attribute.
fn cited_by_tests(path: &str, source: &str) -> BTreeSet<String> {
    let bench = path.contains("/benches/") || path.contains("/real_clients/");
    let mut cited = BTreeSet::new();
    let mut pending: Vec<&str> = Vec::new();
    let mut test = false;
    for line in source.lines().map(str::trim_start) {
        if bench && line.starts_with("//") {
            cited.extend(ids(line).map(str::to_owned));
        } else if line.starts_with("///") {
            pending.extend(ids(line));
        } else if line.starts_with("#[") {
            test |= line.ends_with("test]") || line.starts_with("#[divan::bench");
        } else {
            if test {
                cited.extend(pending.iter().map(|&id| id.to_owned()));
            }
            pending.clear();
            test = false;
        }
    }
    cited
}

fn unproven(states: &BTreeMap<&str, &str>, cited: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for (id, state) in states {
        if !STATES.contains(state) {
            findings.push(format!("{id}: `{state}` is none of {STATES:?}"));
        }
        if *state == "done" && !cited.contains(*id) {
            findings.push(format!("{id}: called done, cited by no test"));
        }
        if *state == "not begun" && cited.contains(*id) {
            findings.push(format!("{id}: called not begun, yet a test cites it"));
        }
    }
    findings
}

/// REQ-TEST-002: an error code without a test that provokes it cannot be called done.
#[test]
fn a_requirement_called_done_is_cited_by_a_test() {
    let tree = Tree::read();
    let page = tree.text("docs/requirements.md");
    let cited: BTreeSet<String> = tree
        .with_extension("rs")
        .flat_map(|path| cited_by_tests(path, &tree.text(path)))
        .collect();
    none_of(&unproven(&states(&page), &cited));
}

#[test]
fn an_id_in_a_comment_is_an_id_of_the_requirements() {
    let tree = Tree::read();
    let page = tree.text("docs/requirements.md");
    let known: BTreeSet<&str> = ids(&page).collect();
    let mut findings = Vec::new();
    for path in tree.with_extension("rs") {
        for (index, line) in tree.text(path).lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            for id in ids(line).filter(|id| comment && !known.contains(id)) {
                findings.push(format!("{path}:{}: {id} is no requirement", index + 1));
            }
        }
    }
    none_of(&findings);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, source: &str, expected: &[&str]) {
        assert_eq!(
            unproven(&states(page), &cited_by_tests("src/a.rs", source)),
            expected
        );
    }

    #[test]
    fn a_citation_counts_only_above_a_test() {
        let page = "| CAL-LED-1 | rotation | done |\n";
        check(page, "/// CAL-LED-1: kept.\n#[test]\nfn a() {}\n", &[]);
        check(page, "#[test]\n/// CAL-LED-1: kept.\nfn a() {}\n", &[]);
        for source in [
            "/// CAL-LED-1: kept.\nfn a() {}\n#[test]\nfn b() {}\n",
            "// CAL-LED-1\n#[test]\nfn a() {}\n",
            "/// CAL-LED-10: kept.\n#[test]\nfn a() {}\n",
        ] {
            check(page, source, &["CAL-LED-1: called done, cited by no test"]);
        }
    }

    #[test]
    fn a_state_outside_the_words_is_found() {
        check(
            "| CAL-LED-1 | x | almost |\n",
            "",
            &["CAL-LED-1: `almost` is none of [\"done\", \"begun\", \"open\", \"not begun\"]"],
        );
    }

    #[test]
    fn a_benchmark_cites_in_any_comment() {
        let source = "//! CAL-PERF-1: the latency table.\nfn main() {}\n";
        assert!(cited_by_tests("crates/a/benches/append.rs", source).contains("CAL-PERF-1"));
        assert!(cited_by_tests("crates/a/src/lib.rs", source).is_empty());
    }
}
