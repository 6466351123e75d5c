//! Consent by pipe: `yes | npx prisma db push` answers yes to all that a tool asks, also to a reset.
//!
//! It counts only for tools that ask before they delete: `yes | apt-get install x` is daily work.

use super::{Rule, Severity, Subject, Tool, reset::started, test_database::is_on_trial};
use crate::analyze::{
    database_framework::base,
    value::{MAYBE, SOME, Value},
};

/// Tools of databases and of infrastructure that ask before they delete.
const ASKING: [&str; 33] = [
    "prisma",
    "drizzle-kit",
    "typeorm",
    "sequelize",
    "sequelize-cli",
    "knex",
    "mikro-orm",
    "alembic",
    "aerich",
    "phinx",
    "flyway",
    "liquibase",
    "dbmate",
    "goose",
    "migrate",
    "atlas",
    "diesel",
    "sqlx",
    "sea-orm-cli",
    "hasura",
    "supabase",
    "neon",
    "neonctl",
    "pscale",
    "turso",
    "convex",
    "terraform",
    "tofu",
    "terragrunt",
    "pulumi",
    "cdk",
    "dropdb",
    "mysqladmin",
];

/// Tools of frameworks and of hosts that do much else: their words have to say what may be lost.
const ASKING_BY_VERB: [&str; 23] = [
    "django",
    "django-admin",
    "manage.py",
    "flask",
    "rails",
    "rake",
    "artisan",
    "console",
    "mix",
    "loco",
    "ace",
    "payload",
    "railway",
    "fly",
    "flyctl",
    "heroku",
    "firebase",
    "wrangler",
    "vercel",
    "netlify",
    "serverless",
    "sst",
    "eb",
];

/// The plugin of `dotnet` that migrates databases, which is no command by itself.
const DOTNET_PLUGIN: &str = "ef";

/// Programs that start other tools.
const RUNNERS: [&str; 10] = [
    "npm", "pnpm", "yarn", "bun", "cargo", "php", "python", "python3", "node", "dotnet",
];

/// The names of all commands that the rule is about.
const NAMES: [&str; ASKING.len() + ASKING_BY_VERB.len() + RUNNERS.len()] =
    concatenate([&ASKING, &ASKING_BY_VERB, &RUNNERS]);

/// Concatenates lists of names at compile time. `N` is the sum of their lengths.
const fn concatenate<const N: usize>(lists: [&[&'static str]; 3]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut list, mut at, mut filled) = (0, 0, 0);
    while list < lists.len() {
        if at < lists[list].len() {
            names[filled] = lists[list][at];
            at += 1;
            filled += 1;
        } else {
            list += 1;
            at = 0;
        }
    }
    names
}

/// Parts of words that say so.
const VERBS: [&str; 22] = [
    "db:",
    "ecto.",
    "ash.",
    "migrat",
    "schema",
    "doctrine:",
    "pg:",
    "flush",
    "reset",
    "drop",
    "wipe",
    "truncate",
    "purge",
    "delete",
    "destroy",
    "remove",
    "restore",
    "rollback",
    "deploy",
    "terminate",
    "promote",
    "database",
];

/// Words that say so by themselves.
const WHOLE_VERBS: [&str; 6] = ["db", "d1", "rm", "up", "down", "push"];

/// Words of commands that lose nothing.
const READS: [&str; 22] = [
    "generate", "format", "fmt", "validate", "version", "status", "studio", "list", "ls", "show",
    "info", "login", "logout", "whoami", "logs", "docs", "plan", "output", "init", "new", "help",
    "pull",
];

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &NAMES,
    takes: "",
    one_dash: false,
    tests: &[("consents", consents), ("for-tests", is_on_trial)],
    rules: &[Rule {
        id: "database.consent",
        when: &["&consents !&for-tests !--dry-run|--help|--version"],
        severity: Severity::Ask,
        reason: "it answers yes to every prompt of the tool, even a prompt to delete the data",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "yes | npx prisma db push",
            "echo y | npx prisma migrate dev",
            "printf 'y\\ny\\n' | pnpm prisma db push",
            "npx prisma db push <<< y",
            "npx prisma db push <<E\ny\nE",
            "npx prisma db push < <(yes)",
            "(sleep 1; echo yes) | terraform apply",
            "yes | head -3 | supabase db push",
            "bash -c 'yes | npx drizzle-kit push'",
            "yes yes | python manage.py migrate",
            "echo yes | php artisan migrate",
            "yes | docker compose exec -T web rails db:migrate",
            "Y=y; echo $Y | alembic upgrade head",
            "yes | fly deploy",
        ],
        #[cfg(test)]
        spares: &[
            "yes | apt-get install x",
            "npx prisma db push",
            "npx prisma generate",
            "yes | npx prisma generate",
            "echo yes | python manage.py collectstatic",
            "yes | mix archive.install hex phx_new",
            "yes | rails new shop",
            "echo 'select 1' | prisma db execute --stdin",
            "echo n | npx prisma migrate dev",
            "yes | npm init",
            "yes | yarn create vite",
            "terraform fmt - < main.tf",
            "echo y | DATABASE_URL=postgres://localhost/app_test npx prisma db push",
        ],
    }],
}];

/// Returns whether a tool that asks before it deletes is fed nothing but consent.
fn consents(subject: &Subject<'_>) -> bool {
    if !subject.call.input.as_ref().is_some_and(says_yes) {
        return false;
    }
    let words = subject.call.texts();
    let is_asking = |word: &str| {
        let name = base(word);
        ASKING.contains(&name) || asks_by_verb(name)
    };
    let found = match subject.call.name.as_str() {
        "npm" | "pnpm" | "yarn" | "bun" | "cargo" => {
            started(&words).filter(|at| is_asking(words[*at]))
        }
        // What runs a program names it first: `python -m alembic`, `php artisan`, `dotnet ef`.
        "php" | "python" | "python3" | "node" | "dotnet" => {
            (1..words.len().min(5)).find(|at| is_asking(words[*at]))
        }
        _ => Some(0),
    };
    let Some(at) = found else {
        return false;
    };
    let mut behind = words[at + 1..].iter().filter(|word| !word.starts_with('-'));
    let says_loss =
        |word: &&str| WHOLE_VERBS.contains(word) || VERBS.iter().any(|verb| word.contains(verb));
    if asks_by_verb(base(words[at])) {
        return behind.any(says_loss);
    }
    !behind.take(2).any(|word| READS.contains(word))
}

/// Returns whether the words of this tool decide whether it may delete data.
fn asks_by_verb(name: &str) -> bool {
    ASKING_BY_VERB.contains(&name) || name == DOTNET_PLUGIN
}

/// Returns whether an input consents in each of its lines. Lines that are not known say nothing.
fn says_yes(input: &Value) -> bool {
    const YES: [&str; 7] = ["y", "yes", "ye", "ok", "true", "confirm", "approve"];
    let mut lines = input
        .text
        .lines()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || matches!(c, MAYBE | SOME)))
        .filter(|line| !line.is_empty())
        .peekable();
    lines.peek().is_some() && lines.all(|line| YES.contains(&line.to_ascii_lowercase().as_str()))
}
