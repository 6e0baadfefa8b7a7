//! The pass that fills the index. Each function reads one kind of object of the request, knows its keys and
//! nothing else.

use super::entry::{
    BlockEntry, BlockKind, ContentEntry, Field, IndexError, MessageEntry, Role, SystemEntry, ToolEntry,
};
use super::index::RequestIndex;
use super::known::{Beginning, KnownRequests, ReadBefore};
use crate::json::{self, Kind, Scanner, Span};
use bytes::Bytes;
use std::borrow::Cow;

/// Where the client's document names its session.
const SESSION_KEY: &str = "session_id";

/// Bytes of a body for each message in it: as many as leave little room unused.
const BYTES_A_MESSAGE: usize = 1024;

/// Most messages that room is made for before they come.
const MOST_EXPECTED: usize = 64;

/// Most fields that are compared pair by pair.
const FEW_FIELDS: usize = 32;

impl RequestIndex {
    /// Indexes a request body in one pass. The index shares `body`'s memory.
    ///
    /// # Errors
    /// Where the body is no UTF-8 JSON object, is longer than 4 GiB, or holds a key twice in an object that
    /// is read here. The body should then be passed on as it is.
    pub fn parse(body: &Bytes) -> Result<Self, IndexError> {
        request(body, None)
    }

    /// The same, where requests of the same clients may have come before. What is found does not depend on that; the body may
    /// be kept for those that come after.
    ///
    /// # Errors
    /// As [`RequestIndex::parse`].
    pub fn parse_knowing(body: &Bytes, known: &KnownRequests) -> Result<Self, IndexError> {
        request(body, Some(known))
    }

    /// The `session_id` inside the JSON document that `metadata.user_id` holds.
    pub fn metadata_session_id(&self) -> Option<String> {
        session_id(&self.metadata_user_id()?)
    }
}

/// Reads a whole request.
fn request(body: &Bytes, known: Option<&KnownRequests>) -> Result<RequestIndex, IndexError> {
    let beginning = known.and_then(|known| known.beginning_of(body));
    let sound = beginning.as_ref().map_or(0, |beginning| beginning.end as usize);
    json::check_utf8(body, sound)?;
    let mut pass = Pass {
        document: body,
        scanner: enter_document(body)?,
        known,
        unread: 0,
    };
    let expected = (body.len() / BYTES_A_MESSAGE).min(MOST_EXPECTED);
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
        read_before: ReadBefore::default(),
    };
    let mut first = true;
    let mut escapes = false;
    while let Some(key) = pass.scanner.next_key(&mut first)? {
        let kind = pass.scanner.kind();
        let start = pass.scanner.offset();
        let name = pass.name(key);
        escapes |= matches!(name, Cow::Owned(_));
        match (&*name, kind) {
            (b"model", Kind::String) => index.model = Some(pass.scanner.string()?),
            (b"stream", Kind::Scalar) => index.stream = pass.scalar()? == b"true",
            (b"max_tokens", Kind::Scalar) => index.max_tokens = pass.unsigned()?,
            (b"metadata", Kind::Object) => index.user_id = pass.metadata()?,
            (b"system", _) => index.system = pass.system(kind, beginning.as_ref())?,
            (b"tools", Kind::Array) => (index.tools, index.first_tool) = pass.tools()?,
            (b"output_config", Kind::Object) => index.output_format = pass.output_config()?,
            (b"messages", Kind::Array) => pass.messages(&mut index, beginning.as_ref())?,
            _ => {
                pass.scanner.skip_value()?;
            }
        }
        let value = Span {
            start,
            end: pass.scanner.offset(),
        };
        index.fields.push(Field { key, value });
    }
    pass.scanner.finish()?;
    pass.check_fields(&index.fields, escapes)?;
    if let Some(known) = known {
        known.remember(&index, body.len() - pass.unread);
    }
    Ok(index)
}

/// The `session_id` of the JSON document that `metadata.user_id` holds; `None` where it is no such document.
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

/// Opens a scanner and enters the document's object.
fn enter_document(document: &[u8]) -> Result<Scanner<'_>, IndexError> {
    let mut scanner = Scanner::new(document)?;
    if scanner.kind() != json::Kind::Object {
        // A fault of grammar is the better message.
        scanner.skip_value()?;
        scanner.finish()?;
        return Err(IndexError::NotAnObject);
    }
    scanner.enter();
    Ok(scanner)
}

/// The scanner, and the document for looking at what it found.
struct Pass<'a> {
    document: &'a [u8],
    scanner: Scanner<'a>,
    known: Option<&'a KnownRequests>,
    /// Bytes that were compared with known ones and not read.
    unread: usize,
}

impl<'a> Pass<'a> {
    /// `metadata`, entered here: the span of `user_id`.
    fn metadata(&mut self) -> Result<Option<Span>, IndexError> {
        let mut seen = Seen::default();
        let mut user_id = None;
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            if &*self.name(key) == b"user_id" {
                seen.note(0, self, key)?;
                user_id = self.string_or_skip()?;
            } else {
                self.scanner.skip_value()?;
            }
        }
        Ok(user_id)
    }

    /// `output_config`, entered here: the span of `format.type`.
    fn output_config(&mut self) -> Result<Option<Span>, IndexError> {
        let mut seen = Seen::default();
        let mut format = None;
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            if &*self.name(key) == b"format" {
                seen.note(0, self, key)?;
                if self.scanner.kind() == Kind::Object {
                    format = self.tool()?.type_name;
                    continue;
                }
            }
            self.scanner.skip_value()?;
        }
        Ok(format)
    }

    fn system(&mut self, kind: Kind, beginning: Option<&Beginning>) -> Result<SystemEntry, IndexError> {
        match kind {
            Kind::String => Ok(SystemEntry::Text(self.scanner.string()?)),
            Kind::Array => {
                let start = self.scanner.offset();
                let known = beginning.and_then(|beginning| beginning.system(self.rest(), start));
                if let Some(known) = known
                    && self.passes(known.length)
                {
                    return Ok(SystemEntry::Blocks(known.found));
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

    /// What is not yet read of the document.
    fn rest(&self) -> &'a [u8] {
        let start = self.scanner.offset() as usize;
        self.document.get(start..).unwrap_or_default()
    }

    /// Passes so many bytes, which are known to be sound. If not, they are to be read: what is wrong lies behind them, and is
    /// found as always.
    fn passes(&mut self, length: usize) -> bool {
        let before = self.scanner;
        let passed = self.scanner.pass_sound(length).is_ok();
        if passed {
            self.unread += length;
        } else {
            self.scanner = before;
        }
        passed
    }

    /// `tools`: how many, and what the first one is.
    fn tools(&mut self) -> Result<(usize, Option<ToolEntry>), IndexError> {
        let start = self.scanner.offset();
        let known = self.known.and_then(|known| known.tools(self.rest(), start));
        if let Some(known) = known
            && self.passes(known.length)
        {
            return Ok(known.found);
        }
        self.tools_anew()
    }

    fn tools_anew(&mut self) -> Result<(usize, Option<ToolEntry>), IndexError> {
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

    /// An object's `type` and `name`.
    fn tool(&mut self) -> Result<ToolEntry, IndexError> {
        let mut seen = Seen::default();
        let mut tool = ToolEntry::default();
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            match &*self.name(key) {
                b"type" => {
                    seen.note(0, self, key)?;
                    tool.type_name = self.string_or_skip()?;
                }
                b"name" => {
                    seen.note(1, self, key)?;
                    tool.name = self.string_or_skip()?;
                }
                _ => {
                    self.scanner.skip_value()?;
                }
            }
        }
        Ok(tool)
    }

    fn messages(
        &mut self,
        index: &mut RequestIndex,
        beginning: Option<&Beginning>,
    ) -> Result<(), IndexError> {
        let start = self.scanner.offset();
        let mut first = true;
        match beginning.filter(|beginning| beginning.start == start) {
            Some(beginning) if self.passes((beginning.end - start) as usize) => {
                index.messages.extend_from_slice(beginning.messages());
                index.blocks.extend_from_slice(beginning.blocks());
                index.read_before = ReadBefore(Some(beginning.clone()));
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
        let mut seen = Seen::default();
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            match &*self.name(key) {
                b"role" => {
                    seen.note(0, self, key)?;
                    if let Some(name) = self.string_or_skip()? {
                        role = Role::from_name(&self.text(name));
                    }
                }
                b"content" => {
                    seen.note(1, self, key)?;
                    content = self.content(blocks)?;
                }
                _ => {
                    self.scanner.skip_value()?;
                }
            }
        }
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
        let mut found = FoundInBlock::default();
        let start = {
            if self.scanner.kind() != Kind::Object {
                return Ok(found.entry(self.scanner.skip_value()?, BlockKind::Other));
            }
            self.scanner.offset()
        };
        let mut seen = Seen::default();
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first)? {
            let Some(known) = BlockKey::from_name(&self.name(key)) else {
                self.scanner.skip_value()?;
                continue;
            };
            seen.note(known as u8, self, key)?;
            match known {
                BlockKey::Type => found.type_name = self.string_or_skip()?,
                BlockKey::Text => found.text = self.string_or_skip()?,
                BlockKey::Id => found.id = self.string_or_skip()?,
                BlockKey::ToolUseId => found.tool_use_id = self.string_or_skip()?,
                BlockKey::Name => found.name = self.string_or_skip()?,
                BlockKey::Input => found.input = Some(self.scanner.skip_value()?),
                BlockKey::Content => found.content = Some(self.scanner.skip_value()?),
                BlockKey::IsError => found.is_error = self.scalar()? == b"true",
                BlockKey::CacheControl => found.cache_control = self.scalar()? != b"null",
            }
        }
        let span = Span {
            start,
            end: self.scanner.offset(),
        };
        let kind = found
            .type_name
            .map_or(BlockKind::Other, |name| BlockKind::from_name(&self.text(name)));
        Ok(found.entry(span, kind))
    }

    /// Passes a value; its span between the quotes, if it is a string.
    fn string_or_skip(&mut self) -> Result<Option<Span>, IndexError> {
        if self.scanner.kind() == Kind::String {
            return Ok(Some(self.scanner.string()?));
        }
        self.scanner.skip_value()?;
        Ok(None)
    }

    /// Passes a value; its bytes.
    fn scalar(&mut self) -> Result<&'a [u8], IndexError> {
        let span = self.scanner.skip_value()?;
        Ok(self.document.get(span.range()).unwrap_or_default())
    }

    /// Passes a value; the number, if it is an unsigned integer.
    fn unsigned(&mut self) -> Result<Option<u64>, IndexError> {
        let digits = self.scalar()?;
        Ok(std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok()))
    }

    /// A key without its escapes, as bytes: keys are only compared.
    fn name(&self, key: Span) -> Cow<'a, [u8]> {
        let raw = self.document.get(key.range()).unwrap_or_default();
        if raw.contains(&b'\\') {
            return Cow::Owned(self.text(key).into_owned().into_bytes());
        }
        Cow::Borrowed(raw)
    }

    fn text(&self, span: Span) -> Cow<'a, str> {
        json::decode(self.document, span)
    }

    /// Whether no two keys are the same bytes. Most differ in length, and are not looked at.
    fn all_differ(&self, fields: &[Field]) -> bool {
        let key = |field: &Field| self.document.get(field.key.range());
        let mut before = fields;
        while let Some((last, others)) = before.split_last() {
            if others.iter().any(|other| key(other) == key(last)) {
                return false;
            }
            before = others;
        }
        true
    }

    /// Top-level fields are handed out by name, so every one of them must be the only one of its name.
    fn check_fields(&self, fields: &[Field], escapes: bool) -> Result<(), IndexError> {
        if !escapes && fields.len() <= FEW_FIELDS && self.all_differ(fields) {
            return Ok(());
        }
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

/// The keys of a content block that are read; every other is passed over.
#[derive(Clone, Copy)]
enum BlockKey {
    Type,
    Text,
    Id,
    ToolUseId,
    Name,
    Input,
    Content,
    IsError,
    CacheControl,
}

impl BlockKey {
    fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"type" => Self::Type,
            b"text" => Self::Text,
            b"id" => Self::Id,
            b"tool_use_id" => Self::ToolUseId,
            b"name" => Self::Name,
            b"input" => Self::Input,
            b"content" => Self::Content,
            b"is_error" => Self::IsError,
            b"cache_control" => Self::CacheControl,
            _ => return None,
        })
    }
}

/// What a block holds, before its type is known.
#[derive(Default)]
struct FoundInBlock {
    type_name: Option<Span>,
    text: Option<Span>,
    id: Option<Span>,
    tool_use_id: Option<Span>,
    name: Option<Span>,
    input: Option<Span>,
    content: Option<Span>,
    is_error: bool,
    cache_control: bool,
}

impl FoundInBlock {
    fn entry(self, span: Span, kind: BlockKind) -> BlockEntry {
        let is_result = kind == BlockKind::ToolResult;
        BlockEntry {
            span,
            kind,
            type_name: self.type_name,
            text: self.text,
            tool_use_id: if is_result { self.tool_use_id } else { self.id },
            name: self.name,
            payload: if is_result { self.content } else { self.input },
            is_error: self.is_error,
            cache_control: self.cache_control,
        }
    }
}

/// Which of the keys that an object is read for have come by.
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
