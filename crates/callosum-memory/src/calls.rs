//! Sessions by what their tool calls name: who touched a file.

use rusqlite::{Connection, params};

use super::{
    origin::Origin,
    rank::{Limits, containing},
    turn::Speaker,
};

/// Returns the sessions with a tool call that contains a text, the latest first, at most `most`.
pub(crate) fn sessions(
    connection: &Connection,
    text: &str,
    most: usize,
) -> rusqlite::Result<Vec<(Origin, String)>> {
    let turns = containing(connection, &text.to_lowercase(), &Limits::NONE)?;
    let sql = "SELECT client, name FROM turn JOIN session ON session.id = turn.id >> 20 WHERE turn.id = ?1 AND speaker = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found: Vec<(Origin, String)> = Vec::new();
    for turn in turns {
        let mut rows = statement.query(params![turn, Speaker::Call.number()])?;
        let Some(row) = rows.next()? else {
            continue;
        };
        let client: String = row.get(0)?;
        let Some(origin) = Origin::of(&client) else {
            continue;
        };
        let session = (origin, row.get(1)?);
        if !found.contains(&session) {
            found.push(session);
        }
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}
