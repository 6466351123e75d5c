//! Devices and emulators that programs are tried on: what is stored on one.

use super::{Rule, Severity, Tool};

const REASON: &str = "it deletes data that is stored on the device";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["fastboot"],
        takes: "-s --slot",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "device.erase",
            when: &[
                "erase|format|format:*",
                "-w",
                "flashing unlock|lock|unlock_critical|lock_critical",
                "oem unlock|lock",
            ],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["fastboot devices"],
            #[cfg(test)]
            catches: &[
                "fastboot erase userdata",
                "fastboot -w",
                "fastboot -s 0A1B flashing unlock",
                "fastboot format:ext4 userdata",
            ],
            #[cfg(test)]
            spares: &["fastboot devices", "fastboot getvar all", "fastboot reboot"],
        }],
    },
    Tool {
        names: &["emulator"],
        takes: "-avd -port -gpu -memory",
        one_dash: true,
        tests: &[],
        rules: &[Rule {
            id: "device.wipe-emulator",
            when: &["-wipe-data"],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["emulator -list-avds"],
            #[cfg(test)]
            catches: &[
                "emulator -wipe-data",
                "emulator -avd Pixel_7 -wipe-data",
                "emulator @Pixel_7 -no-window -wipe-data",
            ],
            #[cfg(test)]
            spares: &[
                "emulator -avd Pixel_7 -no-window",
                "emulator -list-avds",
                "emulator -avd Pixel_7 -no-snapshot-load",
            ],
        }],
    },
    Tool {
        names: &["adb"],
        takes: "-s -t -H -P -L",
        one_dash: false,
        tests: &[("clears", |s| {
            let words: Vec<&str> = s
                .operands
                .iter()
                .map(|(word, _)| word.text.as_str())
                .collect();
            let line = words.join(" ");
            let mut words = line
                .split_whitespace()
                .skip_while(|word| *word != "shell")
                .skip(1);
            match words.next() {
                Some("pm") => words.next() == Some("clear"),
                Some("rm") => words.next().is_some(),
                Some("wipe" | "recovery") => true,
                _ => false,
            }
        })],
        rules: &[Rule {
            id: "device.clear",
            when: &["&clears"],
            severity: Severity::Ask,
            reason: REASON,
            alternatives: &["adb devices"],
            #[cfg(test)]
            catches: &[
                "adb shell pm clear com.acme.shop",
                "adb -s emulator-5554 shell 'pm clear com.acme.shop'",
                "adb shell rm -rf /sdcard/DCIM",
            ],
            #[cfg(test)]
            spares: &[
                "adb shell pm list packages",
                "adb install -r app.apk",
                "adb logcat -c",
                "adb shell am force-stop com.acme.shop",
            ],
        }],
    },
];
