//! Parses a request body into the index in one pass. Each function reads one kind of object.

use super::cache::{CachedPrefix, RequestCache, SharedPrefix};
use super::entry::{
    BlockEntry, BlockKind, ContentEntry, Field, IndexError, MessageEntry, Role, SystemEntry, ToolEntry,
};
use super::index::RequestIndex;
use crate::json::{self, Kind, Scanner, Span};
use bytes::Bytes;
use std::borrow::Cow;

/// The session id in the JSON document of `metadata.user_id`.
const SESSION_KEY: &str = "session_id";

/// Estimated size of a message, in bytes, for reserving memory.
const BYTES_A_MESSAGE: usize = 1024;

/// Maximum number of messages that memory is reserved for.
const MAX_RESERVED_MESSAGES: usize = 64;

impl RequestIndex {
    /// Indexes a request body in one pass. The index shares the memory of `body`.
    ///
    /// # Errors
    /// If the body is not a JSON object in UTF-8, is longer than 4 GiB, or has a key twice in an object that the index reads.
    /// The body should then be forwarded unchanged.
    pub fn parse(body: &Bytes) -> Result<Self, IndexError> {
        request(body, None)
    }

    /// Like [`RequestIndex::parse`], but compares the body with earlier requests in `cache` and parses only what differs. The
    /// result is the same. May store the body in the cache.
    ///
    /// # Errors
    /// Like [`RequestIndex::parse`].
    pub fn parse_with_cache(body: &Bytes, cache: &RequestCache) -> Result<Self, IndexError> {
        request(body, Some(cache))
    }

    /// Returns `session_id` of the JSON document in `metadata.user_id`, or `None` if it is not such a document.
    pub fn metadata_session_id(&self) -> Option<String> {
        session_id(&self.metadata_user_id()?)
    }
}

/// Parses a request body.
fn request(body: &Bytes, cache: Option<&RequestCache>) -> Result<RequestIndex, IndexError> {
    let prefix = cache.and_then(|cache| cache.longest_prefix(body));
    let valid = prefix.as_ref().map_or(0, |prefix| prefix.end as usize);
    json::check_utf8(body, valid)?;
    let mut pass = Pass {
        document: body,
        scanner: enter_document(body)?,
        cache,
        compared: 0,
    };
    let expected = (body.len() / BYTES_A_MESSAGE).min(MAX_RESERVED_MESSAGES);
    let mut index = RequestIndex {
        body: body.clone(),
        fields: Vec::with_capacity(16),
        model: None,
        stream: false,
        max_tokens: None,
        user_id: None,
        system: SystemEntry::Absent,
        tools: 0,
        first_tool: None,
        output_format: None,
        messages: Vec::with_capacity(expected),
        blocks: Vec::with_capacity(expected),
        shared_prefix: SharedPrefix::default(),
    };
    let mut first = true;
    while let Some(key) = pass.scanner.next_key(&mut first)? {
        let kind = pass.scanner.kind();
        let start = pass.scanner.offset();
        let name = pass.name(key);
        match (&*name, kind) {
            (b"model", Kind::String) => index.model = Some(pass.scanner.string()?),
            (b"stream", Kind::Scalar) => index.stream = pass.scalar()? == b"true",
            (b"max_tokens", Kind::Scalar) => index.max_tokens = pass.unsigned()?,
            (b"metadata", Kind::Object) => index.user_id = pass.metadata()?,
            (b"system", _) => index.system = pass.system(kind, prefix.as_ref())?,
            (b"tools", Kind::Array) => (index.tools, index.first_tool) = pass.tools()?,
            (b"output_config", Kind::Object) => index.output_format = pass.output_config()?,
            (b"messages", Kind::Array) => pass.messages(&mut index, prefix.as_ref())?,
            _ => pass.skip()?,
        }
        let value = Span {
            start,
            end: pass.scanner.offset(),
        };
        index.fields.push(Field { key, value });
    }
    pass.scanner.finish()?;
    pass.check_fields(&index.fields)?;
    if let Some(cache) = cache {
        cache.insert(&index, body.len() - pass.compared);
    }
    Ok(index)
}

/// Returns `session_id` of a JSON document, or `None` if it is missing, repeated or not a string.
fn session_id(user_id: &str) -> Option<String> {
    let document = user_id.as_bytes();
    let mut scanner = enter_document(document).ok()?;
    let mut session = None;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        let is_string = scanner.kind() == Kind::String;
        let value = scanner.skip_value().ok()?;
        if json::decode(document, key) == SESSION_KEY && session.replace((value, is_string)).is_some() {
            return None;
        }
    }
    scanner.finish().ok()?;
    let (value, _) = session.filter(|(_, is_string)| *is_string)?;
    let between_quotes = Span {
        start: value.start + 1,
        end: value.end - 1,
    };
    Some(json::decode(document, between_quotes).into_owned())
}

/// Creates a scanner and enters the object of the document.
fn enter_document(document: &[u8]) -> Result<Scanner<'_>, IndexError> {
    let mut scanner = Scanner::new(document)?;
    if scanner.kind() != json::Kind::Object {
        // A syntax error is the better message.
        scanner.skip_value()?;
        scanner.finish()?;
        return Err(IndexError::NotAnObject);
    }
    scanner.enter();
    Ok(scanner)
}

/// A scanner and its document.
struct Pass<'a> {
    document: &'a [u8],
    scanner: Scanner<'a>,
    cache: Option<&'a RequestCache>,
    /// Bytes that were compared with the cache instead of parsed.
    compared: usize,
}

impl<'a> Pass<'a> {
    /// Reads `metadata`. Returns the span of `user_id`.
    fn metadata(&mut self) -> Result<Option<Span>, IndexError> {
        let mut user_id = None;
        self.object(|pass, seen, name, key| match name {
            b"user_id" => pass.unique_string(seen, 0, key, &mut user_id),
            _ => pass.skip(),
        })?;
        Ok(user_id)
    }

    /// Reads `output_config`. Returns the span of `format.type`.
    fn output_config(&mut self) -> Result<Option<Span>, IndexError> {
        let mut format = None;
        self.object(|pass, seen, name, key| {
            if name == b"format" {
                seen.note(0, pass, key)?;
                if pass.scanner.kind() == Kind::Object {
                    format = pass.tool()?.type_name;
                    return Ok(());
                }
            }
            pass.skip()
        })?;
        Ok(format)
    }

    fn system(&mut self, kind: Kind, prefix: Option<&CachedPrefix>) -> Result<SystemEntry, IndexError> {
        match kind {
            Kind::String => Ok(SystemEntry::Text(self.scanner.string()?)),
            Kind::Array => {
                let start = self.scanner.offset();
                let cached = prefix.and_then(|prefix| prefix.system(self.rest(), start));
                if let Some(cached) = cached
                    && self.skip_cached(cached.length)
                {
                    return Ok(SystemEntry::Blocks(cached.value));
                }
                let mut blocks = Vec::new();
                self.blocks(&mut blocks)?;
                Ok(SystemEntry::Blocks(blocks))
            }
            Kind::Object | Kind::Scalar => {
                self.scanner.skip_value()?;
                Ok(SystemEntry::Other)
            }
        }
    }

    /// Returns the unread part of the document.
    fn rest(&self) -> &'a [u8] {
        let start = self.scanner.offset() as usize;
        self.document.get(start..).unwrap_or_default()
    }

    /// Skips a value that is known to be valid JSON. Returns `false` and skips nothing if the text after it is invalid: parsing
    /// then reports the error.
    fn skip_cached(&mut self, length: usize) -> bool {
        let before = self.scanner;
        let is_valid = self.scanner.skip_valid(length).is_ok();
        if is_valid {
            self.compared += length;
        } else {
            self.scanner = before;
        }
        is_valid
    }

    /// Reads `tools`. Returns their number and the first one.
    fn tools(&mut self) -> Result<(usize, Option<ToolEntry>), IndexError> {
        let start = self.scanner.offset();
        let cached = self.cache.and_then(|cache| cache.tools(self.rest(), start));
        if let Some(cached) = cached
            && self.skip_cached(cached.length)
        {
            return Ok(cached.value);
        }
        let mut count = 0;
        let mut first_tool = None;
        self.scanner.enter();
        let mut first = true;
        while self.scanner.next_element(&mut first)? {
            if count == 0 && self.scanner.kind() == Kind::Object {
                first_tool = Some(self.tool()?);
            } else {
                self.scanner.skip_value()?;
            }
            count += 1;
        }
        Ok((count, first_tool))
    }

    /// Reads `type` and `name` of an object.
    fn tool(&mut self) -> Result<ToolEntry, IndexError> {
        let mut tool = ToolEntry::default();
        self.object(|pass, seen, name, key| match name {
            b"type" => pass.unique_string(seen, 0, key, &mut tool.type_name),
            b"name" => pass.unique_string(seen, 1, key, &mut tool.name),
            _ => pass.skip(),
        })?;
        Ok(tool)
    }

    fn messages(
        &mut self,
        index: &mut RequestIndex,
        prefix: Option<&CachedPrefix>,
    ) -> Result<(), IndexError> {
        let start = self.scanner.offset();
        let mut first = true;
        match prefix.filter(|prefix| prefix.start == start) {
            Some(prefix) if self.skip_cached((prefix.end - start) as usize) => {
                index.messages.extend_from_slice(prefix.messages());
                index.blocks.extend_from_slice(prefix.blocks());
                index.shared_prefix = SharedPrefix(Some(prefix.clone()));
                first = false;
            }
            _ => self.scanner.enter(),
        }
        while self.scanner.next_element(&mut first)? {
            let message = self.message(&mut index.blocks)?;
            index.messages.push(message);
        }
        Ok(())
    }

    fn message(&mut self, blocks: &mut Vec<BlockEntry>) -> Result<MessageEntry, IndexError> {
        let mut role = Role::Other;
        let mut content = ContentEntry::Other;
        if self.scanner.kind() != Kind::Object {
            return Ok(MessageEntry {
                span: self.scanner.skip_value()?,
                role,
                content,
            });
        }
        let start = self.scanner.offset();
        self.object(|pass, seen, name, key| {
            match name {
                b"role" => {
                    let mut name = None;
                    pass.unique_string(seen, 0, key, &mut name)?;
                    role = name.map_or(role, |name| Role::from_name(&pass.text(name)));
                }
                b"content" => {
                    seen.note(1, pass, key)?;
                    content = pass.content(blocks)?;
                }
                _ => pass.skip()?,
            }
            Ok(())
        })?;
        Ok(MessageEntry {
            span: Span {
                start,
                end: self.scanner.offset(),
            },
            role,
            content,
        })
    }

    fn content(&mut self, blocks: &mut Vec<BlockEntry>) -> Result<ContentEntry, IndexError> {
        match self.scanner.kind() {
            Kind::String => Ok(ContentEntry::Text(self.scanner.string()?)),
            Kind::Array => {
                let start = self.scanner.offset();
                let first = blocks.len();
                self.blocks(blocks)?;
                let array = Span {
                    start,
                    end: self.scanner.offset(),
                };
                Ok(ContentEntry::Blocks {
                    array,
                    first,
                    count: blocks.len() - first,
                })
            }
            Kind::Object | Kind::Scalar => {
                self.scanner.skip_value()?;
                Ok(ContentEntry::Other)
            }
        }
    }

    fn blocks(&mut self, blocks: &mut Vec<BlockEntry>) -> Result<(), IndexError> {
        self.scanner.enter();
        let mut first = true;
        while self.scanner.next_element(&mut first)? {
            blocks.push(self.block()?);
        }
        Ok(())
    }

    fn block(&mut self) -> Result<BlockEntry, IndexError> {
        if self.scanner.kind() != Kind::Object {
            return Ok(BlockEntry::new(self.scanner.skip_value()?));
        }
        let start = self.scanner.offset();
        let mut block = BlockEntry::new(Span { start, end: start });
        let (mut id, mut input) = (None, None);
        self.object(|pass, seen, name, key| match name {
            b"type" => pass.unique_string(seen, 0, key, &mut block.type_name),
            b"text" => pass.unique_string(seen, 1, key, &mut block.text),
            b"id" => pass.unique_string(seen, 2, key, &mut id),
            b"tool_use_id" => pass.unique_string(seen, 3, key, &mut block.tool_use_id),
            b"name" => pass.unique_string(seen, 4, key, &mut block.name),
            b"input" => {
                input = Some(pass.unique_value(seen, 5, key)?);
                Ok(())
            }
            b"content" => {
                block.payload = Some(pass.unique_value(seen, 6, key)?);
                Ok(())
            }
            b"is_error" => {
                let value = pass.unique_value(seen, 7, key)?;
                block.is_error = pass.raw(value) == b"true";
                Ok(())
            }
            b"cache_control" => {
                let value = pass.unique_value(seen, 8, key)?;
                block.cache_control = pass.raw(value) != b"null";
                Ok(())
            }
            _ => pass.skip(),
        })?;
        block.span.end = self.scanner.offset();
        if let Some(name) = block.type_name {
            block.kind = BlockKind::from_name(&self.text(name));
        }
        if block.kind != BlockKind::ToolResult {
            (block.tool_use_id, block.payload) = (id, input);
        }
        Ok(block)
    }

    /// Reads an object. Calls `read` with each key, without its escapes and as its span; `read` must consume the value.
    #[inline]
    fn object(
        &mut self,
        mut read: impl FnMut(&mut Self, &mut Seen, &[u8], Span) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut seen = Seen::default();
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            let name = self.name(key);
            read(self, &mut seen, &name, key)?;
        }
        Ok(())
    }

    fn skip(&mut self) -> Result<(), IndexError> {
        self.scanner.skip_value()?;
        Ok(())
    }

    /// Skips the value of a key that may occur once per object, and returns its span. `bit` identifies the key.
    fn unique_value(&mut self, seen: &mut Seen, bit: u8, key: Span) -> Result<Span, IndexError> {
        seen.note(bit, self, key)?;
        Ok(self.scanner.skip_value()?)
    }

    /// Skips such a value. If it is a string, stores the span between its quotes in `slot`.
    fn unique_string(
        &mut self,
        seen: &mut Seen,
        bit: u8,
        key: Span,
        slot: &mut Option<Span>,
    ) -> Result<(), IndexError> {
        seen.note(bit, self, key)?;
        *slot = match self.scanner.kind() {
            Kind::String => Some(self.scanner.string()?),
            _ => {
                self.skip()?;
                None
            }
        };
        Ok(())
    }

    /// Skips a value and returns its bytes.
    fn scalar(&mut self) -> Result<&'a [u8], IndexError> {
        let span = self.scanner.skip_value()?;
        Ok(self.raw(span))
    }

    fn raw(&self, span: Span) -> &'a [u8] {
        self.document.get(span.range()).unwrap_or_default()
    }

    /// Skips a value and returns it if it is an unsigned integer.
    fn unsigned(&mut self) -> Result<Option<u64>, IndexError> {
        let digits = self.scalar()?;
        Ok(std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok()))
    }

    /// Returns a key without escapes.
    fn name(&self, key: Span) -> Cow<'a, [u8]> {
        let raw = self.raw(key);
        if raw.contains(&b'\\') {
            return Cow::Owned(self.text(key).into_owned().into_bytes());
        }
        Cow::Borrowed(raw)
    }

    fn text(&self, span: Span) -> Cow<'a, str> {
        json::decode(self.document, span)
    }

    /// Checks that no key occurs twice: fields can be read by name.
    fn check_fields(&self, fields: &[Field]) -> Result<(), IndexError> {
        let mut keys: Vec<_> = fields
            .iter()
            .map(|field| (self.text(field.key), field.key.start))
            .collect();
        keys.sort_unstable();
        for pair in keys.windows(2) {
            if let [(one, _), (two, offset)] = pair
                && one == two
            {
                return Err(IndexError::DuplicateKey {
                    key: one.to_string(),
                    offset: *offset as usize,
                });
            }
        }
        Ok(())
    }
}

/// The keys of an object that were read, one bit each.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    fn note(&mut self, bit: u8, pass: &Pass<'_>, key: Span) -> Result<(), IndexError> {
        let mask = 1 << bit;
        if self.0 & mask != 0 {
            return Err(IndexError::DuplicateKey {
                key: pass.text(key).into_owned(),
                offset: key.start as usize,
            });
        }
        self.0 |= mask;
        Ok(())
    }
}
