//! `{t}`: a topic's id, the start of one, or a name, as long as it is the only one.
//!
//! Every node makes a topic of its own at its first start. While nothing was written to one's own
//! topic, a joined topic of the same name is the one that is meant.

use osier::{Osier, Topic};

use crate::error::{ApiError, ApiResult};

/// Shortest start of an id that is looked for: fewer digits are more likely a name.
const PREFIX_DIGITS_MIN: usize = 4;

/// A topic as a request names it.
pub(crate) async fn topic(osier: &Osier, named: &str) -> ApiResult<Topic> {
    let topics = osier.topics()?;
    let mut keys = Vec::new();
    for topic in &topics {
        let name = topic.name().to_owned();
        // Only a topic that shares its name needs the look into the store.
        let shares = name == named && topics.iter().filter(|it| it.name() == named).count() > 1;
        let info = if shares {
            Some(topic.info().await?)
        } else {
            None
        };
        let unused = info.is_some_and(|info| info.owned && info.entries == 0);
        keys.push(Key {
            id: topic.id().to_string(),
            name,
            unused,
        });
    }
    let index = choose(&keys, named)?;
    Ok(topics
        .into_iter()
        .nth(index)
        .expect("the index is one of theirs"))
}

/// What a topic can be named by.
struct Key {
    id: String,
    name: String,
    /// One's own, and nothing was ever written to it.
    unused: bool,
}

/// The place in `topics` of the one that is meant.
fn choose(topics: &[Key], named: &str) -> ApiResult<usize> {
    let hits = |fits: &dyn Fn(&Key) -> bool| -> Vec<usize> {
        (0..topics.len()).filter(|at| fits(&topics[*at])).collect()
    };
    let typed = named.to_lowercase();
    let exact = hits(&|key| key.id == typed);
    let by_name = hits(&|key| key.name == named);
    let in_use = hits(&|key| key.name == named && !key.unused);
    let by_name = if in_use.len() == 1 { in_use } else { by_name };
    let long = named.len() >= PREFIX_DIGITS_MIN;
    let by_prefix = hits(&|key| long && key.id.starts_with(&typed));
    for found in [exact, by_name, by_prefix] {
        match found.as_slice() {
            [] => {}
            [one] => return Ok(*one),
            several => return Err(ambiguous(topics, named, several)),
        }
    }
    Err(unknown(topics, named))
}

fn ambiguous(topics: &[Key], named: &str, several: &[usize]) -> ApiError {
    let ids: Vec<&str> = several.iter().map(|at| &topics[*at].id[..12]).collect();
    let error = format!("{named:?} names {} topics", several.len());
    ApiError::bad(
        error,
        format!("use the start of the id of one: {}", ids.join(", ")),
    )
}

fn unknown(topics: &[Key], named: &str) -> ApiError {
    let scored = topics
        .iter()
        .map(|key| (strsim::jaro_winkler(named, &key.name), &key.name));
    let near = scored
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score > 0.7);
    let hint = match near {
        Some((_, name)) => format!("did you mean {name:?}? `osier topic ls` lists the topics"),
        None if topics.is_empty() => "make one with `osier topic new NAME`, or join one with \
                                      `osier topic join TICKET`"
            .to_owned(),
        None => "`osier topic ls` lists the topics".to_owned(),
    };
    ApiError::not_found(format!("this node has no topic {named:?}"), hint)
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    fn key(id: &str, name: &str, unused: bool) -> Key {
        Key {
            id: id.to_owned(),
            name: name.to_owned(),
            unused,
        }
    }

    fn topics() -> Vec<Key> {
        vec![
            key("abcd1234aaaa", "lobby", false),
            key("abcd9999bbbb", "news", false),
            key("ffff00001111", "news", false),
        ]
    }

    #[test]
    fn by_id_name_and_start_of_id() {
        let topics = topics();
        assert_eq!(choose(&topics, "ffff00001111"), Ok(2));
        assert_eq!(choose(&topics, "lobby"), Ok(0));
        assert_eq!(choose(&topics, "ABCD12"), Ok(0));
    }

    #[test]
    fn several_are_told_apart() {
        let topics = topics();
        let error = choose(&topics, "news").unwrap_err();
        assert_eq!(error.into_response().status(), 400);
        assert!(choose(&topics, "abcd").is_err());
    }

    #[test]
    fn an_own_topic_that_nothing_was_written_to_makes_way() {
        let mut topics = topics();
        topics[1].unused = true;
        assert_eq!(choose(&topics, "news"), Ok(2));
        topics[2].unused = true;
        assert!(choose(&topics, "news").is_err());
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let error = format!("{:?}", choose(&topics(), "loby").unwrap_err());
        assert!(error.contains("did you mean \\\"lobby\\\"?"), "{error}");
        let error = format!("{:?}", choose(&[], "x").unwrap_err());
        assert!(error.contains("osier topic new"), "{error}");
    }
}
