//! Progress of long work: a bar on a terminal, nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

const COUNT: &str = "{prefix} {wide_bar:.green} {human_pos}/{human_len} {per_sec} {eta}";
const BYTES: &str = "{prefix} {wide_bar:.green} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}";
const OPEN: &str = "{prefix} {spinner} {human_pos} {per_sec}";

/// A bar that counts things.
pub(crate) fn count(out: Output, prefix: &str, len: u64) -> ProgressBar {
    bar(out, prefix, Some(len), COUNT)
}

/// A bar that counts bytes.
pub(crate) fn bytes(out: Output, prefix: &str, len: u64) -> ProgressBar {
    bar(out, prefix, Some(len), BYTES)
}

/// A counter whose end is not known.
pub(crate) fn open(out: Output, prefix: &str) -> ProgressBar {
    bar(out, prefix, None, OPEN)
}

fn bar(out: Output, prefix: &str, len: Option<u64>, template: &str) -> ProgressBar {
    let target = if out.draws() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(len, target);
    let style = ProgressStyle::with_template(template).expect("the templates above are valid");
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(prefix.to_owned());
    if out.draws() {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}
