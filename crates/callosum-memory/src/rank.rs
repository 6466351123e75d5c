//! Ranking of turns and sessions by words, by parts of words and by meaning.
//!
//! Each method makes a [`Ranked`] by itself. The weights were chosen on the questions in `tests/recall`, whose labels are older.

use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
};

use callosum_search::{Model, Query};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    search::SessionSearch,
    turn_id::session_of,
    vectors::{self, Rarity, VectorCache},
};

/// Weights of the methods: words of a turn, words of a session, parts of words, meaning.
pub(crate) const WEIGHTS: [f64; 4] = [1.0, 1.0, 0.8, 1.5];

/// Constant that sets how slowly the weight of a rank falls.
pub(crate) const RANK_CONSTANT: f64 = 10.0;

/// Turns that a method ranks.
const MOST_TURNS: usize = 400;

/// Share that each further turn of a session adds to its best one.
const NEXT_TURN: f64 = 0.4;

/// The same for meaning, by which a session is about a subject if several of its turns are.
const NEXT_ALIKE: f64 = 0.6;

/// Constant that sets how soon further turns with a word count no more (Robertson's k1).
const SATURATION: f64 = 1.2;

/// A word in more turns than this share of all says nothing, if another word is in fewer.
const COMMON: f64 = 0.05;

/// A word in at most so many turns is never common.
const FEW: usize = 200;

/// Fewest characters of a part of a word that is looked for.
const SHORTEST_PART: usize = 3;

/// Fewest characters of a plain word that is also looked for as a part of others.
const SHORTEST_WORD: usize = 4;

/// A plain word that at most so many turns have is also looked for as a part of others.
const RARE: usize = 2;

/// Trigrams of a text that are looked up; the text itself is compared after that.
const MOST_TRIGRAMS: usize = 12;

/// A list of a method, the best first.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// Turns with their weights, to choose those that are shown.
    pub(crate) turns: Vec<(i64, f64)>,
    /// Sessions.
    pub(crate) sessions: Vec<i64>,
}

impl Ranked {
    /// The list of a method that is not used.
    pub(crate) const EMPTY: Self = Self {
        turns: Vec::new(),
        sessions: Vec::new(),
    };

    /// Ranks sessions by their best turns. Each further turn counts less by `share`.
    fn of_turns(mut turns: Vec<(i64, f64)>, share: f64) -> Self {
        if turns.len() > MOST_TURNS {
            turns.select_nth_unstable_by(MOST_TURNS, order);
            turns.truncate(MOST_TURNS);
        }
        sort(&mut turns);
        let mut sums: HashMap<i64, (f64, f64)> = HashMap::new();
        for (turn, weight) in &turns {
            let (sum, next) = sums.entry(session_of(*turn)).or_insert((0.0, 1.0));
            *sum += weight * *next;
            *next *= share;
        }
        let sums = sums.into_iter().map(|(session, (sum, _))| (session, sum));
        let sessions = best(sums.collect());
        Self { turns, sessions }
    }
}

/// Orders by weight, the highest first, and newer sessions before older ones of the same weight.
fn order(a: &(i64, f64), b: &(i64, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(b.0.cmp(&a.0))
}

/// Sorts in that order.
pub(crate) fn sort(items: &mut [(i64, f64)]) {
    items.sort_by(order);
}

/// Returns the items in that order.
pub(crate) fn best(mut items: Vec<(i64, f64)>) -> Vec<i64> {
    sort(&mut items);
    items.into_iter().map(|(item, _)| item).collect()
}

/// The turns that a search is limited to.
pub(crate) struct Limits {
    /// The sessions; `None` if all.
    sessions: Option<HashSet<i64>>,
    /// The earliest time, in milliseconds since 1970.
    since: Option<i64>,
}

impl Limits {
    /// No limits.
    pub(crate) const NONE: Self = Self {
        sessions: None,
        since: None,
    };

    /// Finds the sessions of a search's folders, origin and time.
    pub(crate) fn of(connection: &Connection, search: &SessionSearch) -> rusqlite::Result<Self> {
        let since = search.since.map(Timestamp::as_millisecond);
        if search.folders.is_none() && search.origin.is_none() && since.is_none() {
            let sessions = None;
            return Ok(Self { sessions, since });
        }
        let sql = "SELECT id, client, folder, last FROM session";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut sessions = HashSet::new();
        while let Some(row) = rows.next()? {
            let client = row.get_ref(1)?.as_str()?;
            let folder = row.get_ref(2)?.as_str_or_null()?;
            let last: Option<i64> = row.get(3)?;
            let is_of_origin = search.origin.is_none_or(|wanted| wanted.name() == client);
            let is_in_folders = search.folders.as_ref().is_none_or(|folders| {
                folder.is_some_and(|folder| {
                    let is_in = |outer: &PathBuf| Path::new(folder).starts_with(outer);
                    folders.iter().any(is_in)
                })
            });
            let is_recent = since.is_none_or(|since| last.is_some_and(|last| last >= since));
            if is_of_origin && is_in_folders && is_recent {
                sessions.insert(row.get(0)?);
            }
        }
        let sessions = Some(sessions);
        Ok(Self { sessions, since })
    }

    pub(crate) fn session(&self, session: i64) -> bool {
        let mut sessions = self.sessions.iter();
        sessions.all(|sessions| sessions.contains(&session))
    }

    /// Whether a turn is recent enough; `false` for one that is gone.
    fn turn(&self, connection: &Connection, turn: i64) -> rusqlite::Result<bool> {
        let Some(since) = self.since else {
            return Ok(true);
        };
        let mut statement = connection.prepare_cached("SELECT at FROM turn WHERE id = ?1")?;
        let at = statement.query_row([turn], |row| row.get::<_, Option<i64>>(0));
        Ok(at.optional()?.flatten().is_some_and(|at| at >= since))
    }
}

/// The words of a question, each with the turns that have it, in the order of their numbers.
pub(crate) type Occurrences<'q> = Vec<(&'q str, Vec<i64>)>;

/// Returns the turns that have each word of the question. Words that most turns have are left out, if there are others.
pub(crate) fn occurrences<'q>(
    connection: &Connection,
    question: &'q Query,
    limits: &Limits,
) -> rusqlite::Result<Occurrences<'q>> {
    let all = count(connection, TURNS)?;
    let most = ((all as f64 * COMMON) as usize).max(FEW);
    let words = question.words();
    let mut found = Vec::with_capacity(words.len());
    for word in &words {
        let turns = matching(connection, "words", &quoted(word), limits, most + 1)?;
        if turns.len() <= most {
            found.push((*word, turns));
        }
    }
    if found.iter().any(|(_, turns)| !turns.is_empty()) {
        return Ok(found);
    }
    let of = |word| {
        Ok((
            word,
            matching(connection, "words", &quoted(word), limits, usize::MAX)?,
        ))
    };
    words.into_iter().map(of).collect()
}

/// Counts all turns that ever were, from the few rows of sessions.
pub(crate) const TURNS: &str = "SELECT coalesce(sum(next), 0) FROM session";

/// Counts all sessions.
const SESSIONS: &str = "SELECT count(*) FROM session";

pub(crate) fn count(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
}

/// Returns a term of a full-text query.
pub(crate) fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// Returns the turns that match in an index, at most `most`.
fn matching(
    connection: &Connection,
    index: &str,
    query: &str,
    limits: &Limits,
    most: usize,
) -> rusqlite::Result<Vec<i64>> {
    let sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([query])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let turn: i64 = row.get(0)?;
        if limits.session(session_of(turn)) && limits.turn(connection, turn)? {
            found.push(turn);
        }
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

/// Ranks by words: turns by the rarity of those that they have, and sessions by all that their turns have.
pub(crate) fn by_words(
    connection: &Connection,
    of: &[(&str, Vec<i64>)],
) -> rusqlite::Result<[Ranked; 2]> {
    let all_turns = count(connection, TURNS)? as f64;
    let all_sessions = count(connection, SESSIONS)? as f64;
    let mut weights: Vec<(i64, f64)> = Vec::new();
    let mut sums: Vec<(i64, f64)> = Vec::new();
    for (_, turns) in of {
        let weight = rarity(all_turns, turns.len());
        weights.extend(turns.iter().map(|turn| (*turn, weight)));
        // Turns of a session are in a row.
        let of_sessions = turns.chunk_by(|one, other| session_of(*one) == session_of(*other));
        let of_sessions: Vec<(i64, f64)> = of_sessions
            .map(|turns| (session_of(turns[0]), turns.len() as f64))
            .collect();
        let weight = rarity(all_sessions, of_sessions.len());
        sums.extend(of_sessions.into_iter().map(|(session, turns)| {
            let share = turns * (SATURATION + 1.0) / (turns + SATURATION);
            (session, weight * share)
        }));
    }
    let (weights, sums) = (added_up(weights), added_up(sums));
    let turns = Ranked::of_turns(weights, NEXT_TURN);
    let sessions = Ranked {
        turns: Vec::new(),
        sessions: best(sums),
    };
    Ok([turns, sessions])
}

/// Adds up the weights of each item.
fn added_up(mut items: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    // A few sorted runs, which this sort merges.
    items.sort_by_key(|(item, _)| *item);
    items.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    items
}

/// Returns the weight of a word: higher the fewer have it.
pub(crate) fn rarity(all: f64, have: usize) -> f64 {
    let have = have as f64;
    (1.0 + (all - have + 0.5).max(0.5) / (have + 0.5)).ln()
}

/// Returns turns that contain a text in lower case, those of newer sessions first, at most [`MOST_TURNS`].
pub(crate) fn containing(
    connection: &Connection,
    part: &str,
    limits: &Limits,
) -> rusqlite::Result<Vec<i64>> {
    let chars: Vec<char> = part.chars().collect();
    let trigrams: Vec<String> = chars
        .windows(3)
        .take(MOST_TRIGRAMS)
        .map(|three| quoted(&three.iter().collect::<String>()))
        .collect();
    if trigrams.is_empty() {
        return Ok(Vec::new());
    }
    let found = matching(
        connection,
        "trigrams",
        &trigrams.join(" AND "),
        limits,
        usize::MAX,
    )?;
    let mut text = connection.prepare_cached("SELECT text FROM turn WHERE id = ?1")?;
    let mut kept = Vec::new();
    for turn in found.into_iter().rev().take(MOST_TURNS) {
        let has = text.query_row([turn], |row| {
            let text = row.get_ref(0)?.as_str()?;
            Ok(text.to_lowercase().contains(part))
        });
        if has.optional()? == Some(true) {
            kept.push(turn);
        }
    }
    Ok(kept)
}

/// Ranks turns by texts of the question that they contain anywhere.
pub(crate) fn by_parts(
    connection: &Connection,
    parts: &BTreeSet<String>,
    limits: &Limits,
) -> rusqlite::Result<Ranked> {
    let mut weights: HashMap<i64, f64> = HashMap::new();
    for part in parts {
        let kept = containing(connection, part, limits)?;
        // A text that few turns contain says more.
        let weight = part.chars().count() as f64 / (1.0 + kept.len() as f64).ln().max(0.7);
        for turn in kept {
            *weights.entry(turn).or_default() += weight;
        }
    }
    Ok(Ranked::of_turns(weights.into_iter().collect(), NEXT_TURN))
}

/// Returns the texts of a question that are looked for as they are, in lower case: texts in quotes, words that are no plain
/// words, and plain words that hardly a turn has.
pub(crate) fn parts(question: &Query, of: &[(&str, Vec<i64>)]) -> BTreeSet<String> {
    let quoted = question
        .phrases
        .iter()
        .map(|phrase| phrase.text().to_owned());
    let is_end = |c: char| !c.is_alphanumeric() && !"_/-$#".contains(c);
    let trimmed = question
        .typed
        .split_whitespace()
        .map(|word| word.trim_matches(is_end));
    let is_name = |word: &&str| {
        let mut rest = word.chars().skip(1);
        rest.any(|c| !c.is_alphabetic() || c.is_uppercase())
    };
    let rare = of
        .iter()
        .filter(|(word, turns)| turns.len() <= RARE && word.chars().count() >= SHORTEST_WORD)
        .map(|(word, _)| (*word).to_owned());
    quoted
        .chain(trimmed.filter(is_name).map(str::to_owned))
        .chain(rare)
        .map(|part| part.to_lowercase())
        .filter(|part| part.chars().count() >= SHORTEST_PART)
        .collect()
}

/// Ranks turns by the similarity of their vectors to the question's.
pub(crate) fn by_meaning(
    connection: &Connection,
    (model, cache): (&Model, Option<&mut VectorCache>),
    question: &Query,
    limits: &Limits,
) -> rusqlite::Result<Ranked> {
    let mut rarity = Rarity::read(connection)?;
    let words: BTreeSet<&str> = question.simple_words().collect();
    let mut weighted = Vec::with_capacity(words.len());
    for word in words {
        weighted.push((word, rarity.weight(connection, word)?));
    }
    let vector = model.weighted_direction(weighted.into_iter(), &mut HashMap::new());
    let mut turns = Vec::new();
    for (turn, cosine) in vectors::nearest(connection, cache, &vector, limits.sessions.as_ref())? {
        if limits.turn(connection, turn)? {
            turns.push((turn, cosine));
        }
    }
    Ok(Ranked::of_turns(turns, NEXT_ALIKE))
}
