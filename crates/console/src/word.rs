//! Why a topic is not complete, in sentences for people.
//!
//! Nothing here decides: each sentence says what the engine's state says. Times that run down are
//! left to whoever shows them, for they are other times by then.

use osier::{
    BehindCause, BehindState, Coverage, NodeId, ProviderState, Role, TopicInfo, TopicPhase,
    TopicState,
};

/// Why a topic is not complete; none when it is, back to the beginning.
pub(crate) fn topic(info: &TopicInfo) -> Option<String> {
    let Some(state) = &info.state else {
        return Some("This node takes part in nothing: it was opened offline.".to_owned());
    };
    match state.phase {
        TopicPhase::Synced => floor(state),
        TopicPhase::Syncing => Some(syncing(state)),
        TopicPhase::Behind => Some(behind(state)),
        TopicPhase::Diverged => Some(diverged(state)),
        TopicPhase::Failed => Some(failed(state)),
    }
}

/// Synced, and not back to the beginning.
fn floor(state: &TopicState) -> Option<String> {
    let synced = state.synced.as_ref()?;
    let Coverage::From { .. } = synced.coverage else {
        return None;
    };
    let who = name(synced.provider);
    let role = state
        .providers
        .iter()
        .find(|provider| provider.node == synced.provider)
        .map_or("provider", |provider| called(provider.role));
    let no_archive = !state
        .providers
        .iter()
        .any(|provider| provider.trusted && provider.connected && provider.role == Role::Archive);
    let next = if no_archive {
        "No trusted archive can be reached; one would have the rest."
    } else {
        "Ask someone deeper."
    };
    Some(format!(
        "The {role} {who} vouches for history from a floor on, and not for what is older. {next}"
    ))
}

fn syncing(state: &TopicState) -> String {
    if let [first, others @ ..] = &state.waiting[..] {
        let provider = state.providers.iter().find(|it| it.node == *first);
        let first = provider.map_or_else(
            || format!("{} to answer", name(*first)),
            |provider| {
                format!(
                    "the {} {}: {}",
                    provider.role,
                    name(*first),
                    doing(provider)
                )
            },
        );
        return match others.len() {
            0 => format!("Waiting for {first}."),
            1 => format!("Waiting for {first}; and for 1 more."),
            more => format!("Waiting for {first}; and for {more} more."),
        };
    }
    if state.search_ms.is_some() {
        return "Looking for a trusted provider that can be reached.".to_owned();
    }
    "Waiting for a provider to be asked again.".to_owned()
}

/// What a provider that is waited for is at.
fn doing(provider: &ProviderState) -> &'static str {
    match (provider.outcome, provider.detail.as_str()) {
        ("unasked", _) if provider.retry_ms.is_some() => "it is asked again soon",
        ("unasked", _) => "it has not been asked yet",
        ("streaming", "hello") => "it was asked and has not answered yet",
        ("streaming", "finding") => "the difference is being found",
        ("streaming", "sending") => "it is sending entries",
        ("streaming", "parked") => "its word is here; entries that it counts are on their way",
        ("streaming", _) => "a session is open",
        _ => "it has ended",
    }
}

fn behind(state: &TopicState) -> String {
    let why = match state.behind {
        Some(BehindState {
            cause: BehindCause::GossipLagged,
            ..
        }) => "live messages came faster than they could be taken",
        Some(BehindState {
            cause: BehindCause::LinkLost,
            ..
        }) => "the link to who vouched for it was lost",
        Some(BehindState {
            cause: BehindCause::NewProvider,
            ..
        }) => "another provider that counts has turned up, and is asked",
        Some(BehindState {
            cause: BehindCause::Gap,
            ..
        }) => "an entry came whose predecessor is not here",
        Some(BehindState {
            cause: BehindCause::Watermark,
            ..
        }) => "a trusted node holds more than this one",
        None => "there may be more",
    };
    let lag = match state.behind.map_or(0, |behind| behind.lag_entries) {
        0 => String::new(),
        1 => " At least 1 entry is missing.".to_owned(),
        entries => format!(" At least {entries} entries are missing."),
    };
    format!("It was synced, but {why}.{lag} {}", syncing(state))
}

fn diverged(state: &TopicState) -> String {
    let camp = |(_, members): &(_, Vec<NodeId>)| {
        let names: Vec<String> = members.iter().map(|node| name(*node)).collect();
        names.join(" and ")
    };
    let camps: Vec<String> = state.camps.iter().map(camp).collect();
    if camps.is_empty() {
        return "Trusted providers hold different histories.".to_owned();
    }
    format!(
        "Trusted providers hold different histories: {}.",
        camps.join(" against ")
    )
}

fn failed(state: &TopicState) -> String {
    let trusted: Vec<&ProviderState> = state.providers.iter().filter(|it| it.trusted).collect();
    if trusted.is_empty() {
        return "No trusted provider is known, so nobody can vouch for this history.".to_owned();
    }
    let each = trusted.iter().map(|it| {
        format!(
            "the {} {}: {}",
            called(it.role),
            name(it.node),
            provider(it)
        )
    });
    let each: Vec<String> = each.collect();
    format!(
        "No trusted provider could complete it: {}.",
        each.join("; ")
    )
}

/// What came of asking a provider.
pub(crate) fn provider(state: &ProviderState) -> String {
    let link = if state.connected {
        ""
    } else {
        "; it cannot be reached now"
    };
    match state.outcome {
        "drained" => format!("it sent all it holds, and that is proven{link}"),
        "cut" => format!("its history did not arrive whole: {}", state.detail),
        "refused" => format!("it would not serve: {}", state.detail),
        "silent" => format!("it said nothing for too long {}", at(&state.detail)),
        "lost" => "the connection went in mid-session".to_owned(),
        "unasked" if !state.connected => "it cannot be reached".to_owned(),
        _ => doing(state).to_owned(),
    }
}

/// What a session was at when it fell silent.
fn at(phase: &str) -> &'static str {
    match phase {
        "hello" => "after it was asked",
        "finding" => "while the difference was being found",
        "parked" => "after its word, while entries were missing",
        _ => "while it was sending",
    }
}

/// A node in a role.
const fn called(role: Role) -> &'static str {
    match role {
        Role::Archive => "archive",
        Role::Replay => "replay node",
        Role::Peer => "peer",
    }
}

/// A node as people read it: the first digits.
fn name(node: NodeId) -> String {
    node.to_string().chars().take(8).collect()
}

#[cfg(test)]
mod tests;
