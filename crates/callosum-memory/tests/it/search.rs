//! Searches: methods, limits, and what is shown of a hit.

use callosum_memory::{Client, RankBy};

use crate::machine::{Machine, claude, search};

fn machine() -> Machine {
    let mut machine = Machine::new();
    for (session, texts) in [
        (
            "aaa",
            [
                "The retry of the importer",
                "parseHTTPHeader drops the last field",
            ],
        ),
        (
            "bbb",
            [
                "Rename the table",
                "ERR_CONN_4711 comes from the proxy at 10.0.0.7",
            ],
        ),
        (
            "ccc",
            [
                "Retry with a backoff, said \"exactly three times\"",
                "no more",
            ],
        ),
    ] {
        let lines = texts.iter().enumerate();
        let lines: String = lines
            .map(|(at, text)| claude(&format!("{session}{at}"), session, text))
            .collect();
        machine.write(
            &format!(".claude/projects/-src-shop/{session}.jsonl"),
            &lines,
        );
    }
    machine.update();
    machine
}

/// CALC-L5-1: words, names in any case style, parts of words, and quoted texts find a session.
#[test]
fn words_names_and_parts_find_a_session() {
    let machine = machine();
    for (question, session) in [
        ("retried importers", "aaa"),
        ("http header", "aaa"),
        ("parse_http_header", "aaa"),
        ("N_471", "bbb"),
        ("10.0.0.7", "bbb"),
        ("\"exactly three times\"", "ccc"),
    ] {
        assert_eq!(
            machine.found(question).first().map(String::as_str),
            Some(session),
            "{question}"
        );
    }
    assert_eq!(machine.found("\"exactly four times\""), [""; 0]);
    assert_eq!(machine.found("kubernetes"), [""; 0]);
}

/// CALC-L5-2: a hit says who, when and in which folder, and its turns are the ones that match.
#[test]
fn a_hit_has_its_origin() {
    let machine = machine();
    let hits = machine.search("proxy");
    let [hit] = &hits[..] else {
        panic!("{hits:?}");
    };
    assert_eq!(hit.origin, Client::ClaudeCode.into());
    assert_eq!(hit.folder.as_deref(), Some("/src/shop"));
    assert_eq!(hit.last.unwrap().to_string(), "2026-03-01T10:00:00Z");
    assert!(hit.score > 0.0 && hit.score <= 1.0);
    assert!(hit.turns[0].text.contains("4711"));
    assert_eq!(
        hit.origin.command(&hit.session),
        ["claude", "--resume", "bbb"]
    );
}

#[test]
fn a_search_is_limited_to_folders_clients_and_times() {
    let machine = machine();
    let found = |change: &dyn Fn(&mut callosum_memory::SessionSearch)| {
        let mut search = search("retry");
        change(&mut search);
        machine.memory.search(&search).unwrap().len()
    };
    assert_eq!(found(&|_| {}), 2);
    assert_eq!(found(&|search| search.limit = 1), 1);
    assert_eq!(
        found(&|search| search.origin = Some(Client::Codex.into())),
        0
    );
    assert_eq!(
        found(&|search| search.folders = Some(vec!["/src".into()])),
        2
    );
    assert_eq!(
        found(&|search| search.folders = Some(vec!["/src/sho".into()])),
        0
    );
    assert_eq!(
        found(&|search| search.since = Some("2026-03-02T00:00:00Z".parse().unwrap())),
        0
    );
    assert_eq!(found(&|search| search.by = RankBy::Meaning), 0);
}
