//! What a program asks of a service by its library: caches, databases, clouds, requests. Each is said as the
//! command of that service's client that does the same.

use super::{Effect, arguments, first_text, last, token::Token, words};

/// What this function asks for, called where it stands.
pub(super) fn asked(whole: &str, tokens: &[Token], at: usize) -> Option<Effect> {
    if tokens.get(at + 1) != Some(&Token::Sign('(')) {
        return None;
    }
    let arguments = arguments(tokens, at + 1);
    let named = || first_text(&arguments);
    let mentions = |wanted: &[&str]| {
        tokens.iter().any(|token| match token {
            Token::Name(name) => name.split('.').any(|part| wanted.contains(&part)),
            Token::Text(text) => wanted.contains(&text.as_str()),
            Token::Run(_) | Token::Sign(_) => false,
        })
    };
    let is_request = |library: &str| whole == library || whole.ends_with(&format!(".{library}"));
    match last(whole) {
        "flushall" | "flushAll" | "flushdb" | "flushDb"
            if mentions(&["redis", "Redis", "ioredis", "valkey"]) =>
        {
            Some(words(&["redis-cli", "flushall"]))
        }
        "drop_database" | "dropDatabase" => {
            Some(words(&["mongosh", "--eval", "db.dropDatabase()"]))
        }
        "delete_bucket" => Some(words(&["aws", "s3api", "delete-bucket"])),
        "delete_table" if mentions(&["boto3"]) => Some(words(&["aws", "dynamodb", "delete-table"])),
        "delete_db_instance" => Some(words(&["aws", "rds", "delete-db-instance"])),
        "terminate_instances" => Some(words(&["aws", "ec2", "terminate-instances"])),
        "delete_stack" => Some(words(&["aws", "cloudformation", "delete-stack"])),
        // `bucket.objects.all().delete()`
        "delete" if mentions(&["boto3"]) && is_of_all(tokens, at) => {
            Some(words(&["aws", "s3", "rm", "--recursive", "s3://bucket"]))
        }
        "delete"
            if ["requests.delete", "httpx.delete", "axios.delete"]
                .iter()
                .any(|one| is_request(one)) =>
        {
            Some(words(&["curl", "-X", "DELETE", &named()?]))
        }
        "fetch" | "request" | "urlopen" | "Request"
            if arguments.contains(&Token::Text("DELETE".to_owned())) =>
        {
            let is_address =
                |token: &Token| matches!(token, Token::Text(text) if text.contains("://"));
            let address = arguments.iter().find(|token| is_address(token));
            match address {
                Some(Token::Text(address)) => Some(words(&["curl", "-X", "DELETE", address])),
                _ => None,
            }
        }
        // GitPython: `repo.head.reset(index=True, working_tree=True)`
        "reset" if whole.ends_with("head.reset") => arguments
            .iter()
            .any(|token| matches!(token, Token::Name(name) if name == "working_tree"))
            .then(|| words(&["git", "reset", "--hard"])),
        _ => None,
    }
}

/// Whether a method is called on all that something has: `.objects.all().delete()`.
fn is_of_all(tokens: &[Token], at: usize) -> bool {
    matches!(
        tokens[..at],
        [.., Token::Name(ref name), Token::Sign('('), Token::Sign(')')] if last(name) == "all"
    )
}
