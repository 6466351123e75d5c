//! Changes of two branches to notes stay done, and conflicts are left to a person.

use super::*;
use crate::notes::Notes;

const BASE: &str = "# Notes\n\n## Session Continuity\n\n### Active Context\n- **Current Bead**: bd-1\n- **Last Checkpoint**: \
                    none\n\n### Lightweight Identifiers\n| Identifier | Purpose | Last Verified |\n|---|---|---|\n\n### Decision \
                    Log\n\n#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n\n### Pending Questions\n- [ ] why?\n\n## Blockers\nnone\n";

fn entry(ts: &str, words: &str) -> String {
    format!("#### 2026-01-02T{ts}Z - {words}\n**Decision**: {words}\n**Rationale**: x\n\n")
}

fn with(entries: &[String]) -> String {
    BASE.replace("### Pending", &format!("{}### Pending", entries.concat()))
}

fn notes(base: Option<&str>, ours: &str, theirs: &str) -> String {
    let base = base.map(str::as_bytes);
    let made = merged(Kind::Notes, base, ours.as_bytes(), theirs.as_bytes()).unwrap();
    assert_eq!(made.conflicts, [""; 0]);
    String::from_utf8(made.bytes).unwrap()
}

fn titles(text: &str) -> Vec<String> {
    let notes = Notes::read(text.as_bytes().to_vec());
    notes
        .decisions()
        .into_iter()
        .map(|made| made.title)
        .collect()
}

/// LOA-FMT-1, LOA-GRD-1: evidence of one branch never ends up under another heading, and an entry
/// that one branch withdrew is not back because the other moved it: if a merge by lines would do
/// that, a person is asked.
#[test]
fn no_entry_gets_what_another_leans_on_and_none_comes_back() {
    let cited = |line: u32| format!("**Evidence**:\n- `q{line}` [${{PROJECT_ROOT}}/a.rs:{line}]\n");
    let whole = |ts: &str, words: &str, line| {
        entry(ts, words).replace("x\n\n", &format!("x\n{}\n", cited(line)))
    };
    let (first, last) = (whole("03:00:01", "First", 1), whole("03:00:02", "Last", 2));
    let base = with(&[first.clone(), last.clone()]);
    let commented = with(&[first.clone(), format!("<!-- {} -->\n\n", last.trim_end())]);
    let more = last.replace(
        &cited(2),
        &format!("{}- `q3` [${{PROJECT_ROOT}}/a.rs:3]\n", cited(2)),
    );
    let cites = with(&[first.clone(), more]);
    let turned = with(&[last.clone(), first.clone()]);
    let taken = with(std::slice::from_ref(&first));
    for (ours, theirs) in [(&commented, &cites), (&turned, &taken)] {
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let base = Some(base.as_bytes());
            let made = merged(Kind::Notes, base, ours.as_bytes(), theirs.as_bytes());
            let Ok(made) = made else { continue };
            let text = String::from_utf8(made.bytes.clone()).unwrap();
            let read = Notes::read(made.bytes).decisions();
            let first = read.iter().find(|entry| entry.title == "First").unwrap();
            assert_eq!(first.evidence.len(), 1, "{text}");
            let is_back = read.iter().any(|entry| entry.title == "Last");
            assert!(!is_back || !made.conflicts.is_empty(), "{text}");
        }
    }
}

/// LOA-FMT-1, LOA-GRD-1: the entries of both branches are there whole and in order of time, also
/// those of one second; changes of one side are applied, and text that both wrote elsewhere is
/// there.
#[test]
fn the_notes_of_two_branches_have_the_entries_of_both() {
    let ours = with(&[
        entry("03:00:01", "A"),
        entry("03:00:05", "Same second, ours"),
    ])
    .replace("none\n\n### Light", "2026-01-02T03:00:06Z\n\n### Light")
    .replace("## Blockers\nnone\n", "## Blockers\nnone\nours waits\n");
    let theirs = with(&[
        entry("03:00:03", "B"),
        entry("03:00:05", "Same second, theirs"),
    ])
    .replace(
        "**Decision**: Old\n",
        "**Decision**: Old\n**Rationale**: said later\n",
    )
    .replace("- [ ] why?\n", "- [ ] why?\n- [ ] and how?\n")
    .replace(
        "|---|---|---|\n",
        "|---|---|---|\n| ${PROJECT_ROOT}/a.rs:1 | B | 03:00:04Z |\n",
    )
    .replace(
        "## Blockers\nnone\n",
        "## Blockers\nnone\ntheirs waits\n\n## Later\nmore\n",
    );
    for base in [Some(BASE), None] {
        let made = notes(base, &ours, &theirs);
        assert_eq!(
            titles(&made),
            ["Old", "A", "B", "Same second, ours", "Same second, theirs"],
            "{made}"
        );
        for line in [
            "- **Last Checkpoint**: 2026-01-02T03:00:06Z\n",
            "- [ ] and how?\n",
            "| ${PROJECT_ROOT}/a.rs:1 | B | 03:00:04Z |\n",
            "ours waits\n",
            "theirs waits\n",
            "## Later\nmore\n",
        ] {
            assert_eq!(made.matches(line).count(), 1, "{line} in {made}");
        }
        assert!(made.contains("**Rationale**: said later\n"), "{made}");
        assert_eq!(
            notes(base, &made, &theirs),
            made,
            "made again, it changes nothing"
        );
        assert_eq!(notes(Some(BASE), &made, BASE), made);
    }
    assert_eq!(
        notes(Some(BASE), BASE, &ours).matches("ours waits").count(),
        1
    );
}

/// LOA-BEAD-1: files of other programs are not ours, wherever they are.
#[test]
fn what_kind_a_file_is_its_path_tells() {
    for (path, kind) in [
        ("loa-grimoire/NOTES.md", Some(Kind::Notes)),
        (
            "loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl",
            Some(Kind::Trajectory),
        ),
        (".beads/bd-1.yaml", Some(Kind::Bead)),
        ("sub/.beads/bd-1.yaml", Some(Kind::Bead)),
        (".beads/issues.jsonl", None),
        (".beads/config.yaml", None),
        ("data/bd-1.yaml", None),
        ("data/x.jsonl", None),
        ("bd-1.yaml", None),
    ] {
        assert_eq!(Kind::of(path), kind, "{path}");
    }
}

/// LOA-FMT-1: a section of text that one branch alone changed is as that branch has it.
#[test]
fn a_section_that_one_branch_changed_is_as_it_has_it() {
    let changed = BASE.replace("## Blockers\nnone\n", "## Blockers\nwaits\n");
    let ours = with(&[entry("03:00:01", "A")]);
    for (ours, theirs) in [(&ours, &changed), (&changed, &ours)] {
        let made = notes(Some(BASE), ours, theirs);
        assert!(made.ends_with("## Blockers\nwaits\n"), "{made}");
        assert_eq!(titles(&made), ["Old", "A"]);
    }
}

/// Returns the conflicts when both branches have changes, and the file that the person sees.
fn asked(base: &str, ours: &str, theirs: &str) -> (Vec<String>, String) {
    let [base, ours, theirs] = [base, ours, theirs].map(str::as_bytes);
    let made = merged(Kind::Notes, Some(base), ours, theirs).unwrap();
    let shown = String::from_utf8(made.marked()).unwrap();
    (made.conflicts, shown)
}

/// LOA-FMT-1: conflicts are left to a person, with markers around them alone.
#[test]
fn what_both_changed_in_two_ways_is_left_to_a_person() {
    let row = |purpose: &str| {
        let row = format!("|---|---|---|\n| ${{PROJECT_ROOT}}/a.rs:1 | {purpose} | x |\n");
        BASE.replace("|---|---|---|\n", &row)
    };
    let words =
        |words: &str| BASE.replace("**Decision**: Old\n", &format!("**Decision**: {words}\n"));
    let waits =
        |words: &str| BASE.replace("## Blockers\nnone\n", &format!("## Blockers\n{words}\n"));
    for (ours, theirs, named) in [
        (row("ours"), row("theirs"), "${PROJECT_ROOT}/a.rs:1"),
        (words("ours"), words("theirs"), "2026-01-01T00:00:00Z - Old"),
        (
            words("ours"),
            BASE.replace("#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n\n", ""),
            "2026-01-01T00:00:00Z - Old",
        ),
        (waits("ours"), waits("theirs"), "none"),
    ] {
        let more = |text: &str| text.replace("- [ ] why?\n", "- [ ] why?\n- [ ] and how?\n");
        let (named_of_both, shown) = asked(BASE, &ours, &more(&theirs));
        assert_eq!(named_of_both, [named], "{shown}");
        assert_eq!(shown.matches("<<<<<<< ours\n").count(), 1, "{shown}");
        let found = sides(shown.as_bytes()).unwrap();
        let left = String::from_utf8(found.ours.clone()).unwrap();
        assert_eq!(left, more(&ours), "{shown}");
        let again = merged(
            Kind::Notes,
            Some(BASE.as_bytes()),
            &found.ours,
            &found.theirs,
        );
        let again = String::from_utf8(again.unwrap().marked()).unwrap();
        assert_eq!(again, shown);
    }
    let above = |words: &str| BASE.replace("# Notes\n", &format!("# Notes\n{words}\n"));
    let (named, both) = asked(BASE, &above("We deploy."), &above("On Tuesdays only."));
    assert!(named.is_empty(), "{both}");
    for line in ["We deploy.\n", "On Tuesdays only.\n"] {
        assert!(both.contains(line), "{both}");
    }
}

/// LOA-FMT-1, LOA-GRD-1: removals and changes of one branch apply if the other left the text as it
/// was, in either direction of the merge: entries that were commented out, moved or deleted,
/// questions that were answered or dropped, rows, lines.
#[test]
fn what_one_branch_took_out_stays_out() {
    let old = "#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n";
    let rows = "|---|---|---|\n| ${PROJECT_ROOT}/a.rs:1 | Old | 01:00:00Z |\n";
    let base = BASE.replace("|---|---|---|\n", rows).replace(
        "## Blockers\nnone\n",
        "## Blockers\nnone\n- step one\n- step two\n",
    );
    let later = entry("03:00:01", "A");
    for (from, to) in [
        (format!("{old}\n"), String::new()),
        (old.to_owned(), format!("<!--\n{old}-->\n")),
        (
            "## Blockers".to_owned(),
            format!("## Withdrawn\n\n{old}\n## Blockers"),
        ),
        ("- [ ] why?\n".to_owned(), String::new()),
        ("- [ ] why?\n".to_owned(), "- [x] why?\n".to_owned()),
        (rows.to_owned(), "|---|---|---|\n".to_owned()),
        (
            "- step one\n".to_owned(),
            "- [x] step one done\n".to_owned(),
        ),
    ] {
        let is_moved = to.contains("## Withdrawn");
        let taken = base.replace(&from, &to);
        let taken = if is_moved {
            taken.replacen(&format!("{old}\n"), "", 1)
        } else {
            taken
        };
        let going = base
            .replace("### Pending", &format!("{later}### Pending"))
            .replace("- [ ] why?\n", "- [ ] why?\n- [ ] and how?\n")
            .replace("- step two\n", "- step two\n- step three\n")
            .replace(
                "01:00:00Z |\n",
                "01:00:00Z |\n| ${PROJECT_ROOT}/b.rs:1 | A | 02:00:00Z |\n",
            )
            .replace("**: none", "**: 2026-01-02T03:00:01Z");
        let taken = taken.replace("**: none", "**: 2026-01-02T03:00:00Z");
        for (ours, theirs) in [(&taken, &going), (&going, &taken)] {
            let made = notes(Some(&base), ours, theirs);
            let count = |line: &str| made.matches(line).count();
            assert_eq!(count(&to).min(1), 1, "{made}");
            assert!(
                is_moved || to.contains(&from) || count(&from) == 0,
                "{from} in {made}"
            );
            let live = usize::from(!to.contains(old) && !from.contains(old));
            assert_eq!(
                titles(&made),
                [&["Old"; 1][..live], &["A"]].concat(),
                "{made}"
            );
            for line in [
                &later,
                "- [ ] and how?\n",
                "- step three\n",
                "/b.rs:1 | A",
                "03:00:01Z\n",
            ] {
                assert_eq!(count(line), 1, "{line} in {made}");
            }
        }
    }
}

/// LOA-ZONE-1: the time at which a row was last verified does not count as a difference between two
/// branches.
#[test]
fn of_a_row_that_both_looked_at_the_later_time_counts() {
    let row = |at: &str| {
        let row = format!("|---|---|---|\n| ${{PROJECT_ROOT}}/a.rs:1 | Old | {at} |\n");
        BASE.replace("|---|---|---|\n", &row)
    };
    for base in [BASE.to_owned(), row("01:00:00Z")] {
        for (ours, theirs) in [("02:00:00Z", "03:00:00Z"), ("03:00:00Z", "02:00:00Z")] {
            assert_eq!(
                notes(Some(&base), &row(ours), &row(theirs)),
                row("03:00:00Z")
            );
        }
        let gone = notes(Some(&row("01:00:00Z")), &row("02:00:00Z"), BASE);
        assert_eq!(gone, BASE);
    }
}

/// LOA-FMT-1: a line in bold that a person wrote into Active Context, or above the first heading, is a line like any other.
#[test]
fn lines_in_bold_are_kept() {
    let here = "- **Last Checkpoint**: none\n";
    let more = |text: &str, added: &str| text.replace(here, &format!("{here}{added}"));
    let added = "- **Do not touch**: src/pay.rs\n";
    let ours = more(BASE, "- **Ours**: too\n");
    let theirs = more(BASE, added).replace("# Notes", "- **Deploy**: on Tuesdays\n\n# Notes");
    for base in [Some(BASE), None] {
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let made = notes(base, ours, theirs);
            for added in [added, "- **Ours**: too\n", "- **Deploy**: on Tuesdays\n"] {
                assert_eq!(made.matches(added).count(), 1, "{added} in {made}");
            }
        }
    }
}

/// LOA-FMT-1: if two branches have different current beads, ours stays, and the merge reports it.
#[test]
fn another_current_bead_of_theirs_is_reported() {
    let with = |bead: &str| BASE.replace("bd-1", bead);
    let [base, ours, theirs] =
        [BASE.to_owned(), with("bd-2"), with("bd-3")].map(String::into_bytes);
    let made = merged(Kind::Notes, Some(&base), &ours, &theirs).unwrap();
    assert_eq!((made.bytes, made.conflicts), (ours, Vec::new()));
    assert!(
        made.told[0].contains("bd-2") && made.told[0].contains("bd-3"),
        "{:?}",
        made.told
    );
}
