//! Vectors of turns: a number of eight bits per dimension, in one block per session.
//!
//! A word counts by its rarity among the turns of the index: without that, the common words of a turn are all that its vector
//! shows. So vectors are computed at the end of an update, once its words are counted. A block has a vector for each number
//! of a turn in its session, and zeros for one that is gone. Behind a vector is the inverse of its length, so that a search
//! multiplies once.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use callosum_search::{Model, simple_words};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::turn_id::{in_session, range, session_of};

/// Turns whose vectors are compared further.
const MOST_TURNS: usize = 400;

/// Lowest similarity that counts.
const LEAST: f32 = 0.15;

/// Bytes of the inverse length behind a vector.
const LENGTH: usize = size_of::<f32>();

/// Most numbers of a vector that are stored. Models order them by what they contribute, by Matryoshka training or principal
/// components: the second half of WordLlama's 256 answers three more of the labeled questions by meaning alone, and none
/// more together with words.
const WIDTH: usize = 128;

/// Products that are added up side by side.
const LANES: usize = 32;

/// Words whose vectors are kept from one text to the next.
const MOST_WORDS: usize = 50_000;

/// Computes the vectors of turns that have none, and counts their words.
pub(crate) fn complete(connection: &Connection, model: &Model) -> rusqlite::Result<()> {
    let missing: Vec<(i64, i64)> = {
        let sql = "SELECT session.id, coalesce(vectors.turns, 0) FROM session LEFT JOIN vectors ON vectors.session = session.id
             WHERE session.next > coalesce(vectors.turns, 0)";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let mut rarity = Rarity::read(connection)?;
    for (session, from) in &missing {
        each_text(connection, *session, *from, &mut |_, text| {
            rarity.count(text);
            Ok(())
        })?;
    }
    rarity.write(connection)?;
    let mut seen = HashMap::new();
    for (session, from) in missing {
        let width = model.width().min(WIDTH);
        let slot_len = width + LENGTH;
        let next: i64 = connection
            .prepare_cached("SELECT next FROM session WHERE id = ?1")?
            .query_row([session], |row| row.get(0))?;
        let mut numbers: Vec<u8> = connection
            .prepare_cached("SELECT numbers FROM vectors WHERE session = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?
            .unwrap_or_default();
        numbers.resize(usize::try_from(from).unwrap_or(0) * slot_len, 0);
        numbers.resize(usize::try_from(next).unwrap_or(0) * slot_len, 0);
        each_text(connection, session, from, &mut |turn, text| {
            let words: BTreeSet<String> = simple_words(text).collect();
            let mut weighted = Vec::with_capacity(words.len());
            for word in &words {
                weighted.push((word.as_str(), rarity.weight(connection, word)?));
            }
            if seen.len() > MOST_WORDS {
                seen.clear();
            }
            let mut vector = model.weighted_direction(weighted.into_iter(), &mut seen);
            vector.truncate(WIDTH);
            let begin = usize::try_from(in_session(turn)).unwrap_or(0) * slot_len;
            if let Some(slot) = numbers.get_mut(begin..begin + slot_len)
                && vector.len() == width
            {
                let (of_vector, of_length) = slot.split_at_mut(width);
                of_vector.copy_from_slice(&vector);
                let inverse = 1.0 / norm(&vector).max(1.0);
                of_length.copy_from_slice(&inverse.to_le_bytes());
            }
            Ok(())
        })?;
        let sql = "INSERT OR REPLACE INTO vectors(session, turns, numbers) VALUES(?1, ?2, ?3)";
        connection
            .prepare_cached(sql)?
            .execute(params![session, next, numbers])?;
    }
    Ok(())
}

/// Calls `each` with the id and the text of each turn of a session, from a number on.
fn each_text(
    connection: &Connection,
    session: i64,
    from: i64,
    each: &mut dyn FnMut(i64, &str) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let (first, last) = range(session);
    let sql = "SELECT id, text FROM turn WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([first + from, last])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, row.get_ref(1)?.as_str()?)?;
    }
    Ok(())
}

/// Has the vector of a turn computed again, and those after it, since its text changed.
pub(crate) fn outdate(connection: &Connection, turn: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE vectors SET turns = min(turns, ?2) WHERE session = ?1";
    connection
        .prepare_cached(sql)?
        .execute([session_of(turn), in_session(turn)])?;
    Ok(())
}

/// Numbers of turns that words are in.
pub(crate) struct Rarity {
    /// Turns that were counted.
    turns: i64,
    known: HashMap<String, i64>,
    new: HashMap<String, i64>,
}

impl Rarity {
    /// Reads the number of turns; of words as they are asked for.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let turns = connection
            .query_row("SELECT turns FROM counted", [], |row| row.get(0))
            .optional()?;
        Ok(Self {
            turns: turns.unwrap_or(0),
            known: HashMap::new(),
            new: HashMap::new(),
        })
    }

    fn count(&mut self, text: &str) {
        self.turns += 1;
        for word in simple_words(text).collect::<HashSet<_>>() {
            *self.new.entry(word).or_default() += 1;
        }
    }

    fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO rarity(word, turns) VALUES(?1, ?2) ON CONFLICT(word) DO UPDATE SET turns = turns + ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut new: Vec<(String, i64)> = self.new.drain().collect();
        // In the order of the table, whose pages are then written once.
        new.sort_unstable();
        for (word, count) in new {
            statement.execute(params![word, count])?;
        }
        connection.execute("DELETE FROM counted", [])?;
        connection.execute("INSERT INTO counted(turns) VALUES(?1)", [self.turns])?;
        Ok(())
    }

    /// Returns the weight of a word: higher the fewer turns have it.
    pub(crate) fn weight(&mut self, connection: &Connection, word: &str) -> rusqlite::Result<f32> {
        let count = if let Some(count) = self.known.get(word) {
            *count
        } else {
            let sql = "SELECT turns FROM rarity WHERE word = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let count = statement.query_row([word], |row| row.get(0)).optional()?;
            let count = count.unwrap_or(0);
            self.known.insert(word.to_owned(), count);
            count
        };
        Ok(((self.turns as f32 + 1.0) / (count as f32 + 0.5))
            .ln()
            .max(0.1))
    }
}

/// All vectors in memory, for a process that answers many queries: 30 MB for 112,000 turns.
#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    /// The state of the index that they are of.
    version: Option<i64>,
    /// Sessions, each with the range of its bytes.
    sessions: Vec<(i64, Range<usize>)>,
    numbers: Vec<u8>,
}

impl VectorCache {
    /// Reads the vectors again if the index has changed.
    fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        // Changes with each commit of another connection.
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.version == Some(version) {
            return Ok(());
        }
        self.version = None;
        self.sessions.clear();
        self.numbers.clear();
        each_block(connection, &mut |session, block| {
            let begin = self.numbers.len();
            self.numbers.extend_from_slice(block);
            self.sessions.push((session, begin..self.numbers.len()));
        })?;
        self.version = Some(version);
        Ok(())
    }
}

fn each_block(connection: &Connection, each: &mut dyn FnMut(i64, &[u8])) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT session, numbers FROM vectors")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, row.get_ref(1)?.as_blob()?);
    }
    Ok(())
}

/// Returns the turns whose vectors are most similar to this one, with their cosine, the best first.
///
/// `allowed` limits the sessions. Costs a pass over all vectors, which are read from the index if there is no cache.
pub(crate) fn nearest(
    connection: &Connection,
    cache: Option<&mut VectorCache>,
    vector: &[u8],
    allowed: Option<&HashSet<i64>>,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let vector = &vector[..vector.len().min(WIDTH)];
    let length = norm(vector);
    if length == 0.0 {
        return Ok(Vec::new());
    }
    let wanted: Vec<i16> = vector
        .iter()
        .map(|number| i16::from(number.cast_signed()))
        .collect();
    let mut found: Vec<(i64, f32)> = Vec::new();
    let mut least = LEAST;
    let mut compare = |session: i64, block: &[u8]| {
        if allowed.is_some_and(|allowed| !allowed.contains(&session)) {
            return;
        }
        let (first, _) = range(session);
        let slots = block.chunks_exact(wanted.len() + LENGTH);
        for (turn, slot) in (first..).zip(slots) {
            let (vector, inverse) = slot.split_at(wanted.len());
            let both = product(&wanted, vector);
            if both <= 0 {
                continue;
            }
            let inverse = f32::from_le_bytes(inverse.try_into().unwrap_or_default());
            let cosine = both as f32 * inverse / length;
            if cosine >= least {
                found.push((turn, cosine));
            }
        }
        if found.len() > MOST_TURNS * 8 {
            least = keep(&mut found).max(least);
        }
    };
    match cache {
        Some(cache) => {
            cache.refresh(connection)?;
            for (session, range) in &cache.sessions {
                compare(*session, &cache.numbers[range.clone()]);
            }
        }
        None => each_block(connection, &mut compare)?,
    }
    keep(&mut found);
    let found = found.into_iter();
    Ok(found
        .map(|(turn, cosine)| (turn, f64::from(cosine)))
        .collect())
}

/// Sorts, keeps the best, and returns the similarity of the last of them.
fn keep(found: &mut Vec<(i64, f32)>) -> f32 {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(MOST_TURNS);
    found.last().map_or(0.0, |last| last.1)
}

/// Returns the product of two vectors.
///
/// It has many sums at once and no checks for overflow, so that the compiler uses vector instructions: half the time of a
/// plain loop. A sum of 4,096 products is below 2^26.
fn product(wanted: &[i16], numbers: &[u8]) -> i32 {
    let multiplied = |one: i16, other: u8| i32::from(one).wrapping_mul(other.cast_signed().into());
    let (wanted, rest) = wanted.as_chunks::<LANES>();
    let (numbers, of_rest) = numbers.as_chunks::<LANES>();
    let mut sums = [0_i32; LANES];
    for (wanted, numbers) in wanted.iter().zip(numbers) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].wrapping_add(multiplied(wanted[lane], numbers[lane]));
        }
    }
    let rest = rest.iter().zip(of_rest);
    let rest = rest.map(|(one, other)| multiplied(*one, *other));
    sums.into_iter().chain(rest).fold(0, i32::wrapping_add)
}

fn norm(vector: &[u8]) -> f32 {
    let squares = vector.iter().map(|number| {
        let number = i32::from(number.cast_signed());
        number * number
    });
    (squares.sum::<i32>() as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_lengths_are_those_of_signed_numbers() {
        let vector = [3_u8, 252];
        assert_eq!(product(&[2, -1], &vector), 10);
        let (many, others) = ([2_i16; 70], [255_u8; 70]);
        assert_eq!(product(&many, &others), -140);
        assert!((norm(&vector) - 5.0).abs() < 1e-6);
    }
}
