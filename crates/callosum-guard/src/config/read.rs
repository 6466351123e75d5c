//! Parser from the text of a `cake_config.yaml` to its settings, with every problem in it.
//!
//! The file is read as values first and checked key by key, so that all problems are reported at
//! once, each with its key, its value and the allowed values.

use std::fmt;

use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value};

use serde_saphyr::Spanned;

use super::{Config, ErrorPattern, InterventionMode, Strictness, proof};

/// Bytes of a file beyond which it is not read.
pub const LONGEST: usize = 256 * 1024;

/// Most characters of a file's own text that are shown.
const LONGEST_SHOWN: usize = 160;

/// Settings of a file, and the keys that were ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The settings.
    pub config: Config,
    /// Keys that are not known, with the keys that they stand in.
    pub unknown: Vec<String>,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, with the keys around it.
    pub key: String,
    /// The value there; `None` if there is none.
    pub value: Option<String>,
    /// The allowed values.
    pub allowed: String,
    /// The line in which the rule begins that it is about.
    pub line: Option<u64>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match &self.value {
            Some(value) => write!(f, "`{}` is {value}, expected {}", self.key, self.allowed),
            None => write!(f, "`{}` is missing, expected {}", self.key, self.allowed),
        }
    }
}

/// Reason that a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is larger than is read.
    #[error("{file} is larger than {LONGEST} bytes")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// It is not YAML.
    #[error("{file} is not YAML: {problem}")]
    NotYaml {
        /// The file.
        file: String,
        /// Position and reason.
        problem: String,
    },
    /// Values are missing or out of range.
    #[error("{file}: {}", listed(problems))]
    Invalid {
        /// The file.
        file: String,
        /// All that is wrong.
        problems: Vec<Problem>,
        /// The parts of the file that make the guard stricter and could be read all the same.
        stricter: Box<Config>,
    },
}

impl ConfigError {
    /// Returns the part of the file for a guard that must decide all the same: its strictness and
    /// its rules, as far as they could be read, over the defaults. Never laxer than those.
    pub fn stricter_part(&self) -> Config {
        match self {
            Self::Invalid { stricter, .. } => (**stricter).clone(),
            Self::TooLarge { .. } | Self::NotYaml { .. } => Config::default(),
        }
    }
}

/// Limit on the problems that one line reports.
const MOST_TOLD: usize = 3;

fn listed(problems: &[Problem]) -> String {
    let shown: Vec<String> = problems
        .iter()
        .take(MOST_TOLD)
        .map(ToString::to_string)
        .collect();
    let shown = shown.join("; ");
    match problems.len().saturating_sub(MOST_TOLD) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

impl Config {
    /// Reads a file's text over what holds without one; `file` is how errors name it.
    ///
    /// Fails if it is no YAML, or a value is out of its range. A key that is missing is as it is by default.
    pub fn parse(file: &str, text: &str) -> Result<Read, ConfigError> {
        Self::parse_over(file, text, &Config::default())
    }

    /// Parses over `base`: a missing key is as in `base`. A project's file that does not mention a
    /// key has no opinion on it, with any value in the user's file. Rules of `base` are not taken
    /// over.
    pub fn parse_over(file: &str, text: &str, base: &Config) -> Result<Read, ConfigError> {
        if text.len() > LONGEST {
            return Err(ConfigError::TooLarge {
                file: file.to_owned(),
            });
        }
        let value: Value = serde_saphyr::from_str(text).map_err(|error| ConfigError::NotYaml {
            file: file.to_owned(),
            problem: plain(error.to_string().lines().next().unwrap_or("")),
        })?;
        let mut sheet = Sheet {
            lines: lines_of_rules(&value, text),
            ..Sheet::default()
        };
        let config = sheet.config(&value, base);
        if sheet.problems.is_empty() {
            Ok(Read {
                config,
                unknown: sheet.unknown,
            })
        } else {
            Err(ConfigError::Invalid {
                file: file.to_owned(),
                problems: sheet.problems,
                stricter: Box::new(Config {
                    strictness: config.strictness.max(Strictness::default()),
                    rules: config.rules,
                    ..Config::default()
                }),
            })
        }
    }
}

/// Findings while a file is read.
#[derive(Default)]
struct Sheet {
    /// Line at which each rule begins.
    lines: Vec<u64>,
    problems: Vec<Problem>,
    unknown: Vec<String>,
}

impl Sheet {
    fn config(&mut self, value: &Value, base: &Config) -> Config {
        let mut config = Config {
            rules: Vec::new(),
            patterns: Vec::new(),
            ..base.clone()
        };
        let empty = Map::new();
        let top = match value {
            Value::Object(map) => map,
            // An empty file, or one with nothing but comments.
            Value::Null => return config,
            other => {
                self.problem("(the file)", Some(other), "a mapping of keys to values");
                return config;
            }
        };
        self.known(
            "",
            top,
            &[
                "version",
                "strictness",
                "escalation",
                "performance",
                "safety",
                "database",
                "logging",
                "snapshot",
                "worktrees",
                "interventions",
                "classifier",
                "patterns",
                "rules",
            ],
        );
        match top.get("version") {
            None => {}
            Some(Value::String(version)) if version == "1.0" => {}
            other => self.problem("version", other, "\"1.0\""),
        }
        match top.get("strictness").and_then(Value::as_str) {
            Some("minimal") => config.strictness = Strictness::Minimal,
            Some("balanced") => config.strictness = Strictness::Balanced,
            Some("paranoid") => config.strictness = Strictness::Paranoid,
            None if !top.contains_key("strictness") => {}
            _ => self.problem(
                "strictness",
                top.get("strictness"),
                "minimal, balanced or paranoid",
            ),
        }

        match top.get("worktrees").map(Value::as_str) {
            None => {}
            Some(Some("strict")) => config.relaxed_worktrees = false,
            Some(Some("relaxed")) => config.relaxed_worktrees = true,
            Some(_) => self.problem("worktrees", top.get("worktrees"), "strict or relaxed"),
        }

        let part = self.optional(top, "escalation", &empty);
        self.known(
            "escalation.",
            part,
            &["max_strikes", "cooldown_minutes", "human_notification"],
        );
        let escalation = &mut config.escalation;
        let strikes = escalation.max_strikes;
        escalation.max_strikes = self.number(part, "escalation.max_strikes", 1, 10, strikes);
        let cooldown = escalation.cooldown_minutes;
        escalation.cooldown_minutes =
            self.number(part, "escalation.cooldown_minutes", 1, 60, cooldown);
        let notification = self.optional(part, "escalation.human_notification", &empty);
        self.known(
            "escalation.human_notification.",
            notification,
            &["enabled", "webhook", "desktop"],
        );
        let (before, desktop) = (escalation.webhook.clone(), escalation.desktop);
        let enabled = self.truth(
            notification,
            "escalation.human_notification.enabled",
            before.is_some() || desktop,
        );
        let key = "escalation.human_notification.desktop";
        let desktop = self.truth(notification, key, desktop);
        let webhook = notification.get("webhook").and_then(Value::as_str);
        let webhook = webhook.or(before.as_deref()).unwrap_or("");
        let address = webhook.starts_with("https://") || webhook.starts_with("http://");
        if enabled && !address && !(desktop && webhook.is_empty()) {
            self.problem(
                "escalation.human_notification.webhook",
                notification.get("webhook"),
                "a URL that starts with https:// or http:// because notifications are enabled (or `desktop: true` without a URL)",
            );
        }
        config.escalation.webhook = (enabled && address).then(|| webhook.to_owned());
        config.escalation.desktop = enabled && desktop;

        let part = self.optional(top, "performance", &empty);
        self.known("performance.", part, &["max_latency_ms", "max_memory_mb"]);
        config.performance.max_latency_ms = self.number(
            part,
            "performance.max_latency_ms",
            50,
            1_000,
            base.performance.max_latency_ms,
        );
        config.performance.max_memory_mb = self.number(
            part,
            "performance.max_memory_mb",
            512,
            4_096,
            base.performance.max_memory_mb,
        );

        let part = self.optional(top, "safety", &empty);
        self.known(
            "safety.",
            part,
            &[
                "require_confirmation",
                "audit_all_commands",
                "auto_allow",
                "rewrite",
            ],
        );
        config.safety.require_confirmation = self.truth(
            part,
            "safety.require_confirmation",
            base.safety.require_confirmation,
        );
        config.safety.audit_all_commands = self.truth(
            part,
            "safety.audit_all_commands",
            base.safety.audit_all_commands,
        );
        config.safety.auto_allow = self.truth(part, "safety.auto_allow", base.safety.auto_allow);
        config.safety.rewrite = self.truth(part, "safety.rewrite", base.safety.rewrite);

        let part = self.optional(top, "database", &empty);
        self.known("database.", part, &["path", "ttl_hours"]);
        if part.contains_key("path") {
            let mut path = String::new();
            self.text(part, "database.path", &mut path);
            config.database.path = Some(path).filter(|path| !path.is_empty());
        }
        config.database.ttl_hours = self.number(
            part,
            "database.ttl_hours",
            1,
            87_600,
            config.database.ttl_hours,
        );

        let part = self.optional(top, "logging", &empty);
        self.known("logging.", part, &["level", "file", "max_size_mb"]);
        let logging = &mut config.logging;
        self.text(part, "logging.level", &mut logging.level);
        if !matches!(
            logging.level.as_str(),
            "DEBUG" | "INFO" | "WARNING" | "ERROR"
        ) {
            self.problem(
                "logging.level",
                part.get("level"),
                "DEBUG, INFO, WARNING or ERROR",
            );
        }
        if part.contains_key("file") {
            let mut file = String::new();
            self.text(part, "logging.file", &mut file);
            logging.file = Some(file).filter(|file| !file.is_empty());
        }
        logging.max_size_mb =
            self.number(part, "logging.max_size_mb", 1, 100_000, logging.max_size_mb);

        let part = self.optional(top, "snapshot", &empty);
        self.known("snapshot.", part, &["retention_hours", "max_size_gb"]);
        let snapshot = &mut config.snapshot;
        snapshot.retention_hours = self.number(
            part,
            "snapshot.retention_hours",
            1,
            87_600,
            snapshot.retention_hours,
        );
        snapshot.max_size_gb =
            self.number(part, "snapshot.max_size_gb", 1, 1_000, snapshot.max_size_gb);

        match top.get("interventions").map(Value::as_str) {
            None => {}
            Some(Some("repeat")) => config.interventions.mode = InterventionMode::Repeat,
            Some(Some("all")) => config.interventions.mode = InterventionMode::All,
            Some(Some("off")) => config.interventions.mode = InterventionMode::Off,
            // YAML 1.1 reads `off` as false.
            Some(None) if top.get("interventions") == Some(&Value::Bool(false)) => {
                config.interventions.mode = InterventionMode::Off;
            }
            Some(_) => self.problem(
                "interventions",
                top.get("interventions"),
                "repeat, all or off",
            ),
        }
        let part = self.optional(top, "classifier", &empty);
        self.known(
            "classifier.",
            part,
            &["min_confidence_percent", "medium_repeats"],
        );
        let interventions = &mut config.interventions;
        interventions.min_confidence_percent = self.number(
            part,
            "classifier.min_confidence_percent",
            0,
            100,
            interventions.min_confidence_percent,
        );
        interventions.medium_repeats = self.number(
            part,
            "classifier.medium_repeats",
            1,
            100,
            interventions.medium_repeats,
        );
        match top.get("patterns") {
            None => {}
            Some(Value::Array(patterns)) => {
                for (at, pattern) in patterns.iter().enumerate() {
                    self.pattern(at, pattern, &mut config);
                }
            }
            other => self.problem("patterns", other, "a list of patterns"),
        }

        if let Some(rules) = top.get("rules") {
            match rules {
                Value::Array(rules) => {
                    for (at, rule) in rules.iter().enumerate() {
                        self.rule(at, rule, &mut config);
                    }
                }
                other => self.problem("rules", Some(other), "a list of rules"),
            }
        }
        config
    }

    /// Reads a pattern. Whether its expression compiles shows when it is used: one that does not is skipped then and reported.
    fn pattern(&mut self, at: usize, pattern: &Value, config: &mut Config) {
        let key = format!("patterns[{at}]");
        let text = |name: &str| pattern.get(name).and_then(Value::as_str);
        match (text("pattern"), text("error_type")) {
            (Some(expression), Some(error_type))
                if !expression.is_empty() && !error_type.is_empty() =>
            {
                config.patterns.push(ErrorPattern {
                    pattern: expression.to_owned(),
                    error_type: error_type.to_owned(),
                });
            }
            _ => self.problem(
                &key,
                Some(pattern),
                "pattern and error_type, both non-empty strings",
            ),
        }
        if let Value::Object(map) = pattern {
            self.known(&format!("{key}."), map, &["pattern", "error_type"]);
        }
    }

    fn rule(&mut self, at: usize, rule: &Value, config: &mut Config) {
        let key = format!("rules[{at}]");
        if let Value::Object(map) = rule {
            self.known(
                &format!("{key}."),
                map,
                &[
                    "id",
                    "tools",
                    "takes",
                    "when",
                    "severity",
                    "reason",
                    "alternative",
                    "catches",
                    "spares",
                ],
            );
        }
        let line = self.lines.get(at).copied();
        match typed::<crate::UserRule>(rule) {
            Ok(rule) => {
                for fault in proof::faults(&rule) {
                    self.problems.push(Problem {
                        key: format!("{key}.{}", fault.key),
                        value: Some(display(&Value::String(fault.value))),
                        allowed: fault.wanted.to_owned(),
                        line,
                    });
                }
                config.rules.push(rule);
            }
            Err(error) => self.problems.push(Problem {
                line,
                key,
                value: Some(display(rule)),
                allowed: format!(
                    "id, tools, severity (block, ask or note) and reason, optionally when and alternative: {}",
                    plain(&error.to_string())
                ),
            }),
        }
    }

    fn problem(&mut self, key: &str, value: Option<&Value>, allowed: &str) {
        self.problems.push(Problem {
            key: key.to_owned(),
            value: value.map(display),
            allowed: allowed.to_owned(),
            line: None,
        });
    }

    fn known(&mut self, within: &str, map: &Map<String, Value>, keys: &[&str]) {
        for key in map.keys() {
            if !keys.contains(&key.as_str()) {
                self.unknown.push(format!("{within}{}", plain(key)));
            }
        }
    }

    fn optional<'v>(
        &mut self,
        top: &'v Map<String, Value>,
        key: &str,
        empty: &'v Map<String, Value>,
    ) -> &'v Map<String, Value> {
        match top.get(last(key)) {
            None | Some(Value::Null) => empty,
            Some(_) => self.map_in(top, key, empty),
        }
    }

    fn map_in<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        key: &str,
        empty: &'v Map<String, Value>,
    ) -> &'v Map<String, Value> {
        if let Some(Value::Object(inner)) = map.get(last(key)) {
            inner
        } else {
            self.problem(key, map.get(last(key)), "a mapping of keys to values");
            empty
        }
    }

    /// A whole number in its range; `otherwise` if the key is left out.
    fn number<N: TryFrom<u64> + Into<u64> + Default>(
        &mut self,
        map: &Map<String, Value>,
        key: &str,
        low: u64,
        high: u64,
        otherwise: N,
    ) -> N {
        let given = map.get(last(key));
        if given.is_none() {
            return otherwise;
        }
        let number = given
            .and_then(Value::as_u64)
            .filter(|number| (low..=high).contains(number))
            .and_then(|number| N::try_from(number).ok());
        number.unwrap_or_else(|| {
            self.problem(key, given, &format!("a whole number from {low} to {high}"));
            N::default()
        })
    }

    fn truth(&mut self, map: &Map<String, Value>, key: &str, otherwise: bool) -> bool {
        let given = map.get(last(key));
        match given {
            Some(Value::Bool(truth)) => *truth,
            None => otherwise,
            given => {
                self.problem(key, given, "true or false");
                false
            }
        }
    }

    fn text(&mut self, map: &Map<String, Value>, key: &str, into: &mut String) {
        match map.get(last(key)) {
            None => {}
            Some(Value::String(text)) if !text.trim().is_empty() => into.clone_from(text),
            other => self.problem(key, other, "a non-empty string"),
        }
    }
}

/// Returns the lines in which the rules of a file begin; none if it has none.
///
/// Reads the file a second time, since values do not keep their position, and most files have no
/// rules.
fn lines_of_rules(value: &Value, text: &str) -> Vec<u64> {
    #[derive(Deserialize)]
    struct Rules {
        rules: Vec<Spanned<IgnoredAny>>,
    }
    if value.get("rules").is_none_or(|rules| !rules.is_array()) {
        return Vec::new();
    }
    serde_saphyr::from_str::<Rules>(text).map_or_else(
        |_| Vec::new(),
        |file| {
            file.rules
                .iter()
                .map(|rule| rule.referenced.line())
                .collect()
        },
    )
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(value)
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// A text of the file without what a terminal would obey, and not too long.
fn plain(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST_SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace(steers, "�")
}

/// Whether a terminal would obey a character, or turn the direction of writing by it.
fn steers(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A value for people, on one line and not too long.
fn display(value: &Value) -> String {
    plain(&value.to_string())
}
