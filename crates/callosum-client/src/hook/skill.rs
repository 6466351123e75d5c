//! The shell lines in a skill or command of a coding agent, which the client runs before the model sees the text.
//!
//! Claude Code 2.1.332 asks about each of them with an event of its own (`PreSkillShellCommand`). Versions before it ask
//! only whether the model may use the skill, so `commands` reads the file then. [`bang_lines`] reads Claude's form,
//! [`braced`] that of Gemini CLI and Qwen Code.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, OpenHow};

/// Most bytes of a file that are read.
const LONGEST: usize = 256 * 1024;

/// So many folders above the session's are looked into, as the client does up to the home.
const MOST_FOLDERS: usize = 16;

/// A skill that a model is about to use, and what it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) arguments: String,
}

/// Returns the shell commands that the client runs when it loads a skill, in order, with the arguments filled in. Empty if
/// there is no such file, or nothing in it runs.
pub(super) fn commands(
    disk: &Disk,
    skill: &Skill,
    folder: Option<&Path>,
    own: Option<&Path>,
) -> Vec<String> {
    // A name leads to no other file.
    let parts: Vec<&str> = skill.name.trim_start_matches('/').split(':').collect();
    let is_name = |part: &&str| {
        !part.is_empty() && !part.contains(['/', '\\', '\0']) && !part.starts_with('.')
    };
    if !parts.iter().all(is_name) {
        return Vec::new();
    }
    let nested: PathBuf = parts.iter().collect();
    let above = folder.into_iter().flat_map(Path::ancestors);
    let above = above.take(MOST_FOLDERS).map(|above| above.join(".claude"));
    let folders: Vec<PathBuf> = above.chain(own.map(Path::to_owned)).collect();
    let files = folders.iter().flat_map(|folder| {
        [
            folder.join("skills").join(&nested).join("SKILL.md"),
            folder.join("commands").join(nested.with_extension("md")),
        ]
    });
    files
        .filter_map(|file| {
            let file = disk.open_if_there(&file, OpenHow::READ).ok()??;
            let bytes = file.read_range(0, LONGEST).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        })
        .flat_map(|text| bang_lines(&filled(&text, &skill.arguments)))
        .collect()
}

/// Returns a text with the arguments in the place of `$ARGUMENTS` and `$1` to `$9`, as the client
/// fills them in before it runs the lines of the text.
fn filled(text: &str, arguments: &str) -> String {
    let mut text = text.replace("$ARGUMENTS", arguments);
    let words = shlex::split(arguments).unwrap_or_default();
    for (at, word) in words.iter().enumerate().take(9) {
        text = text.replace(&format!("${}", at + 1), word);
    }
    text
}

/// Returns the commands in a text of Claude Code's: `` !`command` ``, and the lines of a block that begins with ```` ```! ````.
pub fn bang_lines(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        let fence = line.trim_start();
        match &mut block {
            Some(lines) if fence.starts_with("```") => {
                commands.push(std::mem::take(lines));
                block = None;
            }
            Some(lines) => {
                lines.push_str(line);
                lines.push('\n');
            }
            None if fence.starts_with("```!") => block = Some(String::new()),
            None => {
                let mut rest = line;
                while let Some((_, behind)) = rest.split_once("!`") {
                    let Some((command, after)) = behind.split_once('`') else {
                        break;
                    };
                    commands.push(command.to_owned());
                    rest = after;
                }
            }
        }
    }
    // A block without an end goes on to the end.
    commands.extend(block);
    commands.retain(|command| !command.trim().is_empty());
    commands
}

/// Returns the commands in a text of Gemini CLI's or Qwen Code's: `!{command}`, in which braces come in pairs.
pub fn braced(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once("!{") {
        let mut depth = 1_usize;
        let end = behind.find(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end else {
            break;
        };
        commands.push(behind[..end].trim().to_owned());
        rest = &behind[end + 1..];
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: what a client runs of a text is read from it, and nothing else is.
    #[test]
    fn the_shell_lines_of_a_text_are_found() {
        let text = "---\nallowed-tools: Bash(git:*)\n---\nLook: !`git status` and !`ls -la`.\n\
                    `not this`, nor ! `that`.\n```!\ngit fetch\ngit reset --hard\n```\n```sh\nrm x\n```\n!`open\n";
        let expected = ["git status", "ls -la", "git fetch\ngit reset --hard\n"];
        assert_eq!(bang_lines(text), expected);
        assert_eq!(bang_lines("```!\nrm a"), ["rm a\n"]);
        let text = "prompt = \"\"\"!{git reset --hard} and !{awk '{print $1}' f} !{open\"\"\"";
        assert_eq!(braced(text), ["git reset --hard", "awk '{print $1}' f"]);
        assert_eq!(braced("{x} !{} ! {y}"), [""; 0]);
    }

    /// CAKE-SHIM-1: the file is found by the name of the skill, in the project, above it and in the user's folder; no name
    /// leads out of those.
    #[test]
    fn a_skill_is_found_where_the_client_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, text.as_bytes(), 0o644).unwrap();
        };
        write("p/.claude/skills/tidy/SKILL.md", "!`git reset --hard`");
        write(
            "p/.claude/commands/git/undo.md",
            "!`git checkout $1 -- $ARGUMENTS`",
        );
        write("home/.claude/commands/mine.md", "!`rm -rf ~/x`");
        write("p/secret.md", "!`no`");
        let (inner, own) = (
            folder.path().join("p/src"),
            folder.path().join("home/.claude"),
        );
        let found = |name: &str, arguments: &str| {
            let skill = Skill {
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            };
            commands(&disk, &skill, Some(&inner), Some(&own))
        };
        assert_eq!(found("tidy", ""), ["git reset --hard"]);
        assert_eq!(found("git:undo", "a b"), ["git checkout a -- a b"]);
        assert_eq!(found("/mine", ""), ["rm -rf ~/x"]);
        for name in [
            "",
            "../../secret",
            "..:..:secret",
            "none",
            "tidy:",
            "/etc/passwd",
        ] {
            assert_eq!(found(name, ""), [""; 0], "{name}");
        }
    }
}
