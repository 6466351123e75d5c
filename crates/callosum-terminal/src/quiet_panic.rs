//! [`catch`]: runs code of the caller whose panic must not print into the watched program's output.

use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `code`, and returns the message of its panic if it panics.
///
/// The process's panic hook is wrapped once: it stays silent for this code, and does what it did for all other.
pub(crate) fn catch<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    static WRAP_HOOK: Once = Once::new();
    WRAP_HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                hook(panic);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(code));
    IS_QUIET.set(was_quiet);
    result.map_err(|payload| message_of(payload.as_ref()))
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(catch(|| 7), Ok(7));
        assert_eq!(catch(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        let number = 3;
        assert_eq!(
            catch(|| panic!("number {number}")),
            Err::<(), _>("number 3".to_owned())
        );
    }
}
