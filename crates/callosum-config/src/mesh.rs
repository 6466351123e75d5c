//! [`MeshSettings`]: the user's configuration of the mesh: routes, and the effect of a lease on others.
//!
//! The table `mesh` of `config.toml`; other modules read the other tables. Faults in it are named
//! by their keys, all of them at once.

use std::path::{Path, PathBuf};

use super::{
    digest_sources::{self, DigestSource},
    notify::{self, NotifySetting},
    output_folders,
};
use callosum_host::{Disk, DiskError};
use callosum_mesh::{
    agent::AgentName,
    classify::Example,
    route::{Matrix, Role, Route},
};
use jiff::SignedDuration;
use toml::{Table, Value};

/// The table.
const TABLE: &str = "mesh";

/// The keys of the table.
const KEYS: [&str; 9] = [
    "leases",
    "routes",
    "roles",
    "examples",
    "notify",
    "output_folders",
    "digest",
    "resume_after_limit",
    // Read by [`FleetSetting`](super::FleetSetting).
    "fleet",
];

/// Longest text of a route or a role, in characters.
const LONGEST: usize = 200;

/// Most examples of prompts with their categories.
const MOST_EXAMPLES: usize = 500;

/// The most minutes that an agent may be given to begin: a week.
const MOST_MINUTES: i64 = 7 * 24 * 60;

/// Effect on an agent that is about to edit a file on which another holds a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseMode {
    /// It learns who holds the lease, and goes on.
    #[default]
    Warn,
    /// The edit is denied, and it learns the same.
    Block,
}

/// Configuration of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshSettings {
    /// Effect of a lease on others.
    pub leases: LeaseMode,
    /// Categories and roles; only those that the user configured.
    pub matrix: Matrix,
    /// Prompts with their categories, which come before the rules when a prompt is classified.
    pub examples: Vec<Example>,
    /// Notification of a person about agents, if there is any.
    pub notify: Option<NotifySetting>,
    /// Folders outside of a project in which output files of tasks may be written.
    pub output_folders: Vec<String>,
    /// Files and commands that a session-start digest quotes.
    pub digest_sources: Vec<DigestSource>,
    /// Whether a session-start digest names related past turns, if the memory of past sessions is on.
    pub digest_related: bool,
    /// Whether an agent in a pane is sent "continue" after its account's limit has ended.
    pub resume_after_limit: bool,
}

/// Reason that the user's configuration of the mesh cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MeshSettingsError {
    /// The file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is no TOML.
    #[error("{} is not valid TOML: {reason}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The fault, and its place.
        reason: String,
    },
    /// Keys or values in it are not allowed.
    #[error("{}: {}", path.display(), faults.join("; "))]
    NotAllowed {
        /// The file.
        path: PathBuf,
        /// Each with its key, its value and what is allowed.
        faults: Vec<String>,
    },
}

impl Default for MeshSettings {
    fn default() -> Self {
        Self {
            leases: LeaseMode::default(),
            matrix: Matrix::default(),
            examples: Vec::new(),
            notify: None,
            output_folders: Vec::new(),
            digest_sources: Vec::new(),
            digest_related: true,
            resume_after_limit: false,
        }
    }
}

impl MeshSettings {
    /// Reads them; a key that is absent has the seed's value. A file that does not exist sets
    /// nothing.
    pub fn load(disk: &Disk, path: &Path) -> Result<Self, MeshSettingsError> {
        Self::of_file(path, disk.read_if_there(path)?.as_deref())
    }

    /// Reads the settings from the bytes of a file, `None` if it does not exist.
    pub fn of_file(path: &Path, bytes: Option<&[u8]>) -> Result<Self, MeshSettingsError> {
        let Some(bytes) = bytes else {
            return Ok(Self::default());
        };
        let not_toml = |reason: String| MeshSettingsError::NotToml {
            path: path.to_owned(),
            reason,
        };
        let text =
            std::str::from_utf8(bytes).map_err(|_| not_toml("it is not UTF-8".to_owned()))?;
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| not_toml(error.to_string().trim().to_owned()))?;
        let (settings, faults) = Self::of(&table);
        if faults.is_empty() {
            return Ok(settings);
        }
        Err(MeshSettingsError::NotAllowed {
            path: path.to_owned(),
            faults,
        })
    }

    /// Reads a file's table: returns the settings, and the faults in it.
    fn of(file: &Table) -> (Self, Vec<String>) {
        let mut reader = Reader::default();
        let mut settings = Self::default();
        let Some(table) = file.get(TABLE) else {
            return (settings, reader.faults);
        };
        let Some(table) = reader.table(TABLE, table, &KEYS) else {
            return (settings, reader.faults);
        };
        match table.get("leases").map(|value| (value, value.as_str())) {
            None => {}
            Some((_, Some("warn"))) => settings.leases = LeaseMode::Warn,
            Some((_, Some("block"))) => settings.leases = LeaseMode::Block,
            Some((value, _)) => reader.refuse("mesh.leases", value, "warn or block"),
        }
        match table.get("resume_after_limit") {
            None => {}
            Some(Value::Boolean(is_on)) => settings.resume_after_limit = *is_on,
            Some(value) => reader.refuse("mesh.resume_after_limit", value, "true or false"),
        }
        for (name, value) in reader.entries(table, "routes") {
            reader.route(&mut settings.matrix, &name, &value);
        }
        for (name, value) in reader.entries(table, "roles") {
            reader.role(&mut settings.matrix, &name, &value);
        }
        if let Some(value) = table.get("notify")
            && let Some(table) = reader.table("mesh.notify", value, &notify::KEYS)
        {
            settings.notify = NotifySetting::read(table, |key, value, allowed| {
                reader.refuse(&format!("mesh.notify.{key}"), value, allowed);
            });
        }
        if let Some(value) = table.get("output_folders") {
            match output_folders::read(value) {
                Some(folders) => settings.output_folders = folders,
                None => reader.refuse("mesh.output_folders", value, output_folders::ALLOWED),
            }
        }
        if let Some(value) = table.get("digest") {
            settings.digest_sources = digest_sources::read_all(value, &mut reader.faults);
            settings.digest_related = digest_sources::read_related(value, &mut reader.faults);
        }
        settings.examples = reader.examples(table, &settings.matrix);
        (settings, reader.faults)
    }
}

/// Reads values, and keeps what is wrong with them.
#[derive(Default)]
struct Reader {
    faults: Vec<String>,
}

impl Reader {
    fn route(&mut self, matrix: &mut Matrix, name: &str, value: &Value) {
        let key = format!("mesh.routes.{name}");
        let is_name = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_name {
            let what =
                format!("`{key}` is not a valid category (allowed: 1 to 64 of a-z, 0-9 and `-`)");
            return self.faults.push(what);
        }
        let known = ["about", "primary", "fallback", "minutes", "enabled"];
        let Some(table) = self.table(&key, value, &known) else {
            return;
        };
        let before = matrix
            .routes
            .iter()
            .position(|route| route.category == name);
        match table.get("enabled").map(|value| (value, value.as_bool())) {
            None | Some((_, Some(true))) => {}
            Some((_, Some(false))) => {
                matrix.routes.retain(|route| route.category != name);
                return;
            }
            Some((value, None)) => {
                self.refuse(&format!("{key}.enabled"), value, "true or false");
            }
        }
        // A category of the seed (Seed CALC §7) may be named with only the keys that differ.
        let old = match before {
            Some(at) => Some(matrix.routes[at].clone()),
            None => Matrix::seed().route(name).cloned(),
        };
        let old = old.as_ref();
        let primary = self.agent(&key, "primary", table);
        let primary = primary.or_else(|| old.map(|route| route.primary.clone()));
        let fallback = self.agent(&key, "fallback", table);
        let fallback = fallback.or_else(|| old.map(|route| route.fallback.clone()));
        let within = self
            .minutes(&key, table)
            .or_else(|| old.map(|route| route.within));
        let about = self.text(&key, "about", table);
        let about = about.or_else(|| old.map(|route| route.about.clone()));
        let missing = [
            ("primary", primary.is_none()),
            ("fallback", fallback.is_none()),
            ("minutes", within.is_none()),
        ];
        for (name, is_missing) in missing {
            if is_missing && !table.contains_key(name) {
                let what = format!("`{key}.{name}` is missing");
                self.faults.push(what);
            }
        }
        let (Some(primary), Some(fallback), Some(within)) = (primary, fallback, within) else {
            return;
        };
        if primary == fallback {
            let what = format!(
                "`{key}.fallback` is `{fallback}` (allowed: an agent other than `primary`)"
            );
            return self.faults.push(what);
        }
        let route = Route {
            category: name.to_owned(),
            about: about.unwrap_or_default(),
            primary,
            fallback,
            within,
        };
        match before {
            Some(at) => matrix.routes[at] = route,
            None => matrix.routes.push(route),
        }
    }

    fn role(&mut self, matrix: &mut Matrix, name: &str, value: &Value) {
        let key = format!("mesh.roles.{name}");
        let Ok(agent) = name.parse::<AgentName>() else {
            let what = format!("`{key}` does not name an agent (allowed: a name such as `codex`)");
            return self.faults.push(what);
        };
        let Some(table) = self.table(&key, value, &["name", "duties"]) else {
            return;
        };
        let title = self.text(&key, "name", table);
        let duties = self.text(&key, "duties", table);
        let old = Matrix::seed().role(&agent).cloned();
        let title = title.or_else(|| old.as_ref().map(|role| role.name.clone()));
        let duties = duties.or_else(|| old.as_ref().map(|role| role.duties.clone()));
        match (title, duties) {
            (Some(name), Some(duties)) => matrix.roles.push(Role {
                agent,
                name,
                duties,
            }),
            _ => self
                .faults
                .push(format!("`{key}` needs `name` and `duties`")),
        }
    }

    fn examples(&mut self, mesh: &Table, matrix: &Matrix) -> Vec<Example> {
        let Some(value) = mesh.get("examples") else {
            return Vec::new();
        };
        let Some(entries) = value.as_array() else {
            self.refuse("mesh.examples", value, "tables `[[mesh.examples]]`");
            return Vec::new();
        };
        if entries.len() > MOST_EXAMPLES {
            let what = format!(
                "`mesh.examples` has {} entries (allowed: {MOST_EXAMPLES})",
                entries.len()
            );
            self.faults.push(what);
        }
        let mut examples = Vec::new();
        for (index, value) in entries.iter().take(MOST_EXAMPLES).enumerate() {
            let key = format!("mesh.examples[{index}]");
            let Some(table) = self.table(&key, value, &["prompt", "category"]) else {
                continue;
            };
            let text = |name: &str| {
                table
                    .get(name)
                    .and_then(Value::as_str)
                    .filter(|text| !text.trim().is_empty())
            };
            let (Some(prompt), Some(category)) = (text("prompt"), text("category")) else {
                self.faults
                    .push(format!("`{key}` needs `prompt` and `category`"));
                continue;
            };
            if matrix.route(category).is_none() {
                let what = format!(
                    "`{key}.category` is `{category}` (allowed: a category of `mesh.routes`)"
                );
                self.faults.push(what);
                continue;
            }
            examples.push(Example {
                prompt: prompt.to_owned(),
                category: category.to_owned(),
            });
        }
        examples
    }

    /// A table with these keys alone.
    fn table<'v>(&mut self, key: &str, value: &'v Value, known: &[&str]) -> Option<&'v Table> {
        let Some(table) = value.as_table() else {
            self.refuse(key, value, "a table");
            return None;
        };
        for name in table.keys().filter(|name| !known.contains(&name.as_str())) {
            let allowed = known.join(", ");
            self.faults
                .push(format!("`{key}.{name}` is unknown (allowed: {allowed})"));
        }
        Some(table)
    }

    /// The tables in a table of tables.
    fn entries(&mut self, table: &Table, name: &str) -> Vec<(String, Value)> {
        match table.get(name) {
            None => Vec::new(),
            Some(Value::Table(entries)) => entries
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            Some(value) => {
                self.refuse(
                    &format!("{TABLE}.{name}"),
                    value,
                    "tables, one for each name",
                );
                Vec::new()
            }
        }
    }

    fn agent(&mut self, key: &str, name: &str, table: &Table) -> Option<AgentName> {
        let value = table.get(name)?;
        let agent = value.as_str().and_then(|text| text.parse().ok());
        if agent.is_none() {
            self.refuse(
                &format!("{key}.{name}"),
                value,
                "the name of an agent, such as `codex`",
            );
        }
        agent
    }

    fn minutes(&mut self, key: &str, table: &Table) -> Option<SignedDuration> {
        let value = table.get("minutes")?;
        let minutes = value.as_integer();
        let minutes = minutes.filter(|minutes| (1..=MOST_MINUTES).contains(minutes));
        if minutes.is_none() {
            let allowed = format!("a whole number from 1 to {MOST_MINUTES}");
            self.refuse(&format!("{key}.minutes"), value, &allowed);
        }
        minutes.map(SignedDuration::from_mins)
    }

    fn text(&mut self, key: &str, name: &str, table: &Table) -> Option<String> {
        let value = table.get(name)?;
        let text = value.as_str().filter(|text| {
            let is_plain = !text.contains(char::is_control);
            is_plain && (1..=LONGEST).contains(&text.chars().count())
        });
        if text.is_none() {
            let allowed = format!("a line of 1 to {LONGEST} characters");
            self.refuse(&format!("{key}.{name}"), value, &allowed);
        }
        text.map(str::to_owned)
    }

    fn refuse(&mut self, key: &str, value: &Value, allowed: &str) {
        let shown: String = value.to_string().chars().take(80).collect();
        self.faults
            .push(format!("`{key}` is {shown} (allowed: {allowed})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    fn load(text: &str) -> Result<MeshSettings, String> {
        let ground = TestDir::new();
        let path = ground.write("config.toml", text);
        let loaded = MeshSettings::load(&ground.disk, &path);
        loaded.map_err(|error| {
            error
                .to_string()
                .replace(&path.display().to_string(), "FILE")
        })
    }

    /// CALC-ROUTE-1: examples belong to categories that exist, and each fault is named.
    #[test]
    fn examples_name_categories_that_exist() {
        let read =
            |text: &str| MeshSettings::of_file(Path::new("config.toml"), Some(text.as_bytes()));
        let text = "[mesh.routes.large-review]\n[[mesh.examples]]\nprompt = \"Read it all\"\ncategory = \"large-review\"\n";
        let examples = read(text).unwrap().examples;
        assert_eq!(examples.len(), 1);
        assert_eq!(examples[0].prompt, "Read it all");
        let unknown = read(&text.replace("category = \"large-review\"", "category = \"cooking\""));
        let unknown = unknown.unwrap_err().to_string();
        assert!(
            unknown.contains("`mesh.examples[0].category` is `cooking`"),
            "{unknown}"
        );
        let empty = read(&text.replace("Read it all", " "))
            .unwrap_err()
            .to_string();
        assert!(
            empty.contains("`mesh.examples[0]` needs `prompt` and `category`"),
            "{empty}"
        );
    }

    /// CALC-ROUTE-1: the matrix has what the user configures, and takes missing keys from the seed's.
    #[test]
    fn the_matrix_is_what_the_user_configures() {
        let ground = TestDir::new();
        let none = MeshSettings::load(&ground.disk, &ground.path("none.toml")).unwrap();
        assert_eq!(none, MeshSettings::default());
        assert_eq!(none.matrix, Matrix::default());
        let settings = load(
            "[other]\nx = 1\n[mesh]\nleases = \"block\"\n\
             [mesh.routes.large-review]\nprimary = \"claude\"\nfallback = \"codex\"\n\
             [mesh.routes.ios-build]\nenabled = false\n\
             [mesh.routes.translation]\nprimary = \"qwen\"\nfallback = \"gemini\"\nminutes = 30\n\
             [mesh.roles.qwen]\nname = \"TRANSLATOR\"\nduties = \"languages\"\n\
             [mesh.roles.codex]\nname = \"COUNTER\"\n",
        );
        let settings = settings.unwrap();
        assert_eq!(settings.leases, LeaseMode::Block);
        let matrix = settings.matrix;
        assert_eq!(matrix.routes.len(), 2);
        assert!(matrix.route("ios-build").is_none());
        let review = matrix.route("large-review").unwrap();
        assert_eq!(review.primary.as_str(), "claude-code");
        assert_eq!(review.within, SignedDuration::from_mins(15));
        assert_eq!(review.about, "review of more than 100,000 tokens");
        let new = matrix.route("translation").unwrap();
        assert_eq!(new.primary.as_str(), "qwen-code");
        let role = |name: &str| matrix.role(&name.parse().unwrap()).unwrap().clone();
        assert_eq!(role("qwen").name, "TRANSLATOR");
        assert_eq!(role("codex").name, "COUNTER");
        assert!(role("codex").duties.contains("data analysis"));
    }

    /// CALC-ROUTE-1: everything that is wrong is named by file and key, with what is allowed.
    #[test]
    fn every_fault_is_named_by_its_key() {
        let message = load(
            "[mesh]\nlease = 1\nleases = \"maybe\"\n\
             [mesh.routes.\"Big Review\"]\nprimary = \"codex\"\n\
             [mesh.routes.large-review]\nprimary = \"a b\"\nminutes = 0\nabout = \"\"\nenabled = 3\n\
             [mesh.routes.synthesis]\nfallback = \"gemini\"\n\
             [mesh.routes.new]\nprimary = \"codex\"\n\
             [mesh.roles.qwen]\nname = \"X\"\n",
        );
        let message = message.unwrap_err();
        for part in [
            "FILE: `mesh.lease` is unknown (allowed: leases, routes, roles, examples, notify, output_folders, digest, resume_after_limit, fleet)",
            "`mesh.leases` is \"maybe\" (allowed: warn or block)",
            "`mesh.routes.Big Review` is not a valid category",
            "`mesh.routes.large-review.primary` is \"a b\" (allowed: the name of an agent",
            "`mesh.routes.large-review.minutes` is 0 (allowed: a whole number from 1 to 10080)",
            "`mesh.routes.large-review.about` is \"\"",
            "`mesh.routes.large-review.enabled` is 3 (allowed: true or false)",
            "`mesh.routes.synthesis.fallback` is `gemini-cli` (allowed: an agent other than",
            "`mesh.routes.new.fallback` is missing",
            "`mesh.routes.new.minutes` is missing",
            "`mesh.roles.qwen` needs `name` and `duties`",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(
            load("mesh = 1")
                .unwrap_err()
                .contains("`mesh` is 1 (allowed: a table)")
        );
        let broken = load("[mesh").unwrap_err();
        assert!(
            broken.contains("FILE is not valid TOML: ") && broken.contains("line 1"),
            "{broken}"
        );
    }
}
