//! Values that are masked, by their form, their name or their place.
//!
//! In other files: [tokens by their prefixes](prefixed), secrets on [command lines](command_lines),
//! [tokens of services and settings of programs](services), values that are [no
//! secret](false_alarms), and [laws](laws) of masking.

mod command_lines;
mod false_alarms;
mod laws;
mod prefixed;
mod services;
mod wrapped;

use super::*;

/// Keys are put together here, so that no scanner takes this file for a leak.
fn key(parts: &[&str]) -> String {
    parts.concat()
}

fn check(text: &str, masked: &str) {
    assert_eq!(mask(text).text, masked);
}

/// LOA-SEC-1: the known forms are masked, and the text around them is not.
#[test]
fn keys_of_known_forms_are_masked() {
    let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5";
    for (secret, kind) in [
        (key(&["AKIA", "QWERTYUIOPASDFGH"]), Kind::Aws),
        (key(&["ghp", "_", letters]), Kind::GitHub),
        (
            key(&["github", "_pat_", letters, "_", letters]),
            Kind::GitHub,
        ),
        (key(&["glpat", "-", &letters[..20]]), Kind::GitLab),
        (key(&["xoxb", "-123456789012-", letters]), Kind::Slack),
        (
            key(&["https://hooks.slack", ".com/services/T000/B000/", letters]),
            Kind::Slack,
        ),
        (key(&["sk", "_live_", letters]), Kind::Stripe),
        (key(&["AIza", &letters[..35]]), Kind::Google),
        (key(&["sk", "-proj-", letters]), Kind::ModelProvider),
        (key(&["sk", "-ant-api03-", letters]), Kind::ModelProvider),
        (key(&["npm", "_", letters]), Kind::Npm),
        (
            key(&["pypi", "-AgEIcHlwaS5vcmcCJ", letters, letters]),
            Kind::PyPi,
        ),
        (
            key(&["eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.", letters]),
            Kind::Jwt,
        ),
        (
            key(&[
                "sk",
                "-or-v1-",
                "0123456789abcdef0123456789abcdef0123456789abcdef",
            ]),
            Kind::ModelProvider,
        ),
        (key(&["hf", "_", letters]), Kind::ModelProvider),
        (key(&["gsk", "_", letters, letters]), Kind::ModelProvider),
        (
            key(&["hf", "_", "EEcRhBysacaHoZGHoRGSjffKlFsXXRhDQF"]),
            Kind::ModelProvider,
        ),
        (key(&["tvly", "-", letters]), Kind::ModelProvider),
        (
            key(&["key", "-", "0123456789abcdef0123456789abcdef"]),
            Kind::AccessToken,
        ),
        (
            key(&["SG", ".", &letters[..22], ".", letters]),
            Kind::AccessToken,
        ),
        (
            key(&[
                "dop",
                "_v1_",
                "0123456789abcdef0123456789abcdef0123456789abcdef",
            ]),
            Kind::AccessToken,
        ),
        (
            key(&["shp", "at_", "0123456789abcdef0123456789abcdef"]),
            Kind::AccessToken,
        ),
        (key(&["hv", "s.", letters]), Kind::AccessToken),
        (key(&["dckr", "_pat_", &letters[..27]]), Kind::AccessToken),
        (
            key(&["S", "K", "0123456789abcdef0123456789abcdef"]),
            Kind::AccessToken,
        ),
        (key(&["123456789", ":AA", letters]), Kind::AccessToken),
        (
            key(&["gl", "sa_", &letters[..32], "_a1b2c3d4"]),
            Kind::AccessToken,
        ),
        (key(&["lin", "_api_", letters]), Kind::AccessToken),
        (key(&["EAA", "CEdEose0cBA", letters]), Kind::AccessToken),
        (key(&["ya", "29.", letters]), Kind::Google),
        (
            key(&[
                "AGE-SECRET",
                "-KEY-1",
                "QWERTYUIOPASDFGHJKLZXCVBNM0123456789QWERTYUIOPASDF",
            ]),
            Kind::PrivateKey,
        ),
    ] {
        let masked = mask(&format!("key `{secret}`, then"));
        assert_eq!(masked.text, format!("key `[secret: {kind}]`, then"));
        assert_eq!(masked.found, [kind]);
    }
}

/// LOA-SEC-1: the parts of an address that grant access are masked, the rest of it stays.
#[test]
fn what_an_address_shares_is_masked() {
    let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5";
    let hook = key(&[letters, letters]);
    for (before, secret, after) in [
        (
            "https://discord.com/api/webhooks/123456789012345678/",
            &*hook,
            " is it",
        ),
        (
            "https://ptb.discordapp.com/api/v10/webhooks/123456789012345678/",
            &hook,
            "",
        ),
        (
            "https://x.blob.core.windows.net/c/f?sv=2020-08-04&sig=",
            &key(&[letters, "aB3dE5%2B%3D"]),
            "&se=2026",
        ),
    ] {
        check(
            &format!("{before}{secret}{after}"),
            &format!("{before}[secret: access token]{after}"),
        );
    }
}

/// LOA-SEC-1: passwords in sentences, and in commands within sentences.
#[test]
fn passwords_in_prose_are_masked() {
    let short = key(&["Tr0ub4", "dor97zz"]);
    for (before, after, kind) in [
        ("the password is ", ".", Kind::Assigned),
        (
            "Password for the db of ana is `",
            "`, ask her",
            Kind::Assigned,
        ),
        ("its passphrase was now: ", "\nnext", Kind::Assigned),
        ("call curl -u admin:", " https://x", Kind::Argument),
        ("curl -sSu 'admin:", "' https://x", Kind::Argument),
        ("curl https://x --user=admin:", "", Kind::Argument),
        ("mysql -uroot -p", " db", Kind::Argument),
        ("run mysqldump -h x -p'", "' db", Kind::Argument),
        ("sshpass -p ", " ssh host", Kind::Argument),
        ("docker login -u me -p ", "", Kind::Argument),
        ("redis-cli -h x -a ", " ping", Kind::Argument),
        ("openssl enc -aes-256-cbc -k ", " -in a", Kind::Argument),
        ("openssl rsa -passin pass:", " -in a", Kind::Argument),
        ("net user bob ", " /add", Kind::Argument),
        ("Passwort: ", "", Kind::Assigned),
        ("das Kennwort ist ", ".", Kind::Assigned),
        ("contrase\u{f1}a: ", "\nnext", Kind::Assigned),
        ("X-Api-Key: ", "", Kind::Assigned),
        ("jdbc:oracle:thin:scott/", "@//h:1521/s", Kind::Address),
    ] {
        check(
            &format!("{before}{short}{after}"),
            &format!("{before}[secret: {kind}]{after}"),
        );
        let masked = mask_command(&format!("{before}{short}{after}")).text;
        assert!(!masked.contains(&short), "{masked}");
    }
}

/// LOA-SEC-1: a token in a sentence, a session's cookie, and a token with characters hidden between
/// its letters.
#[test]
fn tokens_in_prose_are_masked() {
    let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5";
    for name in [
        "the token is ",
        "API key for the server is: `",
        "its secret was ",
    ] {
        check(
            &format!("{name}{letters}."),
            &format!("{name}[secret: assigned value]."),
        );
    }
    check(
        &format!("Cookie: theme=dark; session={}; x=1", &letters[..16]),
        "Cookie: [secret: assigned value]",
    );
    let token = key(&["ghp", "_\u{200b}", &letters[..9], "\u{2060}", &letters[9..]]);
    check(
        &format!("\u{feff}use {token}, not\u{200b}"),
        "\u{feff}use [secret: github token], not\u{200b}",
    );
}

/// LOA-SEC-1: a text about a key's first line is not a key, and nothing after a key is masked with
/// it.
#[test]
fn words_around_a_private_key_stay() {
    let begin = key(&["-----BEGIN ", "PRIVATE KEY-----"]);
    let end = key(&["-----END ", "PRIVATE KEY-----"]);
    for text in [
        format!(
            "It looks for a line {begin} and reads on.\nThen main starts the server\nwhich listens"
        ),
        format!("between {begin} and {end} stand the lines of the key, each of sixty-four letters"),
    ] {
        check(&text, &text);
    }
    let line = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    check(
        &format!("{begin}\n{line}\n{line}\n{end}\nafter line ok\n"),
        "[secret: private key]\nafter line ok\n",
    );
    check(
        &format!("{begin}\n{line}\n{line}\n\nafter line ok\n"),
        "[secret: private key]\n\nafter line ok\n",
    );
    let encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF";
    check(
        &format!("{begin}\n{encrypted}\n\n{line}\n{line}\n"),
        "[secret: private key]\n",
    );
}

/// LOA-SEC-1: a password among the settings of an address goes, the rest of it stays.
#[test]
fn passwords_in_the_settings_of_an_address_are_masked() {
    let secret = key(&["hunter2", "Xy9"]);
    check(
        &format!("jdbc:postgresql://db/app?user=ana&password={secret}&ssl=true"),
        "jdbc:postgresql://db/app?user=ana&password=[secret: password in address]&ssl=true",
    );
    let account = key(&[
        "AccountKey=",
        "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5aB3dE5gH7jK9mN==",
    ]);
    check(
        &format!("AccountName=x;{account};Endpoint"),
        "AccountName=x;AccountKey=[secret: access token];Endpoint",
    );
}

#[test]
fn a_private_key_goes_with_its_body() {
    let begin = key(&["-----BEGIN RSA ", "PRIVATE KEY-----"]);
    let end = key(&["-----END RSA ", "PRIVATE KEY-----"]);
    let body = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    check(
        &format!("a\n{begin}\n{body}\n{body}\n{end}\n\"b\""),
        "a\n[secret: private key]\n\"b\"",
    );
    check(
        &format!("\"{begin}\\n{body}\\n{end}\\n\", b"),
        "\"[secret: private key]\\n\", b",
    );
    check(
        &format!("{{\"private_key\":\"{begin}\\nTr0ub4dor97zz\\n{end}\"}}"),
        "{\"private_key\":\"[secret: private key]\"}",
    );
    check(
        &format!("{begin}MIITr0ub4dor97zz{end}"),
        "[secret: private key]",
    );
    // A key that was cut off is still a key.
    check(&format!("{begin}\n{body}"), "[secret: private key]");
    let code = format!("if line == \"{begin}\" {{ return Err(Found) }}");
    check(&code, &code);
}

#[test]
fn passwords_in_addresses_are_masked_alone() {
    check(
        "postgres://app:hunter22@db.internal:5432/app",
        "postgres://app:[secret: password in address]@db.internal:5432/app",
    );
    for (before, password, after) in [
        ("redis://:", "p4ss:w0rd", "10.0.0.1/0"),
        ("postgres://app:", "Gt0Jx1AiDw%40eFa", "db.example.com/x"),
        ("redis://:", "Gt0Jx1AiDw%23eFa", "cache:6379/0"),
        ("http://u:", "%2fGt0Jx1%25AiDw", "h.example.com/x"),
        ("amqp://app:", "Gt0$Jx1(AiDw", "mq/x"),
        ("mysql2://root:", "Gt0{Jx1*AiDw", "db/x"),
        ("postgres://app:", "Gt0J@x1AiDw", "db/x"),
        ("postgres://app:", "Gt0J/x1AiDw", "db/x"),
        (
            "mongodb+srv://app:",
            &*key(&["aB3", "dE5gH7jK9".repeat(20).as_str()]),
            "db/x",
        ),
    ] {
        check(
            &format!("{before}{password}@{after}"),
            &format!("{before}[secret: password in address]@{after}"),
        );
    }
    for text in [
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@localhost/db",
        "https://user:{token}@host/",
        "https://example.org:8080/@scope/name",
        "git@github.com:owner/name",
        "http://localhost:3000/a:b@c",
        "http://user:%s@%s:%d/x and ftp://u:%(password1)s@h, amqp://u:%PASS1%@h",
        "kafka://a1:9092,b1:9092/topic1@v2",
        "https://host:8443/pkg/@scope/name@1.2.3",
        "postgres://app:****@db, redis://:<pass1>@h, redis://:[pass1]@h",
        "see x://a:b1c2d3@, a::b://c and https://h/a:b1c2@d",
    ] {
        check(text, text);
    }
}

#[test]
fn values_given_to_telling_names_are_masked() {
    check(
        "DB_PASSWORD='s3cr3t-Pa55w0rd' # prod",
        "DB_PASSWORD='[secret: assigned value]' # prod",
    );
    check(
        "password = \"correct-horse-battery\"",
        "password = \"[secret: assigned value]\"",
    );
    check(
        "{\"api_key\": \"9f8e7d6c5b4a39281706f5e4d3c2b1a0\"}",
        "{\"api_key\": \"[secret: assigned value]\"}",
    );
    check(
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKEYkeyQ1",
        "AWS_SECRET_ACCESS_KEY=[secret: assigned value]",
    );
    check(
        "Authorization: Bearer 0a1b2c3d4e5f6g7h8i9j",
        "Authorization: Bearer [secret: authorization header]",
    );
}

/// LOA-SEC-1: passwords as settings, environments and connection strings have them.
#[test]
fn passwords_without_quotes_are_masked() {
    let short = key(&["kd83", "hfKq92"]);
    let words = key(&["hunter2", "hunter9"]);
    for (before, secret, after) in [
        ("password: ", &words, ""),
        ("  password: ", &words, "  # of the test system\nuser: ana"),
        ("password = ", &words, "\nuser = ana"),
        ("the password: ", &short, " is old"),
        ("db.password=", &short, ""),
        ("spring.datasource.password=", &words, "\r\n"),
        ("DB_PASSWORD=", &"correcthorsebattery9".to_owned(), "\n"),
        ("export PGPASSWORD=", &short, " PGUSER=me"),
        ("DB_PASS=", &short, "\n"),
        ("Passwd: ", &"p4ss!w0rd-x".to_owned(), "\n"),
        ("password: ", &key(&["*S3cr3t", "-Pa55w0rd!"]), "\n"),
        ("password: ", &key(&["%S3cr3t", "-Pa55w0rd!"]), "\n"),
        ("DB_PASSWORD=\"", &key(&["%gT0jX1", "aiD2"]), "\"\n"),
        ("password: ", &key(&["%Tr0ub", "4dor"]), "\n"),
        ("passwd: ", &key(&["*x9Kq", "2mLw"]), "\n"),
        ("DB_PASSWORD=", &key(&["*x9Kq", "2mLw"]), "\n"),
        ("the password is ", &key(&["%x9Kq", "2mLw"]), ", for now"),
    ] {
        check(
            &format!("{before}{secret}{after}"),
            &format!("{before}[secret: assigned value]{after}"),
        );
    }
    for (before, after) in [
        ("Server=tcp:x.example.net;User ID=sa;Password=", ";"),
        ("\"Data Source=x;Initial Catalog=y;Encrypt=True;pwd=", "\""),
        ("Password=", ";Server=x;"),
        ("host=db user=app password=", " dbname=x"),
        ("Driver={SQL Server};Server=x;Uid=sa;Pwd=", ";"),
    ] {
        check(
            &format!("{before}{short}{after}"),
            &format!("{before}[secret: password in address]{after}"),
        );
    }
    // An earlier mask stays as it is.
    for text in [
        format!("Server=x;Password={short};Uid=sa"),
        format!("jdbc:mysql://h/db?user=root&password={short}"),
        format!("password: {short}\nDB_PASSWORD={short}"),
    ] {
        let masked = mask(&text).text;
        assert!(
            masked.contains("[secret: ") && !masked.contains(&short),
            "{masked}"
        );
        check(&masked, &masked);
    }
    let documented = key(&["wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "EXAMPLEKEY"]);
    check(
        &format!("AWS_SECRET_ACCESS_KEY={documented}"),
        "AWS_SECRET_ACCESS_KEY=[secret: assigned value]",
    );
}

/// LOA-SEC-1: the text after a secret of several lines keeps its line, and the mask shows the kind.
#[test]
fn masks_in_place_move_no_line() {
    let begin = key(&["-----BEGIN ", "PRIVATE KEY-----"]);
    let line = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4";
    let text = format!("a\n{begin}\n{line}\n{line}\n\nb\n");
    let masked = mask_in_place(&text);
    assert_eq!(masked.text, "a\n[secret: private key]\n\n\n\nb\n");
    assert_eq!(masks_in(&masked.text), masked.found);
    assert_eq!(masks_in("[secret: none of ours] [secret: aws"), []);
}
