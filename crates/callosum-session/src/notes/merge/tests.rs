//! Properties of the notes of any two branches: what one did to an entry stays done, both
//! directions give the same result, and markers are at visible places.

use proptest::{prelude::*, sample::select};

use crate::{
    merge::{Kind, Merged, marked, merged, sides},
    notes::{
        Decision, Notes,
        merge::{ConflictSide, by_pieces},
        outline::Outline,
    },
};

/// An entry, and its possible fates: with added evidence, hidden in three ways, reworded.
const A: [&str; 5] = [
    "#### 2026-01-02T00:00:01Z - A\n**Decision**: A\n\n",
    "#### 2026-01-02T00:00:01Z - A\n**Decision**: A\n**Evidence**:\n- `a` [${PROJECT_ROOT}/a:1]\n\n",
    "<!--\n#### 2026-01-02T00:00:01Z - A\n**Decision**: A\n-->\n\n",
    "<!-- #### 2026-01-02T00:00:01Z - A\n**Decision**: A -->\n\n",
    "<!-- too slow\n#### 2026-01-02T00:00:01Z - A\n**Decision**: A\n-->\n\n",
];
const B: [&str; 4] = [
    "#### 2026-01-02T00:00:02Z - B\n**Decision**: B\n",
    "#### 2026-01-02T00:00:02Z - B\n**Decision**: B\n**Rationale**: so\n",
    "<!--\n#### 2026-01-02T00:00:02Z - B\n**Decision**: B\n-->\n",
    "<!--\n#### 2026-01-02T00:00:01Z - A\n**Decision**: A\n\n#### 2026-01-02T00:00:02Z - B\n**Decision**: B\n-->\n",
];
const C: [&str; 3] = [
    "#### 2026-01-02T00:00:02Z - C\n**Decision**: C\n**Evidence**:\n- `c` [${PROJECT_ROOT}/c:1]\n\n",
    "#### 2026-01-02T00:00:02Z - C\n**Decision**: C\n\n",
    "<!--\n\n#### 2026-01-02T00:00:02Z - C\n**Decision**: C\n**Evidence**:\n- `c` [${PROJECT_ROOT}/c:1]\n\n-->\n",
];
const LOG: &str = "### Decision Log\n";
const BLOCKERS: [&str; 2] = ["## Blockers\nnone\n", "## Blockers\nwaits\n"];
const LATER: [&str; 2] = [
    "## Later\nmore\n- one\n",
    "## Later\n```\n# code\n```\n- one\n",
];
const QUESTIONS: &str = "### Pending Questions\n";
const ASKED: [&str; 2] = ["- [ ] q\n", "- [x] q\n"];
const ROWS: &str = "### Lightweight Identifiers\n| ${PROJECT_ROOT}/a:1 | x | 1 |\n";

/// Our headings, and of the others each at most once, in this order; perhaps a comment around one again at the end of the log, and one of all, but for
/// comments, at the end.
fn document() -> impl Strategy<Value = String> {
    fn one(of: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
        prop_oneof![2 => Just(""), 3 => Just(of[0]), 2 => select(of)]
    }
    let comments = [&A[2..], &B[2..], &C[2..]].concat();
    let others = [&BLOCKERS[..], &LATER, &ASKED, &[LOG, QUESTIONS, ROWS, "\n"]].concat();
    let outside = [&A[..2], &B[..2], &C[..2], &others].concat();
    let pieces = (
        (one(&BLOCKERS), one(&LATER)),
        (one(&A), one(&B), one(&C)),
        prop_oneof![2 => Just(""), 1 => select(comments)],
        (one(&ASKED), one(&["\n"])),
        prop_oneof![2 => Just(""), 1 => select(outside)],
    );
    pieces.prop_map(|((a, b), (c, d, e), f, (g, h), i)| {
        [a, b, LOG, c, d, e, f, QUESTIONS, g, ROWS, h, i].concat()
    })
}

/// Whether a document has an entry both visible and in a comment, in two comments, or in a comment
/// around several. Then it is unknown which of them the other side means, and if that side changed
/// one, all of it may be shown.
fn is_odd(text: &str) -> bool {
    let hidden = out_of_sight(text);
    let all = [in_sight(text), hidden.clone()].concat();
    text.contains(B[3]) || hidden.iter().any(|entry| many(&all, entry) > 1)
}

fn of(base: &str, ours: &str, theirs: &str) -> Option<Merged> {
    let is_one = [base, ours, theirs].into_iter().any(is_odd);
    let [base, ours, theirs] = [base, ours, theirs].map(str::as_bytes);
    let made = merged(Kind::Notes, Some(base), ours, theirs);
    assert!(made.is_ok() || is_one, "{made:?}");
    made.ok()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the names and words of decisions, sorted.
fn words(made: Vec<Decision>) -> Vec<String> {
    let made = made.into_iter();
    let mut words: Vec<String> = made
        .map(|made| format!("{} {}", made.ts, made.words()))
        .collect();
    words.sort();
    words
}

fn in_sight(text: &str) -> Vec<String> {
    words(Notes::read(text.as_bytes().to_vec()).decisions())
}

fn out_of_sight(text: &str) -> Vec<String> {
    words(Notes::read(text.as_bytes().to_vec()).withdrawn())
}

fn many(of: &[String], entry: &String) -> usize {
    of.iter().filter(|known| *known == entry).count()
}

/// Returns the lines that are not blank, sorted.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

proptest! {
    /// LOA-FMT-1, LOA-GRD-1: a side without changes does not affect the other, also if both are
    /// split into elements; no entry is lost or doubled, and a second merge changes nothing.
    #[test]
    fn what_one_side_did_stays_done((base, ours, theirs) in (document(), document(), document())) {
        let pieces = |base: &str, ours: &str, theirs: &str| {
            let all = [base, ours, theirs].map(str::as_bytes);
            by_pieces(all[0], all[1], all[2], ConflictSide::Ours).map(|made| text(&made.bytes))
        };
        prop_assert_eq!(pieces(&base, &ours, &base), Some(ours.clone()));
        prop_assert_eq!(pieces(&base, &base, &theirs), Some(theirs.clone()));
        let made = of(&base, &ours, &theirs).filter(|made| made.conflicts.is_empty());
        let Some(made) = made else { return Ok(()) };
        let made = text(&made.bytes);
        let (there, left, right) = (in_sight(&made), in_sight(&ours), in_sight(&theirs));
        for entry in &there {
            prop_assert!(many(&there, entry) <= many(&left, entry).max(many(&right, entry)), "{}", made);
        }
        let was = in_sight(&base);
        let (hidden, by_us, by_them) = (out_of_sight(&made), out_of_sight(&ours), out_of_sight(&theirs));
        for entry in left.iter().chain(&right) {
            let is_of_both = left.contains(entry) && right.contains(entry);
            let is_gone = was.contains(entry) && !is_of_both
                || by_us.contains(entry) || by_them.contains(entry);
            prop_assert!(there.contains(entry) || is_gone, "{} in {}", entry, made);
        }
        let is_one = [&base, &ours, &theirs].into_iter().any(|text| is_odd(text));
        for entry in hidden.iter().filter(|_| !is_one) {
            prop_assert!(many(&hidden, entry) <= many(&by_us, entry).max(many(&by_them, entry)), "{}", made);
        }
        let again = of(&base, &made, &theirs).filter(|made| made.conflicts.is_empty() && !is_one);
        if let Some(again) = again {
            prop_assert_eq!(in_sight(&text(&again.bytes)), there);
        }
    }

    /// LOA-FMT-1, LOA-GRD-1: an entry that both sides withdrew, one by a comment and the other in
    /// any way, is in that comment, once, and in no log.
    #[test]
    fn what_both_took_back_is_out_of_sight_once((base, ours, theirs) in (document(), document(), document())) {
        let made = of(&base, &ours, &theirs).filter(|made| made.conflicts.is_empty());
        let Some(made) = made else { return Ok(()) };
        let made = text(&made.bytes);
        let (was, was_hidden) = (in_sight(&base), out_of_sight(&base));
        let [(left, by_us), (right, by_them)] =
            [&ours, &theirs].map(|side| (in_sight(side), out_of_sight(side)));
        for entry in was.iter().filter(|entry| !was_hidden.contains(entry)) {
            if left.contains(entry) || right.contains(entry) {
                continue;
            }
            prop_assert!(!in_sight(&made).contains(entry), "{}", made);
            let most = many(&by_us, entry).max(many(&by_them, entry));
            let there = many(&out_of_sight(&made), entry);
            // A side that has it in two comments may get one of them a second time.
            let is_one = [&base, &ours, &theirs].into_iter().any(|text| is_odd(text));
            prop_assert!(most.min(1) <= there && (there <= most || is_one), "{}", made);
        }
    }

    /// LOA-FMT-1: in either direction of the merge, a person is asked or the same lines are made.
    #[test]
    fn both_ways_round_say_the_same((base, ours, theirs) in (document(), document(), document())) {
        if [&base, &ours, &theirs].into_iter().any(|text| is_odd(text)) {
            return Ok(());
        }
        let (made, back) = (of(&base, &ours, &theirs), of(&base, &theirs, &ours));
        let (Some(made), Some(back)) = (made, back) else { return Ok(()) };
        prop_assert_eq!(made.conflicts.is_empty(), back.conflicts.is_empty(), "{}", text(&made.marked()));
        if made.conflicts.is_empty() {
            prop_assert_eq!(lines(&text(&made.bytes)), lines(&text(&back.bytes)));
        }
    }

    /// LOA-FMT-1: split at its markers, the shown text gives both sides back, and no marker is
    /// within a comment or a code block of either.
    #[test]
    fn marks_stand_where_they_are_seen((ours, theirs) in (document(), document())) {
        let shown = marked(ours.as_bytes(), theirs.as_bytes());
        let Some(found) = sides(&shown) else {
            prop_assert_eq!(ours, theirs);
            return Ok(());
        };
        prop_assert_eq!((text(&found.ours), text(&found.theirs)), (ours, theirs));
        let shown = text(&shown);
        for (at, _) in shown.match_indices("<<<<<<< ours\n").chain(shown.match_indices(">>>>>>> theirs\n")) {
            // Text before a marker opens nothing that ends after it.
            let before = format!("{}>>>>>>> theirs\n", &shown[..at]);
            let before = sides(before.as_bytes()).map_or_else(|| shown.as_bytes()[..at].to_vec(), |found| found.ours);
            prop_assert_eq!(Outline::of(&before).unclosed, [], "{}", shown);
        }
    }
}

const NOTES: &str = "# Notes\n\n## Session Continuity\n\n### Decision Log\n\n#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n\n\
                     ### Pending Questions\n- [ ] why?\n\n## Blockers\nnone\n";
const OLD: &str = "#### 2026-01-01T00:00:00Z - Old\n**Decision**: Old\n";
const NEW: &str = "#### 2026-01-02T00:00:01Z - New\n**Decision**: New\n\n";

/// LOA-FMT-1, LOA-GRD-1: an entry that one side commented out, over any number of lines, does not
/// conflict with the other's changes next to it. One that the other deleted as well is in that
/// comment. If the other added evidence to it, the markers are around the whole comment.
#[test]
fn a_comment_around_an_entry_is_what_became_of_it() {
    for comment in [
        format!("<!--\n{OLD}-->\n"),
        format!("<!-- {} -->\n", OLD.trim_end()),
        format!("<!-- too slow\n\n{OLD}\n-->\n"),
    ] {
        let taken = NOTES.replace(OLD, &comment);
        let gone = NOTES.replace(&format!("{OLD}\n"), "");
        let other = NOTES.replace(OLD, &format!("<!--\n\n{OLD}\n-->\n"));
        let with_new = |text: &str| text.replace("### Pending", &format!("{NEW}### Pending"));
        for theirs in [with_new(NOTES), gone.clone(), with_new(&gone), other] {
            for (ours, theirs) in [(&taken, &theirs), (&theirs, &taken)] {
                let made = of(NOTES, ours, theirs).unwrap();
                let shown = text(&made.marked());
                assert_eq!(made.conflicts, [""; 0], "{shown}");
                assert_eq!(out_of_sight(&shown).len(), 1, "{shown}");
                let is_new = usize::from(theirs.contains(NEW) || ours.contains(NEW));
                assert_eq!(in_sight(&shown).len(), is_new, "{shown}");
            }
        }
        let cited = format!("{OLD}**Evidence**:\n- `q` [${{PROJECT_ROOT}}/a:1]\n");
        let made = of(NOTES, &taken, &NOTES.replace(OLD, &cited)).unwrap();
        assert_eq!(made.conflicts, ["2026-01-01T00:00:00Z - Old"]);
        let shown = text(&made.marked());
        let marked = format!("<<<<<<< ours\n{comment}=======\n{cited}>>>>>>> theirs\n");
        assert!(shown.contains(&marked), "{shown}");
    }
}

/// LOA-FMT-1: if one side removed a heading of ours and left the text below it, additions of the
/// other are below that heading. If it removed the entries as well, the heading is kept for the
/// additions.
#[test]
fn a_heading_that_one_side_took_out_is_above_what_is_left() {
    let more = NOTES
        .replace("### Pending", &format!("{NEW}### Pending"))
        .replace("why?\n", "why?\n- [ ] and how?\n");
    let log = "### Decision Log\n\n";
    let without = NOTES.replace(log, "");
    let emptied = without.replace(&format!("{OLD}\n"), "");
    for (taken, titles, has_notices) in [
        (
            without,
            &["2026-01-01T00:00:00Z Old", "2026-01-02T00:00:01Z New"][..],
            true,
        ),
        (emptied, &["2026-01-02T00:00:01Z New"], false),
    ] {
        for (ours, theirs) in [(&taken, &more), (&more, &taken)] {
            let made = of(NOTES, ours, theirs).unwrap();
            let shown = text(&made.marked());
            assert_eq!(made.conflicts, [""; 0], "{shown}");
            assert_eq!(in_sight(&shown), titles, "{shown}");
            assert_eq!(shown.matches(log.trim_end()).count(), 1, "{shown}");
            assert!(shown.contains("- [ ] and how?\n"), "{shown}");
            assert_eq!(!made.told.is_empty(), has_notices, "{:?}", made.told);
        }
    }
}
