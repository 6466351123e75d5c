//! Tokens of services and passwords in the settings of programs, each next to text that only looks
//! like it.

use super::*;

const LETTERS: &str = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5kL7nP9rS1tV3xZ5";
const DIGITS: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// LOA-SEC-1: tokens of services by their form.
#[test]
fn tokens_of_further_services_are_masked() {
    let long = LETTERS.repeat(4);
    for (secret, kind) in [
        (key(&["whs", "ec_", &LETTERS[..32]]), Kind::AccessToken),
        (key(&["fi", "gd_", &LETTERS[..40]]), Kind::AccessToken),
        (key(&["nt", "n_", &LETTERS[..46]]), Kind::AccessToken),
        (key(&["secr", "et_", &LETTERS[..43]]), Kind::AccessToken),
        (key(&["r", "8_", &LETTERS[..37]]), Kind::ModelProvider),
        (key(&["nva", "pi-", &long[..64]]), Kind::ModelProvider),
        (key(&["ppl", "x-", &LETTERS[..48]]), Kind::ModelProvider),
        (key(&["sb", "p_", &DIGITS[..40]]), Kind::AccessToken),
        (
            key(&["tskey", "-auth-", &LETTERS[..12], "CNTRL-", &LETTERS[..32]]),
            Kind::AccessToken,
        ),
        (
            key(&["PM", "AK-", &DIGITS[..24], "-", &DIGITS[..34]]),
            Kind::AccessToken,
        ),
        (key(&["ATA", "TT3xFfGF0", &long[..180]]), Kind::AccessToken),
        (key(&["sntr", "ys_", &long[..100]]), Kind::AccessToken),
        (key(&["da", "pi", &DIGITS[..32]]), Kind::AccessToken),
        (key(&["ruby", "gems_", &DIGITS[..48]]), Kind::AccessToken),
        (key(&["pscale", "_pw_", &LETTERS[..43]]), Kind::AccessToken),
    ] {
        check(
            &format!("key `{secret}`, then"),
            &format!("key `[secret: {kind}]`, then"),
        );
    }
    for text in [
        "secret_manager_client_of_the_service_that_has_names",
        "ntn_ and r8_ begin tokens, figd_<token>, whsec_... and sbp_ too",
        "r8_unorm_pixel_format_of_the_texture_2d",
        "tskey-auth-<id>-<secret>, PMAK-x-y, dapi, rubygems_version_3_5",
        "secret_0123456789abcdef, dapi0123456789abcdef",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: passwords as settings of programs, files of logins and tags have them.
#[test]
fn passwords_of_further_settings_are_masked() {
    let short = key(&["HrTL7M", "8yyt2kXw"]);
    for (before, after, kind) in [
        ("db_pass: ", "", Kind::Assigned),
        ("smtp_pw=", "\n", Kind::Assigned),
        ("ansible_ssh_pass=", " x=1", Kind::Assigned),
        ("rclone pass=", "", Kind::Assigned),
        ("mail.pw = ", "\n", Kind::Assigned),
        (
            "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}: ",
            "",
            Kind::Assigned,
        ),
        ("\u{5bc6}\u{7801}: ", "", Kind::Assigned),
        ("\u{5bc6}\u{7801}\u{ff1a}", "\n", Kind::Assigned),
        ("<password>", "</password>", Kind::Assigned),
        ("<db.password enc=\"no\">", "</db.password>", Kind::Assigned),
        ("machine h login u password ", "", Kind::Argument),
        ("machine h\n  login u\n  password ", "\n", Kind::Argument),
        ("default login u account x password ", "\n", Kind::Argument),
        ("mongosh -u a -p ", " db", Kind::Argument),
        ("mongodump --username a --password ", "", Kind::Argument),
        ("ldap bind pw ", "", Kind::Argument),
    ] {
        check(
            &format!("{before}{short}{after}"),
            &format!("{before}[secret: {kind}]{after}"),
        );
        let masked = mask_command(&format!("{before}{short}{after}")).text;
        assert!(!masked.contains(&short), "{masked}");
    }
    check(
        &format!("use Bearer {} there", &LETTERS[..32]),
        "use Bearer [secret: assigned value] there",
    );
    check(
        &format!("client-key-data: {}==", LETTERS.repeat(4)),
        "client-key-data: [secret: private key]",
    );
    for text in [
        "first_pass: optimizer\nsecond_pass=inliner.run()\n",
        "bypass: config.value2\ncompass=north_by_north_west_2\n",
        "pass: String\npass = 12 of 13\npass: ok, fail: none\n",
        "<password>your-password-1</password><token>String</token>",
        "<password></password><Token kind=\"x\">Identifier</Token>",
        "machine learning login form password field",
        "machine h login u password $PASS1\n",
        "mongosh -p and type it, mongodump --port 27017",
        "Bearer authentication_of_the_gateway_2, Bearer <token>",
        "Bearer realm=\"https://auth.example.net/token\"",
        "client-key-data: <base64 of the key>, client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
        "bind password to the field, bind pw later",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a password in quotes may have blanks in it; a sentence about one is not masked.
#[test]
fn passwords_of_several_words_are_masked() {
    for secret in [
        key(&["correct horse ", "HrTL7M8yyt2k"]),
        key(&["correct horse ", "battery staple"]),
    ] {
        for [before, after] in [["password=\"", "\""], ["passphrase: '", "', then"]] {
            check(
                &format!("{before}{secret}{after}"),
                &format!("{before}[secret: assigned value]{after}"),
            );
        }
    }
    for text in [
        "password=\"This field is required\"",
        "password: 'enter your new password'",
        "\"password\": \"must have at least 8 letters and 1 digit\"",
        "password: \"{{ vault_password_1 }}\", passphrase='wrong or missing one'",
        "Passwort: 'bitte das neue Passwort eingeben'",
        "password = \"SELECT pw FROM users WHERE id_2 = 1\"",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: values that an option or an address passes on are masked in prose as on a command
/// line; a name is not.
#[test]
fn what_options_and_addresses_hand_over_is_masked_in_prose() {
    for (text, shown) in [
        (
            "deploy --token Zg71QpLm0aBc99 to live",
            "deploy --token [secret: argument] to live",
        ),
        (
            "run `login --password Zh71QpLm0aBcZh71` once",
            "run `login --password [secret: argument]` once",
        ),
        (
            "by --client-secret=Zh71QpLm0aBcZh71, then",
            "by --client-secret=[secret: assigned value], then",
        ),
    ] {
        check(text, shown);
    }
    let address = format!("clone https://{}@example.com/a", &DIGITS[..40]);
    check(
        &address,
        "clone https://[secret: password in address]@example.com/a",
    );
    for text in [
        "use --token to authenticate",
        "pass the --password option on standard input",
        "--token requires Base64Url",
        "--password-file /run/secrets/db1",
        "--secret id=npm2,src=.npmrc2x",
        "--token $DEPLOY_TOKEN_2",
        "ssh://deploy@example.com/a and https://release-bot-2@example.com",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a password of letters alone is masked if they make no word.
#[test]
fn passwords_of_letters_alone_are_masked() {
    for (text, shown) in [
        (
            "DB_PASSWORD=RrRXVYQbYGtakz\n",
            "DB_PASSWORD=[secret: assigned value]\n",
        ),
        (
            "password: RrRXVYQbYGtakz\n",
            "password: [secret: assigned value]\n",
        ),
        (
            "the password is RrRXVYQbYGtakz.",
            "the password is [secret: assigned value].",
        ),
    ] {
        check(text, shown);
    }
    for text in [
        "password: PasswordField\n",
        "password: SecureString\n",
        "password: HTMLInputElement\n",
        "password: NSString\n",
        "password = getPassword\n",
        "password: IPasswordHasher\n",
        "password: changeme\n",
        "DB_PASSWORD=REPLACEME\n",
    ] {
        check(text, text);
    }
}

/// LOA-SEC-1: a password made of words is masked at a place where only a password can be, and so is
/// a key of letters alone; names of types, statements about a password, and passwords of examples
/// stay.
#[test]
fn passwords_of_words_and_keys_of_letters_are_masked() {
    let key = "KqzXwVbnMtRsPlGhJdFc";
    let mut masked: Vec<String> = [
        "password: HorseBatteryStaple",
        "DB_PASSWORD=HorseBatteryStaple",
        "DB_PASSWORD=swordfishes",
        "PASSWORD=Hunter!Hunter",
        "password: correcthorsebatterystaple",
        "\"password\": \"RrRXVYQbYGtalm\"",
        "the password is HorseBatteryStaple.",
        "deploy --password=Swordfish",
        "deploy --password HorseBatteryStaple",
        "curl -u admin:Swordfish https://x",
        "curl -u admin:HWHPbLlBiGYBTu https://x",
        "sshpass -p HWHPbLlBiGYBTu ssh x",
        "machine x login u password HWHPbLlBiGYBTu",
        "<password>HWHPbLlBiGYBTu</password>",
        "password=Gt6Jx%40ad",
        "`postgresql://app@db/x?password=Gt6Jx%40ab`",
        "https://x/y?a=b&db_password=Gt%40Jxab&c=d",
        "https://x/y?pass=a1b2c3d4 ",
        "https://x/y?password=summer24 ",
        "otpauth://totp/x:ana?secret=JBSWY3DPEHPK3PXP&issuer=x",
    ]
    .map(str::to_owned)
    .into();
    masked.extend([format!("API_TOKEN={key}"), format!("api_key: \"{key}\"")]);
    masked.push(format!(
        "aws_secret_access_key = {}",
        "wJalrXUtnFEMIkMDENGbPxRfiCYzQpLtEwKsaVdH"
    ));
    for text in masked {
        let shown = mask(&format!("{text}\n")).text;
        assert!(shown.contains("[secret: "), "{shown}");
    }
    for text in [
        "password: must be at least 12 characters\n",
        "the password is wrong, and the password is unrecoverable\n",
        "password: required\n",
        "password: string\n",
        "password: ValidatedSecretString\n",
        "pwd: CurrentWorkingDirectory\n",
        "POSTGRES_PASSWORD=postgres\n",
        "PASSWORD=MySecretPassword\n",
        "PASSWORD=Default\n",
        "  --password Specifies what to ask for\n",
        "curl -u USERNAME:PASSWORD https://x\n",
        "mysql -u root -path\n",
        "token: ClientAuthenticationMethod\n",
        "token = parseIntoTokenStreamIter\n",
        "https://x/y?password=secret&token=abcdef\n",
        "https://x/y?password=%s\n",
        "https://x/y?password=<word>\n",
        "otpauth://totp/x?secret={secret}\n",
        "https://x.io/docs?secret=chapter2 and https://x.io/?a=b&pass=round1\n",
        "password: ConnectionRefusedEvent\n",
        "password: RabbitTemplateBean\n",
        "PASSWORD=development\n",
    ] {
        check(text, text);
    }
}
