//! The golden cases of the seed's script, against files that are really opened.

use callosum_host::Disk;
use proptest::prelude::*;

use super::*;
use crate::{
    trajectory::{Agent, Trajectory},
    zones::Zones,
};

/// Returns a project with a file of distinct lines, and this trajectory.
fn grounding(lines: &[String]) -> Grounding {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let root = disk.canonicalize(folder.path()).unwrap();
    let zones = Zones {
        tree: root.clone(),
        root: root.clone(),
    };
    let code: Vec<String> = (1..=1000)
        .map(|n| format!("let line_{n} = {n};\n"))
        .collect();
    disk.replace(&root.join("a.rs"), code.concat().as_bytes(), 0o644)
        .unwrap();
    let trajectory = Trajectory {
        disk: &disk,
        zones: &zones,
        agent: Agent::default(),
    };
    let file = trajectory.file_of("2026-01-02").unwrap();
    disk.create_dir_all(file.parent().unwrap()).unwrap();
    disk.replace(&file, lines.join("\n").as_bytes(), 0o644)
        .unwrap();
    Grounding::of(
        &trajectory.since_handoff().unwrap().into(),
        &Tree::new(&disk, &zones.tree),
    )
}

fn true_claim(n: usize) -> String {
    format!(
        r#"{{"phase":"cite","claim":"c{n}","grounding":"citation","evidence":[{{"path":"${{PROJECT_ROOT}}/a.rs","line":{n},"quote":"let line_{n} = {n};"}}]}}"#
    )
}

fn false_claim(n: usize) -> String {
    format!(
        r#"{{"phase":"cite","claim":"c{n}","grounding":"citation","evidence":[{{"path":"${{PROJECT_ROOT}}/a.rs","line":{n},"quote":"let invented_{n} = {n};"}}]}}"#
    )
}

#[track_caller]
fn check(lines: &[String], expected: &str) {
    assert_eq!(grounding(lines).lines(&Threshold::default()), expected);
}

fn some(grounded: usize, total: usize) -> Vec<String> {
    let all = (1..=total).map(|n| {
        if n <= grounded {
            true_claim(n)
        } else {
            false_claim(n)
        }
    });
    all.collect()
}

/// LOA-GRD-1: the lines of the seed, for the shares at which a script may slip.
#[test]
fn the_golden_shares_print_the_lines_of_the_seed() {
    check(&[], "grounding_ratio=1.00\nstatus=pass\n");
    check(
        &some(3, 3),
        "total_claims=3\ngrounded_claims=3\nassumptions=0\ngrounding_ratio=1.00\nstatus=pass\n",
    );
    check(
        &some(19, 20),
        "total_claims=20\ngrounded_claims=19\nassumptions=0\ngrounding_ratio=0.95\nstatus=pass\n",
    );
    check(
        &some(18, 20),
        "total_claims=20\ngrounded_claims=18\nassumptions=0\ngrounding_ratio=0.90\nstatus=fail\n\
         message=Grounding ratio 0.90 below threshold 0.95\n",
    );
    check(
        &some(948, 1000),
        "total_claims=1000\ngrounded_claims=948\nassumptions=0\ngrounding_ratio=0.94\nstatus=fail\n\
         message=Grounding ratio 0.94 below threshold 0.95\n",
    );
    check(
        &some(0, 1),
        "total_claims=1\ngrounded_claims=0\nassumptions=0\ngrounding_ratio=0.00\nstatus=fail\n\
         message=Grounding ratio 0.00 below threshold 0.95\n",
    );
}

/// LOA-GRD-1: a claim is counted by the content of its record, and a marker elsewhere is not a
/// claim.
#[test]
fn bad_lines_blanks_and_markers_elsewhere_are_distinguished() {
    let lines = [
        true_claim(1).replace("\":", "\" : ").replace(',', " , "),
        "{\"phase\":\"cite\",\"grounding\":\"citation\"".to_owned(),
        r#"{"phase":"think","note":"\"phase\":\"cite\" \"grounding\":\"citation\"","grounding":"citation"}"#.to_owned(),
        r#"{"phase":"cite","grounding":"assumption","claim":"x"}"#.to_owned(),
        r#"{"phase":"cite","grounding":"user_input","claim":"y"}"#.to_owned(),
        r#"{"phase":"cite","grounding":"citation","claim":"a marker alone"}"#.to_owned(),
        "not json".to_owned(),
    ];
    check(
        &lines,
        "total_claims=4\ngrounded_claims=1\nassumptions=1\nuser_input=1\nbad_lines=2\n\
         grounding_ratio=0.25\nstatus=fail\nmessage=Grounding ratio 0.25 below threshold 0.95\n",
    );
}

/// LOA-GRD-1: a record of another writer, and a claim that was grounded later.
#[test]
fn other_forms_of_evidence_are_read_and_the_last_word_on_a_decision_counts() {
    let source = r#"{"phase":"cite","grounding":{"type":"citation"},"source":"${PROJECT_ROOT}/a.rs:7","quote":"let line_7 = 7;"}"#;
    let text = r#"{"phase":"cite","grounding":"citation","evidence":["`let line_8 = 8;` [${PROJECT_ROOT}/a.rs:9]"]}"#;
    let relative =
        r#"{"phase":"cite","grounding":"citation","evidence":["`let line_8 = 8;` [a.rs:8]"]}"#;
    let late = r#"{"phase":"cite","decision":"t","grounding":"none"}"#.to_owned();
    let grounded = true_claim(3).replace("\"claim\"", "\"decision\":\"t\",\"claim\"");
    let found = grounding(&[
        source.to_owned(),
        text.to_owned(),
        relative.to_owned(),
        late,
        grounded,
    ]);
    let holds: Vec<bool> = found.claims.iter().map(Grounded::is_grounded).collect();
    assert_eq!(holds, [true, true, false, true]);
    assert_eq!(
        found.claims[1].standings,
        [EvidenceStatus::Moved { line: 8 }]
    );
    assert_eq!(
        found.claims[2].complaint(),
        "BAD_FORMAT: evidence without a place"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// LOA-GRD-1: any content of a trajectory is counted and nothing is invented.
    #[test]
    fn any_lines_are_counted(
        kinds in proptest::collection::vec(0_u8..4, 0..12), junk in "[ -~]{0,40}",
    ) {
        let lines: Vec<String> = kinds.iter().zip(1..).map(|(kind, n)| match kind {
            0 => true_claim(n),
            1 => false_claim(n),
            2 => format!("x{junk}"),
            _ => r#"{"phase":"intent"}"#.to_owned(),
        }).collect();
        let found = grounding(&lines);
        let count = |wanted: &[u8]| kinds.iter().filter(|kind| wanted.contains(kind)).count();
        prop_assert_eq!(found.total(), count(&[0, 1]));
        prop_assert_eq!(found.grounded(), count(&[0]));
        prop_assert_eq!(found.bad_lines, count(&[2]));
    }
}
