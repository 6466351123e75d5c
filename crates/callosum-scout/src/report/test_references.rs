//! [`Reach`]: code that the tests name.
//!
//! "Reached" means named: a test file imports the file, or uses something that it declares. The
//! claim that no test reaches a declaration would be a guess as long as any test uses its name:
//! such a name counts for every declaration of that spelling. Nothing is run, so nothing is known
//! of branches or lines.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    file_role::Role,
    references::Mentions,
    survey::{Survey, file::SurveyedFile, import_graph},
};

/// Code that the tests reach by name.
pub(super) struct Reach {
    /// For each file of the survey, the test files that import it or name what it declares.
    pub(super) testers: Vec<BTreeSet<usize>>,
    /// For each declaration (file, line), the test files that name it, with the line of one.
    pub(super) named: BTreeMap<(usize, u32), BTreeMap<usize, u32>>,
    /// The declarations (file, line) that a test may mean: what no test names is neither here nor
    /// in `named`.
    possible: BTreeSet<(usize, u32)>,
}

impl Reach {
    /// Searches every test file, and the tests in files of code.
    pub(super) fn of(survey: &Survey, mentions: &Mentions<'_>) -> Self {
        let is_test = |at: usize| survey.files[at].role == Role::Test;
        let mut testers = vec![BTreeSet::new(); survey.files.len()];
        for edge in survey.links.leaning() {
            if is_test(edge.from) && survey.files[edge.to].is_source() {
                testers[edge.to].insert(edge.from);
            }
        }
        let mut named: BTreeMap<(usize, u32), BTreeMap<usize, u32>> = BTreeMap::new();
        let mut possible = BTreeSet::new();
        let leaning: BTreeSet<usize> = survey.links.leaning().map(|edge| edge.from).collect();
        for (at, file) in survey.files.iter().enumerate() {
            let may_mean = leaning.contains(&at) || !file.words.is_empty();
            if may_mean || file.role != Role::Test {
                for (name, _) in names_in_tests(file) {
                    let meant = mentions.possible(name, at);
                    possible.extend(meant.map(|(declarer, symbol)| (declarer, symbol.line)));
                }
            }
            if file.is_source() && file.tests().next().is_some() {
                testers[at].insert(at);
            }
        }
        let tests: Vec<Vec<(u32, u32)>> = survey.files.iter().map(test_lines).collect();
        for used in &survey.links.names {
            let is_test_file = is_test(used.from);
            let in_test = |line: &u32| {
                let mut spans = tests[used.from].iter();
                is_test_file || spans.any(|(first, last)| (first..=last).contains(&line))
            };
            let line = [used.line, used.last_line].into_iter().find(in_test);
            let is_of_product = survey.files[used.to].is_source();
            if let (Some(line), Some(symbol)) = (line, mentions.declaration(used))
                && is_of_product
                && (used.from != used.to || !is_test_file)
            {
                let testers_of_symbol = named.entry((used.to, symbol.line)).or_default();
                testers_of_symbol.entry(used.from).or_insert(line);
                testers[used.to].insert(used.from);
            }
        }
        Self {
            testers,
            named,
            possible,
        }
    }

    /// Whether any test reaches a file, as far as can be determined.
    pub(super) fn is_reached(&self, at: usize) -> bool {
        let mut possible = self.possible.range((at, 0)..(at + 1, 0));
        !self.testers[at].is_empty() || possible.next().is_some()
    }

    /// Whether any test names the declaration on this line, as far as can be determined.
    pub(super) fn is_named(&self, at: usize, line: u32) -> bool {
        self.named.contains_key(&(at, line)) || self.possible.contains(&(at, line))
    }
}

/// The first and last lines of a file's tests.
fn test_lines(file: &SurveyedFile) -> Vec<(u32, u32)> {
    file.tests()
        .map(|test| (test.line, test.last_line))
        .collect()
}

/// The names that a file's tests mention: all of a test file, and of other files those first
/// mentioned within a test.
fn names_in_tests(file: &SurveyedFile) -> Vec<(&str, u32)> {
    let is_test_file = file.role == Role::Test;
    let spans = test_lines(file);
    let in_test = |line: u32| {
        is_test_file
            || spans
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&line))
    };
    let references = file.outline.references.iter().filter_map(|reference| {
        let lines = [reference.bare?, reference.last_bare?];
        let line = lines.into_iter().find(|line| in_test(*line))?;
        Some((reference.name.as_str(), line))
    });
    let imports = file
        .outline
        .imports
        .iter()
        .filter(|_| is_test_file)
        .flat_map(|import| {
            let names = import_graph::names_taken(file.language, import);
            names.into_iter().map(|name| (name, import.line))
        });
    let words = file.words.iter().map(|(word, line)| (&**word, *line));
    references
        .chain(imports)
        .chain(words)
        .filter(|(_, line)| in_test(*line))
        .collect()
}
