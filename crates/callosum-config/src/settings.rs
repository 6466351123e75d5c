//! [`Settings`]: values in force, after flag, environment, `.calrc` and default were asked in
//! this order (CAL-CFG-1).

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, time::Duration};

use callosum_arbiter::{
    Concurrency, Fraction, Limits, RecoveryPolicy,
    budget::{Bounds, Money},
    circuit,
    suggest::nearest,
    truncate::excerpt,
};

use callosum_ledger::LedgerOptions;

use super::{
    calrc::Calrc,
    environment::Environment,
    key::{GZIP, Key},
    setting::{Origin, Setting},
    setting_path::{Address, NotAllowed},
    value::Value,
};

/// Prefix of our own variables.
const PREFIX: &str = "CAL_";

/// The place of an executor without one in `.calrc`: after all that have one below it.
pub const DEFAULT_PRIORITY: u64 = 100;

/// Values in force.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(Key, Setting<Value>)>,
    executors: BTreeMap<String, ExecutorSettings>,
    /// Names that were set and are not known.
    pub warnings: Vec<Warning>,
}

/// Values in force for one executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorSettings {
    /// Whether it may be chosen.
    pub enabled: Setting<bool>,
    /// Its place in the order; the lowest goes first.
    pub priority: Setting<u64>,
    /// Most tasks that it may have at once.
    pub max_concurrent: Setting<u64>,
}

/// Most tasks of an executor without an entry in `.calrc`: all that run.
const DEFAULT_CAP: u64 = 12;

impl Settings {
    /// Asks all four layers for each key. `flags` are what the command line sets, as typed.
    pub fn resolve(
        calrc: &Calrc,
        environment: &Environment,
        flags: &[(Key, OsString)],
    ) -> Result<Self, SettingsError> {
        let of_calrc = || Origin::Calrc(calrc.path.clone());
        let mut refused: Vec<RejectedValue> = calrc
            .refused
            .iter()
            .map(|problem| RejectedValue {
                origin: of_calrc(),
                problem: problem.clone(),
            })
            .collect();
        let read = |key, text, origin: Origin| match Address::Key(key).read_text(text) {
            Ok(value) => Ok(Setting { value, origin }),
            Err(problem) => Err(RejectedValue { origin, problem }),
        };
        let value_of = |key: Key| {
            if let Some((_, text)) = flags.iter().rfind(|(set, _)| *set == key) {
                return read(key, text, Origin::Flag);
            }
            if let Some(text) = environment.get(key.variable()) {
                return read(key, text, Origin::Environment(key.variable()));
            }
            Ok(calrc.values.get(key.name()).map_or_else(
                || default_of(key),
                |value| Setting {
                    value: value.clone(),
                    origin: of_calrc(),
                },
            ))
        };
        let mut values = Vec::with_capacity(Key::ALL.len());
        for key in Key::ALL {
            match value_of(key) {
                Ok(setting) => values.push((key, setting)),
                Err(refusal) => refused.push(refusal),
            }
        }
        if !refused.is_empty() {
            return Err(SettingsError {
                refused,
                warnings: warnings(calrc, environment),
            });
        }
        let executors = calrc
            .executors
            .iter()
            .map(|(id, entry)| {
                let settings = ExecutorSettings {
                    enabled: set_or(entry.enabled, true, calrc),
                    priority: set_or(entry.priority, DEFAULT_PRIORITY, calrc),
                    max_concurrent: set_or(entry.max_concurrent, DEFAULT_CAP, calrc),
                };
                (id.clone(), settings)
            })
            .collect();
        Ok(Self {
            values,
            executors,
            warnings: warnings(calrc, environment),
        })
    }

    /// Every setting of the table, in its order.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &Setting<Value>)> {
        self.values.iter().map(|(key, setting)| (*key, setting))
    }

    /// One setting of the table.
    pub fn get(&self, key: Key) -> &Setting<Value> {
        &self.values[key as usize].1
    }

    /// Puts the default of a key in force, and gives what was in force before.
    pub fn reset(&mut self, key: Key) -> Setting<Value> {
        std::mem::replace(&mut self.values[key as usize].1, default_of(key))
    }

    /// The executors that have an entry in `.calrc`, by id.
    pub fn executors(&self) -> &BTreeMap<String, ExecutorSettings> {
        &self.executors
    }

    /// Returns the values in force for an executor, also if it has no entry in `.calrc`.
    pub fn executor(&self, id: &str) -> ExecutorSettings {
        let unset = || ExecutorSettings {
            enabled: by_default(true),
            priority: by_default(DEFAULT_PRIORITY),
            max_concurrent: by_default(DEFAULT_CAP),
        };
        self.executors.get(id).cloned().unwrap_or_else(unset)
    }

    /// Returns the limits of a schedule. `seed` decides the chance in the pauses before further
    /// tries.
    pub fn limits(&self, seed: u64) -> Limits {
        let concurrency = u8::try_from(self.count(Key::ConcurrencyLimit))
            .ok()
            .and_then(|tasks| Concurrency::new(tasks).ok());
        Limits {
            concurrency: concurrency.expect("the key's range is that of the type"),
            stagger: self.millis(Key::StaggerDelayMs),
            recovery: RecoveryPolicy {
                retry_max: self.count(Key::RetryMax) as u32,
                backoff_base: self.millis(Key::BackoffBaseMs),
                seed,
            },
        }
    }

    /// When the ledger is archived; a megabyte is 1,000,000 bytes.
    pub fn ledger_options(&self) -> LedgerOptions {
        LedgerOptions {
            rotate_at: self.count(Key::RotationThresholdMb) * 1_000_000,
            ..LedgerOptions::default()
        }
    }

    /// Whether archives are compressed.
    pub fn compresses_archives(&self) -> bool {
        self.get(Key::ArchiveCompression).value == Value::Choice(GZIP)
    }

    /// The silence after which an executor is ended, where its entry says nothing else.
    pub fn quiet_timeout(&self) -> Duration {
        self.millis(Key::ExecutorTimeoutMs)
    }

    /// The expected file reads above which a task is staggered.
    pub fn io_threshold(&self) -> u64 {
        self.count(Key::IoThreshold)
    }

    /// Whether a summary under 2 KB is always sent back and then refused, instead of kept and marked (CAL-SCH-3).
    pub fn strict_summary(&self) -> bool {
        self.switch(Key::StrictSummary)
    }

    /// Whether the same request over an unchanged tree is answered from the ledger.
    pub fn reuse_answers(&self) -> bool {
        self.switch(Key::ReuseAnswers)
    }

    /// The share of citations that must hold, where one is demanded.
    pub fn require_citations(&self) -> Option<Fraction> {
        Fraction::of_parts(self.decimal(Key::RequireCitations))
            .filter(|share| *share > Fraction::NONE)
    }

    /// The path of a key that takes one, as it was written.
    pub fn path(&self, key: Key) -> &PathBuf {
        match &self.get(key).value {
            Value::Path(path) => path,
            other => unreachable!("a path is {other}"),
        }
    }

    fn count(&self, key: Key) -> u64 {
        match self.get(key).value {
            Value::Count(count) => count,
            ref other => unreachable!("a number is {other}"),
        }
    }

    fn switch(&self, key: Key) -> bool {
        match self.get(key).value {
            Value::Switch(on) => on,
            ref other => unreachable!("a switch is {other}"),
        }
    }

    /// Returns the most tasks at once of each executor for which `.calrc` sets that.
    pub fn caps(&self) -> BTreeMap<String, usize> {
        self.executors
            .iter()
            .filter(|(_, settings)| settings.max_concurrent.origin != Origin::Default)
            .map(|(id, settings)| (id.clone(), settings.max_concurrent.value as usize))
            .collect()
    }

    /// Bytes of memory that this program may hold; a megabyte is 1,000,000 bytes.
    pub fn memory_limit(&self) -> Option<u64> {
        let megabytes = self.count(Key::MemoryLimitMb);
        (megabytes > 0).then_some(megabytes * 1_000_000)
    }

    /// When an executor that fails is left alone, and for how long.
    pub fn circuit_rules(&self) -> circuit::Rules {
        circuit::Rules {
            failures: self.count(Key::CircuitFailures),
            pause: Duration::from_secs(self.count(Key::CircuitPauseSeconds)),
        }
    }

    /// Returns the limits of a tree of tasks.
    pub fn bounds(&self) -> Bounds {
        let bound = |number: u64| Some(number).filter(|number| *number > 0);
        Bounds {
            spawns: bound(self.count(Key::MaxSpawns)),
            tokens: bound(self.count(Key::MaxTokens)),
            cost: bound(self.decimal(Key::MaxCost)).map(Money),
            seconds: bound(self.count(Key::MaxSeconds)),
        }
    }

    /// Returns the deepest delegation of executors to executors; the first run's depth is 1.
    pub fn max_depth(&self) -> u64 {
        self.count(Key::MaxDepth)
    }

    /// In ten-thousandths.
    fn decimal(&self, key: Key) -> u64 {
        match self.get(key).value {
            Value::Decimal(parts) => parts,
            ref other => unreachable!("a number is {other}"),
        }
    }

    fn millis(&self, key: Key) -> Duration {
        Duration::from_millis(self.count(key))
    }
}

/// Returns the default value at an address.
pub fn default_at(address: &Address) -> Value {
    match address {
        Address::Key(key) => key.default(),
        Address::Enabled(_) => Value::Switch(true),
        Address::Priority(_) => Value::Count(DEFAULT_PRIORITY),
        Address::MaxConcurrent(_) => Value::Count(DEFAULT_CAP),
    }
}

fn default_of(key: Key) -> Setting<Value> {
    by_default(key.default())
}

fn by_default<T>(value: T) -> Setting<T> {
    Setting {
        value,
        origin: Origin::Default,
    }
}

fn set_or<T>(set: Option<T>, default: T, calrc: &Calrc) -> Setting<T> {
    match set {
        Some(value) => Setting {
            value,
            origin: Origin::Calrc(calrc.path.clone()),
        },
        None => by_default(default),
    }
}

/// Returns the names that were set and are not known. A variable that begins like ours and
/// resembles none of them is another program's.
fn warnings(calrc: &Calrc, environment: &Environment) -> Vec<Warning> {
    let keys = calrc.unknown.iter().map(|unknown| Warning {
        origin: NameOrigin::Calrc(calrc.path.clone()),
        name: unknown.key.clone(),
        nearest: unknown.nearest,
    });
    let variables = environment.iter().filter_map(|(name, _)| {
        let name = name.to_str()?;
        let known = Key::ALL.map(Key::variable);
        if !name.starts_with(PREFIX) || known.contains(&name) {
            return None;
        }
        Some(Warning {
            origin: NameOrigin::Environment,
            name: excerpt(name),
            nearest: Some(nearest(name, known)?),
        })
    });
    keys.chain(variables).collect()
}

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Place of the name.
    pub origin: NameOrigin,
    /// The name.
    pub name: String,
    /// The name that was probably meant.
    pub nearest: Option<&'static str>,
}

/// Place of an unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameOrigin {
    /// In the project's `.calrc`.
    Calrc(PathBuf),
    /// In the environment.
    Environment,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            NameOrigin::Calrc(path) => {
                write!(f, "`{}`: unknown key `{}`", path.display(), self.name)?;
            }
            NameOrigin::Environment => write!(f, "unknown variable {}", self.name)?,
        }
        match self.nearest {
            Some(name) => write!(f, ", did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

/// A value that its key does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedValue {
    /// Origin of the value.
    pub origin: Origin,
    /// The fault.
    pub problem: NotAllowed,
}

impl fmt::Display for RejectedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.problem)
    }
}

/// Values that their keys do not take: all of them, those of `.calrc` first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", first_of(refused))]
pub struct SettingsError {
    /// At least one.
    pub refused: Vec<RejectedValue>,
    /// Unknown names that were found as well.
    pub warnings: Vec<Warning>,
}

/// The first one, and how many more there are: `callosum config check` shows each.
fn first_of(refused: &[RejectedValue]) -> String {
    let Some((first, more)) = refused.split_first() else {
        return String::new();
    };
    match more.len() {
        0 => first.to_string(),
        more => format!("{first} (and {more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn calrc(text: &str) -> Calrc {
        Calrc::read(Path::new(".calrc"), text.as_bytes()).unwrap()
    }

    fn from_file() -> Origin {
        Origin::Calrc(PathBuf::from(".calrc"))
    }

    /// CAL-CFG-1: flag > env > `.calrc` > default.
    #[test]
    fn each_layer_outweighs_those_after_it_and_its_origin_is_kept() {
        let file = calrc(r#"{"concurrency_limit": 6, "retry_max": 1, "io_threshold": 7}"#);
        let environment: Environment = [("CAL_CONCURRENCY_LIMIT", "7"), ("CAL_RETRY_MAX", "2")]
            .into_iter()
            .collect();
        let flags = [(Key::ConcurrencyLimit, OsString::from("8"))];
        let settings = Settings::resolve(&file, &environment, &flags).unwrap();
        let is = |key, value, origin| assert_eq!(settings.get(key), &Setting { value, origin });
        is(Key::ConcurrencyLimit, Value::Count(8), Origin::Flag);
        is(
            Key::RetryMax,
            Value::Count(2),
            Origin::Environment("CAL_RETRY_MAX"),
        );
        is(Key::IoThreshold, Value::Count(7), from_file());
        is(Key::ExecutorTimeoutMs, Value::Count(5000), Origin::Default);
        assert_eq!(settings.limits(0).concurrency.get(), 8);
        assert_eq!(settings.limits(0).recovery.retry_max, 2);
    }

    /// CAL-CFG-1: the error names where, the key, the value and the range.
    #[test]
    fn a_wrong_value_names_its_place_its_key_and_its_range() {
        let environment: Environment = [("CAL_RETRY_MAX", "many")].into_iter().collect();
        let error = Settings::resolve(&calrc("{}"), &environment, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the variable CAL_RETRY_MAX: `retry_max` is `many` (allowed: a whole number from 0 to \
             5)"
        );
    }

    /// CAL-CFG-1: all layers are looked at before any is reported.
    #[test]
    fn every_layers_wrong_values_are_reported_at_once() {
        let environment: Environment = [("CAL_RETRY_MAX", "many"), ("CAL_IO_THRESHOLD", "0")]
            .into_iter()
            .collect();
        let file = calrc(r#"{"concurrency_limit": 2, "io_threshold": "x"}"#);
        let error = Settings::resolve(&file, &environment, &[]).unwrap_err();
        let keys: Vec<(&Origin, &str)> = error
            .refused
            .iter()
            .map(|refusal| (&refusal.origin, refusal.problem.key.as_str()))
            .collect();
        let variable = Origin::Environment;
        assert_eq!(
            keys,
            [
                (&from_file(), "concurrency_limit"),
                (&from_file(), "io_threshold"),
                (&variable("CAL_RETRY_MAX"), "retry_max"),
                (&variable("CAL_IO_THRESHOLD"), "io_threshold"),
            ]
        );
        assert!(error.to_string().ends_with("(and 3 more)"), "{error}");
    }

    #[test]
    fn a_misspelt_variable_warns_and_a_strangers_does_not() {
        let environment: Environment = [("CAL_RETRYMAX", "1"), ("CAL_POLY_CAMPUS", "slo")]
            .into_iter()
            .collect();
        let settings = Settings::resolve(&calrc("{}"), &environment, &[]).unwrap();
        let warnings: Vec<String> = settings.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            ["unknown variable CAL_RETRYMAX, did you mean `CAL_RETRY_MAX`?"]
        );
    }

    #[test]
    fn an_executor_without_an_entry_is_enabled_and_in_the_middle() {
        let file = calrc(r#"{"executors": {"a": {"enabled": false}, "b": {"priority": 2}}}"#);
        let settings = Settings::resolve(&file, &Environment::default(), &[]).unwrap();
        let a = settings.executor("a");
        assert_eq!((a.enabled.value, a.enabled.origin), (false, from_file()));
        assert_eq!(
            (a.priority.value, a.priority.origin),
            (100, Origin::Default)
        );
        assert_eq!(settings.executor("b").priority.value, 2);
        assert!(settings.executor("b").enabled.value);
        assert!(settings.executor("c").enabled.value);
    }

    /// The table's order is that of the enum: [`Settings::get`] relies on it.
    #[test]
    fn every_default_is_allowed_by_its_own_key() {
        let settings = Settings::resolve(&Calrc::default(), &Environment::default(), &[]).unwrap();
        for (at, key) in Key::ALL.into_iter().enumerate() {
            assert_eq!(key as usize, at);
            let text = settings.get(key).value.to_string();
            assert_eq!(
                Address::Key(key).read_text(text.as_ref()),
                Ok(key.default()),
                "{key:?}"
            );
        }
    }
}
