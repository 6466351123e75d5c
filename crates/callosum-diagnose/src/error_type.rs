//! The names that errors go by: the class that the language itself prints, else one of [`NAMES`].

/// The closed list of names for errors that have no class of their own, in alphabetical order.
pub const NAMES: [&str; 33] = [
    "Abort",
    "AddressInUse",
    "BuildError",
    "BuildWarning",
    "CommandNotFound",
    "CompileError",
    "CompileWarning",
    "ConnectionError",
    "CoverageDrop",
    "DependencyError",
    "DeprecationWarning",
    "DiskFull",
    "FileNotFoundError",
    "GitError",
    "GitPushRejected",
    "JSONParseError",
    "LinkError",
    "LintError",
    "MergeConflict",
    "NoTestsRan",
    "OutOfMemory",
    "Panic",
    "PermissionError",
    "PhpFatalError",
    "PhpWarning",
    "SegFault",
    "SyntaxError",
    "TestError",
    "TestFailure",
    "TestTimeout",
    "TestUsageError",
    "TypeCheckError",
    "UnboundVariable",
];

/// Whether this is a name of the closed list.
pub fn is_listed(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

/// Whether this can be the class of an exception as a language prints it: one identifier, without its package.
pub fn is_class(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && name.chars().count() <= 128
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '!'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-WATCH-1: the list is searched by halves, so it is sorted and names nothing twice.
    #[test]
    fn the_list_is_sorted_and_each_name_is_a_class_as_well() {
        assert!(NAMES.is_sorted_by(|one, other| one < other));
        for name in NAMES {
            assert!(is_listed(name) && is_class(name), "{name}");
        }
    }

    /// CAKE-WATCH-1: a class is an identifier without its package.
    #[test]
    fn a_class_is_one_identifier() {
        for class in [
            "ModuleNotFoundError",
            "NullPointerException",
            "ENOENT",
            "bad_alloc",
            "Outer$Inner",
        ] {
            assert!(is_class(class), "{class}");
        }
        for other in [
            "",
            "3Error",
            "java.lang.Error",
            "Two Words",
            "x:y",
            "<module>",
        ] {
            assert!(!is_class(other), "{other}");
        }
    }
}
