//! [`RuleSet`]: the versioned data that says what a client's screen means.
//!
//! A rule file is TOML, one for each client. The built-in ones are in `src/rules/`; a person can add files with rules
//! that come first. Start with [`RuleSet::read`] and [`RuleSet::judge`].

use regex::Regex;
use serde::Deserialize;
use thiserror::Error;

use crate::{
    layout::{Composer, Layout},
    screen::Screen,
    state::{Considered, Evidence, Signal, State},
};

/// The version of the format that this program reads.
const VERSION: u32 = 1;

/// Rules that one file may have.
const MOST_RULES: usize = 200;

/// Non-blank lines that a region may have.
const MOST_LINES: usize = 60;

/// Characters of a matched line that are kept as evidence.
const LONGEST_EVIDENCE: usize = 120;

/// A fault in a rule file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// The file is no TOML, or has a key or value that the format does not have.
    #[error("{file}: {message}")]
    Format {
        /// The file's name.
        file: String,
        /// The parser's words, with line and column.
        message: String,
    },
    /// A value is outside its range.
    #[error("{file}: `{key}` is {value} (allowed: {allowed})")]
    Value {
        /// The file's name.
        file: String,
        /// The key, with the rule's id.
        key: String,
        /// The value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// A regular expression cannot be compiled.
    #[error("{file}: `{key}` is no regular expression: {message}")]
    Pattern {
        /// The file's name.
        file: String,
        /// The key, with the rule's id.
        key: String,
        /// The compiler's words.
        message: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    version: u32,
    client: String,
    composer: Option<RawComposer>,
    #[serde(default)]
    rule: Vec<RawRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawComposer {
    line: String,
    above: Option<String>,
    below: Option<String>,
    within: Option<usize>,
    prompt: Option<String>,
    placeholder: Option<String>,
    footer: Option<String>,
    mode: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    id: String,
    state: State,
    region: Region,
    lines: Option<usize>,
    composer: Option<ComposerState>,
    detail: Option<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    reset: Option<String>,
    title: Option<String>,
}

/// The part of the screen that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// The terminal's title.
    Title,
    /// The last lines of the screen.
    Bottom,
    /// The last lines above the composer. Empty if there is no composer.
    Above,
    /// The lines above the composer, up to the last prompt that was sent. Empty if there is no composer.
    Turn,
    /// The composer itself.
    Composer,
    /// The lines below the composer.
    Footer,
    /// The whole screen. For pages that fill it, such as a first-run dialog.
    Screen,
}

/// Requirement of a rule on the composer, the box into which a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComposerState {
    /// It is on the screen.
    Present,
    /// It is not.
    Absent,
}

/// A rule: if its region looks like this, the client is in this state.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Name, unique in its file.
    pub id: String,
    /// The state.
    pub state: State,
    /// The region.
    pub region: Region,
    lines: usize,
    composer: Option<ComposerState>,
    detail: Option<String>,
    all: Vec<Regex>,
    any: Vec<Regex>,
    none: Vec<Regex>,
    reset: Option<Regex>,
    title: Option<Regex>,
}

/// The rules of one client, in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct RuleSet {
    /// The client, such as `claude-code`.
    pub client: String,
    composer: Option<Composer>,
    rules: Vec<Rule>,
}

/// Verdict of the first rule that applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// The state.
    pub state: State,
    /// More about it.
    pub detail: Option<String>,
    /// The reset time in the client's words: what the first group of `reset` matches.
    pub resets: Option<String>,
    /// The rule and the line that matched.
    pub evidence: Evidence,
}

/// The built-in rule files by client.
const BUILT_IN: [(&str, &str, &str); 3] = [
    (
        "claude-code",
        "claude-code.toml",
        include_str!("rules/claude-code.toml"),
    ),
    ("codex", "codex.toml", include_str!("rules/codex.toml")),
    (
        "gemini-cli",
        "gemini-cli.toml",
        include_str!("rules/gemini-cli.toml"),
    ),
];

impl RuleSet {
    /// Returns the built-in rules of a client (`claude-code`, `codex`, `gemini-cli`). Compiles its patterns: a few
    /// milliseconds.
    pub fn built_in(client: &str) -> Option<Self> {
        let (_, file, text) = BUILT_IN.iter().find(|(name, _, _)| *name == client)?;
        Some(Self::read(file, text).expect("a test reads every built-in file"))
    }

    /// Reads a rule file. `file` is the name in errors.
    pub fn read(file: &str, text: &str) -> Result<Self, RuleError> {
        let raw: RawFile = toml::from_str(text).map_err(|error| RuleError::Format {
            file: file.to_owned(),
            message: error.to_string().trim_end().replace('\n', "\n  "),
        })?;
        let value = |key: &str, value: String, allowed: String| RuleError::Value {
            file: file.to_owned(),
            key: key.to_owned(),
            value,
            allowed,
        };
        if raw.version != VERSION {
            return Err(value(
                "version",
                raw.version.to_string(),
                VERSION.to_string(),
            ));
        }
        if raw.rule.len() > MOST_RULES {
            let allowed = format!("at most {MOST_RULES} rules");
            return Err(value(
                "rule",
                format!("a list of {}", raw.rule.len()),
                allowed,
            ));
        }
        let composer = raw
            .composer
            .map(|raw| read_composer(file, raw))
            .transpose()?;
        let mut rules: Vec<Rule> = Vec::with_capacity(raw.rule.len());
        for raw in raw.rule {
            if rules.iter().any(|rule| rule.id == raw.id) {
                let allowed = "each id once".to_owned();
                return Err(value("id", format!("`{}` a second time", raw.id), allowed));
            }
            if raw.all.is_empty() && raw.any.is_empty() {
                let key = format!("{}.all", raw.id);
                let allowed = "`all` or `any` with a pattern".to_owned();
                return Err(value(&key, "empty".to_owned(), allowed));
            }
            let lines = raw.lines.unwrap_or(MOST_LINES);
            if !(1..=MOST_LINES).contains(&lines) {
                let key = format!("{}.lines", raw.id);
                return Err(value(&key, lines.to_string(), format!("1 to {MOST_LINES}")));
            }
            let patterns = |key: &str, patterns: &[String]| -> Result<Vec<Regex>, RuleError> {
                let key = format!("{}.{key}", raw.id);
                patterns
                    .iter()
                    .map(|text| pattern(file, &key, text))
                    .collect()
            };
            let title = raw.title.as_deref();
            let title = title.map(|text| pattern(file, &format!("{}.title", raw.id), text));
            let reset = raw
                .reset
                .as_deref()
                .map(|text| pattern(file, &format!("{}.reset", raw.id), text));
            rules.push(Rule {
                reset: reset.transpose()?,
                title: title.transpose()?,
                all: patterns("all", &raw.all)?,
                any: patterns("any", &raw.any)?,
                none: patterns("none", &raw.none)?,
                id: raw.id,
                state: raw.state,
                region: raw.region,
                lines,
                composer: raw.composer,
                detail: raw.detail,
            });
        }
        Ok(Self {
            client: raw.client,
            composer,
            rules,
        })
    }

    /// Puts the rules of `first`, a person's own, before these. Its composer replaces this one if it has one.
    #[must_use]
    pub fn with_first(mut self, first: Self) -> Self {
        let mut rules = first.rules;
        rules.append(&mut self.rules);
        Self {
            client: self.client,
            composer: first.composer.or(self.composer),
            rules,
        }
    }

    /// Returns the rules in the order in which they are tried.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Finds the composer on a screen.
    pub fn layout(&self, screen: &Screen) -> Layout {
        Layout::find(screen, self.composer.as_ref())
    }

    /// Returns what the first rule that applies says, and every rule that was tried up to it.
    pub fn judge(
        &self,
        title: &str,
        screen: &Screen,
        layout: &Layout,
    ) -> (Option<Judgment>, Vec<Considered>) {
        let mut considered = Vec::new();
        for rule in &self.rules {
            match rule.apply(title, screen, layout) {
                Ok(judgment) => {
                    considered.push(rule.considered(Some(rule.state), String::new()));
                    return (Some(judgment), considered);
                }
                Err(because) => considered.push(rule.considered(None, because)),
            }
        }
        (None, considered)
    }
}

impl Rule {
    /// Returns the signal that the rule reads.
    pub fn signal(&self) -> Signal {
        match self.region {
            Region::Title => Signal::Title,
            _ => Signal::Screen,
        }
    }

    fn considered(&self, state: Option<State>, because: String) -> Considered {
        Considered {
            signal: self.signal(),
            rule: self.id.clone(),
            state,
            because,
        }
    }

    /// Returns the judgment if the rule applies, else why not.
    fn apply(&self, title: &str, screen: &Screen, layout: &Layout) -> Result<Judgment, String> {
        match (self.composer, layout.composer.is_some()) {
            (Some(ComposerState::Present), false) => return Err("no composer".to_owned()),
            (Some(ComposerState::Absent), true) => return Err("the composer is there".to_owned()),
            _ => {}
        }
        if let Some(pattern) = self
            .title
            .as_ref()
            .filter(|pattern| !pattern.is_match(title))
        {
            return Err(format!("`{pattern}` does not match the title"));
        }
        let lines: Vec<&str> = match self.region {
            Region::Title => vec![title],
            region => layout
                .region(screen, region, self.lines)
                .into_iter()
                .map(|index| screen.lines[index].text.as_str())
                .collect(),
        };
        let find = |pattern: &Regex| lines.iter().rev().find(|line| pattern.is_match(line));
        if let Some((pattern, line)) = self.none.iter().find_map(|none| Some((none, find(none)?))) {
            return Err(format!("`{pattern}` matches `{}`", shorten(line)));
        }
        let mut first = None;
        for pattern in &self.all {
            let line = find(pattern).ok_or_else(|| format!("`{pattern}` matches nothing"))?;
            first.get_or_insert((pattern, *line));
        }
        if !self.any.is_empty() {
            let found = self.any.iter().find_map(|any| Some((any, *find(any)?)));
            let found = found.ok_or_else(|| "no pattern of `any` matches".to_owned())?;
            first.get_or_insert(found);
        }
        let resets = self.reset.as_ref().and_then(|pattern| {
            let found = pattern.captures(find(pattern)?)?.get(1)?;
            Some(found.as_str().trim().to_owned())
        });
        let line = first.map(|(_, line)| line).unwrap_or_default();
        Ok(Judgment {
            state: self.state,
            detail: self.detail.clone(),
            resets,
            evidence: Evidence {
                signal: self.signal(),
                rule: self.id.clone(),
                text: shorten(line),
            },
        })
    }
}

fn read_composer(file: &str, raw: RawComposer) -> Result<Composer, RuleError> {
    let optional = |key: &str, text: Option<String>| {
        let key = format!("composer.{key}");
        text.map(|text| pattern(file, &key, &text)).transpose()
    };
    let within = raw.within.unwrap_or(MOST_LINES);
    if !(1..=MOST_LINES).contains(&within) {
        return Err(RuleError::Value {
            file: file.to_owned(),
            key: "composer.within".to_owned(),
            value: within.to_string(),
            allowed: format!("1 to {MOST_LINES}"),
        });
    }
    Ok(Composer {
        line: pattern(file, "composer.line", &raw.line)?,
        above: optional("above", raw.above)?,
        below: optional("below", raw.below)?,
        prompt: optional("prompt", raw.prompt)?,
        placeholder: optional("placeholder", raw.placeholder)?,
        footer: optional("footer", raw.footer)?,
        mode: optional("mode", raw.mode)?,
        within,
    })
}

fn pattern(file: &str, key: &str, text: &str) -> Result<Regex, RuleError> {
    // The limit keeps a file from asking for an automaton that fills the memory.
    let built = regex::RegexBuilder::new(text).size_limit(1 << 20).build();
    built.map_err(|error| RuleError::Pattern {
        file: file.to_owned(),
        key: key.to_owned(),
        message: error.to_string(),
    })
}

/// Returns a line as evidence: secrets masked, nothing that a terminal obeys, cut to its first characters.
fn shorten(line: &str) -> String {
    let masked = callosum_redact::secrets::mask(line.trim()).text;
    let plain = callosum_redact::terminal_escape::on_one_line(&masked);
    let mut letters = plain.chars();
    let mut text: String = letters.by_ref().take(LONGEST_EVIDENCE).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        version = 1
        client = "test"
        [composer]
        line = '^>'
        within = 4
        [[rule]]
        id = "dialog"
        state = "BLOCKED_ON_APPROVAL"
        region = "bottom"
        lines = 3
        composer = "absent"
        all = ['^Proceed\?', '^1\. Yes']
        [[rule]]
        id = "limit"
        state = "USAGE_LIMITED"
        region = "above"
        lines = 2
        any = ['limit reached']
        reset = 'resets (.+)$'
        none = ['not']
        [[rule]]
        id = "title"
        state = "WORKING"
        region = "title"
        any = ['^busy']
    "#;

    fn judged(title: &str, text: &str) -> Option<Judgment> {
        let rules = RuleSet::read("test.toml", FILE).unwrap();
        let screen = Screen::read(text.as_bytes(), None);
        let layout = rules.layout(&screen);
        rules.judge(title, &screen, &layout).0
    }

    #[test]
    fn a_dialog_in_the_scrollback_is_not_at_the_bottom() {
        let dialog = judged("", "Proceed?\n1. Yes\n2. No").unwrap();
        assert_eq!(dialog.state, State::BlockedOnApproval);
        assert_eq!(dialog.evidence.text, "Proceed?");
        assert_eq!(judged("", "Proceed?\n1. Yes\na\nb\nc"), None);
        assert_eq!(
            judged("", "Proceed?\n1. Yes\n> "),
            None,
            "the composer is there"
        );
    }

    #[test]
    fn the_reset_time_is_taken_from_the_line() {
        let limit = judged("", "limit reached, resets 3pm \n> ").unwrap();
        assert_eq!(limit.resets.as_deref(), Some("3pm"));
        assert_eq!(judged("", "not a limit reached, resets 3pm\n> "), None);
        assert_eq!(
            judged("", "limit reached, resets 3pm"),
            None,
            "no composer, no region above it"
        );
    }

    #[test]
    fn the_title_is_a_region_and_every_rule_is_accounted_for() {
        let rules = RuleSet::read("test.toml", FILE).unwrap();
        let screen = Screen::read(b"x", None);
        let (found, considered) = rules.judge("busy", &screen, &rules.layout(&screen));
        assert_eq!(found.unwrap().evidence.signal, Signal::Title);
        let tried: Vec<_> = considered.iter().map(|one| one.rule.as_str()).collect();
        assert_eq!(tried, ["dialog", "limit", "title"]);
        assert!(considered[0].because.contains("matches nothing"));
    }

    #[test]
    fn faults_name_the_file_the_key_and_what_is_allowed() {
        let fault = |from: &str, to: &str| {
            let text = FILE.replacen(from, to, 1);
            assert_ne!(text, FILE);
            RuleSet::read("mine.toml", &text).unwrap_err().to_string()
        };
        assert!(
            fault("version = 1", "version = 2")
                .starts_with("mine.toml: `version` is 2 (allowed: 1)")
        );
        assert!(fault("lines = 3", "lines = 0").contains("`dialog.lines` is 0 (allowed: 1 to 60)"));
        assert!(fault("'^>'", "'('").contains("`composer.line` is no regular expression"));
        assert!(
            fault("within = 4", "within = 0").contains("`composer.within` is 0 (allowed: 1 to 60)")
        );
        assert!(fault("id = \"limit\"", "id = \"dialog\"").contains("`dialog` a second time"));
        assert!(fault("state = \"WORKING\"", "state = \"BUSY\"").contains("BUSY"));
        assert!(fault("any = ['^busy']", "").contains("`title.all` is empty"));
        assert!(fault("region = \"title\"", "regions = \"title\"").contains("regions"));
        assert!(fault("'not'", "'\\w{1000}{1000}'").contains("limit.none"));
    }

    #[test]
    fn rules_of_a_person_come_first() {
        let own = RuleSet::read(
            "own.toml",
            "version = 1\nclient = \"test\"\n[[rule]]\nid = \"own\"\nstate = \"TRULY_IDLE\"\nregion = \"title\"\nany = ['.']",
        );
        let rules = RuleSet::read("test.toml", FILE)
            .unwrap()
            .with_first(own.unwrap());
        let screen = Screen::read(b"Proceed?\n1. Yes", None);
        let found = rules.judge("busy", &screen, &rules.layout(&screen)).0;
        assert_eq!(found.unwrap().state, State::TrulyIdle);
    }

    #[test]
    fn evidence_is_masked_and_cut() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let text = shorten(&format!("limit {token} {}", "x".repeat(500)));
        assert!(!text.contains(&token), "{text}");
        assert!(text.ends_with('…') && text.chars().count() <= LONGEST_EVIDENCE + 1);
    }
}
