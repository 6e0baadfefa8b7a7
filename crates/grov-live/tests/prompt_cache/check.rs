//! The invariants of each request, and counts over all requests.

use crate::daemon::{Daemon, Fault, Talker};
use crate::reference::{LeftOut, Started, Sticky};
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

/// A value, or the description of a violation.
pub(crate) type Problem<T> = Result<T, String>;

/// Counts over one or many histories.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: usize,
    pub(crate) turns: usize,
    pub(crate) prompts: usize,
    /// Texts added for the first time, and the size of their blocks in bytes.
    pub(crate) added: usize,
    pub(crate) added_bytes: usize,
    /// Texts added at the next injection point, because they came too late for their own.
    pub(crate) added_later: usize,
    /// Blocks repeated.
    pub(crate) repeated: usize,
    /// Blocks adopted from another session's history.
    pub(crate) adopted: usize,
    /// Blocks withdrawn because they would have invalidated the cached prefix.
    pub(crate) withdrawn: usize,
    /// Requests whose cached prefix was lost for another reason, while the older remaining one is out of the look-back.
    pub(crate) out_of_sight: usize,
    /// Requests that read from the cache.
    pub(crate) hits: usize,
    pub(crate) restarts: usize,
    /// Contexts cleared.
    pub(crate) cleared: usize,
    /// Requests with a cut that was made before.
    pub(crate) cut_again: usize,
    /// Cuts that were adopted from another session's history.
    pub(crate) cuts_adopted: usize,
    /// Results replaced for the first time.
    pub(crate) trimmed: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.turns += other.turns;
        self.prompts += other.prompts;
        self.added += other.added;
        self.added_bytes += other.added_bytes;
        self.added_later += other.added_later;
        self.repeated += other.repeated;
        self.adopted += other.adopted;
        self.withdrawn += other.withdrawn;
        self.out_of_sight += other.out_of_sight;
        self.hits += other.hits;
        self.restarts += other.restarts;
        self.cleared += other.cleared;
        self.cut_again += other.cut_again;
        self.cuts_adopted += other.cuts_adopted;
        self.trimmed += other.trimmed;
    }
}

/// A text when it was added.
struct Saying {
    key: Key128,
}

/// A text in a history.
struct Injected {
    text: String,
    /// Blocks from the breakpoint to the anchor when it was the newest block, or `None` if the breakpoint was after it.
    tail: Option<usize>,
    /// Whether it was in a cached prefix.
    cached: bool,
}

/// An added block in a request.
struct Place {
    text: String,
    /// The client's block before it, counted over all messages.
    anchor: usize,
}

/// The state of a lineage.
#[derive(Default)]
struct Known {
    /// Texts by injection point.
    injected: HashMap<Key128, Injected>,
    /// The prefix that its newest accepted request cached: the last part of the history in it, and the number of blocks
    /// after that part.
    prefix: Option<(Key128, usize)>,
    /// Whether its newest request was rejected.
    refused: bool,
    /// Whether its newest request was rejected before the daemon restarted.
    refused_unseen: bool,
    /// Injection points whose texts were withdrawn.
    withdrawn: HashSet<Key128>,
    /// The previous edited body, for failure messages.
    before: Vec<u8>,
    bodies: HashSet<Bytes>,
    /// The history of its first request, if that contained an answer.
    arrived_with: Option<HashSet<Key128>>,
    /// The lineages that share a cache with it. Set at its first request.
    household: Option<usize>,
    /// What was left out of it.
    sticky: Sticky,
}

/// Checks requests one after the other.
pub(crate) struct Judge {
    operations: Vec<Operation>,
    talker: Arc<Talker>,
    audits: HashMap<usize, CacheAudit>,
    lineages: HashMap<Lineage, Known>,
    sayings: HashMap<String, Saying>,
    /// Histories that end with an answer: the families that they were seen in, and the cache that contains them.
    tips: HashMap<Key128, HashMap<usize, usize>>,
    /// The number of the client's blocks in the cache, by household, cut, and history up to the last breakpoint.
    left: HashMap<(usize, Option<Key128>, Key128), usize>,
    /// The cuts in all histories.
    cuts: HashMap<Key128, Bytes>,
    pub(crate) tally: Tally,
}

/// The policy's edits of a request.
struct Edited<'a> {
    request: &'a MessagesRequest,
    index: &'a RequestIndex,
    skeleton: &'a Skeleton,
    chunks: Chunks,
    bytes: Vec<u8>,
    edits: &'a [Edit],
    left_out: LeftOut,
    /// The client's body without what is left out.
    reference: Vec<u8>,
}

/// A cache that also stores short prefixes, so that small bodies use it.
pub(crate) fn eager_cache() -> PromptCache {
    MODELS.iter().fold(PromptCache::default(), |cache, model| {
        cache.with_minimum(model, 1)
    })
}

/// Returns the request as the proxy sees it.
pub(crate) fn as_received(sent: &Sent) -> MessagesRequest {
    let mut headers = HeaderMap::new();
    for (name, value) in sent.headers() {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_str(&value).unwrap(),
        );
    }
    // Recordings are redacted and do not contain the client's directory.
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
            cuts: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Applies the policy to a request and checks the result. The error describes the violation.
    pub(crate) async fn judge(
        &mut self,
        number: usize,
        sent: &Sent,
        daemon: &Daemon,
        fault: Fault,
    ) -> Result<(), String> {
        let request = Arc::new(as_received(sent));
        let lineage = Identity::of(&request).lineage();
        let known = self.lineages.entry(lineage.clone()).or_default();
        let is_repeated = !known.bodies.insert(sent.body.clone());
        let edits = daemon.edits(&request, is_repeated, sent.began, fault).await;
        let outcome = self.examine(sent, &request, &lineage, &edits);
        if sent.began {
            daemon.answered(&request, &edits);
        }
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

    /// Records that the daemon restarted.
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
        let left_out = LeftOut::of(edits, index, skeleton)?;
        let edited = Edited {
            request,
            index,
            skeleton,
            bytes: joined(&chunks),
            chunks,
            edits,
            reference: left_out.apply(request.body())?,
            left_out,
        };
        self.check_left_out(sent, lineage, &edited)?;
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

    /// Checks that the added blocks cause no cache miss.
    ///
    /// One kind of miss is not caused by the ledger. An earlier request cached more of this history than can be read
    /// without the added blocks: the client has changed its form, the model changed, or five minutes passed. An older
    /// prefix is still cached, but out of the look-back, because with the added blocks it is 20 blocks before the
    /// breakpoint. Only the API knows which older prefix remains. The same happens if the daemon restarts right after a
    /// request was rejected, because it assumes that the request was accepted.
    fn compare(&mut self, sent: &Sent, lineage: &Lineage, edited: &Edited<'_>) -> Result<Comparison, String> {
        let household = self.household(sent, lineage, edited.skeleton);
        let audit = self
            .audits
            .entry(household)
            .or_insert_with(|| CacheAudit::starting_with(eager_cache()));
        let compared = observe(audit, sent, &edited.reference, &edited.bytes)?;
        let cut = edited.left_out.cut.as_ref().map(|(_, key, _)| *key);
        let links = edited.skeleton.links().iter();
        let left = links.filter_map(|link| self.left.get(&(household, cut, link.key)));
        let before = left.max().copied().unwrap_or(0);
        let known = self.lineages.entry(lineage.clone()).or_default();
        let refused_unseen = known.refused_unseen;
        if !matches!(sent.purpose, Purpose::Title | Purpose::WebSearch) {
            known.refused = !sent.began;
            known.refused_unseen &= known.refused;
        }
        if let Some((cached, after)) = edited.cached_history().filter(|_| sent.began) {
            self.left.insert((household, cut, cached), compared.left_as_sent);
            self.lineages.entry(lineage.clone()).or_default().prefix = Some((cached, after));
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

    /// Checks that what was left out stays out, and that something is left out for the first time only when it may be: a
    /// beginning by a main request, results by a main request that could not read them from the cache.
    fn check_left_out(&mut self, sent: &Sent, lineage: &Lineage, edited: &Edited<'_>) -> Problem<()> {
        let left_out = &edited.left_out;
        let known = self.lineages.entry(lineage.clone()).or_default();
        let is_new_lineage = known.bodies.len() == 1;
        let Started { cut, trims } = known.sticky.check(left_out, edited.index, edited.skeleton)?;
        let is_main = sent.purpose == Purpose::Step && sent.agent.is_none();
        match &left_out.cut {
            Some((_, key, block)) if cut => match self.cuts.get(key) {
                Some(known) if known == block && is_new_lineage => self.tally.cuts_adopted += 1,
                _ if is_main => {
                    self.tally.cleared += 1;
                    self.cuts.insert(*key, block.clone());
                }
                _ => return Err("a context was cleared by a side request or a subagent".to_owned()),
            },
            Some(_) => self.tally.cut_again += 1,
            None => {}
        }
        if trims.is_empty() || is_new_lineage {
            return Ok(());
        }
        if !is_main {
            return Err("results were replaced by a side request or a subagent".to_owned());
        }
        self.tally.trimmed += trims.len();
        let household = self.household(sent, lineage, edited.skeleton);
        let mut before = left_out.clone();
        before.trims.retain(|id, _| !trims.contains(id));
        let before = before.apply(edited.request.body())?;
        let audit = self.audits.get(&household);
        match audit.map(|audit| audit.reads_messages(&before, sent.at)) {
            Some(Ok(true)) => Err(format!("{trims:?} were replaced while the cache was warm")),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(false)) | None => Ok(()),
        }
    }

    /// Returns the group of lineages that share a cache. A lineage whose history was never seen up to an answer, or was
    /// seen in two groups, is on its own.
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

    /// Checks that a text is missing only if it was withdrawn before it was cached.
    fn check_missing(
        &mut self,
        lineage: &Lineage,
        edited: &Edited<'_>,
        history: &HashSet<Key128>,
        places: &HashMap<Key128, Place>,
        breakpoint: Option<usize>,
    ) -> Result<(), String> {
        let known = self.lineages.entry(lineage.clone()).or_default();
        let missing: Vec<Key128> = known
            .injected
            .iter()
            .filter(|(key, injected)| {
                history.contains(key) && places.get(key).is_none_or(|place| place.text != injected.text)
            })
            .map(|(key, _)| *key)
            .collect();
        // Texts withdrawn before they were cached: as many as needed for the look-back to reach the cached prefix.
        let mut uncached: Vec<(usize, usize)> = known
            .injected
            .iter()
            .filter(|(key, injected)| history.contains(key) && !injected.cached)
            .filter_map(|(key, injected)| Some((edited.anchor(*key).ok()?, injected.tail?)))
            .filter(|(anchor, _)| breakpoint.is_some_and(|breakpoint| breakpoint > *anchor))
            .collect();
        uncached.sort_unstable();
        let prefix = known
            .prefix
            .and_then(|(key, after)| Some(edited.anchor(key).ok()? + after))
            .or(uncached.first().map(|(anchor, tail)| anchor - tail));
        let distance = breakpoint
            .zip(prefix)
            .map(|(breakpoint, prefix)| breakpoint.saturating_sub(prefix));
        let may_be_withdrawn = distance.is_some_and(|distance| {
            distance < LOOK_BACK && distance + uncached.len() == LOOK_BACK - 1 + missing.len()
        });
        for key in missing {
            let known = self.lineages.entry(lineage.clone()).or_default();
            let Some(injected) = known.injected.remove(&key) else {
                continue;
            };
            let text = &injected.text;
            if let Some(other) = places.get(&key) {
                return Err(format!(
                    "{text} was sent, and now at the same place {}",
                    other.text
                ));
            }
            if injected.cached {
                return Err(format!("{text} was sent and is missing"));
            }
            if !may_be_withdrawn {
                return Err(format!(
                    "{text} was sent and is missing; blocks in no cached prefix: {uncached:?}, breakpoint: {breakpoint:?}"
                ));
            }
            known.withdrawn.insert(key);
            self.tally.withdrawn += 1;
        }
        Ok(())
    }

    /// Checks that each text is repeated unchanged, and that each added block belongs to this history.
    fn check_places(&mut self, sent: &Sent, lineage: &Lineage, edited: &Edited<'_>) -> Result<(), String> {
        let places = edited.own_places()?;
        let known = self.lineages.entry(lineage.clone()).or_default();
        let history: HashSet<Key128> = edited.links().iter().map(|link| link.key).collect();
        let is_side = matches!(sent.purpose, Purpose::Title | Purpose::WebSearch);
        if !is_side && known.arrived_with.is_none() {
            let is_new = edited.skeleton.tip_at_last_assistant().is_none();
            // Going back to before a cut brings back texts that were left out.
            let whole = edited.skeleton.links().iter().map(|link| link.key);
            known.arrived_with = Some(if is_new { HashSet::new() } else { whole.collect() });
        }
        let arrived_with = known.arrived_with.clone().unwrap_or_default();
        if is_side {
            return match places.is_empty() {
                true => Ok(()),
                false => Err("something was added to a request that shares no history".to_owned()),
            };
        }
        let breakpoint = breakpoint(edited.index);
        self.check_missing(lineage, edited, &history, &places, breakpoint)?;
        for (key, Place { text, anchor }) in places {
            let known = self.lineages.entry(lineage.clone()).or_default();
            if known.withdrawn.contains(&key) {
                return Err(format!("{text} was taken back and is there again"));
            }
            let is_cached = sent.began && breakpoint.is_some_and(|breakpoint| breakpoint > anchor);
            let tail = breakpoint.and_then(|breakpoint| anchor.checked_sub(breakpoint));
            let is_new = !known.injected.contains_key(&key);
            let injected = known.injected.entry(key).or_insert_with(|| Injected {
                text: text.clone(),
                tail,
                cached: false,
            });
            if tail.is_some() && sent.purpose == Purpose::Step {
                // Going back to this point leaves the branch in which it was cached.
                (injected.tail, injected.cached) = (tail, false);
            }
            injected.cached |= is_cached;
            if !is_new {
                self.tally.repeated += 1;
                continue;
            }
            match self.sayings.get(&text) {
                Some(known) if known.key == key && arrived_with.contains(&key) => self.tally.adopted += 1,
                Some(known) => {
                    return Err(format!(
                        "{text} belongs to another history: it was sent at {}, and is now at {key}",
                        known.key
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

fn observe(
    audit: &mut CacheAudit,
    sent: &Sent,
    reference: &[u8],
    arrived: &[u8],
) -> Result<Comparison, String> {
    let compared = match sent.began {
        true => audit.observe(reference, arrived, sent.at),
        false => audit.observe_refused(reference, arrived, sent.at),
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
    /// Returns the parts of the history that are sent.
    fn links(&self) -> &[grov_wire::Link] {
        let first = self.left_out.cut.as_ref().map_or(0, |(message, ..)| *message);
        self.skeleton.links_from(first)
    }

    /// Checks that the body contains the client's bytes in order, all of them unless something is left out, and besides them
    /// only added blocks and the brackets around them.
    fn check_tiling(&self) -> Result<(), String> {
        let is_whole = self.left_out == LeftOut::default();
        let original = self.request.body();
        let start = original.as_ptr() as usize;
        let mut taken = 0;
        let mut opened = 0_i32;
        for piece in self.chunks.iter() {
            let at = (piece.as_ptr() as usize).checked_sub(start);
            match at.filter(|at| at + piece.len() <= original.len()) {
                Some(at) if at == taken || at > taken && !is_whole => taken = at + piece.len(),
                Some(at) => return Err(format!("byte {at} of the client's body follows byte {taken}")),
                None => match piece.as_ref() {
                    b"," => {}
                    br#"[{"type":"text","text":"# => opened += 1,
                    b"}" => {}
                    b"]" => opened -= 1,
                    br#"{"role":"user","content":["# | b"]}" if !is_whole => {}
                    other if !is_whole && self.left_out.trims.values().any(|line| line == other) => {}
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
        self.edits.iter().any(|edit| edit.bytes() == piece)
    }

    /// Checks that the prompt without the added blocks equals the client's, and that the API accepts the request.
    fn check_rendering(&self) -> Result<(), String> {
        let mut sent = request::MessagesRequest::parse(&self.reference).map_err(|error| error.to_string())?;
        let mut arrived = request::MessagesRequest::parse(&self.bytes).map_err(|error| error.to_string())?;
        if let Some(refusal) = arrived.refusal() {
            return Err(format!("the API refuses it: {refusal}"));
        }
        if arrived.stream != sent.stream {
            return Err("`stream` changed".to_owned());
        }
        for message in arrived.messages.iter_mut().chain(&mut sent.messages) {
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

    /// Returns the added blocks by the part of the history directly before them.
    fn own_places(&self) -> Result<HashMap<Key128, Place>, String> {
        let arrived =
            RequestIndex::parse(&Bytes::from(self.bytes.clone())).map_err(|error| error.to_string())?;
        let mut places = HashMap::new();
        let first = self.left_out.cut.as_ref().map_or(0, |(message, ..)| *message);
        let opening = match first {
            0 => 0,
            _ => 1 + usize::from(self.index.opening_system().is_some()),
        };
        let mut blocks_before: usize = self
            .index
            .messages()
            .take(first)
            .map(|message| width(&message))
            .sum();
        for message in arrived.messages().skip(opening) {
            let number = message.number() - opening + first;
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
                    .rfind(|link| link.message == number && link.block.unwrap_or(0) == before);
                let link =
                    link.ok_or("something was added after something that is not part of the history")?;
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

    /// Returns the history up to the last breakpoint, and the number of blocks from its last part to the breakpoint.
    fn cached_history(&self) -> Option<(Key128, usize)> {
        let breakpoint = breakpoint(self.index)?;
        let mut links = self.skeleton.links().iter().rev();
        links.find_map(|link| Some((link.key, breakpoint.checked_sub(self.anchor(link.key).ok()?)?)))
    }

    /// Returns the block before an injection point, counted over all messages.
    fn anchor(&self, key: Key128) -> Result<usize, String> {
        let link = self.skeleton.find(key).ok_or("the place is gone")?;
        let before = self.index.messages().take(link.message);
        Ok(before.map(|message| width(&message)).sum::<usize>() + link.block.unwrap_or(0))
    }
}

/// Returns the number of blocks of a message, as the cache counts them.
fn width(message: &Message<'_>) -> usize {
    match message.content() {
        Content::Text(_) => 1,
        _ => message.blocks().len(),
    }
}

/// Returns the last block with a breakpoint, counted over all messages.
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

/// Returns the messages of a body, one line per block.
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
