//! What has to hold of every request, and what is counted.

use crate::daemon::{Daemon, Fault, Talker};
use bytes::Bytes;
use grov_domain::{ExchangeKind, Lineage, OWN_TEXT_OPENING, SideRequest};
use grov_live::Identity;
use grov_proxy_core::MessagesRequest;
use grov_sim::cache::{CacheAudit, Comparison, LOOK_BACK, PromptCache, RenderedPrompt};
use grov_sim::history::{DIRECTORY, MODELS, Operation, Sent};
use grov_sim::request::{self, Purpose};
use grov_wire::{BlockKind, Chunks, Content, Edit, Key128, Message, RequestIndex, Skeleton, Splice};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

/// Numbers of one or many histories.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: usize,
    pub(crate) turns: usize,
    pub(crate) prompts: usize,
    /// Texts said for the first time, and the size of their blocks in bytes.
    pub(crate) added: usize,
    pub(crate) added_bytes: usize,
    /// Blocks said again.
    pub(crate) repeated: usize,
    /// Taken over from another session's history.
    pub(crate) adopted: usize,
    /// Taken back because they would have cost cached prompt.
    pub(crate) withdrawn: usize,
    /// Requests for which a cached prefix was lost anyway, and the older one that is left is out of sight.
    pub(crate) out_of_sight: usize,
    /// Requests that read something.
    pub(crate) hits: usize,
    pub(crate) restarts: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.turns += other.turns;
        self.prompts += other.prompts;
        self.added += other.added;
        self.added_bytes += other.added_bytes;
        self.repeated += other.repeated;
        self.adopted += other.adopted;
        self.withdrawn += other.withdrawn;
        self.out_of_sight += other.out_of_sight;
        self.hits += other.hits;
        self.restarts += other.restarts;
    }
}

/// A text that was said, the first time it was seen.
struct Saying {
    key: Key128,
}

/// A text where it stands.
struct Said {
    text: String,
    /// Blocks between the breakpoint and the anchor when it was the newest; `None`: the breakpoint was behind it.
    tail: Option<usize>,
    /// It stood in a prefix that was cached.
    cached: bool,
}

/// A block of ours in a request.
struct Place {
    text: String,
    /// The client's block that it stands behind, counted over all messages.
    anchor: usize,
}

/// What is known of a lineage.
#[derive(Default)]
struct Known {
    /// What stands where.
    said: HashMap<Key128, Said>,
    /// The prefix that its newest request that was taken has cached: the last part of the history in it, and how many
    /// blocks it reaches further.
    prefix: Option<(Key128, usize)>,
    /// Its newest request was refused.
    refused: bool,
    /// It was, and the daemon that saw it is gone.
    refused_unseen: bool,
    /// Where it was taken back.
    withdrawn: HashSet<Key128>,
    /// The edited body before, for failures.
    before: Vec<u8>,
    bodies: HashSet<Bytes>,
    /// The history that it arrived with, if the assistant had said something in it.
    arrived_with: Option<HashSet<Key128>>,
    /// Those who share a cache with it; decided when it is first seen.
    household: Option<usize>,
}

/// Judges requests one after the other.
pub(crate) struct Judge {
    operations: Vec<Operation>,
    talker: Arc<Talker>,
    audits: HashMap<usize, CacheAudit>,
    lineages: HashMap<Lineage, Known>,
    sayings: HashMap<String, Saying>,
    /// Histories up to something that the assistant said: the families that they were seen in, and whose cache that was.
    tips: HashMap<Key128, HashMap<usize, usize>>,
    /// The client's blocks that requests left in the cache, by household and history up to the last breakpoint.
    left: HashMap<(usize, Key128), usize>,
    pub(crate) tally: Tally,
}

/// What the policy made of a request.
struct Edited<'a> {
    request: &'a MessagesRequest,
    index: &'a RequestIndex,
    skeleton: &'a Skeleton,
    chunks: Chunks,
    bytes: Vec<u8>,
    edits: &'a [Edit],
}

/// Each of these caches the shortest prefix, so that small bodies do.
pub(crate) fn eager_cache() -> PromptCache {
    MODELS.iter().fold(PromptCache::default(), |cache, model| {
        cache.with_minimum(model, 1)
    })
}

/// The request as the proxy sees it.
pub(crate) fn as_received(sent: &Sent) -> MessagesRequest {
    let mut headers = HeaderMap::new();
    for (name, value) in sent.headers() {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_str(&value).unwrap(),
        );
    }
    // Recordings are redacted: they do not tell where the client ran.
    headers.insert("x-grov-project", HeaderValue::from_static(DIRECTORY));
    MessagesRequest::new(headers, sent.body.clone(), sent.at)
}

impl Judge {
    pub(crate) fn new(operations: &[Operation], talker: Arc<Talker>) -> Self {
        Self {
            operations: operations.to_vec(),
            talker,
            audits: HashMap::new(),
            lineages: HashMap::new(),
            sayings: HashMap::new(),
            tips: HashMap::new(),
            left: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Sends one request through the policy and judges what comes out. The text says what is wrong, if something is.
    pub(crate) async fn judge(
        &mut self,
        number: usize,
        sent: &Sent,
        daemon: &Daemon,
        fault: Fault,
    ) -> Result<(), String> {
        let request = as_received(sent);
        let lineage = Identity::of(&request).lineage();
        let known = self.lineages.entry(lineage.clone()).or_default();
        let is_repeated = !known.bodies.insert(sent.body.clone());
        let edits = daemon.edits(&request, is_repeated, sent.began, fault).await;
        let outcome = self.examine(sent, &request, &lineage, &edits);
        outcome.map_err(|problem| {
            let operation = self.operations.get(sent.operation);
            let mut text = format!(
                "{problem}\nrequest {number}, operation {} {operation:?}, {:?} of {} {}, family {}\n",
                sent.operation,
                sent.purpose,
                sent.session,
                sent.agent.as_deref().unwrap_or_default(),
                sent.family
            );
            let index = request.index().unwrap();
            let now = Splice::apply(index, &edits)
                .map(|chunks| joined(&chunks))
                .unwrap_or_default();
            let before = self.lineages.get(&lineage).map(|known| known.before.clone());
            let _ = writeln!(
                text,
                "before:\n{}\nnow:\n{}",
                outline(&before.unwrap_or_default()),
                outline(&now)
            );
            text
        })
    }

    /// The daemon is another one from now on.
    pub(crate) fn restarted(&mut self) {
        self.tally.restarts += 1;
        for known in self.lineages.values_mut() {
            known.refused_unseen |= known.refused;
        }
    }

    fn examine(
        &mut self,
        sent: &Sent,
        request: &MessagesRequest,
        lineage: &Lineage,
        edits: &[Edit],
    ) -> Result<(), String> {
        check_identity(sent, request)?;
        let index = request.index().ok_or("the client's body has no index")?;
        let skeleton = request.skeleton().ok_or("the client's body has no skeleton")?;
        let chunks = Splice::apply(index, edits).map_err(|error| format!("the edits do not fit: {error}"))?;
        let edited = Edited {
            request,
            index,
            skeleton,
            bytes: joined(&chunks),
            chunks,
            edits,
        };
        edited.check_tiling()?;
        edited.check_rendering()?;
        self.check_places(sent, lineage, &edited)?;
        let compared = self.compare(sent, lineage, &edited)?;
        let turn = matches!(sent.purpose, Purpose::Step);
        self.tally.requests += 1;
        self.tally.turns += usize::from(turn);
        let typed = skeleton.newest_user_link().is_some() && turn && sent.agent.is_none();
        let results = index.newest_user_message().is_some_and(|message| {
            message
                .blocks()
                .any(|block| block.kind() == BlockKind::ToolResult)
        });
        self.tally.prompts += usize::from(typed && !results);
        self.tally.hits += usize::from(compared.cached_as_sent > 0);
        let known = self.lineages.entry(lineage.clone()).or_default();
        known.before = edited.bytes;
        Ok(())
    }

    /// No miss is caused by what was added.
    ///
    /// One kind is none of the ledger's making: an earlier request of this very history had cached more of it than could be
    /// read now without us (the client wrote it in another form since, changed the model, or was away for five minutes), and
    /// the older prefix that is left is there, word for word, but out of sight: the blocks between it and the breakpoint are
    /// 20 with ours. Which older prefix is left only the API knows. The same where a daemon begins right after a request was
    /// refused: it takes that for cached, as most are.
    fn compare(&mut self, sent: &Sent, lineage: &Lineage, edited: &Edited<'_>) -> Result<Comparison, String> {
        let household = self.household(sent, lineage, edited.skeleton);
        let audit = self
            .audits
            .entry(household)
            .or_insert_with(|| CacheAudit::starting_with(eager_cache()));
        let compared = observe(audit, sent, &edited.bytes)?;
        let links = edited.skeleton.links().iter();
        let left = links.filter_map(|link| self.left.get(&(household, link.key)));
        let before = left.max().copied().unwrap_or(0);
        let known = self.lineages.entry(lineage.clone()).or_default();
        let refused_unseen = known.refused_unseen;
        if !matches!(sent.purpose, Purpose::Title | Purpose::WebSearch) {
            known.refused = !sent.began;
            known.refused_unseen &= known.refused;
        }
        if let Some((cached, behind)) = edited.cached_history().filter(|_| sent.began) {
            self.left.insert((household, cached), compared.left_as_sent);
            self.lineages.entry(lineage.clone()).or_default().prefix = Some((cached, behind));
        }
        if !compared.caused_a_miss() {
            return Ok(compared);
        }
        let is_lost_anyway = compared.cached_as_sent < before;
        if (is_lost_anyway || refused_unseen) && compared.within_any_reach >= compared.cached_as_sent {
            self.tally.out_of_sight += 1;
            return Ok(compared);
        }
        Err(format!("a miss was caused: {compared:?}, cached before {before}"))
    }

    /// Who shares a cache with a lineage: its family. One that arrives with a history that was never seen up to anything
    /// that the assistant said, or that was seen in two families, cannot be told where it belongs; so it is on its own.
    fn household(&mut self, sent: &Sent, lineage: &Lineage, skeleton: &Skeleton) -> usize {
        let known = self.lineages.entry(lineage.clone()).or_default();
        let household = *known.household.get_or_insert_with(|| {
            let alone = usize::MAX - self.tips.len();
            let mut links = skeleton.links().iter().rev();
            let met = links.find_map(|link| self.tips.get(&link.key));
            match met {
                Some(families) if families.len() == 1 => families.values().next().copied().unwrap_or(alone),
                None if skeleton.tip_at_last_assistant().is_none() => sent.family,
                Some(_) | None => alone,
            }
        });
        if let Some(tip) = skeleton.tip_at_last_assistant() {
            let families = self.tips.entry(tip).or_default();
            families.entry(sent.family).or_insert(household);
        }
        household
    }

    /// What was said once is there, word for word; what is there was said in this history.
    fn check_places(&mut self, sent: &Sent, lineage: &Lineage, edited: &Edited<'_>) -> Result<(), String> {
        let places = edited.own_places()?;
        let known = self.lineages.entry(lineage.clone()).or_default();
        let history: HashSet<Key128> = edited.skeleton.links().iter().map(|link| link.key).collect();
        let is_side = matches!(sent.purpose, Purpose::Title | Purpose::WebSearch);
        if !is_side && known.arrived_with.is_none() {
            let is_new = edited.skeleton.tip_at_last_assistant().is_none();
            known.arrived_with = Some(if is_new { HashSet::new() } else { history.clone() });
        }
        let arrived_with = known.arrived_with.clone().unwrap_or_default();
        if is_side {
            return match places.is_empty() {
                true => Ok(()),
                false => Err("something was added to a request that shares no history".to_owned()),
            };
        }
        let breakpoint = breakpoint(edited.index);
        let missing: Vec<Key128> = known
            .said
            .iter()
            .filter(|(key, said)| {
                history.contains(key) && places.get(key).is_none_or(|place| place.text != said.text)
            })
            .map(|(key, _)| *key)
            .collect();
        // Taken back before they were ever cached: as many as have to go for the cached prefix to be in sight.
        let mut uncached: Vec<(usize, usize)> = known
            .said
            .iter()
            .filter(|(key, said)| history.contains(key) && !said.cached)
            .filter_map(|(key, said)| Some((edited.anchor(*key).ok()?, said.tail?)))
            .filter(|(anchor, _)| breakpoint.is_some_and(|breakpoint| breakpoint > *anchor))
            .collect();
        uncached.sort_unstable();
        let prefix = known
            .prefix
            .and_then(|(key, behind)| Some(edited.anchor(key).ok()? + behind))
            .or(uncached.first().map(|(anchor, tail)| anchor - tail));
        let distance = breakpoint
            .zip(prefix)
            .map(|(breakpoint, prefix)| breakpoint.saturating_sub(prefix));
        let may_be_withdrawn = distance.is_some_and(|distance| {
            distance < LOOK_BACK && distance + uncached.len() == LOOK_BACK - 1 + missing.len()
        });
        for key in missing {
            let known = self.lineages.entry(lineage.clone()).or_default();
            let Some(said) = known.said.remove(&key) else {
                continue;
            };
            let text = &said.text;
            if let Some(other) = places.get(&key) {
                return Err(format!(
                    "{text} was said, and now at the same place {}",
                    other.text
                ));
            }
            if said.cached {
                return Err(format!("{text} was said and is missing"));
            }
            if !may_be_withdrawn {
                return Err(format!(
                    "{text} was said and is missing; blocks in no cached prefix: {uncached:?}, breakpoint: {breakpoint:?}"
                ));
            }
            known.withdrawn.insert(key);
            self.tally.withdrawn += 1;
        }
        for (key, Place { text, anchor }) in places {
            let known = self.lineages.entry(lineage.clone()).or_default();
            if known.withdrawn.contains(&key) {
                return Err(format!("{text} was taken back and is there again"));
            }
            let is_cached = sent.began && breakpoint.is_some_and(|breakpoint| breakpoint > anchor);
            let tail = breakpoint.and_then(|breakpoint| anchor.checked_sub(breakpoint));
            let is_new = !known.said.contains_key(&key);
            let said = known.said.entry(key).or_insert_with(|| Said {
                text: text.clone(),
                tail,
                cached: false,
            });
            if tail.is_some() && sent.purpose == Purpose::Step {
                // Who goes back to a place leaves the branch in which it was cached.
                (said.tail, said.cached) = (tail, false);
            }
            said.cached |= is_cached;
            if !is_new {
                self.tally.repeated += 1;
                continue;
            }
            match self.sayings.get(&text) {
                Some(saying) if saying.key == key && arrived_with.contains(&key) => self.tally.adopted += 1,
                Some(saying) => {
                    return Err(format!(
                        "{text} belongs to another history: it was said at {}, and is now at {key}",
                        saying.key
                    ));
                }
                None if self.talker.meant_for(&text).as_ref() == Some(lineage) => {
                    self.tally.added += 1;
                    self.tally.added_bytes += text.len();
                    self.sayings.insert(text, Saying { key });
                }
                None => return Err(format!("{text} was meant for {:?}", self.talker.meant_for(&text))),
            }
        }
        Ok(())
    }
}

fn observe(audit: &mut CacheAudit, sent: &Sent, arrived: &[u8]) -> Result<Comparison, String> {
    let compared = match sent.began {
        true => audit.observe(&sent.body, arrived, sent.at),
        false => audit.observe_refused(&sent.body, arrived, sent.at),
    };
    compared.map_err(|error| error.to_string())
}

fn check_identity(sent: &Sent, request: &MessagesRequest) -> Result<(), String> {
    let identity = Identity::of(request);
    let kind = match (sent.purpose, &sent.agent) {
        (Purpose::Title, _) => ExchangeKind::Side(SideRequest::Title),
        (Purpose::WebSearch, _) => ExchangeKind::Side(SideRequest::WebTool),
        (Purpose::Suggestion, _) => ExchangeKind::Side(SideRequest::Suggestion),
        (Purpose::Compaction, _) => ExchangeKind::Side(SideRequest::Compaction),
        (Purpose::Step, Some(_)) => ExchangeKind::Subagent,
        (Purpose::Step, None) => ExchangeKind::Main,
    };
    let agent = identity.agent.as_ref().map(ToString::to_string);
    let is_right = identity.kind == kind
        && identity.session.as_str() == sent.session
        && identity.session_is_named
        && agent == sent.agent;
    match is_right {
        true => Ok(()),
        false => Err(format!("the request is taken for {identity:?}")),
    }
}

impl Edited<'_> {
    /// The client's bytes are all there, in order; what stands between them are our blocks and the brackets of a string
    /// that became an array.
    fn check_tiling(&self) -> Result<(), String> {
        let original = self.request.body();
        let start = original.as_ptr() as usize;
        let mut taken = 0;
        let mut opened = 0_i32;
        for piece in self.chunks.iter() {
            let at = (piece.as_ptr() as usize).checked_sub(start);
            match at.filter(|at| at + piece.len() <= original.len()) {
                Some(at) if at == taken => taken += piece.len(),
                Some(at) => return Err(format!("byte {at} of the client's body follows byte {taken}")),
                None => match piece.as_ref() {
                    b"," => {}
                    br#"[{"type":"text","text":"# => opened += 1,
                    b"}" => {}
                    b"]" => opened -= 1,
                    other if is_own(other) && self.is_of_an_edit(other) => {}
                    other => return Err(format!("{} was put in", String::from_utf8_lossy(other))),
                },
            }
        }
        match taken == original.len() && opened == 0 {
            true => Ok(()),
            false => Err(format!(
                "{taken} of {} bytes of the client's are left",
                original.len()
            )),
        }
    }

    fn is_of_an_edit(&self, piece: &[u8]) -> bool {
        self.edits.iter().any(|edit| match edit {
            Edit::Insert { bytes, .. } => bytes == piece,
            Edit::Replace { .. } => false,
        })
    }

    /// The prompt without our blocks is the client's prompt, and the request is one that the API takes.
    fn check_rendering(&self) -> Result<(), String> {
        let sent = request::MessagesRequest::parse(self.request.body()).map_err(|error| error.to_string())?;
        let mut arrived = request::MessagesRequest::parse(&self.bytes).map_err(|error| error.to_string())?;
        if let Some(refusal) = arrived.refusal() {
            return Err(format!("the API refuses it: {refusal}"));
        }
        if arrived.stream != sent.stream {
            return Err("`stream` changed".to_owned());
        }
        for message in &mut arrived.messages {
            message.blocks.retain(|block| {
                !block
                    .get_str("text")
                    .is_some_and(|text| text.starts_with(OWN_TEXT_OPENING))
            });
        }
        let (sent, arrived) = (RenderedPrompt::of(&sent), RenderedPrompt::of(&arrived));
        match sent == arrived {
            true => Ok(()),
            false => Err("without what was added the prompt is not the client's".to_owned()),
        }
    }

    /// Our blocks by the part of the history that each stands directly behind.
    fn own_places(&self) -> Result<HashMap<Key128, Place>, String> {
        let arrived =
            RequestIndex::parse(&Bytes::from(self.bytes.clone())).map_err(|error| error.to_string())?;
        let mut places = HashMap::new();
        let mut blocks_before = 0;
        for message in arrived.messages() {
            let mut clients = 0_usize;
            for block in message.blocks() {
                if !is_own(block.raw().as_bytes()) {
                    clients += 1;
                    continue;
                }
                let before = clients
                    .checked_sub(1)
                    .ok_or("a message begins with what was added")?;
                let link = self
                    .skeleton
                    .links()
                    .iter()
                    .rfind(|link| link.message == message.number() && link.block.unwrap_or(0) == before);
                let link = link.ok_or("something was added behind what is no part of the history")?;
                let text = block.text().unwrap_or_default().into_owned();
                let anchor = blocks_before + before;
                if places.insert(link.key, Place { text, anchor }).is_some() {
                    return Err("two blocks were added at one place".to_owned());
                }
            }
            blocks_before += if matches!(message.content(), Content::Text(_)) {
                1
            } else {
                clients
            };
        }
        Ok(places)
    }

    /// The history up to the last breakpoint, and how many blocks that stands behind its last part.
    fn cached_history(&self) -> Option<(Key128, usize)> {
        let breakpoint = breakpoint(self.index)?;
        let mut links = self.skeleton.links().iter().rev();
        links.find_map(|link| Some((link.key, breakpoint.checked_sub(self.anchor(link.key).ok()?)?)))
    }

    /// The block that something at this place would stand behind, counted over all messages.
    fn anchor(&self, key: Key128) -> Result<usize, String> {
        let link = self.skeleton.find(key).ok_or("the place is gone")?;
        let before = self.index.messages().take(link.message);
        Ok(before.map(|message| width(&message)).sum::<usize>() + link.block.unwrap_or(0))
    }
}

/// Blocks of a message as the cache counts them.
fn width(message: &Message<'_>) -> usize {
    match message.content() {
        Content::Text(_) => 1,
        _ => message.blocks().len(),
    }
}

/// The last block in the messages with a breakpoint, counted over all messages.
fn breakpoint(index: &RequestIndex) -> Option<usize> {
    let mut before = 0;
    let mut last = None;
    for message in index.messages() {
        let marked = message.blocks().rfind(|block| block.has_cache_control());
        last = marked.map(|block| before + block.number()).or(last);
        before += width(&message);
    }
    last
}

fn is_own(block: &[u8]) -> bool {
    let opening = format!(r#""text":"{OWN_TEXT_OPENING}"#);
    String::from_utf8_lossy(block).contains(&opening)
}

fn joined(chunks: &Chunks) -> Vec<u8> {
    chunks.iter().flat_map(|piece| piece.iter().copied()).collect()
}

/// The messages of a body, a line each block.
fn outline(body: &[u8]) -> String {
    let Ok(index) = RequestIndex::parse(&Bytes::copy_from_slice(body)) else {
        return "nothing".to_owned();
    };
    let mut text = format!("{}\n", index.model().unwrap_or_default());
    let short = |text: &str| text.chars().take(90).collect::<String>().replace('\n', " ");
    for message in index.messages() {
        let who = format!("{:3} {:?}", message.number(), message.role());
        match message.content() {
            Content::Text(content) => drop(writeln!(text, "{who} string {}", short(&content))),
            _ => {
                for block in message.blocks() {
                    let mark = if block.has_cache_control() {
                        "<== breakpoint"
                    } else {
                        ""
                    };
                    let _ = writeln!(text, "{who} {} {mark}", short(block.raw()));
                }
            }
        }
    }
    text
}
