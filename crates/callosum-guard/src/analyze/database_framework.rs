//! Frameworks and migration tools that work on a database, with the variables and options by which they pick one.
//!
//! Start with [`variables`]: the analysis of a command keeps only these of its environment. Whether the database is one
//! for tests is judged by the rules, in `test_database`.

use super::call::Call;
use crate::path;

/// Programs that set up or migrate a database, and those that start one: a stage or an address among their variables
/// counts.
pub(crate) const MIGRATION_PROGRAMS: &[&str] = &[
    "rails",
    "rake",
    "prisma",
    "sequelize",
    "sequelize-cli",
    "alembic",
    "flask",
    "django-admin",
    "manage.py",
    "artisan",
    "knex",
    "typeorm",
    "drizzle-kit",
    "diesel",
    "sqlx",
    "dbmate",
    "flyway",
    "liquibase",
    "goose",
    "migrate",
    "mix",
    "php",
    "python",
    "python3",
    "npx",
    "hasura",
    "supabase",
    "dotnet",
    "tsx",
    "node",
    "ace",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "loco",
    "sea-orm-cli",
    "atlas",
    "phinx",
    "aerich",
    "mikro-orm",
    "mikro-orm-esm",
    "console",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "django",
    "heroku",
    "neon",
    "neonctl",
    "wrangler",
    "firebase",
    "payload",
    "wasp",
];

/// A program, the variables by which it picks a stage, those that say which database it is, and the options that do.
pub(crate) struct Framework {
    pub(crate) names: &'static [&'static str],
    pub(crate) stages: &'static [&'static str],
    pub(crate) addresses: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
}

const URL: &[&str] = &["DATABASE_URL"];

const FRAMEWORKS: &[Framework] = &[
    Framework {
        names: &["rails", "rake"],
        stages: &["RAILS_ENV", "RACK_ENV"],
        addresses: URL,
        options: &[],
    },
    Framework {
        names: &["mix"],
        stages: &["MIX_ENV"],
        addresses: &[],
        options: &[],
    },
    Framework {
        names: &["sequelize", "sequelize-cli", "knex"],
        stages: &["NODE_ENV"],
        addresses: URL,
        options: &["--url", "--connection"],
    },
    Framework {
        names: &["ace"],
        stages: &["NODE_ENV"],
        addresses: &["DATABASE_URL", "DB_DATABASE"],
        options: &["--connection", "-c"],
    },
    Framework {
        names: &["loco"],
        stages: &["LOCO_ENV", "RAILS_ENV", "NODE_ENV"],
        addresses: URL,
        options: &[],
    },
    Framework {
        names: &["artisan"],
        stages: &["APP_ENV"],
        addresses: &["DATABASE_URL", "DB_URL", "DB_DATABASE"],
        options: &["--database"],
    },
    Framework {
        names: &["console"],
        stages: &["APP_ENV"],
        addresses: URL,
        options: &["--connection"],
    },
    Framework {
        names: &["manage.py", "django-admin"],
        stages: &["DJANGO_SETTINGS_MODULE"],
        addresses: URL,
        options: &[],
    },
    Framework {
        names: &["alembic", "flask", "aerich"],
        stages: &[],
        addresses: &["DATABASE_URL", "SQLALCHEMY_DATABASE_URI"],
        options: &["-x"],
    },
    Framework {
        names: &[
            "prisma",
            "drizzle-kit",
            "typeorm",
            "mikro-orm",
            "mikro-orm-esm",
        ],
        stages: &[],
        addresses: URL,
        options: &["--url"],
    },
    Framework {
        names: &["sqlx", "diesel"],
        stages: &[],
        addresses: URL,
        options: &["--database-url", "-D"],
    },
    Framework {
        names: &["sea-orm-cli", "dbmate"],
        stages: &[],
        addresses: URL,
        options: &["--database-url", "--url", "-u"],
    },
    Framework {
        names: &["goose"],
        stages: &[],
        addresses: &["GOOSE_DBSTRING"],
        options: &[],
    },
    Framework {
        names: &["flyway", "mvn", "mvnw", "gradle", "gradlew"],
        stages: &[],
        addresses: &["FLYWAY_URL"],
        options: &["-url", "-Dflyway.url", "-Pflyway.url", "-Dliquibase.url"],
    },
    Framework {
        names: &["phinx"],
        stages: &["PHINX_ENVIRONMENT"],
        addresses: &[],
        options: &[],
    },
    Framework {
        names: &["hasura"],
        stages: &[],
        addresses: &["HASURA_GRAPHQL_ENDPOINT"],
        options: &["--endpoint"],
    },
    Framework {
        names: &["migrate"],
        stages: &[],
        addresses: &[],
        options: &["-database", "--database"],
    },
    Framework {
        names: &["atlas"],
        stages: &[],
        addresses: &[],
        options: &["-u", "--url"],
    },
    Framework {
        names: &["liquibase"],
        stages: &[],
        addresses: &["LIQUIBASE_COMMAND_URL"],
        options: &["--url"],
    },
];

/// Key among the variables for the file that `dotenv -e` takes them from; no shell can set one of
/// that name.
pub(crate) const SETTINGS: &str = "settings of dotenv";

/// Variables from which npm takes its registry.
const REGISTRIES: [&str; 2] = ["NPM_CONFIG_REGISTRY", "npm_config_registry"];

/// The variables that a command of this name may go by.
pub(crate) fn variables(call: &Call) -> impl Iterator<Item = &'static str> {
    let registries = matches!(call.name.as_str(), "npm" | "pnpm").then_some(REGISTRIES);
    let is_asked = MIGRATION_PROGRAMS.contains(&call.name.as_str());
    let framework = is_asked.then(|| framework_at(call)).flatten();
    let names = framework.map(|(_, framework)| {
        let of_file: &[&str] = match framework.addresses {
            [] => &[],
            _ => &[SETTINGS],
        };
        [framework.stages, framework.addresses, of_file].concat()
    });
    let registries = registries.into_iter().flatten();
    let names = names.into_iter().flatten().chain(registries);
    names.chain(named_by(&call.name))
}

/// Whether a program of this name is a framework.
pub(crate) fn is_framework(name: &str) -> bool {
    let mut frameworks = FRAMEWORKS.iter();
    frameworks.any(|framework| framework.names.contains(&name))
}

/// Returns the framework that a command starts, and the position of its name.
pub(crate) fn framework_at(call: &Call) -> Option<(usize, &'static Framework)> {
    let named = |word: &str| {
        let mut frameworks = FRAMEWORKS.iter();
        frameworks.find(|framework| framework.names.contains(&base(word)))
    };
    let mut words = call.words.iter().enumerate();
    words.find_map(|(at, word)| named(&word.text).map(|framework| (at, framework)))
}

/// Returns the name of a program without its folder, and without the version that a runner gets.
pub(crate) fn base(word: &str) -> &str {
    let name = path::name(word);
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Returns the variable that a database client takes the name of its database from, if its words
/// have none.
fn named_by(client: &str) -> Option<&'static str> {
    matches!(client, "psql" | "pgcli").then_some("PGDATABASE")
}
