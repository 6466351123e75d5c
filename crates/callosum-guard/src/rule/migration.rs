//! Databases by way of frameworks and migrations: all of one dropped, or a table emptied by code.

use super::{Rule, Severity, Subject, Tool, database::texts};

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: &[
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
    ],
    takes: "",
    one_dash: false,
    tests: &[
        ("for-tests", |s| s.call.for_tests),
        ("empties", empties_by_code),
        ("resets", |s| {
            let words: Vec<&str> = s.call.words.iter().map(|word| word.text.as_str()).collect();
            let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
            let pair = |a: &str, b: &[&str]| {
                words
                    .windows(2)
                    .any(|two| two[0] == a && b.contains(&two[1]))
            };
            has(&[
                "db:drop",
                "db:reset",
                "db:migrate:reset",
                "db:wipe",
                "migrate:fresh",
                "migrate:reset",
                "db:schema:load",
                "db:drop:all",
                "ecto.drop",
                "ecto.reset",
                "db:purge",
                "schema:drop",
                "db:migrate:undo:all",
                "db:truncate_all",
                "migrate:refresh",
            ]) || pair("migrate", &["reset"]) && (s.call.name == "prisma" || has(&["prisma"]))
                || has(&["prisma"])
                    && pair("db", &["push"])
                    && has(&["--force-reset", "--accept-data-loss"])
                || s.call.name == "prisma" && has(&["--force-reset", "--accept-data-loss"])
                || pair("database", &["drop", "reset"])
                    && matches!(s.call.name.as_str(), "diesel" | "sqlx")
                || pair("downgrade", &["base"])
                || words.iter().any(|word| word.ends_with("manage.py"))
                    && has(&["flush", "reset_db", "sqlflush"])
                    && !has(&["sqlflush"])
                || s.call.name == "django-admin" && has(&["flush"])
                || has(&["migrate"])
                    && words.last() == Some(&"zero")
                    && (s.call.name == "django-admin"
                        || words.iter().any(|word| word.ends_with("manage.py")))
                || has(&["db:rollback"])
                    && words
                        .iter()
                        .filter_map(|word| word.strip_prefix("STEP="))
                        .any(|steps| steps != "1")
                || has(&["doctrine:schema:drop", "doctrine:database:drop"])
                    && has(&["--force", "-f", "--full-database"])
                || has(&["migrate:rollback"]) && has(&["--all"])
                || matches!(s.call.name.as_str(), "flyway") && has(&["clean"])
                || s.call.name == "liquibase"
                    && words
                        .iter()
                        .any(|word| matches!(*word, "drop-all" | "dropAll"))
                || s.call.name == "supabase"
                    && pair("db", &["reset"])
                    && words
                        .iter()
                        .any(|word| *word == "--linked" || word.starts_with("--db-url"))
                || s.call.name == "dotnet" && pair("database", &["drop"])
                || s.call.name == "drizzle-kit" && pair("push", &["--force"])
                || s.call.name == "dbmate" && has(&["drop"])
                || s.call.name == "migrate" && has(&["drop"])
                || s.call.name == "goose" && has(&["reset", "down-to"])
        }),
    ],
    rules: &[
        Rule {
            id: "database.empty",
            when: &["&empties !&for-tests"],
            severity: Severity::Ask,
            reason: "it deletes every row of a table, without a condition",
            alternatives: &["rails runner 'puts User.count'"],
            #[cfg(test)]
            catches: &[
                "rails runner 'User.delete_all'",
                "rails console <<< 'Order.destroy_all'",
                "python manage.py shell -c 'User.objects.all().delete()'",
                "php artisan tinker --execute='DB::table(\"users\")->truncate();'",
            ],
            #[cfg(test)]
            spares: &[
                "rails runner 'User.where(old: true).delete_all'",
                "python manage.py shell -c 'print(User.objects.count())'",
                "RAILS_ENV=test rails runner 'User.delete_all'",
                "rails generate migration delete_all",
            ],
        },
        Rule {
            id: "database.reset",
            when: &["&resets !&for-tests"],
            severity: Severity::Ask,
            reason: "it deletes what is in the database",
            alternatives: &["rails db:migrate:status"],
            #[cfg(test)]
            catches: &[
                "rails db:drop",
                "npx prisma migrate reset",
                "python manage.py flush --no-input",
                "php artisan migrate:fresh",
                "sqlx database drop -y",
                "mix ecto.reset",
                "npx supabase db reset --linked",
                "dotnet ef database drop --force",
                "npx drizzle-kit push --force",
                "python manage.py migrate shop zero",
                "npx knex migrate:rollback --all",
                "rails db:rollback STEP=5",
                "php bin/console doctrine:schema:drop --full-database --force",
            ],
            #[cfg(test)]
            spares: &[
                "rails db:migrate",
                "RAILS_ENV=test rails db:drop",
                "npx prisma migrate dev",
                "python manage.py migrate",
                "python manage.py migrate shop 0004",
                "npx knex migrate:rollback",
                "rails db:rollback STEP=1",
                "php bin/console doctrine:schema:drop --dump-sql",
                "sqlx migrate run",
            ],
        },
    ],
}];

/// Whether code that a framework is given empties a table.
fn empties_by_code(subject: &Subject<'_>) -> bool {
    const TAKES: [&str; 7] = [
        "runner",
        "console",
        "c",
        "r",
        "shell",
        "shell_plus",
        "tinker",
    ];
    const EMPTIES: [&str; 6] = [
        ".delete_all",
        ".destroy_all",
        ".objects.all().delete()",
        "->truncate()",
        "::truncate()",
        "::query()->delete()",
    ];
    let words = || {
        subject
            .call
            .words
            .iter()
            .skip(1)
            .map(|word| word.text.as_str())
    };
    words().any(|word| TAKES.contains(&word))
        && texts(subject).iter().any(|text| {
            let picks = ["where", "filter(", "limit("]
                .iter()
                .any(|pick| text.contains(pick));
            !picks && EMPTIES.iter().any(|empties| text.contains(empties))
        })
}
