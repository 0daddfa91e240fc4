//! The pure crates are held to the same bans.

use std::path::Path;

use crate::{arrows, finding::Finding, workspace::Text};

/// Every pure crate has a `clippy.toml` of its own, and they are all the same.
///
/// Clippy does not inherit: without the file, the bans of pure code would not hold.
pub(crate) fn differing(texts: &[Text]) -> Vec<Finding> {
    let content_of = |name: &str| {
        let path = format!("crates/{name}/clippy.toml");
        texts
            .iter()
            .find(|text| text.path == Path::new(&path))
            .map(|text| &text.content)
    };
    let first = arrows::PURE.first().and_then(|name| content_of(name));
    let present = arrows::PURE.iter().filter(|name| exists(name, texts));
    let differing = present.filter(|name| content_of(name).is_none() || content_of(name) != first);
    let what = "is pure, and needs the same clippy.toml as the other pure crates";
    differing
        .map(|name| Finding::of(&Path::new("crates").join(name), what))
        .collect()
}

fn exists(name: &str, texts: &[Text]) -> bool {
    let manifest = format!("crates/{name}/Cargo.toml");
    texts.iter().any(|text| text.path == Path::new(&manifest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_crate_without_the_bans() {
        let mut texts = vec![
            Text::new("crates/core/Cargo.toml", ""),
            Text::new("crates/core/clippy.toml", "bans"),
            Text::new("crates/policy/Cargo.toml", ""),
        ];
        assert_eq!(differing(&texts).len(), 1);
        texts.push(Text::new("crates/policy/clippy.toml", "fewer"));
        assert_eq!(differing(&texts).len(), 1);
        texts[3].content = "bans".to_owned();
        assert!(differing(&texts).is_empty());
    }
}
