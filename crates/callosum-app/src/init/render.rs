//! Prints what `init` did: a line for the files, one for each client's settings, and the clients
//! that were left out.

use callosum_session::system::Surveyed;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::init::InitOutput;
use crate::{many, zone_report};

/// An installed client whose settings were not touched.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LeftOutOutput {
    /// The client.
    pub client: String,
    /// Reason.
    pub why: String,
}

/// Tells what was done to the settings of clients, or would be, and who was left out.
pub fn tell_clients(context: &Context, output: &InitOutput) {
    for client in output.clients.iter().chain(&output.servers) {
        client.tell(context, output.dry_run);
    }
    for instructions in &output.instructions {
        instructions.tell(context, output.dry_run);
    }
    for LeftOutOutput { client, why } in &output.left_out {
        context.report.say(&format!(
            "{client}: skipped, because {why}; it can still run tasks: callosum executor discover"
        ));
    }
}

/// Tells which files the zones have now, and of those that were there before.
pub fn tell_zones(context: &Context, zones: &[Surveyed]) {
    let created: Vec<&str> = zone_report::created(zones).collect();
    if !created.is_empty() {
        let folders = by_folder(&created);
        context
            .report
            .say(&format!("created the session files: {folders}"));
        context.report.detail(&format!("  {}", created.join(" ")));
    }
    zone_report::tell(context, zones);
}

/// Files as a person overlooks them: those of a folder are counted.
pub fn by_folder(paths: &[&str]) -> String {
    let mut folders: Vec<(&str, u64)> = Vec::new();
    for path in paths {
        let name = path.split_once('/').map_or(*path, |(folder, _)| folder);
        match folders.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => folders.push((name, 1)),
        }
    }
    let shown = |(name, count): (&str, u64)| {
        let is_file = paths.contains(&name);
        match count {
            _ if is_file => name.to_owned(),
            count => format!("{name}/ ({})", many(count, "file")),
        }
    };
    let shown: Vec<String> = folders.into_iter().map(shown).collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_their_folder() {
        let paths = [
            ".calrc",
            "loa-grimoire/NOTES.md",
            ".claude/a/b.md",
            ".claude/c.md",
            "cal_audit",
        ];
        let shown = ".calrc loa-grimoire/ (1 file) .claude/ (2 files) cal_audit";
        assert_eq!(by_folder(&paths), shown);
    }
}
