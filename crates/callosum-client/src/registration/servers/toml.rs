//! The server as a table below `mcp_servers`.
//!
//! The text is edited by its lines, and the result is parsed again: it must have the same settings
//! as before, and the server, and nothing else. If not, the file is left.

use std::ops::Range;

use ::toml::{Table, Value, de};

use super::{
    super::hook_entry::{Entered, Made, SettingsError},
    ARGUMENTS, NAME, Server, is_ours, not_ours,
};

/// Key of the servers.
const LIST: &str = "mcp_servers";

/// Codex's timeout for a tool, in seconds: a delegation takes minutes, and the default is one
/// minute.
const PATIENCE: i64 = 900;

pub(super) fn enter(text: &str, server: &Server) -> Result<Option<Entered>, SettingsError> {
    let before = parse(text)?;
    let entered = match ours(&before)? {
        Some(program) if program == server.program => return Ok(None),
        Some(_) => moved(text, server)?,
        None => {
            let apart = match text {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{apart}{}", table(server))
        }
    };
    let mut meant = before;
    let list = meant
        .entry(LIST)
        .or_insert_with(|| Value::Table(Table::new()));
    let list = list.as_table_mut().ok_or_else(not_a_table)?;
    let wanted = parse(&table(server))?;
    let wanted = wanted[LIST][NAME].clone();
    let there = list.entry(NAME).or_insert(wanted);
    let there = there.as_table_mut().ok_or_else(not_a_table)?;
    there.insert("command".to_owned(), server.program.clone().into());
    says(&entered, &meant)?;
    Ok(Some(Entered {
        text: entered,
        made: Made::default(),
    }))
}

pub(super) fn take_out(text: &str) -> Result<Option<String>, SettingsError> {
    let mut meant = parse(text)?;
    // An entry that is not ours is left.
    if !ours(&meant).is_ok_and(|program| program.is_some()) {
        return Ok(None);
    }
    let mut without = text.to_owned();
    // Also what a person has added below it.
    while let Some(range) = block(&without, true) {
        without.replace_range(range, "");
    }
    let list = meant.get_mut(LIST).and_then(Value::as_table_mut);
    if let Some(list) = list {
        list.remove(NAME);
        if list.is_empty() && !parse(&without)?.contains_key(LIST) {
            meant.remove(LIST);
        }
    }
    says(&without, &meant)?;
    Ok(Some(without))
}

pub(super) fn program(text: &str) -> Result<Option<String>, SettingsError> {
    let settings = parse(text)?;
    Ok(ours(&settings).unwrap_or_default())
}

fn parse(text: &str) -> Result<Table, SettingsError> {
    text.parse().map_err(|error: de::Error| {
        let reason = error.message().to_owned();
        SettingsError::NotToml { reason }
    })
}

/// Returns the program of our server; `None` if there is none. One of its name that is not ours is
/// an error.
fn ours(settings: &Table) -> Result<Option<String>, SettingsError> {
    let Some(entry) = settings.get(LIST).and_then(|list| list.get(NAME)) else {
        return Ok(None);
    };
    let program = entry.get("command").and_then(Value::as_str);
    let arguments = entry.get("args").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().map(Value::as_str);
    let arguments: Option<Vec<String>> = arguments.map(|text| text.map(str::to_owned)).collect();
    program
        .filter(|program| is_ours(program, &arguments.unwrap_or_default()))
        .map(|program| Some(program.to_owned()))
        .ok_or_else(|| not_ours(LIST))
}

fn table(server: &Server) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let list = |all: &[&str]| {
        let all: Vec<String> = all.iter().map(|one| text(one)).collect();
        format!("[{}]", all.join(", "))
    };
    let mut table = format!(
        "[{LIST}.{NAME}]\ncommand = {}\nargs = {}\ntool_timeout_sec = {PATIENCE}\n",
        text(&server.program),
        list(&ARGUMENTS),
    );
    if !server.passed.is_empty() {
        table = format!("{table}env_vars = {}\n", list(&server.passed));
    }
    table
}

/// The text in which our table names another program.
fn moved(text: &str, server: &Server) -> Result<String, SettingsError> {
    let range = block(text, false).ok_or_else(not_a_table)?;
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        if key == Some("command") {
            let ending = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let line_of_ours = format!("command = {}{ending}", Value::from(&*server.program));
            let mut moved = text.to_owned();
            moved.replace_range(at..at + line.len(), &line_of_ours);
            return Ok(moved);
        }
        at += line.len();
    }
    Err(not_a_table())
}

/// Returns the lines of our table, up to the next table; for a removal with the blank line before
/// it, and the tables below it.
fn block(text: &str, is_to_go: bool) -> Option<Range<usize>> {
    let own = format!("[{LIST}.{NAME}]");
    let below = format!("[{LIST}.{NAME}.");
    let is_own = |line: &str| line.starts_with(&own) || (is_to_go && line.starts_with(&below));
    let mut found: Option<Range<usize>> = None;
    let mut at = 0;
    let mut blank = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        match &mut found {
            Some(_) if trimmed.starts_with('[') => break,
            // Blank lines and comments behind the last key belong to what follows.
            Some(found) if !trimmed.is_empty() && !trimmed.starts_with('#') => {
                found.end = at + line.len();
            }
            None if is_own(trimmed) => {
                let start = blank.filter(|_| is_to_go).unwrap_or(at);
                found = Some(start..at + line.len());
            }
            Some(_) | None => {}
        }
        blank = trimmed.is_empty().then_some(at);
        at += line.len();
    }
    found
}

/// Fails unless a text says this.
fn says(text: &str, meant: &Table) -> Result<(), SettingsError> {
    if parse(text)? == *meant {
        Ok(())
    } else {
        Err(not_a_table())
    }
}

fn not_a_table() -> SettingsError {
    SettingsError::Shape {
        key: format!("{LIST}.{NAME}"),
        expected: "a separate table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(program: &str) -> Server {
        Server {
            program: program.to_owned(),
            typed: false,
            passed: vec!["CALLOSUM_HOME"],
        }
    }

    fn entered(text: &str, program: &str) -> String {
        enter(text, &server(program)).unwrap().unwrap().text
    }

    /// Others' text stays, byte for byte, and keeps its meaning.
    #[test]
    fn the_table_is_put_in_moved_and_taken_out() {
        for before in [
            "",
            "model = \"x\"\n",
            "model = \"x\"",
            "# mine\n[mcp_servers.other]\ncommand = \"o\"\n\n[analytics]\nenabled = false\n",
            "a = 1\r\n[b]\r\nc = \"[mcp_servers.callosum]\"\r\n",
        ] {
            let text = entered(before, "/a b/callosum");
            assert!(text.starts_with(before), "{text}");
            assert_eq!(program(&text).unwrap().as_deref(), Some("/a b/callosum"));
            assert_eq!(enter(&text, &server("/a b/callosum")).unwrap(), None);
            let moved = entered(&text, "/c\"d/callosum");
            assert_eq!(program(&moved).unwrap().as_deref(), Some("/c\"d/callosum"));
            let after = take_out(&moved).unwrap().unwrap();
            assert_eq!(after.trim_end(), before.trim_end());
            assert_eq!(take_out(&after).unwrap(), None);
        }
    }

    #[test]
    fn what_a_person_adds_stays_when_it_moves_and_goes_with_it() {
        let text = entered("", "/old/callosum");
        let text = format!(
            "{text}startup_timeout_sec = 20\n[mcp_servers.callosum.tools.decide]\n\
             approval_mode = \"approve\"\n# next\n[tui]\nx = 1\n"
        );
        let moved = entered(&text, "/new/callosum");
        assert!(moved.contains("startup_timeout_sec = 20"), "{moved}");
        assert!(moved.contains("approval_mode"), "{moved}");
        let after = take_out(&moved).unwrap().unwrap();
        assert_eq!(after, "# next\n[tui]\nx = 1\n");
    }

    #[test]
    fn what_cannot_be_edited_by_lines_is_left() {
        for text in [
            "mcp_servers = {}\n",
            "[mcp_servers]\ncallosum = {command = \"/x/callosum\", args = [\"mcp\"]}\n",
            "[mcp_servers.callosum]\ncommand = \"another\"\n",
            "broken = \n",
        ] {
            assert!(enter(text, &server("/y/callosum")).is_err(), "{text}");
        }
        let inline = "[mcp_servers]\ncallosum = {command = \"/x/callosum\", args = [\"mcp\"]}\n";
        assert!(take_out(inline).is_err());
        let others = "[mcp_servers.callosum]\ncommand = \"another\"\n";
        assert_eq!(take_out(others).unwrap(), None);
    }
}
