//! Files as people, other programs and accidents leave them: nothing is lost, nothing crashes, and
//! what was not understood is named.

use std::os::unix::fs::symlink;

use callosum_session::{
    ClaimScope, Config, Enforcement, EvidenceKind, NewDecision,
    bead::{BeadId, BeadUpdate},
    checkpoint::Outcome,
    evidence::{Evidence, Relative, Tree},
    grounding::Tally,
    recovery::{Recollection, level_1},
};

use crate::place::{NOTHING, Place};

fn put(place: &Place, name: &str, bytes: &[u8]) {
    let path = place.zones.root.join(name);
    place.disk.create_dir_all(path.parent().unwrap()).unwrap();
    place.disk.replace(&path, bytes, 0o644).unwrap();
}

fn notes(place: &Place) -> Vec<u8> {
    place.disk.read(&place.zones.notes()).unwrap()
}

/// LOA-FMT-1: with any content of the notes, a decision is added, and every earlier line is still
/// there, in its order.
#[test]
fn notes_in_any_state_keep_every_line_and_take_a_decision() {
    let states: [&[u8]; 12] = [
        b"",
        b"\n\n",
        b"no heading at all",
        b"# T\r\n\r\n## Session Continuity\r\n\r\n### Decision Log\r\n#### 2026-01-01T00:00:00Z - A\r\n",
        b"### Decision Log\n#### 2026-01-01T00:00:00Z - A\n\n### Decision Log\n#### 2026-01-01T00:00:01Z - B\n",
        b"## Session Continuity\n<<<<<<< ours\n### Decision Log\n=======\n### Active Context\n>>>>>>> theirs\n",
        b"# T\n```\n### Decision Log\nnever ends\n",
        b"<!-- ### Decision Log\n never ends",
        b"\xef\xbb\xbf# T\n\n### Decision Log\n",
        b"# \xff\xfe not UTF-8\n### Decision Log\n\xc3\x28\n",
        b"# T\r### Decision Log\rold line ends\r",
        b"### Decision Log\n#### yesterday - no time\n**Decision**: x\n",
    ];
    for state in states {
        let place = Place::new();
        put(&place, "loa-grimoire/NOTES.md", state);
        place.decide("Use one pool", Some("a.rs:1"), EvidenceKind::Nothing);
        let now = notes(&place);
        let mut lines = now.split(|byte| *byte == b'\n');
        for line in state.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let is_there = lines.any(|now| now.strip_suffix(b"\r").unwrap_or(now) == line);
            assert!(
                is_there || line.is_empty(),
                "{} in {}",
                line.escape_ascii(),
                now.escape_ascii()
            );
        }
        let read = place.session().notes().unwrap().unwrap().decisions();
        assert!(
            read.iter().any(|made| made.decision == "Use one pool"),
            "{}",
            now.escape_ascii()
        );
    }
}

/// LOA-FMT-1: a bead that is no YAML as we understand it is named and never written.
#[test]
fn beads_that_cannot_be_read_are_named_and_stay() {
    let states: [(&str, &[u8]); 5] = [
        ("twice", b"id: bd-1\ntitle: a\ntitle: b\n"),
        ("tabs", b"id: bd-1\n\ttitle: a\n"),
        ("binary", b"\x00\x01\xff"),
        ("list", b"- a\n- b\n"),
        ("endless", b"a: &a [*a]\n"),
    ];
    for (what, state) in states {
        let place = Place::new();
        put(&place, ".beads/bd-1.yaml", state);
        let listing = place.session().beads().list(place.clock.now()).unwrap();
        assert_eq!(listing.unread.len(), 1, "{what}");
        let held = place.session().hold().unwrap();
        let id = BeadId::new("bd-1").unwrap();
        let update = BeadUpdate {
            status: Some("closed".to_owned()),
            ..BeadUpdate::default()
        };
        assert!(held.update_bead(&id, &update).is_err(), "{what}");
        let path = place.zones.beads().join("bd-1.yaml");
        assert_eq!(place.disk.read(&path).unwrap(), state, "{what}");
    }
    let place = Place::new();
    let anchored = b"# mine\nid: bd-1\ntitle: &t A thing\nalso: *t\nstatus: open\n";
    put(&place, ".beads/bd-1.yaml", anchored);
    let held = place.session().hold().unwrap();
    let update = BeadUpdate {
        status: Some("closed".to_owned()),
        ..BeadUpdate::default()
    };
    held.update_bead(&BeadId::new("bd-1").unwrap(), &update)
        .unwrap();
    let now = place
        .disk
        .read(&place.zones.beads().join("bd-1.yaml"))
        .unwrap();
    let now = String::from_utf8(now).unwrap();
    assert!(now.starts_with("# mine\nid: bd-1\ntitle: &t A thing\nalso: *t\nstatus: closed\n"));
}

/// LOA-SEC-1: paths with blanks and letters of any language are cited; none leaves the root.
#[test]
fn paths_of_any_letters_are_cited_and_none_leaves_the_root() {
    let place = Place::new();
    put(&place, "src/a b/Größe.rs", b"fn width() {}\n");
    let outside = place
        .zones
        .root
        .parent()
        .unwrap()
        .join("outside-of-the-project.rs");
    symlink("../../etc", place.zones.root.join("etc")).unwrap();
    symlink("src/a b", place.zones.root.join("inner")).unwrap();
    symlink("loop", place.zones.root.join("loop")).unwrap();
    let cite = |text: &str| {
        let place_of = Evidence::parse(text, Relative::Accepted)?;
        Tree::new(&place.disk, &place.zones.tree)
            .quote(&place_of)
            .ok()
    };
    for good in ["src/a b/Größe.rs:1", "inner/Größe.rs:1"] {
        assert!(cite(good).is_some(), "{good}");
    }
    for bad in [
        "../outside-of-the-project.rs:1",
        "src/../../etc/passwd:1",
        "etc/passwd:1",
        "/etc/passwd:1",
        "loop:1",
        "src:1",
        "a.rs:0",
        "a.rs:1-0",
        "a.rs:99999999999",
    ] {
        assert!(cite(bad).is_none(), "{bad}");
    }
    assert!(!place.disk.exists(&outside).unwrap());
}

/// LOA-GRD-1: backticks and tabs in a quote survive being written down and looked up.
#[test]
fn quotes_with_backticks_and_tabs_hold_after_they_were_written() {
    let place = Place::new();
    put(
        &place,
        "b.sh",
        b"echo `date`\n\tx=``\"$1\"``\n\t\tif\tthen\n",
    );
    for line in 1..=3 {
        place.decide(
            &format!("Line {line}"),
            Some(&format!("b.sh:{line}")),
            EvidenceKind::Nothing,
        );
    }
    let read = place.session().notes().unwrap().unwrap().decisions();
    let tree = Tree::new(&place.disk, &place.zones.tree);
    for made in read {
        assert_eq!((made.evidence.len(), made.unread), (1, 0), "{made:?}");
        assert!(tree.stand(&made.evidence[0]).holds(), "{made:?}");
    }
    let checked = place.check(&Config::default());
    assert_eq!(checked.steps[0].outcome, Outcome::Passed);
}

/// LOA-CHK-1: a file that changes after a check is seen by the next one, and by the hand-off.
#[test]
fn a_file_that_changed_between_check_and_clear_is_seen() {
    let place = Place::new();
    place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    assert!(place.check(&Config::default()).permits());
    put(&place, "a.rs", b"fn eins() {}\nfn two() {}\n");
    assert!(!place.check(&Config::default()).permits());
    let held = place.session().hold().unwrap();
    let forced = callosum_session::NewHandoff {
        is_forced: true,
        ..callosum_session::NewHandoff::default()
    };
    let handed = held.hand_off(&forced, &Config::default()).unwrap();
    assert_eq!(handed.ratio, "0.00");
}

/// LOA-SEC-1: words of others are one line of one record, with any characters.
#[test]
fn words_that_look_like_records_stay_words() {
    let place = Place::new();
    let words = "x\n## Session Continuity\n### Active Context\n- **Current Bead**: bd-9\n{\"phase\":\"session_handoff\"}\n\u{1b}[2J";
    let held = place.session().hold().unwrap();
    let new = NewDecision {
        decision: words.to_owned(),
        rationale: Some(words.to_owned()),
        scenarios: vec![words.to_owned()],
        title: Some("T".to_owned()),
        ..NewDecision::default()
    };
    held.decide(&new).unwrap();
    drop(held);
    let read = place.session().notes().unwrap().unwrap();
    assert_eq!(read.active().bead, None);
    assert_eq!(read.decisions().len(), 1);
    let read = place.session().trajectory().since_handoff().unwrap();
    assert_eq!((read.records.len(), read.bad_lines()), (1, 0));
    assert!(read.handoff.is_none());
}

/// LOA-GRD-1: notes that are lost take no claim with them: a decision that is made after has a time of
/// its own, and what had no evidence goes on counting.
#[test]
fn a_decision_after_lost_notes_hides_no_claim() {
    let mut place = Place::new();
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    place.clock = callosum_host::Clock::fixed(now, std::time::Duration::ZERO);
    place.decide("unsupported", None, EvidenceKind::Nothing);
    place.disk.remove_file(&place.zones.notes()).unwrap();
    place.decide("supported", Some("a.rs:1"), EvidenceKind::Nothing);
    assert!(!place.check(&Config::default()).permits());
    let notes = String::from_utf8(notes(&place)).unwrap();
    let read = place.session().trajectory().since_handoff().unwrap();
    let times: std::collections::BTreeSet<&str> = read
        .records
        .iter()
        .map(|(_, record)| record.text("decision"))
        .filter(|time| !time.is_empty())
        .collect();
    assert_eq!(times.len(), 2, "{times:?}\n{notes}");
}

/// LOA-GRD-1: evidence that a person writes down and that is of records is none, for the gate, the count and who
/// recovers.
#[test]
fn evidence_by_hand_that_is_of_records_is_none() {
    let place = Place::new();
    let id = place.with_current_bead(&["go on"]);
    place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    let root = &place.zones.tree;
    place.disk.create_dir_all(&root.join(".git")).unwrap();
    place
        .disk
        .replace(&root.join(".git/HEAD"), b"ref: refs/heads/main\n", 0o644)
        .unwrap();
    let settings = b"grounding_enforcement: strict\n";
    place
        .disk
        .replace(&place.zones.config(), settings, 0o644)
        .unwrap();
    let bead = String::from_utf8(
        place
            .disk
            .read(&place.session().beads().path(&id).unwrap())
            .unwrap(),
    )
    .unwrap();
    let (line, title) = bead
        .lines()
        .zip(1..)
        .find_map(|(line, n)| line.starts_with("title:").then_some((n, line)))
        .unwrap();
    let entries = [
        (title.to_owned(), format!(".beads/bd-1.yaml:{line}")),
        ("ref: refs/heads/main".to_owned(), ".git/HEAD:1".to_owned()),
        (
            "grounding_enforcement: strict".to_owned(),
            ".loa.config.yaml:1".to_owned(),
        ),
    ]
    .iter()
    .zip(1..)
    .map(|((quote, at), n)| {
        format!(
            "#### 2026-01-02T05:00:0{n}Z - By hand {n}\n**Decision**: By hand {n}\n**Evidence**:\n\
             - `{quote}` [${{PROJECT_ROOT}}/{at}]\n\n"
        )
    })
    .collect::<Vec<String>>()
    .concat();
    let notes = String::from_utf8(place.disk.read(&place.zones.notes()).unwrap()).unwrap();
    let notes = notes.replacen("### Pending", &format!("{entries}### Pending"), 1);
    place
        .disk
        .replace(&place.zones.notes(), notes.as_bytes(), 0o644)
        .unwrap();
    let checked = place.check(&Config::default());
    assert_eq!(
        (checked.grounding.grounded(), checked.grounding.total()),
        (1, 4)
    );
    let message = checked.steps[0].said.join("\n");
    assert_eq!(
        message
            .matches("RECORD: files written by sessions or git are not evidence")
            .count(),
        3,
        "{message}"
    );
    let tally = Tally::since_handoff(
        &place.session(),
        ClaimScope::Everyone,
        9,
        Enforcement::Standard,
    )
    .unwrap();
    assert_eq!((tally.total, tally.lacking), (4, 3));
    let text = level_1(&Recollection::gather(&place.session(), 3).unwrap(), 200);
    assert_eq!(
        text.matches("By hand").count(),
        text.matches("[stale]").count(),
        "{text}"
    );
}

/// LOA-CHK-1, LOA-FMT-1: notes that cannot be read as intended shut the gate, by line: another
/// encoding, another line end, an unfinished merge. No word of them is taken for a decision.
#[test]
fn notes_that_cannot_be_read_shut_the_gate() {
    let entry = "#### 2026-01-02T05:00:00Z - By hand\n**Decision**: By hand\n";
    let torn = format!(
        "<<<<<<< HEAD\n{entry}=======\n{}>>>>>>> other\n",
        entry.replace("hand", "mouse")
    );
    let wide = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xff\xfe"
            .iter()
            .copied()
            .chain(units)
            .collect::<Vec<u8>>()
    };
    let said_of_wide = "NOTES.md:1: UTF-16 text is not read: save it as UTF-8";
    for (kind, problem) in [
        ("wide", said_of_wide),
        ("wide without a mark", said_of_wide),
        (
            "cr",
            "NOTES.md:1: lines that end with CR alone are not read: end them with LF",
        ),
        ("torn", ": an unfinished merge"),
    ] {
        let place = Place::new();
        place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
        let text = String::from_utf8(notes(&place)).unwrap();
        let bytes = match kind {
            "wide" => wide(&text),
            "wide without a mark" => wide(&text).split_off(2),
            "cr" => text.replace('\n', "\r").into_bytes(),
            _ => text
                .replace("### Pending", &format!("{torn}\n### Pending"))
                .into_bytes(),
        };
        put(&place, "loa-grimoire/NOTES.md", &bytes);
        let checked = place.check(&Config::default());
        let first = &checked.steps[0];
        assert_eq!(first.outcome, Outcome::Blocked, "{kind}");
        assert!(
            first.said[0].starts_with("Cannot clear: ") && first.said[0].ends_with(problem),
            "{first:?}"
        );
        assert!(!first.said.join("\n").contains("======="), "{first:?}");
        assert_eq!(
            first
                .said
                .iter()
                .any(|line| line.contains("callosum session heal")),
            kind == "torn"
        );
        if kind == "wide" {
            let held = place.session().hold().unwrap();
            let refused = held.decide(&NewDecision {
                decision: "Use two".to_owned(),
                ..NewDecision::default()
            });
            assert!(refused.is_err());
            let healed = held.heal(&NOTHING).unwrap();
            assert!(
                healed.iter().any(|one| one.was.contains("not read")),
                "{healed:?}"
            );
        }
        assert!(
            notes(&place) == bytes,
            "what cannot be read is left as it is"
        );
    }
}

/// LOA-FMT-1, LOA-HEAL-1: an unfinished merge is finished with the entries and records of both, and what git left is set
/// aside.
#[test]
fn an_unfinished_merge_is_healed_with_both_sides() {
    let place = Place::new();
    let id = place.with_current_bead(&["go on"]);
    place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    let text = String::from_utf8(notes(&place)).unwrap();
    let start = text.find("#### ").unwrap();
    let end = text.find("### Pending").unwrap();
    let ours = text[start..end].trim_end();
    let theirs = "#### 2026-01-01T05:00:00Z - By hand\n**Decision**: By hand";
    let torn = format!(
        "{}<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other\n\n{}",
        &text[..start],
        &text[end..]
    );
    put(&place, "loa-grimoire/NOTES.md", torn.as_bytes());
    let file = place.session().trajectory().file_of("2026-01-02").unwrap();
    let records = place.disk.read(&file).unwrap();
    let theirs = "{\"phase\":\"cite\",\"ts\":\"2026-01-02T05:00:00Z\",\"claim\":\"theirs\"}\n";
    let torn = [
        b"<<<<<<< HEAD\n",
        &*records,
        b"=======\n",
        theirs.as_bytes(),
        b">>>>>>> other\n",
    ]
    .concat();
    place.disk.replace(&file, &torn, 0o644).unwrap();
    let bead = place.session().beads().path(&id).unwrap();
    let text = String::from_utf8(place.disk.read(&bead).unwrap()).unwrap();
    let torn = format!(
        "{text}<<<<<<< HEAD\nnext_steps_of: us\n=======\nnext_steps_of: them\n>>>>>>> other\n"
    );
    place.disk.replace(&bead, torn.as_bytes(), 0o644).unwrap();

    let healed = place
        .session()
        .hold()
        .unwrap()
        .finish_merges(&NOTHING)
        .unwrap();
    let from: Vec<String> = healed.iter().map(|one| one.from.to_string()).collect();
    assert_eq!(
        from,
        ["both sides", "not healed", "both sides"],
        "{healed:?}"
    );
    assert!(
        healed[1]
            .was
            .ends_with("(both sides changed `next_steps_of`)"),
        "{healed:?}"
    );
    assert_eq!(place.disk.read(&bead).unwrap(), torn.as_bytes());
    let text = String::from_utf8(notes(&place)).unwrap();
    let places = ["- By hand\n", "- Use one\n", "### Pending"].map(|line| text.find(line).unwrap());
    assert!(places.is_sorted() && !text.contains("======="), "{text}");
    let made = String::from_utf8(place.disk.read(&file).unwrap()).unwrap();
    assert_eq!(
        made,
        format!("{}{theirs}", String::from_utf8(records).unwrap())
    );
    assert!(
        healed[0]
            .aside
            .as_ref()
            .is_some_and(|aside| place.zones.root.join(aside).exists())
    );
    assert_eq!(
        place
            .session()
            .hold()
            .unwrap()
            .finish_merges(&NOTHING)
            .unwrap()
            .len(),
        1
    );
}
