//! Whether the database that a framework goes to is one for tests, a file among temporary ones, or in memory.
//!
//! Believed is only what the command itself says, and of its variables those that the program goes by: `NODE_ENV=test`
//! says nothing to prisma, which takes its database from `DATABASE_URL`. An address counts more than a stage, since
//! frameworks have it that way, and a word of the command more than a variable.

use super::{Subject, emulator::is_loopback, migration, reset::base};
use crate::{place::Place, unwrap::Call};

/// A program, the variables by which it picks a stage, and those that say which database it is.
struct Framework {
    names: &'static [&'static str],
    stages: &'static [&'static str],
    addresses: &'static [&'static str],
}

const URL: &[&str] = &["DATABASE_URL"];

const FRAMEWORKS: &[Framework] = &[
    Framework {
        names: &["rails", "rake"],
        stages: &["RAILS_ENV", "RACK_ENV"],
        addresses: URL,
    },
    Framework {
        names: &["mix"],
        stages: &["MIX_ENV"],
        addresses: &[],
    },
    Framework {
        names: &["sequelize", "sequelize-cli", "knex"],
        stages: &["NODE_ENV"],
        addresses: URL,
    },
    Framework {
        names: &["ace"],
        stages: &["NODE_ENV"],
        addresses: &["DATABASE_URL", "DB_DATABASE"],
    },
    Framework {
        names: &["loco"],
        stages: &["LOCO_ENV", "RAILS_ENV", "NODE_ENV"],
        addresses: URL,
    },
    Framework {
        names: &["artisan"],
        stages: &["APP_ENV"],
        addresses: &["DATABASE_URL", "DB_URL", "DB_DATABASE"],
    },
    Framework {
        names: &["console"],
        stages: &["APP_ENV"],
        addresses: URL,
    },
    Framework {
        names: &["manage.py", "django-admin"],
        stages: &["DJANGO_SETTINGS_MODULE"],
        addresses: URL,
    },
    Framework {
        names: &["alembic", "flask", "aerich"],
        stages: &[],
        addresses: &["DATABASE_URL", "SQLALCHEMY_DATABASE_URI"],
    },
    Framework {
        names: &[
            "prisma",
            "sqlx",
            "diesel",
            "dbmate",
            "sea-orm-cli",
            "drizzle-kit",
            "typeorm",
            "mikro-orm",
            "mikro-orm-esm",
        ],
        stages: &[],
        addresses: URL,
    },
    Framework {
        names: &["goose"],
        stages: &[],
        addresses: &["GOOSE_DBSTRING"],
    },
    Framework {
        names: &["flyway"],
        stages: &[],
        addresses: &["FLYWAY_URL"],
    },
    Framework {
        names: &["phinx"],
        stages: &["PHINX_ENVIRONMENT"],
        addresses: &[],
    },
    Framework {
        names: &["hasura"],
        stages: &[],
        addresses: &["HASURA_GRAPHQL_ENDPOINT"],
    },
    Framework {
        names: &["migrate", "atlas", "liquibase"],
        stages: &[],
        addresses: &[],
    },
];

/// What an address begins with where it is that of a file, or of a database in memory.
const OF_FILES: [&str; 8] = [
    "sqlite3:",
    "sqlite:",
    "file:",
    "libsql:file:",
    "duckdb:",
    "jdbc:sqlite:",
    "jdbc:h2:file:",
    "jdbc:h2:mem:",
];

/// The variables that a command of this name may go by.
pub(crate) fn variables(call: &Call) -> impl Iterator<Item = &'static str> {
    let mut tools = migration::TOOLS.iter();
    let is_asked = tools.any(|tool| tool.names.contains(&call.name.as_str()));
    let framework = is_asked.then(|| framework_of(call)).flatten();
    let names = framework.map(|framework| [framework.stages, framework.addresses].concat());
    names.into_iter().flatten()
}

/// Whether a program of this name is one of those.
pub(super) fn is_framework(name: &str) -> bool {
    let mut frameworks = FRAMEWORKS.iter();
    frameworks.any(|framework| framework.names.contains(&name))
}

fn framework_of(call: &Call) -> Option<&'static Framework> {
    let named = |word: &str| {
        let mut frameworks = FRAMEWORKS.iter();
        frameworks.find(|framework| framework.names.contains(&base(word)))
    };
    call.words.iter().find_map(|word| named(&word.text))
}

/// Whether a command goes to such a database.
pub(super) fn is_on_trial(subject: &Subject<'_>) -> bool {
    let call = subject.call;
    let Some(framework) = framework_of(call) else {
        return false;
    };
    let words: Vec<&str> = call.words.iter().map(|word| word.text.as_str()).collect();
    let mut addresses = words
        .iter()
        .map(|word| match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => word,
        })
        .filter(|word| is_address(word))
        .peekable();
    if addresses.peek().is_some() {
        return addresses.all(|address| is_passing(subject, address));
    }
    let is_of_laravel = framework.names.contains(&"artisan");
    let connection = value(&words, &["--database"]).filter(|_| is_of_laravel);
    if let Some(connection) = connection {
        return says_test(connection);
    }
    let is_of_django = framework.names.contains(&"manage.py");
    if let Some(settings) = value(&words, &["--settings"]).filter(|_| is_of_django) {
        return says_test(settings);
    }
    let variable = |name: &&str| {
        let mut kept = call.environment.iter();
        kept.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    let mut addresses = framework.addresses.iter().filter_map(variable).peekable();
    if addresses.peek().is_some() {
        return addresses.all(|address| is_passing(subject, address));
    }
    // `rake RAILS_ENV=test db:drop`
    let mut assigned = words.iter().filter_map(|word| word.split_once('='));
    let assigned = assigned.find(|(name, _)| framework.stages.contains(name));
    let stage = match assigned {
        Some((_, stage)) => Some(stage),
        None if framework.stages.is_empty() => None,
        None => value(&words, &["--env", "--environment", "-e"])
            .or_else(|| framework.stages.iter().find_map(variable)),
    };
    stage.is_some_and(|stage| {
        matches!(stage, "test" | "testing") || is_of_django && says_test(stage)
    })
}

/// What one of these options is given.
fn value<'w>(words: &[&'w str], options: &[&str]) -> Option<&'w str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (*word, None),
        };
        let value = value.or_else(|| words.get(at + 1).copied());
        value.filter(|_| options.contains(&name))
    })
}

fn is_address(word: &str) -> bool {
    OF_FILES.iter().any(|start| word.starts_with(start))
        || word
            .split_once("://")
            .is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains([' ', '/']))
}

/// Whether a database is one that nobody keeps, by what leads to it: an address, a path, or its name.
fn is_passing(subject: &Subject<'_>, address: &str) -> bool {
    let named_for_good = address.split(|c: char| !c.is_alphanumeric());
    let is_for_good = |part: &str| {
        let part = part.to_ascii_lowercase();
        matches!(part.as_str(), "prod" | "production" | "prd" | "live")
    };
    if named_for_good.into_iter().any(is_for_good) {
        return false;
    }
    let file = OF_FILES
        .iter()
        .find_map(|start| address.strip_prefix(start));
    let file = file.or_else(|| (!is_address(address)).then_some(address));
    if let Some(file) = file {
        let in_memory = address.contains(":memory:")
            || address.contains("mode=memory")
            || address.starts_with("jdbc:h2:mem:");
        let path = file.strip_prefix("//").unwrap_or(file);
        let path = path.split('?').next().unwrap_or(path);
        let is_known = crate::unwrap::value::is_known(path) && !path.is_empty();
        return in_memory
            || is_known && (subject.place(path) == Place::Free || path.split('/').any(says_test));
    }
    if subject.call.name == "hasura" {
        return is_loopback(address);
    }
    let (_, rest) = address.split_once("://").unwrap_or(("", address));
    let (_, name) = rest.split_once('/').unwrap_or((rest, ""));
    let name = name.split('?').next().unwrap_or(name);
    !name.contains('/') && says_test(name)
}

/// Whether a name says that what it names is for tests: `shop_test`, `app.settings.test`, `tmp.db`, but neither `latest`
/// nor what is worked with (`shop_dev`).
fn says_test(name: &str) -> bool {
    const SAYS: [&str; 8] = [
        "test", "tests", "testing", "tmp", "temp", "ci", "e2e", "scratch",
    ];
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(['_', '-', '.']);
    parts.any(|part| SAYS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())))
}
