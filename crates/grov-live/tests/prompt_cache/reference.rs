//! What a client would send that leaves out parts of its history itself: written without the index and the splice.

use crate::check::Problem;
use bytes::Bytes;
use grov_sim::json::Json;
use grov_sim::request::is_type;
use grov_wire::{Edit, Key128, RequestIndex, Skeleton};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What an edited request leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The index of the first message that is kept, the key of its first part, and the block for the rest.
    pub(crate) cut: Option<(usize, Key128, Bytes)>,
    /// The new content of results, by the id of the call.
    pub(crate) trims: BTreeMap<String, Bytes>,
}

impl LeftOut {
    /// Reads what these edits leave out.
    pub(crate) fn of(edits: &[Edit], index: &RequestIndex, skeleton: &Skeleton) -> Problem<Self> {
        let mut left_out = Self::default();
        for edit in edits {
            match edit {
                Edit::Insert { .. } => {}
                Edit::Cut { at, bytes } => {
                    let first = skeleton.links_from(at.message()).first();
                    let link = first.filter(|link| link.message == at.message());
                    let key = link
                        .ok_or("the history is cut before a message without parts")?
                        .key;
                    left_out.cut = Some((at.message(), key, bytes.clone()));
                }
                Edit::ReplaceResult { at, bytes } => {
                    let blocks = index.messages().flat_map(|message| message.blocks());
                    let mut same = blocks.filter(|block| block.result_place() == Some(*at));
                    let id = same.next().and_then(|block| block.tool_use_id());
                    let id = id.ok_or("what is replaced is no result")?.into_owned();
                    left_out.trims.insert(id, bytes.clone());
                }
            }
        }
        Ok(left_out)
    }

    /// Returns the client's body without what is left out.
    pub(crate) fn apply(&self, body: &[u8]) -> Problem<Vec<u8>> {
        if *self == Self::default() {
            return Ok(body.to_vec());
        }
        let parse = |bytes: &[u8]| Json::parse(bytes).map_err(|error| error.to_string());
        let mut body = parse(body)?;
        let messages = body
            .get("messages")
            .and_then(Json::as_array)
            .ok_or("no messages")?;
        let mut kept = messages.to_vec();
        if let Some((first, _, block)) = &self.cut {
            let rest = kept.split_off(*first);
            let blocks = kept[0]
                .get("content")
                .and_then(Json::as_array)
                .unwrap_or_default();
            let is_reminder = |block: &&Json| {
                let text = block.get_str("text").unwrap_or_default().trim();
                is_type(block, "text")
                    && text.starts_with("<system-reminder>")
                    && text.ends_with("</system-reminder>")
            };
            let mut content: Vec<Json> = blocks.iter().filter(is_reminder).cloned().collect();
            content.push(parse(block)?);
            let opening = Json::object([("role", "user".into()), ("content", content.into())]);
            let system = kept
                .get(1)
                .filter(|message| message.get_str("role") == Some("system"));
            kept = std::iter::once(opening)
                .chain(system.cloned())
                .chain(rest)
                .collect();
        }
        for message in &mut kept {
            let Some(blocks) = message.get("content").and_then(Json::as_array) else {
                continue;
            };
            let mut blocks = blocks.to_vec();
            for block in &mut blocks {
                let id = block.get_str("tool_use_id").unwrap_or_default();
                if let Some(content) = self.trims.get(id) {
                    block.set("content", parse(content)?);
                }
            }
            message.set("content", blocks.into());
        }
        body.set("messages", kept.into());
        Ok(body.to_string().into_bytes())
    }
}

/// What was left out of a lineage, which has to stay out.
#[derive(Debug, Default)]
pub(crate) struct Sticky {
    cuts: HashMap<Key128, Bytes>,
    trims: HashMap<String, Trim>,
}

/// A replaced result.
#[derive(Clone, Debug)]
struct Trim {
    content: Bytes,
    /// The results after it when it was replaced: one of them repeats its content.
    later: HashSet<String>,
}

/// What a request leaves out for the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) cut: bool,
    pub(crate) trims: Vec<String>,
}

impl Sticky {
    /// Checks that everything that was left out of this history stays out, unchanged, and returns what is new. A result may
    /// return if the user went back to before one of the results after it.
    pub(crate) fn check(
        &mut self,
        left_out: &LeftOut,
        index: &RequestIndex,
        skeleton: &Skeleton,
    ) -> Problem<Started> {
        let mut started = Started::default();
        let known = skeleton
            .links()
            .iter()
            .rev()
            .find(|link| self.cuts.contains_key(&link.key));
        match (known, &left_out.cut) {
            (Some(known), None) => return Err(format!("the cut at {} is missing", known.key)),
            (Some(known), Some((message, key, block))) if known.key == *key => {
                if self.cuts.get(key) != Some(block) {
                    return Err(format!("the text of the cut before message {message} changed"));
                }
            }
            (Some(known), Some((message, ..))) if *message <= known.message => {
                return Err(format!("the cut at {} is replaced by an earlier one", known.key));
            }
            (_, Some((_, key, block))) => {
                started.cut = true;
                self.cuts.insert(*key, block.clone());
            }
            (None, None) => {}
        }
        for (id, content) in &left_out.trims {
            match self.trims.get(id) {
                Some(known) if known.content != *content => return Err(format!("the line for {id} changed")),
                Some(_) => {}
                None => started.trims.push(id.clone()),
            }
        }
        let first = left_out.cut.as_ref().map_or(0, |(message, ..)| *message);
        let results = index.messages().skip(first).flat_map(|message| message.blocks());
        let results: Vec<String> = results
            .filter(|block| block.result_place().is_some())
            .filter_map(|block| block.tool_use_id().map(|id| id.into_owned()))
            .collect();
        let has_all = |later: &HashSet<String>| later.iter().all(|id| results.contains(id));
        let is_missing = |id: &&String| {
            let known = self.trims.get(*id);
            known.is_some_and(|known| !left_out.trims.contains_key(*id) && has_all(&known.later))
        };
        if let Some(id) = results.iter().find(is_missing) {
            return Err(format!("the line for {id} is missing"));
        }
        for (id, content) in &left_out.trims {
            let later = results.iter().skip_while(|result| *result != id).skip(1);
            self.trims.entry(id.clone()).or_insert_with(|| Trim {
                content: content.clone(),
                later: later.cloned().collect(),
            });
        }
        Ok(started)
    }
}
