//! Deleting all contents of a database, by the words of the framework or migration tool that does
//! it.
//!
//! A program is looked for at each place where it may be: in front, or behind what starts it
//! (`npx prisma`, `php artisan`, `python -m alembic`, `cargo sqlx`).

use crate::analyze::{
    Call,
    database_framework::{base, is_framework},
};

/// Words that mean it with any program.
const WORDS: [&str; 32] = [
    "db:drop",
    "db:reset",
    "db:migrate:reset",
    "db:wipe",
    "db:truncate",
    "migrate:fresh",
    "migrate:reset",
    "db:schema:load",
    "db:structure:load",
    "db:seed:replant",
    "db:drop:all",
    "ecto.drop",
    "ecto.reset",
    "db:purge",
    "schema:drop",
    "schema:fresh",
    "db:migrate:undo:all",
    "db:truncate_all",
    "migrate:refresh",
    "migration:fresh",
    "migration:reset",
    "migration:refresh",
    "database:drop",
    "database:reset",
    "db:setup",
    "db:fixtures:load",
    "db:mongoid:drop",
    "db:mongoid:purge",
    "db:seed:undo:all",
    "ash.reset",
    "ash.tear_down",
    "ash_postgres.drop",
];

/// The same for one of several databases: `db:drop:primary`.
const WORDS_OF_ONE: [&str; 4] = ["db:drop:", "db:reset:", "db:purge:", "db:schema:load:"];

/// Programs, and what they say it by: words that follow each other, others between them, and options wherever they
/// stand.
const RESETS: &[(&[&str], &str)] = &[
    (&["prisma"], "migrate reset"),
    (&["prisma"], "--force-reset|--accept-data-loss"),
    (&["diesel", "sqlx"], "database|db drop|reset"),
    (&["diesel"], "migration revert|redo -a|--all"),
    (&["sqlx"], "migrate|mig revert --target-version 0"),
    (&["sqlx"], "migrate|mig revert --target-version=0"),
    (&["loco"], "db drop|reset|truncate"),
    (&["sea-orm-cli"], "migrate fresh|reset|refresh"),
    (&["aerich"], "downgrade -v|--version 0"),
    (&["aerich"], "downgrade -v0|--version=0"),
    (
        &["manage.py", "django-admin", "django"],
        "flush|reset_db|reset_schema",
    ),
    (&["manage.py", "django-admin", "django"], "migrate zero"),
    (&["console"], "doctrine:fixtures:load -n|--no-interaction"),
    (&["console"], "doctrine:migrations:migrate first|0"),
    (
        &["console"],
        "doctrine:schema:drop|doctrine:database:drop --force|-f|--full-database",
    ),
    (&["phinx"], "rollback -t|--target 0|all"),
    (&["phinx"], "rollback -t0|--target=0"),
    (&["hasura"], "migrate apply --down all"),
    (&["hasura"], "migrate apply --down=all"),
    (&["flyway"], "clean"),
    (&["liquibase"], "drop-all|dropAll"),
    (&["atlas"], "schema clean"),
    // A database on this machine may hold what was entered by hand.
    (&["supabase"], "db reset"),
    (&["supabase"], "migration down"),
    (&["supabase"], "stop --no-backup"),
    (&["heroku"], "pg:copy|pg:backups:restore"),
    (&["neon", "neonctl"], "branches|branch restore"),
    (&["wrangler"], "d1 time-travel restore"),
    (&["firebase"], "database:set"),
    (&["payload"], "migrate:fresh|migrate:reset|migrate:refresh"),
    (&["wasp"], "db reset"),
    (&["dotnet"], "database drop"),
    (&["dotnet"], "ef database update 0"),
    (&["mix"], "ecto.rollback --all"),
    (&["drizzle-kit"], "push --force"),
    (&["dbmate", "migrate"], "drop"),
    (&["migrate"], "down -all|--all"),
    (&["goose"], "reset|down-to"),
    (
        &["mvn", "mvnw", "gradle", "gradlew"],
        "flyway:clean|flywayClean|liquibase:dropAll",
    ),
];

/// Programs that only print what they would do with `--dry-run`.
const TELL: [&str; 4] = ["dotnet", "phinx", "atlas", "hasura"];

/// Words of a runner before the program that it starts.
const RUN: [&str; 4] = ["run", "exec", "dlx", "x"];

/// Options, with a value, of what starts a program by its own first word: `cargo sqlx`, `pnpm prisma`.
const TAKES: [&str; 10] = [
    "-C",
    "--dir",
    "--cwd",
    "--filter",
    "-F",
    "--config",
    "-Z",
    "--manifest-path",
    "--color",
    "--target-dir",
];

/// Whether a command deletes what is in a database, or takes back all that its migrations have made.
pub(super) fn resets(call: &Call) -> bool {
    let words = call.texts();
    let is_known = |word: &str| {
        let name = base(word);
        is_framework(name) || RESETS.iter().any(|(programs, _)| programs.contains(&name))
    };
    let starts = matches!(
        call.name.as_str(),
        "cargo" | "npm" | "pnpm" | "yarn" | "bun"
    );
    // Its other words may have the name of a program, or be a task: `cargo run -- migrate drop`,
    // `yarn db:reset`.
    let found = if starts {
        started(&words).filter(|at| is_known(words[*at]))
    } else {
        words.iter().position(|word| is_known(word))
    };
    if starts && found.is_none() {
        return false;
    }
    // What `dotenv` runs is a command of its own, with the variables that it was given.
    let of_npx = started(&words).filter(|_| call.name == "npx");
    if of_npx.is_some_and(|at| matches!(base(words[at]), "dotenv" | "dotenv-cli")) {
        return false;
    }
    let has = |wanted: &str| words.contains(&wanted);
    // `rake -T db:drop` lists tasks.
    let lists = matches!(call.name.as_str(), "rake" | "rails");
    if lists
        && ["-T", "--tasks", "-D", "-P", "-W"]
            .iter()
            .any(|one| has(one))
    {
        return false;
    }
    // `mix do ecto.drop, ecto.create`
    let is_said = |word: &&str| {
        let word = word.trim_end_matches(',');
        let mut starts = WORDS_OF_ONE.iter();
        WORDS.contains(&word)
            || starts.any(|start| word.starts_with(start)) && !word.ends_with(":test")
    };
    if words.iter().any(is_said)
        || has("migrate:rollback") && has("--all")
        || has("db:migrate") && has("VERSION=0")
    {
        return true;
    }
    // Alembic's words, with any program that drives it: `python manage.py db downgrade base`.
    if has_words(&words[1..], "downgrade base") {
        return true;
    }
    if has("db:rollback") {
        let mut steps = words.iter().filter_map(|word| word.strip_prefix("STEP="));
        return steps.any(|steps| steps != "1");
    }
    found.is_some_and(|at| {
        let (program, rest) = (base(words[at]), &words[at + 1..]);
        let only_tells = TELL.contains(&program) && has("--dry-run");
        let mut resets = RESETS.iter();
        resets.any(|(programs, wanted)| programs.contains(&program) && has_words(rest, wanted))
            && !only_tells
    })
}

/// Returns the position of the first word that is no option, no value of one, no toolchain, and no
/// word of the runner's own: `yarn workspace api run prisma`.
pub(super) fn started(words: &[&str]) -> Option<usize> {
    let is_of_cargo = words.first().is_some_and(|word| base(word) == "cargo");
    let mut is_value = false;
    (1..words.len()).find(|at| {
        let word = words[*at];
        let takes = TAKES.contains(&word) || word == "workspace" && !is_of_cargo;
        let was_value = std::mem::replace(&mut is_value, takes);
        let is_own = is_value || RUN.contains(&word) && !is_of_cargo;
        !was_value && !is_own && !word.starts_with(['-', '+'])
    })
}

/// Whether words say what is wanted.
fn has_words(words: &[&str], wanted: &str) -> bool {
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    wanted.split(' ').all(|wanted| {
        let fits = |word: &&&str| {
            let mut wanted = wanted.split('|');
            wanted.any(|one| match one.strip_suffix('*') {
                Some(start) => word.starts_with(start),
                None => **word == one || is_joined(word, one),
            })
        };
        if wanted.starts_with('-') {
            words.iter().any(|word| fits(&word))
        } else {
            operands.any(|word| fits(&word))
        }
    })
}

/// Whether an option of one letter is among others that are joined: `-nf`.
fn is_joined(word: &str, option: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let (Some(letter), 2) = (option.strip_prefix('-'), option.len()) else {
        return false;
    };
    letters.chars().all(|letter| letter.is_ascii_alphabetic()) && letters.contains(letter)
}

#[cfg(test)]
mod tests {
    use super::has_words;

    /// CAKE-SHIM-1: words follow each other, options stand anywhere.
    #[test]
    fn what_words_say_goes_by_their_order() {
        let words = ["-y", "database", "-D", "x", "drop"];
        assert!(has_words(&words, "database drop|reset"));
        assert!(has_words(&words, "database drop -y|--yes"));
        assert!(!has_words(&words, "drop database"));
        assert!(!has_words(&words, "database drop --force"));
        assert!(has_words(&["--db-url=x"], "--db-url=*"));
        assert!(has_words(&["drop", "-nf"], "drop -f|--force"));
        assert!(!has_words(&["drop", "--if-exists"], "drop -f|--force"));
    }
}
