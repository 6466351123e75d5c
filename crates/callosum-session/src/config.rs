//! [`Config`]: the settings of `.loa.config.yaml` (Seed LOA §5.4).

use callosum_host::disk::EntryKind;
use serde_json::{Map, Value};

use crate::{
    budget::{Limit, Limits},
    grounding::ClaimKind,
    notes::NotesFinding,
    trajectory::Retention,
    transaction::{Session, SessionError},
    yaml,
    zones::ZoneError,
};

/// Largest file that is read, in bytes.
const LARGEST: usize = 256 * 1024;

/// Consequence of an unmet requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// It is blocked. The user's own word and marked assumptions need no evidence.
    #[default]
    Standard,
    /// It is blocked, as Seed LOA §5.4 reads it: only evidence counts.
    Strict,
    /// It is warned of.
    Warn,
    /// It is not looked at.
    Disabled,
}

impl Enforcement {
    /// Returns the one that a word means.
    fn named(word: &Value) -> Option<Self> {
        match word.as_str()? {
            "standard" => Some(Self::Standard),
            "strict" => Some(Self::Strict),
            "warn" => Some(Self::Warn),
            "disabled" => Some(Self::Disabled),
            _ => None,
        }
    }

    /// Returns true if a claim of this kind needs no evidence.
    pub fn admits(self, kind: ClaimKind) -> bool {
        self == Self::Standard && matches!(kind, ClaimKind::Assumption | ClaimKind::UserInput)
    }
}

/// The settings of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `grounding_enforcement`.
    pub enforcement: Enforcement,
    /// `session_continuity.start_tokens`: the most that a session reads when it starts.
    pub start_tokens: u64,
    /// `session_continuity.level1_tokens`.
    pub level_1_tokens: u64,
    /// `session_continuity.level2_tokens`.
    pub level_2_tokens: u64,
    /// `edd.min_test_scenarios`; 0 if `edd.enabled` is false.
    pub scenarios: usize,
    /// `edd.enforcement`: the consequence if a bead has fewer; a warning by default.
    pub edd: Enforcement,
    /// `client_hooks.block_stop`: whether an agent is sent back once if its turn ends and claims
    /// lack evidence.
    pub block_stop: bool,
    /// `client_hooks.block_compact`: whether a context is not compacted while claims lack evidence.
    pub block_compact: bool,
    /// `attention_budget`.
    pub limits: Limits,
    /// `trajectory`.
    pub retention: Retention,
    /// Problems of the file, each with its line; the affected settings have their defaults.
    pub faults: Vec<NotesFinding>,
    /// Keys that nothing reads.
    pub unknown: Vec<UnknownKey>,
}

/// A key of the settings that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// Its line, counted from 1.
    pub line: usize,
    /// Its section with a dot after it; empty if it is in none.
    pub section: String,
    /// The key.
    pub name: String,
}

impl UnknownKey {
    /// Returns the known keys of its section.
    pub fn known(&self) -> &'static [&'static str] {
        let section = self.section.trim_end_matches('.');
        let found = KEYS.iter().find(|(name, _)| *name == section);
        found.map_or(&[], |(_, keys)| keys)
    }
}

/// The keys of each section (Seed LOA §5.4), and those of none.
const KEYS: [(&str, &[&str]); 6] = [
    (
        "",
        &[
            "grounding_enforcement",
            "attention_budget",
            "session_continuity",
            "trajectory",
            "edd",
            "client_hooks",
        ],
    ),
    ("attention_budget", &["yellow", "orange", "red"]),
    (
        "session_continuity",
        &[
            "tiered_recovery",
            "start_tokens",
            "level1_tokens",
            "level2_tokens",
        ],
    ),
    (
        "trajectory",
        &["retention_days", "archive_days", "compression_level"],
    ),
    (
        "edd",
        &[
            "enabled",
            "min_test_scenarios",
            "require_citations",
            "enforcement",
        ],
    ),
    ("client_hooks", &["block_stop", "block_compact"]),
];

impl Default for Config {
    fn default() -> Self {
        Self {
            enforcement: Enforcement::Standard,
            start_tokens: 250,
            level_1_tokens: 100,
            level_2_tokens: 500,
            scenarios: 3,
            edd: Enforcement::Warn,
            block_stop: false,
            block_compact: false,
            limits: Limits::default(),
            retention: Retention::default(),
            faults: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the settings. A setting that cannot be understood has its default, and is among the
    /// faults.
    pub fn load(session: &Session<'_>) -> Result<Self, SessionError> {
        let unusable = |what: &str| Self {
            faults: vec![NotesFinding {
                line: 1,
                what: format!("{what}; all settings use their defaults"),
            }],
            ..Self::default()
        };
        let disk = session.disk;
        let path = match session.zones.real(disk, &session.zones.config()) {
            Ok(path) => path,
            Err(ZoneError::Outside { .. }) => {
                return Ok(unusable("it is a link that points outside the project"));
            }
            Err(error) => return Err(error.into()),
        };
        match disk.stat(&path).map_err(ZoneError::from)? {
            Some(stat) if stat.kind != EntryKind::File => {
                return Ok(unusable("it is not a regular file"));
            }
            Some(stat) if stat.len > LARGEST as u64 => {
                return Ok(unusable(&format!("it is larger than {LARGEST} bytes")));
            }
            _ => {}
        }
        let there = disk.read_if_there(&path).map_err(ZoneError::from)?;
        let Some(bytes) = there else {
            return Ok(Self::default());
        };
        Ok(Self::read(&String::from_utf8_lossy(&bytes)))
    }

    /// Reads a file's text.
    pub fn read(text: &str) -> Self {
        let (mut config, problems) = Self::understood(text);
        let lines = problems.into_iter().map(|what| NotesFinding {
            line: line_of(text, &what),
            what,
        });
        config.faults = lines.collect();
        for key in &mut config.unknown {
            key.line = line_of(text, &format!("`{}{}`", key.section, key.name));
        }
        config
    }

    /// Parses the settings of a text, and returns them with the problems found.
    fn understood(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut problems = Vec::new();
        let read = if text.len() > LARGEST {
            Err(format!("it is larger than {LARGEST} bytes"))
        } else {
            yaml::read(text).map_err(|error| error.to_string())
        };
        let members = match read {
            Ok(Value::Object(members)) => members,
            Ok(Value::Null) => return (config, problems),
            Ok(_) => {
                problems.push("it is not a mapping".to_owned());
                return (config, problems);
            }
            Err(problem) => {
                problems.push(problem);
                return (config, problems);
            }
        };
        config.unknown = unknown_keys(&members);
        problems.extend(valued_sections(&members));
        let enforced = members.get("grounding_enforcement");
        config.enforcement = enforced.map_or(Enforcement::Standard, |word| {
            Enforcement::named(word).unwrap_or_else(|| {
                let what =
                    "`grounding_enforcement` is not one of standard, strict, warn and disabled: \
                     using strict";
                problems.push(what.to_owned());
                Enforcement::Strict
            })
        });
        let enforced = members.get("edd").and_then(|edd| match edd {
            Value::Object(edd) => edd.get("enforcement"),
            Value::Null => None,
            // It is named above, and leaves nothing open.
            _ => Some(&Value::Null),
        });
        config.edd = enforced.map_or(Enforcement::Warn, |word| {
            Enforcement::named(word).unwrap_or_else(|| {
                let what =
                    "`edd.enforcement` is not one of strict, warn and disabled: using strict";
                problems.push(what.to_owned());
                Enforcement::Strict
            })
        });
        let faults = &mut problems;
        let start = number(&members, "session_continuity", "start_tokens", faults);
        let level_1 = number(&members, "session_continuity", "level1_tokens", faults);
        let level_2 = number(&members, "session_continuity", "level2_tokens", faults);
        let scenarios = number(&members, "edd", "min_test_scenarios", faults);
        config.start_tokens = start.unwrap_or(config.start_tokens);
        config.level_1_tokens = level_1.unwrap_or(config.level_1_tokens);
        config.level_2_tokens = level_2.unwrap_or(config.level_2_tokens);
        config.scenarios = scenarios.map_or(config.scenarios, |number| number as usize);
        let usual = Retention::default();
        let days = number(&members, "trajectory", "retention_days", faults);
        let archive_days = number(&members, "trajectory", "archive_days", faults);
        let level = number(&members, "trajectory", "compression_level", faults);
        config.retention = Retention {
            days: days.unwrap_or(usual.days),
            archive_days: archive_days.unwrap_or(usual.archive_days),
            level: level.map_or(usual.level, |level| level.min(9) as u32),
        };
        let is_enabled = members.get("edd").and_then(|edd| edd.get("enabled"));
        if is_enabled == Some(&Value::Bool(false)) {
            config.scenarios = 0;
        }
        for (key, is_set) in [
            ("block_stop", &mut config.block_stop),
            ("block_compact", &mut config.block_compact),
        ] {
            let section = members.get("client_hooks");
            match section.and_then(|section| section.get(key)) {
                None => {}
                Some(Value::Bool(set)) => *is_set = *set,
                Some(_) => problems.push(format!("`client_hooks.{key}` must be true or false")),
            }
        }
        let limits = &mut config.limits;
        for (key, limit) in [
            ("yellow", &mut limits.yellow),
            ("orange", &mut limits.orange),
            ("red", &mut limits.red),
        ] {
            let Some(value) = members
                .get("attention_budget")
                .and_then(|section| section.get(key))
            else {
                continue;
            };
            match limit_of(value) {
                Some(set) => *limit = set,
                None => problems.push(format!(
                    "`attention_budget.{key}` must be a number of tokens or a share such as \
                     \"40%\""
                )),
            }
        }
        (config, problems)
    }
}

/// Sections that have a value in place of keys.
fn valued_sections(members: &Map<String, Value>) -> Vec<String> {
    let sections = KEYS.iter().filter(|(section, _)| !section.is_empty());
    let valued = sections.filter(|(section, _)| {
        let value = members.get(*section);
        value.is_some_and(|value| !value.is_object() && !value.is_null())
    });
    let problems = valued.map(|(section, keys)| {
        format!(
            "`{section}` must be a mapping with the keys {}",
            keys.join(", ")
        )
    });
    problems.collect()
}

/// Returns the keys of a file that nothing reads, without their lines.
fn unknown_keys(members: &Map<String, Value>) -> Vec<UnknownKey> {
    let mut unknown = Vec::new();
    for (section, known) in KEYS {
        let there = match section {
            "" => Some(members),
            section => members.get(section).and_then(Value::as_object),
        };
        let names = there.into_iter().flat_map(Map::keys);
        let others = names.filter(|name| !known.contains(&name.as_str()));
        let prefix = if section.is_empty() {
            String::new()
        } else {
            format!("{section}.")
        };
        unknown.extend(others.map(|name| UnknownKey {
            line: 1,
            section: prefix.clone(),
            name: name.clone(),
        }));
    }
    unknown
}

/// Returns the line that a fault is in, counted from 1: the one that the reader names, or that of
/// the key which the fault names first, below its section's.
fn line_of(text: &str, what: &str) -> usize {
    if let Some((_, rest)) = what.split_once("line ") {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(line) = digits.parse() {
            return line;
        }
    }
    let key = what.split('`').nth(1).unwrap_or_default();
    let mut parts = key.split('.');
    let mut wanted = parts.next();
    for (line, number) in text.lines().zip(1..) {
        let is_it = wanted.is_some_and(|key| {
            let rest = line
                .trim_start()
                .trim_start_matches(['"', '\''])
                .strip_prefix(key);
            let rest = rest.map(|rest| rest.trim_start_matches(['"', '\'']).trim_start());
            rest.is_some_and(|rest| rest.starts_with(':'))
        });
        if is_it {
            wanted = parts.next();
            if wanted.is_none() {
                return number;
            }
        }
    }
    1
}

/// Returns a number from 0 to 100,000.
fn number(
    members: &Map<String, Value>,
    section: &str,
    key: &str,
    faults: &mut Vec<String>,
) -> Option<u64> {
    let value = members.get(section)?.get(key)?;
    let number = value.as_u64().filter(|number| *number <= 100_000);
    if number.is_none() {
        faults.push(format!(
            "`{section}.{key}` must be a number from 0 to 100000"
        ));
    }
    number
}

/// Parses the threshold of a zone: a number of tokens, or a share of the window such as `40%`.
fn limit_of(value: &Value) -> Option<Limit> {
    if let Some(tokens) = value.as_u64() {
        return Some(Limit::Tokens(tokens));
    }
    let percent = value.as_str()?.strip_suffix('%')?.trim().parse().ok()?;
    (percent <= 100).then_some(Limit::Percent(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-GRD-2: the modes are parsed, and an unknown mode leaves the gate shut.
    #[test]
    fn the_settings_of_the_seed_are_read_and_wrong_ones_are_named() {
        let read = Config::read(
            "grounding_enforcement: warn  # c\nsession_continuity:\n  level1_tokens: 80\nedd:\n  min_test_scenarios: 2\n",
        );
        assert_eq!(
            (read.enforcement, read.level_1_tokens, read.scenarios),
            (Enforcement::Warn, 80, 2)
        );
        assert_eq!(read.faults, []);
        let wrong =
            Config::read("grounding_enforcement: of\nsession_continuity:\n  level1_tokens: -1\n");
        assert_eq!(
            (wrong.enforcement, wrong.level_1_tokens),
            (Enforcement::Strict, 100)
        );
        let lines: Vec<usize> = wrong.faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [1, 3]);
        let budget =
            Config::read("attention_budget:\n  yellow: 40%\n  orange: 9000\n  red: \"120%\"\n");
        assert_eq!(
            (budget.limits.yellow, budget.limits.orange),
            (Limit::Percent(40), Limit::Tokens(9000))
        );
        assert_eq!(budget.limits.red, Limits::default().red);
        assert_eq!(budget.faults.len(), 1);
        assert_eq!(Config::read("a: [").faults.len(), 1);
        let torn = Config::read("a: 1\nb: [\nc: }\n");
        assert!(torn.faults[0].line > 1, "{:?}", torn.faults);
        let blocks = Config::read("client_hooks: {block_stop: true, block_compact: 1}");
        assert!(blocks.block_stop && !blocks.block_compact);
        assert_eq!(blocks.faults.len(), 1);
        let asks = Config::read("edd:\n  enforcement: strict\n");
        assert_eq!((asks.edd, asks.faults.len()), (Enforcement::Strict, 0));
        let wrong = Config::read("edd:\n  enforcement: 1\n");
        assert_eq!((wrong.edd, wrong.faults[0].line), (Enforcement::Strict, 2));
        assert_eq!(Config::read(""), Config::default());
        assert_eq!(Config::default().enforcement, Enforcement::Standard);
        let valued = Config::read("edd: strict\ntrajectory: 30\nclient_hooks:\n");
        let problems: Vec<(usize, bool)> = valued
            .faults
            .iter()
            .map(|fault| {
                (
                    fault.line,
                    fault.what.contains(" must be a mapping with the keys "),
                )
            })
            .collect();
        assert_eq!(problems, [(2, true), (1, true), (1, false)]);
        assert_eq!(valued.edd, Enforcement::Strict);
        let misspelt = Config::read("edd:\n  enabled: true\n  enforcment: strict\nother: 1\n");
        let unknown: Vec<(usize, &str)> = misspelt
            .unknown
            .iter()
            .map(|key| (key.line, key.name.as_str()))
            .collect();
        assert_eq!(unknown, [(4, "other"), (3, "enforcment")]);
        assert!(misspelt.unknown[1].known().contains(&"enforcement"));
    }
}
