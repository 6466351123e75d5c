//! Tokens by prefix and length, logins in base64, cookies, and secrets between escaped quotes.

use super::*;

const HEX: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
const ALNUM: &str = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5kL7nP9rS1tV3xZ5aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5kL7nP9rS1tV3x";
const CAPITALS: &str = "A1B2C3D4E5F6G7H8J9K0L1M2N3P4Q5R6";

fn uuid() -> String {
    key(&["0a1b2c3d", "-4e5f-6071-8293-", "a4b5c6d7e8f9"])
}

/// Rows of a prefix, its last letters apart, and the rest.
fn tokens() -> Vec<(&'static str, &'static str, String)> {
    let hex = |count: usize| HEX.repeat(3)[..count].to_owned();
    let alnum = |count: usize| ALNUM.repeat(4)[..count].to_owned();
    let capitals = |count: usize| CAPITALS[..count].to_owned();
    vec![
        ("p8", "e-", alnum(32)),
        ("pa", "t", format!("{}.{}", alnum(14), hex(64))),
        ("LT", "AI", alnum(20)),
        ("AB", "SK", alnum(120)),
        ("AK", "Cp", alnum(69)),
        ("cmVm", "dGtu", alnum(56)),
        ("AT", "BB", alnum(32)),
        ("ATC", "TT3x", alnum(180)),
        ("b", "_", alnum(44)),
        ("bku", "a_", hex(40)),
        ("CCI", "PAT_", format!("{}_{}", alnum(22), hex(40))),
        ("4b", "1d", alnum(38)),
        ("CLO", "JARS_", alnum(60)),
        ("v1", ".0-", format!("{}-{}", hex(24), hex(146))),
        ("CF", "PAT-", alnum(43)),
        ("ci", "o", alnum(32)),
        ("dn", "key-", format!("{}-{}", alnum(26), alnum(52))),
        ("mf", "a.", alnum(84)),
        ("dp", ".pt.", alnum(43)),
        ("dp", ".st.", format!("prd.{}", alnum(43))),
        ("dp", ".scim.", alnum(43)),
        ("duffel", "_live_", alnum(43)),
        ("dt0", "c01.", format!("{}.{}", alnum(24), alnum(64))),
        ("e2", "b_", hex(40)),
        ("EZ", "AK", alnum(54)),
        ("EZ", "TK", alnum(54)),
        ("sk", "_", hex(48)),
        ("EA", "AM", alnum(60)),
        ("fc", "-", hex(32)),
        ("FLW", "SECK-", format!("{}-X", hex(32))),
        ("fo", "1_", alnum(43)),
        ("fm", "2_", alnum(140)),
        ("fio", "-u-", alnum(64)),
        ("GR13", "48941", alnum(20)),
        ("glagent", "-", alnum(50)),
        ("glcbt", "-", format!("64_{}", alnum(20))),
        ("glft", "-", alnum(20)),
        ("GOC", "SPX-", alnum(28)),
        ("gl", "c_", alnum(120)),
        (
            "pat",
            ".",
            format!("{}.{}.{}", alnum(22), hex(24), alnum(20)),
        ),
        ("HRKU", "-AA", alnum(58)),
        ("pat", "-na1-", uuid()),
        ("pat", "-eu1-", uuid()),
        ("ic", "o-", alnum(32)),
        ("s-s4", "t2ud-", hex(64)),
        ("lsv2", "_pt_", format!("{}_{}", hex(32), hex(10))),
        ("sd", "k-", uuid()),
        ("sk.", "eyJ", format!("{}.{}", alnum(60), alnum(22))),
        ("nf", "p_", alnum(40)),
        ("NR", "AK-", capitals(27)),
        ("NR", "JS-", hex(19)),
        ("NR", "II-", alnum(32)),
        ("oy", "2", alnum(43)),
        ("AP", "I-", capitals(26)),
        ("ops", "_eyJ", alnum(300)),
        ("sha", "256~", alnum(43)),
        ("pc", "sk_", alnum(70)),
        ("ph", "x_", alnum(43)),
        ("pn", "u_", alnum(36)),
        ("pu", "l-", hex(40)),
        ("rd", "me_", alnum(70)),
        ("re", "_", format!("{}_{}", alnum(8), alnum(24))),
        ("tk", "-us-", alnum(48)),
        ("xkey", "sib-", format!("{}-{}", hex(64), alnum(16))),
        ("sm", "_aat_", alnum(16)),
        ("shippo", "_live_", hex(40)),
        ("sq", "u_", hex(40)),
        ("sg", "p_", hex(40)),
        ("sg", "p_", format!("{}_{}", hex(16), hex(40))),
        ("EA", "AA", alnum(60)),
        ("sq0", "atp-", alnum(22)),
        ("sq0", "csp-", alnum(43)),
        ("tf", "p_", alnum(59)),
    ]
}

/// LOA-SEC-1: a token is masked at any place, and the text around it stays.
#[test]
fn tokens_of_services_are_masked_by_prefix_and_length() {
    for (one, other, body) in tokens() {
        let token = key(&[one, other, &body]);
        for (before, after) in [
            ("key `", "`, then"),
            ("export X=", "\n"),
            ("{\"x\": \"", "\"}"),
        ] {
            let masked = mask(&format!("{before}{token}{after}")).text;
            assert!(
                masked.starts_with(&format!("{before}[secret: "))
                    && masked.ends_with(&format!("]{after}")),
                "{one}{other}: {masked}"
            );
            assert!(!masked.contains(&body[..8]), "{one}{other}: {masked}");
        }
    }
}

/// LOA-SEC-1: the prefix alone, a token that is too short, and a placeholder are none.
#[test]
fn what_only_begins_like_a_token_of_a_service_stays() {
    for (one, other, body) in tokens() {
        let filled_in = "x".repeat(body.len());
        // Of some, a token of another length is one as well.
        let short = &body[..body.len().min(12) / 2];
        for rest in ["", "<token>", "...", &*filled_in, short] {
            let text = format!("It begins with {one}{other}{rest} here");
            check(&text, &text);
        }
    }
    for text in [
        "let re_export_of_names = pat.matches(b_tree_node_with_a_long_name_of_44_letters_x2);",
        "pul-request, API-VERSION-2, sdk-version-1.2.3, ico-file-32x32.png, fc-list, sl.no",
        "registry.io/app@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d, index 4b1d5a1..0a1b2c3",
        "region us-east-1, x.atlasv1.y, v1.0-rc1-0a1b2c3, _mmk and Q~ alone",
        "pat.find(&text).map(|at| at + 1); sat.solve(); dp.st.push(1)",
        "LTAIL, EAAA, AKCp, GR1348941, GOCSPX-, mfa.enabled",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: tokens whose identifying part is not at their start.
#[test]
fn tokens_with_a_mark_inside_are_masked() {
    for (token, kind) in [
        (
            key(&[&ALNUM[..14], ".atl", "asv1.", &ALNUM[..67]]),
            Kind::AccessToken,
        ),
        (key(&[&HEX[..32], "-u", "s12"]), Kind::AccessToken),
        (
            key(&["aB~3Q", "~", &ALNUM[..34]])[..].to_owned(),
            Kind::AccessToken,
        ),
        (
            key(&["MTIzNDU2Nzg5MDEyMzQ1Njc4", ".Gh7j", "K9.", &ALNUM[..38]]),
            Kind::AccessToken,
        ),
        (
            key(&["OTg3NjU0MzIxMDk4NzY1NDMyMQ", ".Xy1_", "z-.", &ALNUM[..27]]),
            Kind::AccessToken,
        ),
    ] {
        check(
            &format!("token is `{token}`, then"),
            &format!("token is `[secret: {kind}]`, then"),
        );
    }
    // The first part of a bot's token is a number; a path of modules has three parts as well.
    for text in [
        "MyModuleWithAVeryLongName1.module.functionThatHasALongNameToo1",
        "a.b.c, 1.2.3-rc1, MTIz.abcdef.short",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: docker, npm and others keep `name:password` in base64.
#[test]
fn logins_in_base64_are_masked() {
    let login = key(&["bWU6aHVu", "dGVyMjI="]);
    for (before, after) in [
        (
            "{\"auths\": {\"images.example.org\": {\"auth\": \"",
            "\"}}}",
        ),
        ("      auth: ", "\n"),
        ("//npm.example.org/:_auth=", "\n"),
        ("{\\\"auth\\\":\\\"", "\\\"}"),
    ] {
        check(
            &format!("{before}{login}{after}"),
            &format!("{before}[secret: assigned value]{after}"),
        );
    }
    for text in [
        "auth: required",
        "{\"auth\": \"aGVsbG8gd29ybGQ=\"}",
        "auth = true; oauth: bWU6aHVudGVyMjI",
        "let auth = provider.auth();",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a cookie that is a login goes, its name and its attributes stay.
#[test]
fn values_of_session_cookies_are_masked() {
    for (before, after) in [
        ("Set-Cookie: sessionid=", "; Path=/; HttpOnly"),
        ("set-cookie: sid=", "; Secure; SameSite=Lax\r\nDate: x"),
        ("{\"Set-Cookie\": \"auth_token=", "; Path=/\"}"),
        ("-H 'Cookie: csrftoken=", "'"),
    ] {
        let value = key(&["kqzwj4", "tbxcvm", "npdfgh", "lrsy"]);
        let masked = mask(&format!("{before}{value}{after}")).text;
        assert!(!masked.contains("tbxcvm"), "{masked}");
        // Attributes with a value may be masked with it; the end of the header stays.
        assert!(masked.ends_with(&after[after.len() - 1..]), "{masked}");
    }
    for text in [
        "Set-Cookie: theme=dark; Path=/; Max-Age=3600",
        "Set-Cookie: sessionid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "Set-Cookie: sessionid=deleted; Path=/",
        "Set-Cookie: sessionid=${SESSION_ID_1}; Path=/",
        "cookie: the token=value pairs of a request",
        "document.cookie = 'session=' + id2;",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: JSON within JSON, as deep as it may be.
#[test]
fn secrets_between_escaped_quotes_are_masked() {
    let password = key(&["hunter2", "x9y2kQ"]);
    let mut text = format!("{{\"user\":\"me\",\"password\":\"{password}\",\"n\":1}}");
    for depth in 0..5 {
        let masked = mask(&text);
        assert!(!masked.text.contains(&password), "{depth}: {}", masked.text);
        assert!(
            masked.text.contains("user") && masked.text.contains(":1}"),
            "{depth}"
        );
        assert_eq!(mask(&masked.text).text, masked.text, "{depth}");
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        text = format!("\"{escaped}\"");
    }
    // A quote within the value is a part of it.
    let quoted = key(&["h7nt3r", "\\\"er2eV7G5IfU"]);
    let masked = mask(&format!("{{\"password\":\"{quoted}\"}}")).text;
    assert_eq!(masked, "{\"password\":\"[secret: assigned value]\"}");
    for (before, after) in [
        ("'{\\\"api_key\\\": \\\"", "\\\"}'"),
        ("curl -d \"{\\\"client_secret\\\":\\\"", "\\\"}\""),
        ("{\"env\": \"USER=me\\nDB_PASSWORD=", "\\nPORT=1\"}"),
    ] {
        let masked = mask(&format!("{before}{password}{after}")).text;
        assert_eq!(masked, format!("{before}[secret: assigned value]{after}"));
    }
    for text in [
        "println!(\"{\\\"password\\\": \\\"{}\\\"}\");",
        "{\\\"password\\\":\\\"<your password 1>\\\"}",
        "re = \"\\\"token\\\":\\\"[a-z0-9]+\\\"\"",
    ] {
        check(text, text);
    }
}
