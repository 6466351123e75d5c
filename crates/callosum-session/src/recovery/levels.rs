//! [`level_1`] and [`level_2`]: whole records, as many as fit.

use std::fmt::Write as _;

use callosum_citation::tokens::estimate;
use callosum_redact::secrets;

use super::current_state::{Recollected, Recollection, Trust};
use crate::{
    evidence::Evidence,
    notes::Decision,
    pending_handoffs::PendingHandoff,
    sanitize::{cut_to, one_line, title_of},
};

/// Number of decisions shown at level 1 (Seed LOA §4.1).
const LAST_DECISIONS: usize = 3;

/// Numbers of words shown of each decision's title, and of the bead's title and the next step: best
/// first.
const WORDS: [(usize, usize); 11] = [
    (usize::MAX, usize::MAX),
    (8, usize::MAX),
    (5, usize::MAX),
    (3, usize::MAX),
    (5, 6),
    (3, 4),
    (2, 3),
    (1, 2),
    (1, 1),
    (2, 0),
    (1, 0),
];

/// Returns the current state, in at most `budget` tokens, estimated: bead, checkpoint, next step,
/// the last three decisions, open questions. Reliable decisions come first.
///
/// Records are shown whole. If that leaves no room for one of the decisions, words are shortened,
/// so that the beginning of each of the three is shown.
pub fn level_1(recollection: &Recollection, budget: u64) -> String {
    let last = recollection.decisions.len().min(LAST_DECISIONS);
    let begun =
        |text: &str, begin: &str| text.lines().filter(|line| line.starts_with(begin)).count();
    let wanted =
        usize::from(recollection.bead.is_some()) + usize::from(recollection.next_step().is_some());
    // Looking for secrets costs more than all else, and questions may be many.
    let questions = recollection.questions.iter();
    let questions = questions.map(|question| Record::of(format!("Open: {question}")).masked());
    let questions: Vec<Record> = questions.collect();
    let mut best = (0, 0, String::new());
    for words in WORDS {
        let text = within(recollection, &questions, budget, words);
        let (decided, rest) = (
            begun(&text, DECIDED),
            begun(&text, "Bead: ") + begun(&text, "Next: "),
        );
        let is_whole = words == WORDS[0];
        if is_whole || (decided, rest) > (best.0, best.1) {
            best = (decided, rest, text);
        }
        if best.0 >= last && (is_whole || best.1 >= wanted) {
            break;
        }
    }
    best.2
}

/// Prefix of a decision.
const DECIDED: &str = "Decided: ";

/// Returns the current state, with at most so many words of each decision, and of the bead and the
/// next step.
fn within(
    recollection: &Recollection,
    questions: &[Record],
    budget: u64,
    (of_each, of_rest): (usize, usize),
) -> String {
    let mut records = Vec::new();
    let short = |text: &str, most: usize| match most {
        usize::MAX => text.to_owned(),
        0 => String::new(),
        most => cut_to(&secrets::mask(text).text, most),
    };
    if let Some((id, bead)) = &recollection.bead {
        records.push(match bead {
            // A title that does not fit must not take the bead's id with it.
            Some(bead) => {
                // Half a secret is not recognized as one.
                let title = title_of(&one_line(&secrets::mask(&bead.title).text));
                let title = short(&title, of_rest);
                one_line(&format!("Bead: {id} {title} ({})", bead.status))
            }
            None => one_line(&format!("Bead: {id} (its file cannot be read)")),
        });
    }
    let line =
        |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name}: {text}"));
    records.extend(line("Checkpoint", &recollection.checkpoint));
    let next = recollection.next_step();
    let left_out = usize::from(next.is_some() && of_rest == 0);
    let next = next.filter(|_| of_rest > 0);
    let next = next.map(|next| short(&next, of_rest));
    records.extend(line("Next", &next));
    let mut last: Vec<&Recollected> = recollection.decisions.iter().take(LAST_DECISIONS).collect();
    last.sort_by_key(|made| made.trust != Trust::QuoteFound);
    for made in last {
        let title = short(&one_line(&made.decision.title), of_each);
        records.push(format!("{DECIDED}{title} [{}]", made.trust.name()));
    }
    let records = records.into_iter().map(|text| Record::of(text).masked());
    let records: Vec<Record> = records.chain(questions.iter().cloned()).collect();
    fitted_as_they_are(&records, records.len() + left_out, budget)
}

/// Returns the last hand-off and the newest decisions, in at most `budget` tokens, estimated.
pub fn level_2(recollection: &Recollection, budget: u64) -> String {
    // Only the last hand-off is part of the current state; older ones are found by their words.
    let handed = recollection
        .handoffs
        .iter()
        .find(|one| one.reasoning.is_some());
    let handed = handed.map(|one| Record::of(handed_over(one, budget)));
    let decided = recollection.decisions.iter().map(whole);
    let records: Vec<Record> = handed.into_iter().chain(decided).collect();
    let all = records.len() + recollection.older;
    fitted(&records, all, budget)
}

/// Text that is shown on a line of its own, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// All of it.
    whole: String,
    /// Its topic and place, used if there is no room for all of it.
    brief: Option<String>,
}

impl Record {
    /// Returns a record that is shown whole.
    pub(super) fn of(whole: String) -> Self {
        Self { whole, brief: None }
    }

    /// The same with anything that looks like a secret masked: a person may have written one into
    /// the notes.
    fn masked(&self) -> Self {
        let mask = |text: &String| secrets::mask(text).text;
        Self {
            whole: mask(&self.whole),
            brief: self.brief.as_ref().map(mask),
        }
    }
}

/// Returns a hand-off with all its words, or with those that half of the budget has room for.
pub(super) fn handed_over(made: &PendingHandoff, budget: u64) -> String {
    let to = made.to.as_ref().map(|to| format!(" to {to}"));
    let within = made.repository.as_ref().map(|path| format!(" in {path}"));
    let head = format!(
        "Handoff{} by {} at {}{}",
        to.unwrap_or_default(),
        made.from,
        made.ts,
        within.unwrap_or_default()
    );
    let reasoning = made.reasoning.as_deref().unwrap_or_default();
    let text = one_line(&format!("{head}: {reasoning}"));
    if estimate(&text) <= budget / 2 {
        return text;
    }
    let cut = |many: &usize| {
        let words = cut_to(reasoning, *many);
        let words = words.trim_end_matches('…');
        one_line(&format!("{head}: {words} … (NOTES.md)"))
    };
    let most = reasoning.chars().count().min(budget as usize);
    let fitting = (0..most)
        .rev()
        .find(|many| estimate(&cut(many)) <= budget / 2);
    cut(&fitting.unwrap_or(0))
}

/// Returns a decision with all that is known of it; in brief its title and its lines in the notes.
pub(super) fn whole(made: &Recollected) -> Record {
    let (decision, mark) = (&made.decision, format!("[{}]", made.trust.name()));
    let title = title_of(&secrets::mask(&decision.title).text);
    let ts = &decision.ts;
    let (first, last) = (decision.line, decision.last_line);
    let brief = format!("{ts} {title} {mark} (NOTES.md:{first}-{last})");
    Record {
        whole: decision_line(decision, &mark),
        brief: Some(one_line(&brief)),
    }
}

/// Returns a decision with all that is known of it, and a mark after its title.
pub(super) fn decision_line(decision: &Decision, mark: &str) -> String {
    let (ts, title, words) = (&decision.ts, &decision.title, decision.words());
    let mut text = format!("{ts} {title} {mark}: {words}");
    if let Some(rationale) = &decision.rationale {
        text.push_str(" Because: ");
        text.push_str(rationale);
    }
    let cited: Vec<String> = decision.evidence.iter().map(Evidence::identifier).collect();
    if !cited.is_empty() {
        text.push_str(" See: ");
        text.push_str(&cited.join(" "));
    }
    one_line(&text)
}

/// Returns as many records as fit, in their order, a line each; one that does not fit is shortened
/// to its brief form. The last line says how many did not fit, and if none did, how many more
/// tokens one needs. `all` is the total; the records are the first of them.
pub(super) fn fitted(records: &[Record], all: usize, budget: u64) -> String {
    let records: Vec<Record> = records.iter().map(Record::masked).collect();
    fitted_as_they_are(&records, all, budget)
}

/// The same for masked records.
fn fitted_as_they_are(records: &[Record], all: usize, budget: u64) -> String {
    let render = |kept: &[&str]| {
        let mut text = String::new();
        for line in kept {
            text.push_str(line);
            text.push('\n');
        }
        let left = all - kept.len();
        if left > 0 {
            let _ = writeln!(text, "+{left} more");
        }
        text
    };
    let mut kept: Vec<&str> = Vec::new();
    // Each line's estimate is rounded up, so that the sum is too high by less than one for each.
    let mut sum = 0;
    for record in records {
        for line in std::iter::once(&record.whole).chain(&record.brief) {
            let cost = estimate(&format!("{line}\n"));
            kept.push(line);
            let left = all - kept.len();
            let most = sum + cost + estimate(&format!("+{left} more\n"));
            let least = most.saturating_sub(kept.len() as u64 + 1);
            let fits = most <= budget || least <= budget && estimate(&render(&kept)) <= budget;
            if fits {
                sum += cost;
                break;
            }
            kept.pop();
        }
    }
    let mut texts = vec![render(&kept)];
    if kept.is_empty() && all > 0 {
        let lines = records.iter();
        let lines = lines.flat_map(|record| std::iter::once(&record.whole).chain(&record.brief));
        let least = lines.map(|line| estimate(&render(&[line]))).min();
        let lacking = least.unwrap_or(0).saturating_sub(budget);
        if lacking > 0 {
            texts.insert(
                0,
                format!("+{all} more; the first needs {lacking} more tokens\n"),
            );
        }
    }
    let mut fitting = texts.into_iter().filter(|text| estimate(text) <= budget);
    fitting.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bead::Bead;

    fn made(ts: &str, title: &str, trust: Trust) -> Recollected {
        Recollected {
            decision: Decision {
                ts: ts.to_owned(),
                title: title.to_owned(),
                decision: format!("{title}, really"),
                rationale: Some("it is so".to_owned()),
                ..Decision::default()
            },
            trust,
        }
    }

    fn recollection() -> Recollection {
        let bead = Bead {
            title: "Implement JWT refresh".to_owned(),
            status: "in_progress".to_owned(),
            next_steps: vec!["Tolerate clock skew".to_owned()],
            ..Bead::default()
        };
        Recollection {
            bead: Some(("bd-x7y8".to_owned(), Some(bead))),
            checkpoint: Some("2024-01-15T14:30:00Z".to_owned()),
            decisions: vec![
                made("2024-01-04", "Newest", Trust::Stale),
                made("2024-01-03", "Sliding expiry", Trust::QuoteFound),
                made("2024-01-02", "Rotate tokens", Trust::QuoteFound),
                made("2024-01-01", "Oldest", Trust::QuoteFound),
            ],
            questions: vec!["Per client?".to_owned()],
            ..Recollection::default()
        }
    }

    /// LOA-REC-1: the order of level 1, those to rely on first, stale ones flagged.
    #[test]
    fn level_1_tells_where_things_stand_in_its_order() {
        assert_eq!(
            level_1(&recollection(), 100),
            "Bead: bd-x7y8 Implement JWT refresh (in_progress)\nCheckpoint: 2024-01-15T14:30:00Z\n\
             Next: Tolerate clock skew\nDecided: Sliding expiry [quote found]\n\
             Decided: Rotate tokens [quote found]\nDecided: Newest [stale]\nOpen: Per client?\n"
        );
        let text = level_1(&recollection(), 60);
        assert_eq!(text.lines().last(), Some("+2 more"));
        assert_eq!(text.matches("Decided: ").count(), 3, "{text}");
        assert_eq!(level_1(&Recollection::default(), 100), "");
        assert_eq!(level_1(&recollection(), 0), "");
    }

    /// LOA-REC-1: however long a bead's title is, level 1 names the bead.
    #[test]
    fn a_long_title_is_cut_and_the_bead_still_named() {
        let mut state = recollection();
        if let Some((_, Some(bead))) = &mut state.bead {
            bead.title = "word ".repeat(80);
        }
        let text = level_1(&state, 100);
        assert!(text.starts_with("Bead: bd-x7y8 word word"), "{text}");
        assert!(text.contains("word… (in_progress)\n"), "{text}");
    }

    /// LOA-REC-1: for titles of any length and in any language, level 1 shows the beginning of each
    /// of the last three.
    #[test]
    fn the_beginning_of_each_of_the_last_three_decisions_is_shown() {
        for title in [
            "我们决定使用单一连接池",
            "接続プールを一つだけ使うことに決めた",
            "กำหนดให้ใช้พูลเดียว",
            "Unabridgedly",
        ] {
            let mut state = recollection();
            for (at, made) in state.decisions.iter_mut().enumerate() {
                made.decision.title = format!("{at}{}", title.repeat(9));
            }
            if let Some((_, Some(bead))) = &mut state.bead {
                bead.title = title.repeat(9);
                bead.next_steps = vec![title.repeat(9)];
            }
            let text = level_1(&state, 100);
            assert!(estimate(&text) <= 100, "{text}");
            for at in 0..3 {
                let begins = format!("Decided: {at}{}", title.chars().next().unwrap());
                assert!(text.contains(&begins), "{text}");
            }
            assert!(text.starts_with("Bead: bd-x7y8 "), "{text}");
        }
    }

    /// LOA-REC-1: titles of an ordinary length are shown whole in scripts without blanks too.
    #[test]
    fn ordinary_titles_in_japanese_and_chinese_are_shown_unchanged() {
        for (bead, next, titles) in [
            (
                "プールのソケット",
                "スループットを測定する",
                [
                    "再試行は三回まで",
                    "三十秒後にソケットを閉じる",
                    "上流ホストは一つにする",
                ],
            ),
            (
                "连接池的套接字",
                "测量吞吐量",
                ["最多重试三次", "三十秒后关闭套接字", "上游只用一台主机"],
            ),
        ] {
            let mut state = recollection();
            state.questions.clear();
            for (made, title) in state.decisions.iter_mut().zip(titles) {
                made.decision.title = title.to_owned();
            }
            if let Some((_, Some(of))) = &mut state.bead {
                of.title = bead.to_owned();
                of.next_steps = vec![next.to_owned()];
            }
            state.checkpoint = None;
            let text = level_1(&state, 100);
            for words in titles.into_iter().chain([bead, next]) {
                assert!(text.contains(words), "{text}");
            }
        }
    }

    /// LOA-REC-1: omitted records are counted, also those that were never looked up.
    #[test]
    fn level_2_tells_the_newest_and_how_many_more_there_are() {
        let mut state = recollection();
        assert_eq!(level_2(&state, 500).lines().count(), 4);
        state.older = 7;
        assert_eq!(level_2(&state, 500).lines().last(), Some("+7 more"));
        assert_eq!(level_2(&state, 40).lines().last(), Some("+10 more"));
    }

    /// LOA-REC-1: for a decision that is longer than the room, its title and its lines in the notes
    /// are shown, and it takes no other's place.
    #[test]
    fn level_2_shows_the_place_of_a_decision_that_is_too_long() {
        let mut state = recollection();
        for made in &mut state.decisions[..2] {
            made.decision.decision = "word ".repeat(3_000);
            (made.decision.line, made.decision.last_line) = (12, 30);
        }
        let text = level_2(&state, 500);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2024-01-04 Newest [stale] (NOTES.md:12-30)");
        assert_eq!(
            lines[1],
            "2024-01-03 Sliding expiry [quote found] (NOTES.md:12-30)"
        );
        assert!(lines[2].starts_with("2024-01-02 Rotate tokens [quote found]: "));
        assert_eq!(lines.len(), 4);
        assert!(estimate(&text) <= 500);
        // A heading by hand may be as long.
        state.decisions[0].decision.title = "word ".repeat(3_000);
        let text = level_2(&state, 500);
        assert!(text.starts_with("2024-01-04 word word"), "{text}");
        assert!(text.contains("word… [stale] (NOTES.md:12-30)\n"), "{text}");
    }

    /// LOA-REC-1: if no record fits, the output says how many more tokens one takes, as far as
    /// there is room for that.
    #[test]
    fn if_nothing_fits_the_output_says_how_much_is_needed() {
        for tell in [level_1, level_2] {
            for budget in 0..60 {
                let text = tell(&recollection(), budget);
                let Some(rest) = text.split_once(" more; the first needs ") else {
                    assert!(
                        text.lines().any(|line| !line.starts_with('+')) || budget < 15,
                        "{budget}: {text}"
                    );
                    continue;
                };
                let lacking: u64 = rest.1.split_once(' ').unwrap().0.parse().unwrap();
                let enough = tell(&recollection(), budget + lacking);
                assert!(
                    enough.lines().any(|line| !line.starts_with('+')),
                    "{text}{enough}"
                );
            }
        }
    }

    proptest! {
        /// LOA-REC-1: recovery never exceeds its budget, and shows records whole, shortened by
        /// whole words, or not at all.
        #[test]
        fn no_level_exceeds_its_budget(
            titles in proptest::collection::vec(any::<String>(), 0..6),
            questions in proptest::collection::vec("[a-z0-9 .?\u{e9}]{0,200}", 0..12),
            budget in 0_u64..300,
        ) {
            let mut state = recollection();
            state.decisions = titles.iter().map(|title| made("2024-01-01", title, Trust::Stale)).collect();
            state.questions = questions;
            for text in [level_1(&state, budget), level_2(&state, budget)] {
                prop_assert!(estimate(&text) <= budget);
            }
            let all = level_1(&state, u64::MAX);
            let text = level_1(&state, budget);
            for line in text.lines() {
                let begins = |known: &str| line.split_once('…').is_some_and(|(begin, _)| known.starts_with(begin));
                let is_bead = line.starts_with("Bead: bd-x7y8 ");
                let is_known = |known: &str| is_bead || known == line || begins(known);
                prop_assert!(all.lines().any(is_known) || line.starts_with('+'));
            }
            prop_assert_eq!(text, level_1(&state.clone(), budget));
        }
    }
}
