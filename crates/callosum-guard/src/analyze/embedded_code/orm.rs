//! Tables that a program empties or drops through objects: Prisma, knex, SQLAlchemy, Django,
//! Sequelize, Mongoose. Each is recorded as a statement to the database's client. Exempt are test
//! programs, which do this before each test, and calls with a condition.

use super::{
    Effect, Named, arguments, first_text,
    function::OPENS,
    last,
    token::Token::{self, Name, Sign, Text},
    words,
};

/// Functions of programs that are tests.
const TESTS: [&str; 12] = [
    "describe",
    "it",
    "test",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "setUp",
    "tearDown",
    "fixture",
    "pytest",
    "TestCase",
];

/// Returns the effect of a function call here on a whole table.
pub(super) fn asked(
    whole: &str,
    tokens: &[Token],
    at: usize,
    given: &[Token],
    named: &Named<'_>,
) -> Option<Effect> {
    let [Sign('('), inner @ ..] = given else {
        return None;
    };
    let statement = statement(whole, tokens, at, inner, named)?;
    let is_test = |token: &Token| match token {
        // `test.describe(…)` and `@pytest.fixture`, and not a pattern's `.test(…)`.
        Name(name) => {
            let first = name.trim_start_matches('@').split('.').next();
            name.starts_with("test_")
                || first.is_some_and(|first| TESTS.contains(&first))
                || last(name) == "TestCase"
        }
        _ => false,
    };
    if tokens.iter().any(is_test) {
        return None;
    }
    Some(match statement {
        Statement::Sql(text) => words(&["sqlite3", &database(tokens), &text]),
        Statement::Mongo(text) => words(&["mongosh", "--eval", &text]),
    })
}

/// A statement for a database.
enum Statement {
    Sql(String),
    Mongo(String),
}

fn statement(
    whole: &str,
    tokens: &[Token],
    at: usize,
    inner: &[Token],
    named: &Named<'_>,
) -> Option<Statement> {
    let own = last(whole);
    let owner = || {
        let mut parts = whole.split('.').rev();
        let owner = parts.nth(1).unwrap_or("table");
        if owner == "all" { "table" } else { owner }
    };
    let empties = |table: &str| Some(Statement::Sql(format!("DELETE FROM {table}")));
    let drops = || Some(Statement::Sql("DROP TABLE all_tables".to_owned()));
    match own {
        "deleteMany" | "delete_many" if is_everything(inner) => {
            if named.any(&["prisma", "Prisma", "PrismaClient", "@prisma/client"]) {
                empties(owner())
            } else {
                Some(Statement::Mongo(format!("db.{}.deleteMany({{}})", owner())))
            }
        }
        "drop" if whole.ends_with("collection.drop") => {
            Some(Statement::Mongo("db.collection.drop()".to_owned()))
        }
        "drop_all" => drops(),
        "drop" if inner.is_empty() && owner() == "sequelize" => drops(),
        "sync" if is_true(inner, "force") && named.any(&["sequelize", "Sequelize"]) => drops(),
        "synchronize" if *inner == [Name("true".to_owned())] => drops(),
        "delete_all" if whole.ends_with("Repo.delete_all") && matches!(inner, [Name(_)]) => {
            empties("table")
        }
        "destroy" if named.any(&["sequelize", "Sequelize"]) => {
            let is_all = is_true(inner, "truncate") || is_everything(inner) && !inner.is_empty();
            is_all.then(|| empties(owner())).flatten()
        }
        // `session.execute(delete(User))`
        "delete" if matches!(inner, [Name(_)]) => {
            let is_run =
                matches!(&tokens[..at], [.., Name(name), Sign('(')] if last(name) == "execute");
            let ends = tokens.get(at + 4) == Some(&Sign(')'));
            (is_run && ends).then(|| empties("table")).flatten()
        }
        // `User.query.delete()`, `session.query(User).delete()`, `User.objects.all().delete()`, `knex("users").del()`
        "delete" | "del" | "truncate" if inner.is_empty() => match &tokens[..at] {
            _ if whole.ends_with("query.delete") => empties("table"),
            [.., Name(name), Sign('('), Name(_), Sign(')')] if last(name) == "query" => {
                empties("table")
            }
            [.., Name(name), Sign('('), Sign(')')] if name.ends_with("objects.all") => {
                empties(name.split('.').next().unwrap_or("table"))
            }
            [.., Name(name), Sign('('), Text(table), Sign(')')]
                if matches!(last(name), "knex" | "db" | "trx" | "table") =>
            {
                empties(table)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a setting is true: `{force: true}`.
fn is_true(inner: &[Token], wanted: &str) -> bool {
    let joined = format!("{wanted}:true");
    inner.iter().enumerate().any(|(at, token)| match token {
        Name(name) if *name == joined => true,
        Name(name) if name == wanted => {
            matches!(inner.get(at + 1..at + 3), Some([Sign(':'), Name(value)]) if value == "true")
        }
        _ => false,
    })
}

/// Whether a condition is none: nothing, `{}`, `{where: {}}`.
fn is_everything(inner: &[Token]) -> bool {
    inner.iter().all(|token| match token {
        Sign('{' | '}' | ':' | ')') => true,
        Name(name) => name == "where",
        _ => false,
    })
}

/// The database that the program opens.
fn database(tokens: &[Token]) -> String {
    let opened = tokens
        .iter()
        .enumerate()
        .find_map(|(at, token)| match token {
            Name(name) if OPENS.contains(&last(name)) => first_text(&arguments(tokens, at + 1)),
            _ => None,
        });
    match opened.as_deref() {
        Some("sqlite://" | "sqlite:///:memory:") => ":memory:".to_owned(),
        Some(address) => address.trim_start_matches("sqlite:///").to_owned(),
        None => "database".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: a pattern that is tried is no program of tests.
    #[test]
    fn a_table_that_is_emptied_behind_a_test_of_a_pattern_is_judged() {
        let facts = Facts::of_a_project();
        let command = "node -e 'const {PrismaClient}=require(\"@prisma/client\"); const prisma=new PrismaClient(); if (pattern.test(x)) prisma.user.deleteMany({})'";
        let decision = decide(command, &facts, &Policy::default()).decision;
        assert_eq!(decision, Decision::Block, "{command}");
    }
}
