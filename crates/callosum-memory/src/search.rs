//! [`Memory::search`]: the sessions that answer a question, the best first.
//!
//! Three methods rank turns, each by itself: words, parts of words, and meaning. A session has the rank of its best turns by
//! each method, and the ranks are fused.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use callosum_search::Query;
use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    client::Client,
    memory::{Memory, MemoryError},
    turn::Speaker,
    vectors,
};

/// Turns that a method ranks.
const MOST_TURNS: usize = 400;

/// Turns of a session that are shown.
const SHOWN: usize = 3;

/// Lowest similarity of a turn to a question about the same subject.
const ALIKE: f32 = 0.35;

/// Constant that sets how slowly the weight of a rank falls.
const RANK_CONSTANT: f64 = 10.0;

/// Share that each further turn of a session adds to its best one.
const NEXT_TURN: f64 = 0.4;

/// Fewest characters of a part of a word that is looked for.
const SHORTEST_PART: usize = 3;

/// Trigrams of a text that are looked up; the text itself is compared after that.
const MOST_TRIGRAMS: usize = 12;

/// Ranking methods of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankBy {
    /// All of them, fused.
    All,
    /// Words and parts of words only.
    Words,
    /// Meaning only.
    Meaning,
}

/// A search in past sessions.
#[derive(Clone, Debug)]
pub struct SessionSearch {
    /// The question. Sessions must contain its texts in double quotes.
    pub question: Query,
    /// Only sessions in this folder, those inside it, and those around it that are in the same project.
    pub folders: Option<Vec<PathBuf>>,
    /// Only turns since then.
    pub since: Option<Timestamp>,
    /// Only sessions of this client.
    pub client: Option<Client>,
    /// The methods.
    pub by: RankBy,
    /// Most sessions.
    pub limit: usize,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHit {
    /// Its client.
    pub client: Client,
    /// Its id, as the client takes it.
    pub session: String,
    /// The folder that it ran in, if it is known.
    pub folder: Option<String>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The time of its first turn.
    pub first: Option<Timestamp>,
    /// The time of its last turn.
    pub last: Option<Timestamp>,
    /// From 0 to 1: the share of the highest possible rank.
    pub score: f64,
    /// Its best turns, the best first.
    pub turns: Vec<TurnHit>,
}

/// A turn that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnHit {
    /// Its number in the index.
    pub id: i64,
    /// Its origin.
    pub speaker: Speaker,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its text.
    pub text: String,
}

/// Turns as a method ranks them: id, session and weight, the best first.
type Ranked = Vec<(i64, i64, f64)>;

impl Memory {
    /// Returns the sessions that answer a question, the best first.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn search(&self, search: &SessionSearch) -> Result<Vec<SessionHit>, MemoryError> {
        let vector = match (&self.model, search.by) {
            (None, _) | (_, RankBy::Words) => Vec::new(),
            (Some(model), RankBy::All | RankBy::Meaning) => {
                model.direction(search.question.simple_words(), &mut HashMap::new())
            }
        };
        self.tell(|connection| {
            let allowed = allowed(connection, search)?;
            let allowed = allowed.as_ref();
            let mut lists: Vec<(f64, Ranked)> = Vec::new();
            if search.by != RankBy::Meaning {
                lists.push((1.0, by_words(connection, search, allowed)?));
                lists.push((0.8, by_parts(connection, search, allowed)?));
            }
            if !vector.is_empty() {
                lists.push((0.8, by_meaning(connection, search, &vector, allowed)?));
            }
            let mut best = fuse(&lists);
            let phrases: Vec<String> = search
                .question
                .phrases
                .iter()
                .map(|phrase| phrase.text().to_lowercase())
                .collect();
            let mut hits = Vec::new();
            best.retain(|one| one.score > 0.0);
            for one in best {
                if hits.len() == search.limit {
                    break;
                }
                let hit = read_hit(connection, &one)?;
                let has = |phrase: &String| {
                    hit.turns
                        .iter()
                        .any(|turn| turn.text.to_lowercase().contains(phrase))
                };
                if phrases.iter().all(has) {
                    hits.push(hit);
                }
            }
            Ok(hits)
        })
    }
}

/// The sessions that a search is limited to; `None` if to none.
fn allowed(
    connection: &Connection,
    search: &SessionSearch,
) -> rusqlite::Result<Option<HashSet<i64>>> {
    if search.folders.is_none() && search.client.is_none() && search.since.is_none() {
        return Ok(None);
    }
    let mut statement =
        connection.prepare_cached("SELECT id, client, folder, last FROM session")?;
    let mut rows = statement.query([])?;
    let mut allowed = HashSet::new();
    let since = search.since.map(Timestamp::as_millisecond);
    while let Some(row) = rows.next()? {
        let client = row.get_ref(1)?.as_str()?;
        let folder = row.get_ref(2)?.as_str_or_null()?;
        let last: Option<i64> = row.get(3)?;
        let is_of_client = search.client.is_none_or(|wanted| wanted.name() == client);
        let is_in_folders = search.folders.as_ref().is_none_or(|folders| {
            folder.is_some_and(|folder| {
                folders
                    .iter()
                    .any(|outer| Path::new(folder).starts_with(outer))
            })
        });
        let is_recent = since.is_none_or(|since| last.is_some_and(|last| last >= since));
        if is_of_client && is_in_folders && is_recent {
            allowed.insert(row.get(0)?);
        }
    }
    Ok(Some(allowed))
}

/// Reads ranked rows of a turn's id, session, time and weight, as far as they are allowed.
fn ranked(
    connection: &Connection,
    sql: &str,
    matching: &str,
    search: &SessionSearch,
    allowed: Option<&HashSet<i64>>,
) -> rusqlite::Result<Ranked> {
    let since = search.since.map(Timestamp::as_millisecond);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([matching])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, session, at, weight): (i64, i64, Option<i64>, f64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let is_allowed = allowed.is_none_or(|allowed| allowed.contains(&session));
        let is_recent = since.is_none_or(|since| at.is_some_and(|at| at >= since));
        if is_allowed && is_recent {
            found.push((id, session, weight));
            if found.len() == MOST_TURNS {
                break;
            }
        }
    }
    Ok(found)
}

/// Ranks turns by the words of the question.
fn by_words(
    connection: &Connection,
    search: &SessionSearch,
    allowed: Option<&HashSet<i64>>,
) -> rusqlite::Result<Ranked> {
    let words = search.question.words();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let matching: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let sql = "SELECT turn.id, turn.session, turn.at, -words.rank FROM words JOIN turn ON turn.id = words.rowid
         WHERE words MATCH ?1 ORDER BY words.rank";
    ranked(connection, sql, &matching.join(" OR "), search, allowed)
}

/// Ranks turns by texts of the question that they contain anywhere: names, paths, numbers, and texts in quotes.
fn by_parts(
    connection: &Connection,
    search: &SessionSearch,
    allowed: Option<&HashSet<i64>>,
) -> rusqlite::Result<Ranked> {
    let mut weights: BTreeMap<i64, (i64, f64)> = BTreeMap::new();
    for part in parts(&search.question) {
        let chars: Vec<char> = part.chars().collect();
        let trigrams: Vec<String> = chars
            .windows(3)
            .take(MOST_TRIGRAMS)
            .map(|three| {
                format!(
                    "\"{}\"",
                    three.iter().collect::<String>().replace('"', "\"\"")
                )
            })
            .collect();
        if trigrams.is_empty() {
            continue;
        }
        let sql = "SELECT turn.id, turn.session, turn.at, 1.0 FROM trigrams JOIN turn ON turn.id = trigrams.rowid
             WHERE trigrams MATCH ?1 ORDER BY turn.id DESC";
        let mut found = ranked(connection, sql, &trigrams.join(" AND "), search, allowed)?;
        let mut text = connection.prepare_cached("SELECT text FROM turn WHERE id = ?1")?;
        let mut contains = |id: i64| -> rusqlite::Result<bool> {
            text.query_row([id], |row| {
                Ok(row.get_ref(0)?.as_str()?.to_lowercase().contains(&part))
            })
        };
        let mut kept = Vec::new();
        for (id, session, _) in found.drain(..) {
            if contains(id)? {
                kept.push((id, session));
            }
        }
        // A text that few turns contain says more.
        let weight = chars.len() as f64 / (1.0 + kept.len() as f64).ln().max(0.7);
        for (id, session) in kept {
            weights.entry(id).or_insert((session, 0.0)).1 += weight;
        }
    }
    let mut all: Ranked = weights
        .into_iter()
        .map(|(id, (session, weight))| (id, session, weight))
        .collect();
    all.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.0.cmp(&a.0)));
    Ok(all)
}

/// Returns the texts of a question that are looked for as they are, in lower case: texts in quotes, and words that are no
/// plain words.
fn parts(question: &Query) -> Vec<String> {
    let quoted = question
        .phrases
        .iter()
        .map(|phrase| phrase.text().to_owned());
    let trimmed = question
        .typed
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"_/-$#".contains(c)));
    let names = trimmed.filter(|word| {
        word.chars()
            .skip(1)
            .any(|c| !c.is_alphabetic() || c.is_uppercase())
            || word.len() >= 24
    });
    let mut all: Vec<String> = quoted
        .chain(names.map(str::to_owned))
        .map(|part| part.to_lowercase())
        .filter(|part| part.chars().count() >= SHORTEST_PART)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Ranks turns by the similarity of their vectors to the question's.
fn by_meaning(
    connection: &Connection,
    search: &SessionSearch,
    vector: &[u8],
    allowed: Option<&HashSet<i64>>,
) -> rusqlite::Result<Ranked> {
    let most = match allowed {
        Some(_) => MOST_TURNS * 10,
        None => MOST_TURNS,
    };
    let since = search.since.map(Timestamp::as_millisecond);
    let mut of = connection.prepare_cached("SELECT session, at FROM turn WHERE id = ?1")?;
    let mut found = Vec::new();
    for (id, cosine) in vectors::nearest(connection, vector, ALIKE, most)? {
        let (session, at): (i64, Option<i64>) =
            of.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let is_allowed = allowed.is_none_or(|allowed| allowed.contains(&session));
        let is_recent = since.is_none_or(|since| at.is_some_and(|at| at >= since));
        if is_allowed && is_recent && found.len() < MOST_TURNS {
            found.push((id, session, f64::from(cosine)));
        }
    }
    Ok(found)
}

/// A session with its fused score and its best turns.
struct Fused {
    session: i64,
    score: f64,
    turns: Vec<i64>,
}

/// Fuses the lists of the methods.
fn fuse(lists: &[(f64, Ranked)]) -> Vec<Fused> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let mut turns: HashMap<i64, Vec<(f64, i64)>> = HashMap::new();
    let highest: f64 = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(weight, _)| weight / (RANK_CONSTANT + 1.0))
        .sum();
    for (weight, list) in lists {
        let mut sessions: HashMap<i64, (f64, f64)> = HashMap::new();
        for (rank, (id, session, worth)) in list.iter().enumerate() {
            // Each further turn of a session counts less.
            let (sum, share) = sessions.entry(*session).or_insert((0.0, 1.0));
            *sum += worth * *share;
            *share *= NEXT_TURN;
            turns
                .entry(*session)
                .or_default()
                .push((weight / (RANK_CONSTANT + rank as f64 + 1.0), *id));
        }
        let mut ranked: Vec<(i64, f64)> = sessions
            .into_iter()
            .map(|(session, (sum, _))| (session, sum))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        for (rank, (session, _)) in ranked.iter().enumerate() {
            *scores.entry(*session).or_default() += weight / (RANK_CONSTANT + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<Fused> = scores
        .into_iter()
        .map(|(session, score)| {
            let mut weights: HashMap<i64, f64> = HashMap::new();
            for (weight, id) in turns.remove(&session).unwrap_or_default() {
                *weights.entry(id).or_default() += weight;
            }
            let mut best: Vec<(i64, f64)> = weights.into_iter().collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            Fused {
                session,
                score: score / highest,
                turns: best.into_iter().take(SHOWN).map(|(id, _)| id).collect(),
            }
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.session.cmp(&a.session)));
    fused
}

fn read_hit(connection: &Connection, one: &Fused) -> rusqlite::Result<SessionHit> {
    let sql = "SELECT client, name, folder, title, first, last FROM session WHERE id = ?1";
    let time = |milliseconds: Option<i64>| Timestamp::from_millisecond(milliseconds?).ok();
    let mut hit = connection
        .prepare_cached(sql)?
        .query_row([one.session], |row| {
            let client: String = row.get(0)?;
            Ok(SessionHit {
                client: Client::of(&client).unwrap_or(Client::ClaudeCode),
                session: row.get(1)?,
                folder: row.get(2)?,
                title: row.get(3)?,
                first: time(row.get(4)?),
                last: time(row.get(5)?),
                score: one.score,
                turns: Vec::new(),
            })
        })?;
    let mut turn = connection.prepare_cached("SELECT speaker, at, text FROM turn WHERE id = ?1")?;
    for id in &one.turns {
        hit.turns.push(turn.query_row([id], |row| {
            Ok(TurnHit {
                id: *id,
                speaker: Speaker::of_number(row.get(0)?),
                at: time(row.get(1)?),
                text: row.get(2)?,
            })
        })?);
    }
    Ok(hit)
}
