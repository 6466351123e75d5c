//! The seven steps before a context is cleared, the hand-off after, and what is recovered then.

use callosum_citation::tokens::estimate;
use callosum_session::{
    ClaimScope, Config, Enforcement, EvidenceKind, HandoffError, NewDecision, NewHandoff,
    bead::Bead,
    checkpoint::{Checked, Outcome},
    evidence::{Evidence, Relative},
    grounding::Threshold,
    recovery::{Recollection, level_1},
    trajectory::Agent,
};

use crate::place::{NOTHING, Place};

fn outcomes(checked: &Checked) -> Vec<Outcome> {
    checked.steps.iter().map(|step| step.outcome).collect()
}

/// LOA-CHK-1, LOA-EDD-1: all seven steps. Grounding blocks until there is evidence; the hand-off is
/// in bead, trajectory and notes, and later claims count from zero.
#[test]
fn a_checkpoint_blocks_until_decisions_have_evidence_and_is_handed_off() {
    let ground = Place::new();
    let id = ground.with_current_bead(&["go on"]);
    ground.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    ground.decide("Use two", None, EvidenceKind::Nothing);
    let config = Config::default();
    let blocked = ground.check(&config);
    use Outcome::{Blocked, Done, Passed, Warned};
    assert_eq!(
        outcomes(&blocked),
        [Blocked, Passed, Passed, Passed, Passed, Done, Warned]
    );
    assert!(!blocked.permits());
    assert_eq!(
        blocked.steps[0].said[0],
        "Cannot clear: 1 decision lacks evidence"
    );
    let warn = Config {
        enforcement: Enforcement::Warn,
        ..Config::default()
    };
    let warned = ground.check(&warn);
    assert!(warned.permits());
    assert_eq!(warned.steps[0].said[0], "1 decision lacks evidence");
    let forces = |line: &String| line.contains("--force");
    assert!(blocked.steps[0].said.iter().any(forces) && !warned.steps[0].said.iter().any(forces));

    let notes = ground.session().notes().unwrap().unwrap();
    assert_eq!(notes.identifiers()[0].place, "${PROJECT_ROOT}/a.rs:1");
    let ts = notes.decisions()[1].ts.clone();
    let place = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    ground
        .session()
        .hold()
        .unwrap()
        .cite(&ts, &[place])
        .unwrap();
    ground.decide("Use three", Some("a.rs:2"), EvidenceKind::Nothing);
    let permitted = ground.check(&config);
    assert_eq!(
        outcomes(&permitted),
        [Passed, Passed, Passed, Passed, Passed, Done, Passed]
    );
    let new = NewHandoff {
        to: Some(Agent::new("reviewing-code").unwrap()),
        ..NewHandoff::default()
    };
    let held = ground.session().hold().unwrap();
    let handed = held.hand_off(&new, &config).unwrap();
    drop(held);
    assert_eq!(
        (handed.session_id.as_str(), handed.ratio.as_str()),
        ("sess-001", "1.00")
    );
    assert_eq!(handed.notes_refs.len(), 3);
    let bead = Bead::of(ground.session().bead(&id).unwrap().members());
    assert_eq!(bead.handoffs, [handed.ts.as_str()]);
    let read = ground.session().trajectory().since_handoff().unwrap();
    assert!(read.records.is_empty());
    let record = read.handoff.unwrap().1;
    assert_eq!(
        (record.text("to"), record.members["edd_verified"].clone()),
        ("reviewing-code", true.into())
    );

    let session = ground.session();
    let text = level_1(&Recollection::gather(&session, 3).unwrap(), 100);
    assert!(
        text.starts_with("Bead: bd-1 Work (open)\nCheckpoint: 2026-01-02T"),
        "{text}"
    );
    assert!(
        text.contains("Next: go on\nDecided: Use three [quote found]\n"),
        "{text}"
    );
    assert!(estimate(&text) <= 100);
    ground
        .disk
        .replace(&ground.zones.tree.join("a.rs"), b"fn one() {}\n", 0o644)
        .unwrap();
    let text = level_1(&Recollection::gather(&session, 3).unwrap(), 100);
    assert!(text.contains("Decided: Use three [stale]\n"), "{text}");
}

/// LOA-EDD-1: too few test scenarios are reported, and block no one unless the settings say so;
/// then a forced hand-off does not call the next session ready.
#[test]
fn test_scenarios_block_where_the_settings_ask_for_it() {
    let place = Place::new();
    place.with_current_bead(&["go on"]);
    place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    let outcome = |edd: Enforcement| {
        let checked = place.check(&Config {
            edd,
            ..Config::default()
        });
        let last = checked.steps.last().unwrap();
        (last.outcome, last.said.first().cloned(), checked.permits())
    };
    let message = Some("1 of 3 test scenarios".to_owned());
    let warned = (Outcome::Warned, message.clone(), true);
    assert_eq!(outcome(Config::default().edd), warned);
    assert_eq!(
        outcome(Enforcement::Strict),
        (Outcome::Blocked, message, false)
    );
    assert_eq!(
        outcome(Enforcement::Disabled),
        (Outcome::Skipped, None, true)
    );
    let strict = Config::read("edd:\n  enforcement: strict\n");
    let session = place.session();
    let held = session.hold().unwrap();
    let refused = held.hand_off(&NewHandoff::default(), &strict);
    let Err(error @ HandoffError::Blocked(_)) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().ends_with("1 of 3 test scenarios"));
    let forced = NewHandoff {
        is_forced: true,
        ..NewHandoff::default()
    };
    let handed = held.hand_off(&forced, &strict).unwrap();
    assert!(!handed.checked.is_in_order());
}

/// LOA-GRD-3, LOA-MARK-1: a feature that is documented as missing needs two different queries, and
/// a control.
#[test]
fn a_ghost_blocks_until_two_queries_that_differ_found_nothing() {
    let ghost = |queries: &str, control: u8| {
        let ground = Place::new();
        ground.trajectory(&format!(
            "{{\"phase\":\"ghost\",\"feature\":\"SSO\",\"queries\":[{queries}],\"control\":{{\"query\":\"one\",\"results\":{control}}}}}"
        ));
        let step = ground.check(&Config::default()).steps.remove(1);
        (step.outcome, step.said.concat())
    };
    let query = |text: &str, results: u8| format!("{{\"query\":\"{text}\",\"results\":{results}}}");
    let two = [
        query("single sign on", 0),
        query("saml identity provider", 0),
    ]
    .join(",");
    assert_eq!(ghost(&two, 3).0, Outcome::Passed);
    let (outcome, message) = ghost(&two, 0);
    assert_eq!(outcome, Outcome::Blocked);
    assert!(message.starts_with("[UNVERIFIED GHOST] SSO: "), "{message}");
    assert_eq!(ghost(&query("sso", 0), 3).0, Outcome::Blocked);
    let same = [query("single sign on", 0), query("sign on single", 0)].join(",");
    assert_eq!(ghost(&same, 3).0, Outcome::Blocked);
    let found = [query("single sign on", 0), query("saml", 1)].join(",");
    assert_eq!(ghost(&found, 3).0, Outcome::Blocked);
}

/// LOA-CHK-1: a checkpoint looks at the claims of every agent of the session, for any caller; the
/// session's own hand-off ends them all, another agent's only its own.
#[test]
fn every_agent_of_the_session_is_checked() {
    let place = Place::new();
    let config = Config::default();
    let other = place.session_of(Agent::new("documenting").unwrap());
    place.decide("Use one", Some("a.rs:1"), EvidenceKind::Nothing);
    let new = NewDecision {
        decision: "Nothing shows this".to_owned(),
        ..NewDecision::default()
    };
    let made = other.hold().unwrap().decide(&new).unwrap();
    let blocked = place.check(&config);
    assert_eq!((blocked.grounding.total(), blocked.permits()), (2, false));
    let held = place.session().hold().unwrap();
    let alone = held.check(&config, &Threshold::default(), ClaimScope::Own);
    assert!(alone.unwrap().permits());
    // The session's own agent adds the evidence: the claim is the same one.
    let evidence = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    held.cite(&made.decision.ts, std::slice::from_ref(&evidence))
        .unwrap();
    drop(held);
    let permitted = place.check(&config);
    assert_eq!(
        (permitted.grounding.total(), permitted.permits()),
        (2, true)
    );
    let held = place.session().hold().unwrap();
    held.hand_off(&NewHandoff::default(), &config).unwrap();
    drop(held);
    assert_eq!(place.check(&config).grounding.total(), 0);
    other.hold().unwrap().decide(&new).unwrap();
    assert!(!place.check(&config).permits());
}

/// LOA-CHK-1: a hand-off is made only where the checkpoint permits it, or where it is forced, and it
/// says what was found.
#[test]
fn a_hand_off_does_not_open_the_gate() {
    let place = Place::new();
    let config = Config::default();
    place.decide("Retry for ever", None, EvidenceKind::Nothing);
    let held = place.session().hold().unwrap();
    let refused = held.hand_off(&NewHandoff::default(), &config);
    assert!(
        matches!(refused, Err(HandoffError::Blocked(_))),
        "{refused:?}"
    );
    drop(held);
    assert!(!place.check(&config).permits());
    let forced = NewHandoff {
        is_forced: true,
        ..NewHandoff::default()
    };
    let held = place.session().hold().unwrap();
    held.hand_off(&forced, &config).unwrap();
    drop(held);
    let read = place.session().trajectory().since_handoff().unwrap();
    let record = read.handoff.unwrap().1.members;
    assert_eq!(record["forced"], true);
    assert_eq!(record["next_session_ready"], false);
    assert_eq!(record["edd_verified"], false);
    assert_eq!(record["steps"]["grounding"], "block");
    assert!(place.check(&config).permits());
}

/// LOA-BEAD-1: a current bead that is missing or broken prevents no decision; a bead that was named
/// does.
#[test]
fn a_broken_bead_keeps_no_decision_away() {
    let place = Place::new();
    let id = place.with_current_bead(&[]);
    let held = place.session().hold().unwrap();
    let path = place.zones.beads().join("bd-1.yaml");
    for text in [Some(&b"a: 1\na: 2\n"[..]), Some(b"\0\xff"), None] {
        match text {
            Some(text) => place.disk.replace(&path, text, 0o644).unwrap(),
            None => assert!(place.disk.remove_file(&path).unwrap()),
        }
        let new = NewDecision {
            decision: "Use one".to_owned(),
            ..NewDecision::default()
        };
        let made = held.decide(&new).unwrap();
        assert_eq!(made.bead, None);
        assert_eq!(made.passed_over.unwrap().0, "bd-1");
        let named = NewDecision {
            bead: Some(id.clone()),
            ..new
        };
        assert!(held.decide(&named).is_err());
    }
    let notes = place.session().notes().unwrap().unwrap();
    assert_eq!(notes.decisions().len(), 3);
}

/// LOA-REC-1: the user's word is shown as what it is, and evidence that was added since as evidence.
#[test]
fn a_decision_is_shown_with_what_it_leans_on() {
    let place = Place::new();
    place.decide("The user wants it", None, EvidenceKind::UserInput);
    place.decide("It may be so", None, EvidenceKind::Assumption);
    let recovered = || {
        let session = place.session();
        level_1(&Recollection::gather(&session, 3).unwrap(), 100)
    };
    assert!(recovered().contains("Decided: The user wants it [the user's word]\n"));
    assert!(recovered().contains("Decided: It may be so [assumption]\n"));
    let notes = place.session().notes().unwrap().unwrap();
    let ts = notes.decisions()[1].ts.clone();
    let evidence = Evidence::parse("a.rs:2", Relative::Accepted).unwrap();
    let held = place.session().hold().unwrap();
    held.cite(&ts, std::slice::from_ref(&evidence)).unwrap();
    assert!(recovered().contains("Decided: It may be so [quote found]\n"));
}

/// LOA-GRD-1, LOA-CHK-1: a new citation replaces one that drifted, in all three files, no matter
/// who cites it and what other evidence the decision has; the records keep what was.
#[test]
fn a_drifted_citation_is_made_good_by_a_new_one() {
    let ground = Place::new();
    let id = ground.with_current_bead(&["go on"]);
    let write = |name: &str, text: &str| {
        let path = ground.zones.tree.join(name);
        ground.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    };
    write("b.rs", "fn gone() {}\n");
    let place = |text: &str| Evidence::parse(text, Relative::Accepted).unwrap();
    let made = ground.session().hold().unwrap().decide(&NewDecision {
        decision: "Use one".to_owned(),
        places: ["a.rs:1", "a.rs:2", "b.rs:1"].map(place).to_vec(),
        ..NewDecision::default()
    });
    let ts = made.unwrap().decision.ts;
    write("a.rs", "fn other(of: u8) {}\nfn two() {}\n");
    ground
        .disk
        .remove_file(&ground.zones.tree.join("b.rs"))
        .unwrap();
    let config = Config::default();
    let blocked = ground.check(&config);
    assert!(!blocked.permits());
    let hint = format!("callosum session cite {ts} --source assumption");
    let lines = &blocked.steps[0].said;
    assert!(lines.iter().any(|lines| lines.contains(&hint)), "{lines:?}");

    // Another agent than the one that decided it, so the order of the two files is unknown.
    for agent in ["an-earlier-one", "zz-a-later-one"] {
        let session = ground.session_of(Agent::new(agent).unwrap());
        let cited = session
            .hold()
            .unwrap()
            .cite(&ts, &[place("a.rs:1")])
            .unwrap();
        let identifiers: Vec<String> = cited
            .replaced
            .iter()
            .map(|(gone, _)| gone.identifier())
            .collect();
        if agent == "an-earlier-one" {
            let gone = ["${PROJECT_ROOT}/a.rs:1", "${PROJECT_ROOT}/b.rs:1"];
            assert_eq!(identifiers, gone);
        } else {
            assert_eq!(identifiers, [""; 0]);
        }
        let check = ground.check(&config);
        assert!(check.permits(), "{:?}", check.steps[0].said);
        assert_eq!(check.steps[4].outcome, Outcome::Passed);
    }
    let notes = ground.session().notes().unwrap().unwrap();
    let places = |evidence: &[Evidence]| {
        evidence
            .iter()
            .map(Evidence::identifier)
            .collect::<Vec<_>>()
    };
    let now = ["${PROJECT_ROOT}/a.rs:2", "${PROJECT_ROOT}/a.rs:1"];
    assert_eq!(places(&notes.decisions()[0].evidence), now);
    let sheet = ground.session().bead(&id).unwrap();
    let in_bead = Bead::of(sheet.members()).decisions;
    let held: Vec<String> = in_bead
        .iter()
        .flat_map(|made| places(&made.evidence))
        .collect();
    assert_eq!(held, now);
    assert!(sheet.text().contains("fn gone() {}"), "what was is kept");

    // A lost decision comes back in its last wording.
    let path = ground.zones.notes();
    ground
        .disk
        .replace(&path, callosum_session::notes::TEMPLATE.as_bytes(), 0o644)
        .unwrap();
    ground.session().hold().unwrap().heal(&NOTHING).unwrap();
    let notes = ground.session().notes().unwrap().unwrap();
    assert_eq!(places(&notes.decisions()[0].evidence), now);

    write("a.rs", "");
    assert!(!ground.check(&config).permits());
    ground.session().hold().unwrap().assume(&ts).unwrap();
    let assumed = ground.check(&config);
    assert!(assumed.permits());
    let strict = Config {
        enforcement: Enforcement::Strict,
        ..Config::default()
    };
    assert!(!ground.check(&strict).permits());
    use callosum_session::grounding::ClaimKind;
    assert_eq!(assumed.grounding.of_kind(ClaimKind::Assumption), 1);
    let notes = ground.session().notes().unwrap().unwrap();
    assert!(notes.decisions()[0].is_assumption);
    write("a.rs", "fn three() {}\n");
    let session = ground.session();
    session
        .hold()
        .unwrap()
        .cite(&ts, &[place("a.rs:1")])
        .unwrap();
    assert!(ground.check(&config).permits());
    let notes = ground.session().notes().unwrap().unwrap();
    assert!(!notes.decisions()[0].is_assumption);
}

/// LOA-GRD-1: a decision that was commented out is claimed until it is handed off, and what a check says to be rid of that is taken; the
/// notes stay as they are.
#[test]
fn a_decision_that_was_commented_out_is_made_good_by_its_name() {
    let place = Place::new();
    place.decide("Use one", None, EvidenceKind::Nothing);
    let notes = place.session().notes().unwrap().unwrap();
    let ts = notes.decisions()[0].ts.clone();
    let text = String::from_utf8(notes.bytes().to_vec()).unwrap();
    let text = text.replacen("#### ", "<!--\n#### ", 1);
    let text = text.replacen("### Pending", "-->\n\n### Pending", 1);
    place
        .disk
        .replace(&place.zones.notes(), text.as_bytes(), 0o644)
        .unwrap();
    assert!(!place.check(&Config::default()).permits());
    let cited = Evidence::parse("a.rs:1", Relative::Accepted).unwrap();
    let held = place.session().hold().unwrap();
    assert!(held.assume(&ts).is_ok());
    held.cite(&ts, &[cited]).unwrap();
    drop(held);
    assert_eq!(
        place.disk.read(&place.zones.notes()).unwrap(),
        text.as_bytes()
    );
    let checked = place.check(&Config::default());
    assert_eq!(
        (checked.grounding.grounded(), checked.grounding.total()),
        (1, 1)
    );
}

/// LOA-GRD-1: a ghost mark in the notes blocks until someone has searched for that feature.
#[test]
fn what_is_marked_as_a_ghost_blocks_until_it_was_looked_for() {
    let place = Place::new();
    let text = "### Decision Log\n#### 2026-01-02T00:00:00Z - SSO is missing [UNVERIFIED GHOST]\n\
                **Decision**: SSO is missing [UNVERIFIED GHOST]\n**Evidence**:\n- `fn one() {}` [${PROJECT_ROOT}/a.rs:1]\n\n\
                ### Pending Questions\n<!-- [UNVERIFIED GHOST] is the mark -->\n";
    let notes = place.zones.notes();
    place.disk.create_dir_all(notes.parent().unwrap()).unwrap();
    place.disk.replace(&notes, text.as_bytes(), 0o644).unwrap();
    let ghosts = || place.check(&Config::default()).steps[1].clone();
    let blocked = ghosts();
    assert_eq!(blocked.said.len(), 1, "{blocked:?}");
    assert!(
        blocked.said[0].starts_with("[UNVERIFIED GHOST] SSO is missing (loa-grimoire/NOTES.md:2)"),
        "{blocked:?}"
    );
    let search = "callosum session ghost 'SSO is missing' --query";
    assert!(blocked.said[0].contains(search), "{blocked:?}");
    let asked = |query: &str, results| callosum_session::ghost::GhostQuery {
        query: query.to_owned(),
        results,
    };
    let search = callosum_session::ghost::GhostSearch {
        feature: "sso".to_owned(),
        queries: vec![asked("single sign on", 0), asked("saml login", 0)],
        control: asked("fn one", 1),
    };
    place.session().hold().unwrap().ghost(&search).unwrap();
    assert_eq!(ghosts().said, [""; 0]);
}
