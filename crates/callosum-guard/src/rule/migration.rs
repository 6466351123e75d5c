//! Databases by way of frameworks and migrations: all of one dropped, or a table emptied by code.

use super::{
    Rule, Severity, Subject, Tool, database::texts, reset::resets, test_database::is_on_trial,
};
use crate::analyze::database_framework::MIGRATION_PROGRAMS;

pub(super) const TOOLS: &[Tool] = &[Tool {
    names: MIGRATION_PROGRAMS,
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
            alternatives: &[],
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
            reason: "it deletes the data in the database",
            alternatives: &[],
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
                "supabase db reset",
                "pnpm dlx supabase db reset",
                "bunx supabase@latest db reset",
                "npx --yes supabase stop --no-backup",
                "bundle exec rails db:setup",
                "rails db:drop:primary",
                "python -m django flush --settings=shop.settings",
                "uv run python -m alembic downgrade base",
                "docker compose exec web python manage.py reset_schema",
                "docker compose run --rm web bundle exec rails db:fixtures:load",
                "yarn dlx sequelize-cli db:seed:undo:all",
                "diesel migration revert --all",
                "sqlx db reset -y",
                "php bin/console doctrine:fixtures:load -n",
                "heroku pg:copy DATABASE_URL HEROKU_POSTGRESQL_PINK -a shop",
                "neonctl branches restore main ^self@2025-01-01T00:00:00Z",
                "npx wrangler d1 time-travel restore shop --timestamp=1700000000",
                "npx firebase-tools database:set / seed.json",
                "npx payload migrate:fresh",
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
                "npx supabase migration up",
                "supabase db push",
                "supabase stop",
                "npx supabase db diff",
                "rails db:schema:dump",
                "rails db:drop:test",
                "diesel migration revert",
                "sqlx migrate revert",
                "heroku pg:backups:capture -a shop",
                "neonctl branches list",
                "npx wrangler d1 migrations list shop",
                "firebase database:get /",
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
