//! Secrets that their own form identifies.

use std::{ops::Range, sync::OnceLock};

use regex::Regex;

use super::{
    assignments::{QUOTED_BITS, is_name, is_secret},
    entropy::{is_a_name, is_jumbled, is_jumbled_key},
    kind::Kind,
    placeholder::is_placeholder,
    prefilter::KeywordFilter,
};

/// A form: the kind, keywords in lowercase (each such secret contains one, or comes after it), and
/// the regular expression. Group 1 is the secret, if there is one.
const FORMS: [(Kind, &str, &str); 59] = [
    (
        Kind::Aws,
        "akia asia abia acca",
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    (
        Kind::GitHub,
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",
    ),
    (
        Kind::GitHub,
        "github_pat_",
        r"\bgithub_pat_[A-Za-z0-9_]{60,255}\b",
    ),
    (
        Kind::GitLab,
        "glpat- glrt- gldt- glptt- gloas-",
        r"\bgl(?:pat|rt|dt|ptt|oas)-[A-Za-z0-9_-]{20,}",
    ),
    (Kind::Slack, "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (Kind::Slack, "xapp-", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    (
        Kind::Slack,
        "hooks.slack.com",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}",
    ),
    (
        Kind::Stripe,
        "sk_live_ sk_test_ rk_live_ rk_test_",
        r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    (Kind::Google, "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
    (Kind::ModelProvider, "sk-", r"\bsk-[A-Za-z0-9_-]{20,}"),
    (
        Kind::ModelProvider,
        "hf_ gsk_",
        r"\b(?:hf|gsk)_[A-Za-z0-9]{30,}",
    ),
    (
        Kind::ModelProvider,
        "tvly-",
        r"\btvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}",
    ),
    (Kind::AccessToken, "key-", r"\bkey-[0-9a-f]{32}\b"),
    (Kind::ModelProvider, "xai-", r"\bxai-[A-Za-z0-9]{40,}"),
    (
        Kind::AccessToken,
        "sg.",
        r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    ),
    (Kind::AccessToken, "_v1_", r"\bdo[opr]_v1_[a-f0-9]{40,}"),
    (
        Kind::AccessToken,
        "shpat_ shpca_ shppa_ shpss_",
        r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    ),
    (
        Kind::AccessToken,
        "hvs. hvb. hvr.",
        r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}",
    ),
    (
        Kind::AccessToken,
        ":aa",
        r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}",
    ),
    (
        Kind::AccessToken,
        "accountkey=",
        r"\bAccountKey=([A-Za-z0-9+/]{40,}={0,2})",
    ),
    (
        Kind::AccessToken,
        "dckr_pat_ dckr_oat_",
        r"\bdckr_[po]at_[A-Za-z0-9_-]{20,}",
    ),
    (
        Kind::AccessToken,
        "/webhooks/",
        concat!(
            r"\bdiscord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,22}/",
            r"([A-Za-z0-9_-]{40,})"
        ),
    ),
    // The signature of an address that Azure shares.
    (
        Kind::AccessToken,
        "sig=",
        r"[?&;]sig=([A-Za-z0-9%+/=_-]{32,})",
    ),
    (
        Kind::AccessToken,
        "sk0 sk1 sk2 sk3 sk4 sk5 sk6 sk7 sk8 sk9 ska skb skc skd ske skf",
        r"\bSK[0-9a-f]{32}\b",
    ),
    // The most common commands in prose. In commands, every program and option counts: `command`.
    (
        Kind::Argument,
        "curl",
        concat!(
            r"\bcurl[ \t](?:[^\r\n|;`]{0,256}?[ \t])?(?:-[A-Za-z]{0,8}u|--user|--proxy-user)[ \t=]{0,4}",
            r"['\x22]?[^\s:'\x22`]{1,64}:([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "mysql mariadb",
        concat!(
            r"\b(?:mysql|mariadb)[a-z-]{0,12}[ \t](?:[^\r\n|;`]{0,256}?[ \t])?",
            r"-p['\x22]?([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "sshpass",
        r"\bsshpass[ \t]{1,4}-p[ \t]{0,4}['\x22]?([^\s'\x22`]{3,128})",
    ),
    (
        Kind::Argument,
        "login",
        concat!(
            r"\b(?:docker|podman|nerdctl|helm|oc|skopeo|buildah)[ \t](?:[a-z]{1,16}[ \t])?login[ \t]",
            r"(?:[^\r\n|;`]{0,256}?[ \t])?(?:-p|--password)[ \t=]{1,4}['\x22]?([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "redis-cli",
        concat!(
            r"\bredis-cli[ \t](?:[^\r\n|;`]{0,256}?[ \t])?(?:-a|--pass)[ \t=]{1,4}",
            r"['\x22]?([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "openssl",
        concat!(
            r"\bopenssl[ \t]{1,4}(?:enc|aes-[0-9a-z-]{1,16}|des3?)[ \t](?:[^\r\n|;`]{0,256}?[ \t])?-[kK][ \t]{1,4}",
            r"['\x22]?([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "openssl",
        concat!(
            r"\bopenssl[ \t](?:[^\r\n|;`]{0,256}?[ \t])?-pass(?:in|out)?[ \t]{1,4}['\x22]?pass:",
            r"([^\s'\x22`]{3,128})"
        ),
    ),
    // Few words after `net user` in a sentence are so long and have a digit. Most texts that hold
    // its keyword have no such command, so the expression is ASCII only, which costs little to
    // compile.
    (
        Kind::Argument,
        "net",
        r"\bnet[ \t]{1,4}user[ \t]{1,4}[0-9A-Za-z._\\@-]{1,64}[ \t]{1,4}['\x22]?([!#-&(-.0-_a-~]{8,128})",
    ),
    (
        Kind::Assigned,
        "x-api-key x-auth-token x-access-token x-vault-token private-token",
        concat!(
            r"\b(?i-u:x-api-key|x-auth-token|x-access-token|x-vault-token|private-token)",
            r"['\x22]?\s{0,4}[:=]\s{0,4}['\x22]?([A-Za-z0-9._~+/=-]{8,512})"
        ),
    ),
    // The whole value of a cookie header, if one of its cookies is as long as a session id.
    (
        Kind::Assigned,
        "cookie",
        concat!(
            r"\b(?i-u:cookie)['\x22]?\s{0,4}:\s{0,4}['\x22]?",
            r"((?:[A-Za-z0-9_.-]+=[^;\s'\x22`]*;[ \t]*)*[A-Za-z0-9_.-]+=[^;\s'\x22`]{12,}",
            r"(?:;[ \t]*[A-Za-z0-9_.-]+=[^;\s'\x22`]*)*)"
        ),
    ),
    (
        Kind::Address,
        "jdbc:oracle:",
        r"\bjdbc:oracle:[a-z0-9]{2,8}:[^\s/@:'\x22]{1,64}/([^\s@/'\x22]{3,128})@",
    ),
    (
        Kind::AccessToken,
        "glsa_",
        r"\bglsa_[A-Za-z0-9]{20,}_[A-Fa-f0-9]{8}",
    ),
    (Kind::AccessToken, "lin_api_", r"\blin_api_[A-Za-z0-9]{32,}"),
    (Kind::Google, "ya29.", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    (Kind::AccessToken, "eaac", r"\bEAAC[A-Za-z0-9]{28,}"),
    (
        Kind::PrivateKey,
        "age-secret-key-1",
        r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}",
    ),
    (
        Kind::Address,
        "jdbc:",
        r#"\bjdbc:[^\s"'<>`]{1,256}?[?&;](?i-u:password|pwd)=([^\s&;"'<>`]{3,128})"#,
    ),
    // The settings of a connection, in which a password is after or before the other fields.
    (
        Kind::Address,
        "password pwd",
        concat!(
            r"\b(?i-u:server|data source|host|addr|address|user ?id|uid|user ?name|user|database",
            r"|initial catalog|driver|provider|port)[ \t]*=[^;\r\n\x22'`]*;(?:[^\r\n\x22'`]*;)?",
            r"[ \t]*(?i-u:password|pwd)[ \t]*=[ \t]*([^;\s\x22'`]{3,128})"
        ),
    ),
    (
        Kind::Address,
        "password pwd",
        concat!(
            r"\b(?i-u:password|pwd)[ \t]*=[ \t]*([^;\s\x22'`]{3,128});[ \t]*",
            r"(?i-u:server|data source|host|user ?id|uid|database|initial catalog)[ \t]*="
        ),
    ),
    (
        Kind::Address,
        "password=",
        concat!(
            r"\b(?:host|hostaddr|user|dbname|port|sslmode)=[^\s\x22'`,()]+[ \t]+",
            r"(?:[a-z_]+=[^\s\x22'`,()]+[ \t]+)*password=([^\s\x22'`,()]{3,128})"
        ),
    ),
    (Kind::Npm, "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    (Kind::PyPi, "pypi-age", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    (
        Kind::Jwt,
        "eyj",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    // A header without a body, as in code that looks for keys, is not a key: see `is_real`.
    (
        Kind::PrivateKey,
        "-----begin",
        concat!(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----",
            r#"(?:[A-Za-z0-9+/=:,.'" \t\r\n\\-]){8,}?"#,
            r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        ),
    ),
    // One that is cut off: lines of a key as long as there are, however their breaks are written.
    (
        Kind::PrivateKey,
        "-----begin",
        concat!(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:\s{0,4}(?:Proc-Type|DEK-Info|Version|Comment)[^\r\n\\]{0,120})*",
            r#"(?:(?:[\s"'+,]|\\[nr]){0,8}[A-Za-z0-9+/=]{24,})+"#
        ),
    ),
    (
        Kind::Authorization,
        "authorization",
        r"(?i-u:\bauthorization['\x22]?\s{0,4}[:=]\s{0,4}['\x22]?(?:bearer|basic|token)\s{1,4})([A-Za-z0-9._~+/=-]{16,})",
    ),
    // In a sentence, another word follows it.
    (
        Kind::Assigned,
        "bearer",
        r"\b[Bb]earer[ \t]{1,4}([A-Za-z0-9._~+/=-]{24,512})",
    ),
    (
        Kind::Argument,
        "mongo",
        concat!(
            r"\bmongo(?:sh|dump|restore|export|import)?[ \t](?:[^\r\n|;`]{0,256}?[ \t])?(?:-p|--password)[ \t=]{1,4}",
            r"['\x22]?([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "login",
        concat!(
            r"\b(?:machine[ \t]{1,4}[^\s]{1,128}|default)\s{1,8}login\s{1,4}[^\s]{1,128}\s{1,8}",
            r"(?:account\s{1,4}[^\s]{1,128}\s{1,8})?password\s{1,4}([^\s'\x22`]{3,128})"
        ),
    ),
    (
        Kind::Argument,
        "bind",
        r"\bbind[ _-]?(?:pw|password)[ \t:=]{1,4}['\x22]?([^\s'\x22`]{6,128})",
    ),
    (
        Kind::PrivateKey,
        "client-key-data",
        r"\bclient-key-data['\x22]?:[ \t]{0,4}['\x22]?([A-Za-z0-9+/]{40,}={0,2})",
    ),
    (
        Kind::AccessToken,
        "whsec_ figd_ ntn_ secret_",
        r"\b(?:whsec_[A-Za-z0-9+/=]{24,}|figd_[A-Za-z0-9_-]{30,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)",
    ),
    (
        Kind::AccessToken,
        "sbp_ tskey- pmak- sntrys_ sntryu_",
        concat!(
            r"\b(?:sbp_[a-f0-9]{40}|tskey-[a-z]{2,12}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
            r"|sntry[su]_[A-Za-z0-9+/=_-]{40,})"
        ),
    ),
    (
        Kind::AccessToken,
        "atatt3x dapi rubygems_ pscale_",
        concat!(
            r"\b(?:ATATT3x[A-Za-z0-9_=-]{60,}|dapi[a-f0-9]{32}\b|rubygems_[a-f0-9]{48}",
            r"|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_-]{32,})"
        ),
    ),
    (
        Kind::ModelProvider,
        "r8_ nvapi- pplx-",
        r"\b(?:r8_[A-Za-z0-9]{37,}|nvapi-[A-Za-z0-9_-]{60,}|pplx-[A-Za-z0-9]{40,})",
    ),
];

/// The keywords of all forms. Most texts hold none of them, and the compiled forms take megabytes
/// in all: a form is compiled when a text holds its keyword.
static PARTS: KeywordFilter = KeywordFilter::new(|| {
    let of_each = FORMS.iter().map(|(_, parts, _)| parts);
    of_each.flat_map(|parts| parts.split(' ')).collect()
});

/// Each form, once it was needed.
static EACH: [OnceLock<Regex>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

/// All forms are ASCII, and so are the edges of the words around them.
fn plain(form: &str) -> String {
    form.replace(r"\b", r"(?-u:\b)")
}

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    if !PARTS.stand_in(text) {
        return found;
    }
    let lower = text.to_ascii_lowercase();
    for ((kind, parts, form), compiled) in FORMS.iter().zip(&EACH) {
        if !parts.split(' ').any(|part| lower.contains(part)) {
            continue;
        }
        let form = compiled
            .get_or_init(|| Regex::new(&plain(form)).expect("the forms are valid expressions"));
        for captures in form.captures_iter(text) {
            let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else {
                continue;
            };
            if is_real(*kind, secret.as_str()) {
                found.push((secret.range(), *kind));
            }
        }
    }
    found
}

/// Returns false for text that looks like a secret of this kind, but is a class name or a
/// placeholder.
fn is_real(kind: Kind, secret: &str) -> bool {
    match kind {
        Kind::ModelProvider => {
            let has = |what: fn(&u8) -> bool| secret.bytes().any(|byte| what(&byte));
            let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
            // Some are hexadecimal throughout, and then they are long; some have no digit, and then their letters make no word.
            let rest = secret.rsplit(['_', '-']).next().unwrap_or_default();
            has(u8::is_ascii_digit) && (is_mixed || secret.len() >= 40)
                || rest.len() >= 30 && is_mixed && is_jumbled_key(rest)
        }
        // Words are shorter than a line of a key, or have no digits among their letters.
        Kind::PrivateKey => secret
            .split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)))
            .any(|run| {
                run.len() >= 24 || run.len() >= 12 && is_secret(run, QUOTED_BITS) && !is_name(run)
            }),
        Kind::Assigned => is_secret(secret, QUOTED_BITS) && !is_name(secret),
        Kind::Address => !is_placeholder(secret),
        // `-p3306:3306` is a port, and `-path` a word.
        Kind::Argument => {
            let has = |what: fn(&u8) -> bool| secret.bytes().any(|byte| what(&byte));
            let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
            is_mixed && !is_placeholder(secret) || is_jumbled(secret) || is_a_name(secret)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        prelude::*,
        string::string_regex,
        test_runner::{Config, TestRunner},
    };

    use super::*;

    /// LOA-SEC-1: any match of a form contains one of its keywords, so that the form is searched
    /// for.
    #[test]
    fn what_has_a_form_holds_one_of_its_parts() {
        let mut runner = TestRunner::new(Config::with_cases(64));
        for (_, parts, form) in FORMS {
            let form = form.replace(r"\b", "").replace("(?i-u:", "(?:");
            let texts = string_regex(&form).expect("texts can be made of it");
            let holds = |text: String| {
                let lower = text.to_ascii_lowercase();
                let is_held = parts.split(' ').any(|part| lower.contains(part));
                prop_assert!(is_held && PARTS.stand_in(&text), "{form}: {text}");
                Ok(())
            };
            runner.run(&texts, holds).unwrap();
        }
    }
}
