//! Databases by way of frameworks and migrations: all of one dropped, or a table emptied by code.

use super::{Rule, Severity, Subject, Tool, database::texts, on_trial::is_on_trial, reset::resets};

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
    ],
    takes: "",
    one_dash: false,
    tests: &[
        ("for-tests", is_on_trial),
        ("empties", empties_by_code),
        ("resets", |s| resets(s.call)),
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
                "npm run typeorm -- schema:drop",
                "rails db:seed:replant",
                "mix ecto.reset",
                "npx supabase db reset --linked",
                "dotnet ef database drop --force",
                "npx drizzle-kit push --force",
                "python manage.py migrate shop zero",
                "npx knex migrate:rollback --all",
                "rails db:rollback STEP=5",
                "php bin/console doctrine:schema:drop --full-database --force",
                "bin/console doctrine:database:drop --force",
                "cargo sqlx database reset -y",
                "cargo +nightly diesel database reset",
                "cargo loco db reset",
                "pnpm prisma migrate reset --force",
                "yarn --cwd api sequelize db:drop",
                "sea-orm-cli migrate fresh",
                "migrate -path m -database postgres://x down -all",
                "atlas schema clean -u postgres://x/shop --auto-approve",
                "vendor/bin/phinx rollback -t 0",
                "aerich downgrade -v 0",
                "node ace migration:fresh",
                "npx mikro-orm migration:fresh",
                "NODE_ENV=test npx prisma migrate reset --force",
                "NODE_ENV=test rails db:drop",
                "RAILS_ENV=test DATABASE_URL=postgres://prod/shop rails db:drop",
                "DATABASE_URL=sqlite::memory: sqlx database drop -y --database-url postgres://db/x",
            ],
            #[cfg(test)]
            spares: &[
                "rails db:migrate",
                "rake -T db:drop",
                "RAILS_ENV=test rails db:drop",
                "npx prisma migrate dev",
                "python manage.py migrate",
                "python manage.py migrate shop 0004",
                "npx knex migrate:rollback",
                "rails db:rollback STEP=1",
                "php bin/console doctrine:schema:drop --dump-sql",
                "sqlx migrate run",
                "cargo sqlx migrate run",
                "cargo run -- migrate drop",
                "yarn db:reset",
                "pnpm prisma migrate dev",
                "bin/console doctrine:database:drop --if-exists",
                "migrate -path m -database postgres://x down 1",
                "vendor/bin/phinx rollback",
                "aerich downgrade",
                "DATABASE_URL=postgres://localhost/app_test npx prisma migrate reset --force",
                "DATABASE_URL=sqlite:///tmp/t.db alembic downgrade base",
                "DB_CONNECTION=sqlite DB_DATABASE=:memory: php artisan migrate:fresh",
                "php artisan migrate:fresh --database=sqlite_testing",
                "DJANGO_SETTINGS_MODULE=app.settings.test python manage.py flush --noinput",
                "NODE_ENV=test npx sequelize-cli db:drop",
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
