//! The examples of the language's pages.

use callosum_plan::{Failure, Value};

use crate::running::run;

const PAGE: &str = concat!(
    include_str!("../../../../docs/rtfs.md"),
    include_str!("../../../../docs/rtfs/library.md"),
);

/// The blocks of the page that are programs.
fn examples() -> Vec<String> {
    let mut examples = Vec::new();
    let mut open: Option<String> = None;
    for line in PAGE.lines() {
        match &mut open {
            None if line == "```rtfs" => open = Some(String::new()),
            Some(_) if line == "```" => examples.extend(open.take()),
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    examples
}

/// CCOS-RTFS-1: each example of the page comes to what the page says.
#[test]
fn every_example_of_the_page_comes_to_what_it_says() {
    let examples = examples();
    assert!(examples.len() > 20, "{}", examples.len());
    for example in examples {
        let marked = |mark: &str| -> Vec<String> {
            let lines = example.lines().filter_map(|line| line.strip_prefix(mark));
            lines.map(|text| text.trim().to_owned()).collect()
        };
        let mut answers = marked(";<=").into_iter();
        let result = run(&example, |waiting| {
            let call = &waiting[0];
            let answer = answers
                .next()
                .unwrap_or_else(|| panic!("{example}: {call:?}"));
            vec![(call.position.clone(), Ok(Value::read(&answer).unwrap()))]
        });
        match (marked(";=>").as_slice(), marked(";!!").as_slice(), result) {
            ([value], [], Ok(found)) => assert_eq!(&found.to_string(), value, "{example}"),
            ([], [kind], Err(Failure { kind: found, .. })) => {
                assert_eq!(found.as_str(), kind, "{example}");
            }
            (_, _, other) => panic!("{example} comes to {other:?}"),
        }
        assert_eq!(answers.next(), None, "{example}");
    }
}

/// CCOS-RTFS-1: the page names every function of the library, every form and every kind of failure.
#[test]
fn the_page_names_all_there_is() {
    let words: Vec<&str> = PAGE
        .split(|c: char| c.is_whitespace() || "`()[]".contains(c))
        .collect();
    let missing: Vec<String> = callosum_plan::Library::standard()
        .names()
        .map(ToString::to_string)
        .chain(
            callosum_plan::FailureKind::ALL
                .iter()
                .map(|kind| kind.as_str().to_owned()),
        )
        .filter(|name| !words.iter().any(|word| word.trim_end_matches(',') == name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
