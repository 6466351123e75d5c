//! [`Budget`]: limit on what a run may start, counted together with the runs above and below it.

use std::{path::PathBuf, str::FromStr, time::Duration};

use callosum_host::{Clock, Disk, DiskError, FileLock, Ids, LockError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::{Bound, Bounds, Money, Spent};

/// The environment variable that an executor finds its budget in.
pub const TOKEN_VARIABLE: &str = "CAL_BUDGET";

/// Timeout for the lock of another process that counts (Seed CAL §5.3).
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// The budget of one run.
///
/// Without any bound, here or above, nothing is written: only the depth is handed down.
#[derive(Debug)]
pub struct Budget {
    disk: Disk,
    folder: PathBuf,
    clock: Clock,
    depth: u64,
    /// The account that starts are counted on: this run's, or the nearest one above that has one.
    account: Option<String>,
    /// Whether the account is this run's, to be removed with it.
    is_own: bool,
}

/// An account, in the form its file has.
#[derive(Debug, Serialize, Deserialize)]
struct Account {
    format: u32,
    parent: Option<String>,
    began: Timestamp,
    bounds: Bounds,
    spent: Spent,
}

/// The format of an account that this version writes.
const FORMAT: u32 = 1;

/// Reason that a run has no budget, or cannot count on it.
#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    /// There are too many runs above it.
    #[error("nested executors may delegate {most} levels deep; this would be level {depth}")]
    TooDeep {
        /// The depth that it would have; the first run's is 1.
        depth: u64,
        /// The depth that is allowed.
        most: u64,
    },
    /// The content of the variable is no token.
    #[error("`{TOKEN_VARIABLE}` is not a token that Callosum gave to an executor: `{}`", token.escape_debug())]
    NotAToken {
        /// Content of the variable.
        token: String,
    },
    /// The run above is over, or never was.
    #[error("the parent run is over: budget `{account}` does not exist")]
    Over {
        /// The account.
        account: String,
    },
    /// An account's file is not one that this version reads.
    #[error("`{}` is not a budget", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The parse error.
        source: serde_json::Error,
    },
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The disk does not take it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Content of the environment variable that an executor gets.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    depth: u64,
    account: Option<String>,
}

impl FromStr for Token {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (depth, account) = match text.split_once('.') {
            None => (text, None),
            Some((depth, account)) => (depth, Some(account)),
        };
        // It becomes a file's name.
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= 64
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        if !account.is_none_or(is_name) {
            return Err(());
        }
        Ok(Self {
            depth: depth.parse().map_err(drop)?,
            account: account.map(str::to_owned),
        })
    }
}

impl Budget {
    /// Begins a run with `bounds` of its own, below the run that handed it `token`, if any.
    ///
    /// `folder` is where the accounts of this machine stand.
    pub fn begin(
        disk: Disk,
        folder: PathBuf,
        (clock, ids): (Clock, &Ids),
        token: Option<&str>,
        bounds: Bounds,
        deepest: u64,
    ) -> Result<Self, BudgetError> {
        let above: Token = match token {
            None => Token {
                depth: 0,
                account: None,
            },
            Some(text) => text.parse().map_err(|()| BudgetError::NotAToken {
                token: text.chars().take(80).collect(),
            })?,
        };
        let depth = above.depth.saturating_add(1);
        if depth > deepest {
            return Err(BudgetError::TooDeep {
                depth,
                most: deepest,
            });
        }
        let mut budget = Self {
            disk,
            folder,
            clock,
            depth,
            account: above.account.clone(),
            is_own: false,
        };
        if let Some(account) = &above.account {
            budget.read(account)?;
        }
        if !bounds.is_empty() {
            let account = ids.uuid_v4();
            budget.disk.create_private_dir(&budget.folder)?;
            budget.write(
                &account,
                &Account {
                    format: FORMAT,
                    parent: above.account,
                    began: budget.clock.now(),
                    bounds,
                    spent: Spent::default(),
                },
            )?;
            budget.account = Some(account);
            budget.is_own = true;
        }
        Ok(budget)
    }

    /// Whether an executor of a run above began this one.
    pub fn is_nested(&self) -> bool {
        self.depth > 1
    }

    /// Returns the token that an executor of this run is to find in [`TOKEN_VARIABLE`].
    pub fn token(&self) -> String {
        match &self.account {
            None => self.depth.to_string(),
            Some(account) => format!("{}.{account}", self.depth),
        }
    }

    /// Counts one more start, or says which bound of this run or one above forbids it.
    pub fn take_spawn(&self) -> Result<Option<Bound>, BudgetError> {
        let mut reached = None;
        self.change(|chain, now| {
            reached = chain.iter().find_map(|(_, account)| {
                let elapsed = now.duration_since(account.began);
                let elapsed = Duration::try_from(elapsed).unwrap_or_default();
                account.bounds.reached(&account.spent, elapsed)
            });
            if reached.is_none() {
                for (_, account) in chain.iter_mut() {
                    account.spent.spawns += 1;
                }
            }
            reached.is_none()
        })?;
        Ok(reached)
    }

    /// Counts what an executor says that it took.
    pub fn charge(&self, tokens: u64, cost: Money) -> Result<(), BudgetError> {
        self.change(|chain, _| {
            for (_, account) in chain.iter_mut() {
                let spent = &mut account.spent;
                spent.tokens = spent.tokens.saturating_add(tokens);
                spent.cost = Money(spent.cost.0.saturating_add(cost.0));
            }
            tokens > 0 || cost > Money(0)
        })
    }

    /// Changes the account and all above it at once, if `change` says so.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<(String, Account)>, Timestamp) -> bool,
    ) -> Result<(), BudgetError> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        let lock = self.folder.join("lock");
        let _held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?;
        let mut chain = Vec::new();
        let mut next = Some(account.clone());
        while let Some(name) = next {
            let account = self.read(&name)?;
            let parent = account.parent.clone();
            chain.push((name, account));
            next = parent;
        }
        if change(&mut chain, self.clock.now()) {
            for (name, account) in &chain {
                self.write(name, account)?;
            }
        }
        Ok(())
    }

    fn read(&self, account: &str) -> Result<Account, BudgetError> {
        let path = self.path(account);
        let bytes = self
            .disk
            .read_if_there(&path)?
            .ok_or_else(|| BudgetError::Over {
                account: account.to_owned(),
            })?;
        serde_json::from_slice(&bytes).map_err(|source| BudgetError::Unreadable { path, source })
    }

    fn write(&self, name: &str, account: &Account) -> Result<(), BudgetError> {
        let bytes = serde_json::to_vec(account).expect("numbers and texts are JSON");
        Ok(self.disk.replace(&self.path(name), &bytes, 0o600)?)
    }

    fn path(&self, account: &str) -> PathBuf {
        self.folder.join(format!("{account}.json"))
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        if let Some(account) = self.account.take()
            && self.is_own
        {
            // If it stays, it is litter that no one reads.
            drop(self.disk.remove_file(&self.path(&account)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ground {
        folder: tempfile::TempDir,
        ids: Ids,
    }

    impl Ground {
        fn begin(&self, token: Option<&str>, spawns: Option<u64>) -> Result<Budget, BudgetError> {
            let start = "2026-01-02T03:04:05Z".parse().unwrap();
            let bounds = Bounds {
                spawns,
                ..Bounds::default()
            };
            let time = (Clock::fixed(start, Duration::ZERO), &self.ids);
            let folder = self.folder.path().join("budgets");
            Budget::begin(Disk::real(), folder, time, token, bounds, 3)
        }
    }

    fn ground() -> Ground {
        Ground {
            folder: tempfile::tempdir().unwrap(),
            ids: Ids::sequence(),
        }
    }

    #[test]
    fn what_a_run_below_starts_counts_above() {
        let ground = ground();
        let first = ground.begin(None, Some(3)).unwrap();
        let below = ground.begin(Some(&first.token()), Some(100)).unwrap();
        let deepest = ground.begin(Some(&below.token()), None).unwrap();
        assert_eq!(deepest.take_spawn().unwrap(), None);
        assert_eq!(below.take_spawn().unwrap(), None);
        assert_eq!(first.take_spawn().unwrap(), None);
        for budget in [&first, &below, &deepest] {
            assert_eq!(budget.take_spawn().unwrap(), Some(Bound::Spawns(3)));
        }
    }

    #[test]
    fn depth_counts_without_any_bound_and_writes_nothing() {
        let ground = ground();
        let first = ground.begin(None, None).unwrap();
        assert_eq!(first.token(), "1");
        assert_eq!(first.take_spawn().unwrap(), None);
        let refused = ground.begin(Some("3"), None).unwrap_err();
        assert!(matches!(
            refused,
            BudgetError::TooDeep { depth: 4, most: 3 }
        ));
        assert!(!ground.folder.path().join("budgets").exists());
    }

    #[test]
    fn a_token_is_not_believed_with_any_content() {
        let ground = ground();
        for text in [
            "",
            "x",
            "1.",
            "1.../a",
            "1.a/b",
            "-1",
            "99999999999999999999",
        ] {
            let refused = ground.begin(Some(text), None).unwrap_err();
            assert!(matches!(refused, BudgetError::NotAToken { .. }), "{text}");
        }
        let first = ground.begin(None, Some(3)).unwrap();
        let token = first.token();
        drop(first);
        let over = ground.begin(Some(&token), None).unwrap_err();
        assert!(matches!(over, BudgetError::Over { .. }));
    }

    #[test]
    fn threads_that_start_at_once_never_start_too_many() {
        let ground = ground();
        let budget = ground.begin(None, Some(5)).unwrap();
        let started: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let tries = (0..4).map(|_| budget.take_spawn().unwrap());
                        tries.filter(Option::is_none).count()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(started, 5);
    }

    /// CAL-TEST-1: tokens and money that an executor took count for its run and all above, and a run that is over counts no more.
    #[test]
    fn what_an_executor_took_counts_above() {
        let ground = ground();
        let first = ground.begin(None, Some(3)).unwrap();
        assert!(!first.is_nested());
        let below = ground.begin(Some(&first.token()), Some(3)).unwrap();
        assert!(below.is_nested());
        below.charge(5, Money(2)).unwrap();
        below.charge(u64::MAX, Money(0)).unwrap();
        first.charge(0, Money(0)).unwrap();
        let spent = |budget: &Budget| {
            let account = budget.account.clone().unwrap();
            let folder = ground.folder.path().join("budgets");
            let files = Disk::real().list_dir(&folder).unwrap();
            let file = files
                .iter()
                .find(|file| file.name.to_string_lossy().starts_with(&account))
                .unwrap();
            let bytes = Disk::real().read(&folder.join(&file.name)).unwrap();
            serde_json::from_slice::<Account>(&bytes).unwrap().spent
        };
        for budget in [&first, &below] {
            let spent = spent(budget);
            assert_eq!((spent.tokens, spent.cost), (u64::MAX, Money(2)));
        }
    }
}
