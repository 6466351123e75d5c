//! Vectors of turns: one number of eight bits per dimension, in blocks by the turns' ids.
//!
//! A block has the vectors of 1,024 turns in a row, so that all vectors of 112,000 turns are 110 rows, and are read and
//! compared in a few milliseconds. A turn without a vector has zeros.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

/// Turns in a block.
const TURNS: i64 = 1024;

/// Writes vectors by the ids of their turns; an empty one is all zeros.
pub(crate) fn put(
    connection: &Connection,
    vectors: &BTreeMap<i64, Vec<u8>>,
) -> rusqlite::Result<()> {
    if vectors.is_empty() {
        return Ok(());
    }
    let width = connection
        .query_row("SELECT width FROM model", [], |row| row.get::<_, i64>(0))
        .optional()?;
    let Some(width) = width.and_then(|width| usize::try_from(width).ok()) else {
        return Ok(());
    };
    let mut read = connection.prepare_cached("SELECT numbers FROM vectors WHERE block = ?1")?;
    let mut write = connection
        .prepare_cached("INSERT OR REPLACE INTO vectors(block, numbers) VALUES(?1, ?2)")?;
    let mut at = None;
    let mut numbers: Vec<u8> = Vec::new();
    for (id, vector) in vectors {
        let block = id / TURNS;
        if at != Some(block) {
            if let Some(at) = at {
                write.execute(params![at, numbers])?;
            }
            numbers = read
                .query_row([block], |row| row.get(0))
                .optional()?
                .unwrap_or_default();
            numbers.resize(TURNS as usize * width, 0);
            at = Some(block);
        }
        let begin = (id % TURNS) as usize * width;
        let slot = &mut numbers[begin..begin + width];
        if vector.len() == width {
            slot.copy_from_slice(vector);
        } else {
            slot.fill(0);
        }
    }
    if let Some(at) = at {
        write.execute(params![at, numbers])?;
    }
    Ok(())
}

/// Returns the turns whose vectors are most similar to this one, at least `least` by their cosine, the best first.
pub(crate) fn nearest(
    connection: &Connection,
    vector: &[u8],
    least: f32,
    most: usize,
) -> rusqlite::Result<Vec<(i64, f32)>> {
    let wanted: Vec<i8> = vector.iter().map(|number| number.cast_signed()).collect();
    let length = norm(&wanted);
    if length == 0.0 {
        return Ok(Vec::new());
    }
    let mut found: Vec<(i64, f32)> = Vec::new();
    let mut statement =
        connection.prepare_cached("SELECT block, numbers FROM vectors ORDER BY block")?;
    let mut rows = statement.query([])?;
    let mut least = least;
    while let Some(row) = rows.next()? {
        let block: i64 = row.get(0)?;
        let numbers = row.get_ref(1)?.as_blob()?;
        for (place, numbers) in (0_i64..).zip(numbers.chunks_exact(wanted.len())) {
            let (both, own) = products(&wanted, numbers);
            if both <= 0 {
                continue;
            }
            let cosine = both as f32 / (length * (own as f32).sqrt());
            if cosine >= least {
                found.push((block * TURNS + place, cosine));
            }
        }
        if found.len() > most * 8 {
            least = keep(&mut found, most).max(least);
        }
    }
    keep(&mut found, most);
    Ok(found)
}

/// Sorts, keeps the best, and returns the similarity of the last of them.
fn keep(found: &mut Vec<(i64, f32)>, most: usize) -> f32 {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
    found.last().map_or(0.0, |last| last.1)
}

/// Returns the product with another vector, and that one's with itself.
fn products(wanted: &[i8], numbers: &[u8]) -> (i32, i32) {
    let (mut both, mut own) = (0_i32, 0_i32);
    for (one, other) in wanted.iter().zip(numbers) {
        let (one, other) = (i32::from(*one), i32::from(other.cast_signed()));
        both += one * other;
        own += other * other;
    }
    (both, own)
}

fn norm(vector: &[i8]) -> f32 {
    let sum: i32 = vector
        .iter()
        .map(|number| i32::from(*number) * i32::from(*number))
        .sum();
    (sum as f32).sqrt()
}
