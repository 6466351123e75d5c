//! Translations of texts of other shells.

use super::{fish, powershell};

/// CAKE-SHIM-1: blocks and substitutions of fish are those of bash.
#[test]
fn fish_is_put_into_the_words_of_bash() {
    for (text, expected) in [
        (
            "if true; rm a; else; rm b; end",
            "if true ; then\nrm a ; else ; rm b ; fi ",
        ),
        (
            "for f in *.txt; wc $f; end",
            "for f in *.txt ; do\nwc $f ; done ",
        ),
        ("rm (echo /)", "rm $(echo / ) "),
        ("true; and rm 'a b'", "true ;  rm 'a b' "),
        (
            "function f -a x; echo $argv; end",
            "function f () {\necho $@ ; } ",
        ),
    ] {
        assert_eq!(fish(text), expected, "{text}");
    }
}

/// CAKE-SHIM-1: cmdlets go by the names of what they do.
#[test]
fn powershell_is_put_into_the_words_of_bash() {
    for (text, expected) in [
        (
            "Remove-Item -Recurse C:\\x",
            "Remove-Item -Recurse 'C:\\x'\n",
        ),
        ("$p = \"/\"; ri $p", "p=\"/\"\nRemove-Item $p\n"),
        (
            "gci ~ | % { ri $_.FullName }",
            "Get-ChildItem ~ | while read -r _; do :\nRemove-Item $_\n\ndone\n",
        ),
        ("iwr https://x.io | iex", "curl https://x.io | bash\n"),
        ("Set-Content -Path a.txt -Value b", "tee a.txt\n"),
        ("'x' | Out-File ~/a", "'x' | tee ~/a\n"),
        (
            "if (Test-Path a) { ri a }",
            "Test-Path a\n\n{ Remove-Item a\n\n}\n",
        ),
    ] {
        assert_eq!(powershell(text), expected, "{text}");
    }
}
