//! Reads any text as the shell would, by way of permissions: one that is read is written in a form
//! that is read as the same again.

#![no_main]

use callosum_guard::Permission;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(permission) = Permission::parse(text) {
        let written = String::from(permission.clone());
        assert_eq!(Permission::parse(&written), Ok(permission), "{written:?}");
    }
});
