//! [`Memory::search`]: the sessions that answer a question, the best first.
//!
//! Three methods rank turns, each by itself: words, parts of words, and meaning. A session has the rank of its best turns by
//! each method, and the ranks are fused.

use std::{collections::HashMap, path::PathBuf};

use callosum_search::Query;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    client::Client,
    memory::{Memory, MemoryError},
    origin::Origin,
    rank::{
        Limits, RANK_CONSTANT, Ranked, WEIGHTS, best, by_meaning, by_parts, by_words, occurrences,
        parts, sort,
    },
    turn::Speaker,
    turn_id::{range, session_of},
};

/// Turns of a session that are shown.
const SHOWN: usize = 3;

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
    /// Only sessions of this origin.
    pub origin: Option<Origin>,
    /// The methods.
    pub by: RankBy,
    /// Most sessions.
    pub limit: usize,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHit {
    /// Its origin.
    pub origin: Origin,
    /// Its id, as the client takes it; of a record the record's.
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

impl SessionSearch {
    /// Returns a search for a question in all sessions, by all methods.
    pub fn of(question: Query) -> Self {
        Self {
            question,
            folders: None,
            since: None,
            origin: None,
            by: RankBy::All,
            limit: 10,
        }
    }
}

impl Memory {
    /// Returns the sessions that answer a question, the best first.
    ///
    /// Costs a look-up per word, and a pass over all vectors if there is a model.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn search(&self, search: &SessionSearch) -> Result<Vec<SessionHit>, MemoryError> {
        self.read(|connection| {
            let limits = Limits::of(connection, search)?;
            let mut lists = [const { Ranked::EMPTY }; 4];
            if search.by != RankBy::Meaning {
                let of = occurrences(connection, &search.question, &limits)?;
                let [turns, sessions] = by_words(connection, &of)?;
                let parts = by_parts(connection, &parts(&search.question, &of), &limits)?;
                lists[..3].swap_with_slice(&mut [turns, sessions, parts]);
            }
            if let Some(model) = &self.model
                && search.by != RankBy::Words
            {
                let mut cache = self.cache.borrow_mut();
                let model = (model, cache.as_mut());
                lists[3] = by_meaning(connection, model, &search.question, &limits)?;
            }
            let phrases = search.question.phrases.iter();
            let phrases: Vec<String> = phrases.map(|phrase| phrase.text().to_lowercase()).collect();
            let mut hits = Vec::new();
            for one in fuse(&lists) {
                if hits.len() == search.limit {
                    break;
                }
                let hit = read_hit(connection, &one)?;
                let has = |phrase: &String| {
                    let mut turns = hit.turns.iter();
                    turns.any(|turn| turn.text.to_lowercase().contains(phrase))
                };
                if !hit.turns.is_empty() && phrases.iter().all(has) {
                    hits.push(hit);
                }
            }
            Ok(hits)
        })
    }
}

/// A session with its fused score and its best turns.
struct Fused {
    session: i64,
    score: f64,
    turns: Vec<i64>,
}

/// Fuses the lists of the methods by reciprocal ranks.
fn fuse(lists: &[Ranked; 4]) -> Vec<Fused> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let mut turns: HashMap<i64, HashMap<i64, f64>> = HashMap::new();
    let mut highest = 0.0;
    let worth = |weight: f64, rank: usize| weight / (RANK_CONSTANT + rank as f64 + 1.0);
    for (list, weight) in lists.iter().zip(WEIGHTS) {
        if !list.sessions.is_empty() {
            highest += worth(weight, 0);
        }
        for (rank, session) in list.sessions.iter().enumerate() {
            *scores.entry(*session).or_default() += worth(weight, rank);
        }
        for (rank, (turn, _)) in list.turns.iter().enumerate() {
            let of_session = turns.entry(session_of(*turn)).or_default();
            *of_session.entry(*turn).or_default() += worth(weight, rank);
        }
    }
    let scores = scores
        .into_iter()
        .map(|(session, score)| (session, score / highest));
    let mut scores: Vec<(i64, f64)> = scores.collect();
    sort(&mut scores);
    let fused = scores.into_iter().map(|(session, score)| {
        let of_session = turns.remove(&session).unwrap_or_default();
        let mut best = best(of_session.into_iter().collect());
        best.truncate(SHOWN);
        Fused {
            session,
            score,
            turns: best,
        }
    });
    fused.collect()
}

fn read_hit(connection: &Connection, one: &Fused) -> rusqlite::Result<SessionHit> {
    let sql = "SELECT client, name, folder, title, first, last FROM session WHERE id = ?1";
    let time = |milliseconds: Option<i64>| Timestamp::from_millisecond(milliseconds?).ok();
    let mut hit = connection
        .prepare_cached(sql)?
        .query_row([one.session], |row| {
            let client: String = row.get(0)?;
            Ok(SessionHit {
                origin: Origin::of(&client).unwrap_or(Origin::Client(Client::ClaudeCode)),
                session: row.get(1)?,
                folder: row.get(2)?,
                title: row.get(3)?,
                first: time(row.get(4)?),
                last: time(row.get(5)?),
                score: one.score,
                turns: Vec::new(),
            })
        })?;
    let mut turns = one.turns.clone();
    if let Some(first) = turns.first().copied()
        && let Some(answer) = answer(connection, first)?
        && !turns.contains(&answer)
    {
        turns.insert(1, answer);
        turns.truncate(SHOWN);
    }
    let mut turn = connection.prepare_cached("SELECT speaker, at, text FROM turn WHERE id = ?1")?;
    for id in &turns {
        let found = turn.query_row([id], |row| {
            Ok(TurnHit {
                id: *id,
                speaker: Speaker::of_number(row.get(0)?),
                at: time(row.get(1)?),
                text: row.get(2)?,
            })
        });
        // The vector of a turn that is gone may still be there.
        hit.turns.extend(found.optional()?);
    }
    Ok(hit)
}

/// Returns the model's answer to a turn of the user; `None` if the turn is of another speaker, or there is no answer.
fn answer(connection: &Connection, turn: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT next.id FROM turn JOIN turn AS next ON next.id BETWEEN turn.id + 1 AND ?2
         WHERE turn.id = ?1 AND turn.speaker = ?3 AND next.speaker = ?4 ORDER BY next.id LIMIT 1";
    let (_, last) = range(session_of(turn));
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(
        [turn, last, Speaker::User.number(), Speaker::Agent.number()],
        |row| row.get(0),
    );
    found.optional()
}
