//! Secrets in quotes that another language escapes, with a blank in them, in lists, and in columns.

use super::*;

/// LOA-SEC-1: a password is masked however the quotes around it and its name are written.
#[test]
fn passwords_between_quotes_of_any_language_are_masked() {
    let password = "s3cr3t-Pa55w0rd";
    let mask_of = "[secret: assigned value]";
    for quote in [
        "\\u0022",
        "\\\\u0022",
        "\\x22",
        "\\u0027",
        "&quot;",
        "&#34;",
        "&#x22;",
        "&QUOT;",
        "%22",
    ] {
        for colon in [":", ": "] {
            let text = format!("{{{quote}password{quote}{colon}{quote}{password}{quote}}}");
            // A name in capitals is read if one in small letters is in the text.
            let text = text.replace("{&QUOT;", "{&quot;");
            let masked = mask(&text).text;
            assert!(!masked.contains(password), "{masked}");
            assert!(masked.contains(mask_of), "{masked}");
            assert!(masked.ends_with(&format!("{quote}}}")), "{masked}");
        }
    }
    check(
        "q=%7B%22password%22%3A%22s3cr3t-Pa55%40w0rd%22%7D&x=1",
        "q=%7B%22password%22%3A%22[secret: assigned value]%22%7D&x=1",
    );
    for text in [
        "a &quot;password&quot; is &quot;required&quot;",
        "{&quot;password&quot;:&quot;<your password 1>&quot;}",
        "%22password%22%3A%22%24%7BPASSWORD_1%7D%22",
        "\\u0022password\\u0022: \\u0022string\\u0022",
        "100%22 and 50%3A",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a blank in a password hides nothing of it, and messages about passwords stay as they are.
#[test]
fn passwords_with_a_blank_are_masked_and_messages_are_not() {
    for (text, expected) in [
        (
            r#"{"password": "hunter two Xkq9"}"#,
            r#"{"password": "[secret: assigned value]"}"#,
        ),
        (
            r#"{\"password\":\"hunter two Xkq9\"}"#,
            r#"{\"password\":\"[secret: assigned value]\"}"#,
        ),
        (
            "passphrase = 'Gt6x blue sky'",
            "passphrase = '[secret: assigned value]'",
        ),
    ] {
        check(text, expected);
    }
    for text in [
        r#""password": "must be at least 12 characters""#,
        r#""password": "Enter your new password""#,
        r#""password": "Please use Xkq9 or more""#,
        r#""password": "SHA256 with PBKDF2""#,
        r#""password": "Base64 encoded value""#,
        r#""password": "Wachtwoord vergeten""#,
        r#""password": "{user} Xkq9 {host}""#,
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a name assigned to a name is not a secret, but the value assigned to that is.
#[test]
fn what_a_name_in_the_place_of_a_value_is_given_to_is_masked() {
    let key = "wJalrXUtnFEMIkMDENGbPxRfiCYzQpLtEwKsaVdH";
    let masked = "[secret: assigned value]";
    for before in [
        "row awssecret : aws_secret_access_key = ",
        "token=secret_key=",
        "api_key: database_password: ",
    ] {
        check(&format!("{before}{key}"), &format!("{before}{masked}"));
    }
    let text = "secret=".repeat(2_000);
    check(&text, &text);
}

/// LOA-SEC-1: a header is one in a list and in a call too.
#[test]
fn cookies_in_lists_and_calls_are_masked() {
    for (before, behind) in [
        (r#"["Set-Cookie", "sid="#, r#"; Path=/"]"#),
        (r#".header("Set-Cookie","sid="#, r#"")"#),
        ("('Cookie', 'theme=dark; sessionid=", "')"),
        (r#"[\"set-cookie\",\"sid="#, r#"\"]"#),
    ] {
        let text = format!("{before}8f14e45fceea167a{behind}");
        check(&text, &format!("{before}[secret: assigned value]{behind}"));
    }
    for text in [
        r#"["Cookie", "theme"], sid = "8f14e45fceea167a""#,
        r#"["Set-Cookie", "X-Request-Id"]"#,
        "a cookie, 'sid=8f14e45fceea167a' is not named",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: the last column of a line of `.pgpass` is a password, with any characters.
#[test]
fn passwords_of_pgpass_are_masked() {
    for (before, password) in [
        ("db:5432:x:me:", "pw"),
        ("*:*:*:postgres:", "correct"),
        ("+10.0.0.7:6432:app:app_user:", "a\\:b7"),
        ("/run/postgresql:5433:app:me:", "Zq-7"),
    ] {
        let text = format!("# hosts\n{before}{password}\nrest");
        check(
            &text,
            &format!("# hosts\n{before}[secret: assigned value]\nrest"),
        );
    }
    for text in [
        "src/main.rs:10:5:error:unused\n",
        "127.0.0.1:5432:5432\n",
        "main.rs:5432:10:warning: unused\n",
        "*:*:*:*:*\n",
        "localhost:5432:db:user:password\n",
        "cpe:2.3:a:vendor:product:1.0:*:*\n",
    ] {
        check(text, text);
    }
}
