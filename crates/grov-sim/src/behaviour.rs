//! How one answer is delivered: faults, encodings, sizes of frames and writes, delays.
//!
//! Written as a comma-separated list, in a rule, a scenario step, the header [`HEADER`], or a prompt marker
//! `[[sim:LIST]]`:
//!
//! | word | effect |
//! |---|---|
//! | `status=N` | an error of that status instead of the answer; `retry-after=SECONDS` adds the header |
//! | `reset` / `hangup` | the connection is reset / closed before any byte |
//! | `cut=N` / `cut-events=N` | the connection ends after N bytes of the response, head included / after N events; `cut-reset` makes it a reset |
//! | `stall=N` / `stall-events=N` | no data follows after N bytes / events, the connection stays open |
//! | `malformed=N` | after N events a `data:` line that is not JSON, then the stream ends |
//! | `error-event=N` | after N events an `error` event, then the stream ends |
//! | `html` / `empty` / `json` | 200 with a web page / with nothing / with a JSON message, even if a stream was
//! requested |
//! | `answer=WRONG` | a judge's answer is `truncated`, within `prose`, `fenced`, a `refusal`, `empty`, of other `types`, or has impossible `values` |
//! | `structured=objects`, `none` | a wish for JSON by a schema is refused, for any JSON at all is refused |
//! | `quirk=QUIRK` | an answer in the format of OpenAI's API has this peculiarity of a provider, see [`Quirk`]; may be repeated |
//! | `encoding=gzip`, `deflate`, `br`, `zstd` | content encoding, flushed after every event |
//! | `frame=event`, `whole`, N | one HTTP chunk per event (the default), for the whole body, for N bytes |
//! | `write=frame`, `whole`, N | one write per chunk (the default), for the whole response, for N bytes |
//! | `head-delay=MS` / `event-delay=MS` | waits before the head / before every event but the first |
//! | `length` / `until-close` | delimited by `Content-Length` / by the end of the connection, instead of chunked |
//! | `http10` | an HTTP/1.0 response, delimited by the end of the connection |
//! | `connection-close` | `Connection: close`, and so it happens |
//! | `trailer=NAME:VALUE` | a trailer after the last chunk |
//! | `interim=N` | an interim response (100, 103) before the head |
//! | `crlf` / `comments` | SSE lines end with CRLF / comment lines and pings between the events |
//! | `times=N` | only for the first N requests that it would apply to |
//! | `step=N` | only for the N-th step (from 1) of a prompt |

use grov_domain::Purpose;
use std::io::Read;
use std::str::FromStr;
use std::time::Duration;

/// The request header that contains a behaviour.
pub const HEADER: &str = "x-sim-behaviour";

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An error response with that status.
    Status(u16),
    /// The connection ends before the first byte.
    NoAnswer(Ending),
    /// The connection ends after this point.
    Cut(Point),
    /// No data follows after this point.
    Stall(Point),
    /// A broken line after this number of events.
    MalformedLine(usize),
    /// An `error` event after this number of events.
    ErrorEvent(usize),
    /// 200 with a web page.
    Html,
    /// 200 with an empty body.
    Empty,
    /// 200 with a JSON message although a stream was asked for.
    JsonToStream,
}

/// How a judge's answer is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It ends in the middle, at the token limit.
    Truncated,
    /// The JSON is surrounded by sentences.
    Prose,
    /// The JSON is in a code fence.
    Fenced,
    /// The model refuses to answer.
    Refusal,
    /// The text is empty.
    Empty,
    /// The members have values of other types.
    Types,
    /// The values have the right types but are impossible, and a member is missing.
    Values,
}

impl Wrong {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "truncated" => Self::Truncated,
            "prose" => Self::Prose,
            "fenced" => Self::Fenced,
            "refusal" => Self::Refusal,
            "empty" => Self::Empty,
            "types" => Self::Types,
            "values" => Self::Values,
            _ => return None,
        })
    }
}

/// Which requests for structured output are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// All.
    #[default]
    Honoured,
    /// JSON objects, but not by a schema.
    ObjectsOnly,
    /// None.
    Refused,
}

/// A peculiarity of a provider with OpenAI's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// `numeric-ids`: ids of tool calls are numbers.
    NumericIds,
    /// `no-ids`: tool calls have no ids.
    NoIds,
    /// `interleaved`: the arguments of parallel tool calls arrive in turn.
    Interleaved,
    /// `usage-on-finish`: the usage is in the chunk with the finish reason.
    UsageOnFinish,
    /// `usage-null-choices`: the chunk with the usage has `choices: null`.
    UsageNullChoices,
    /// `no-usage`: no usage is reported.
    NoUsage,
    /// `think`: thinking is text between `<think>` tags.
    Think,
    /// `reasoning`: thinking is in the field `reasoning` instead of `reasoning_content`.
    Reasoning,
    /// `no-done`: the stream ends without `[DONE]`.
    NoDone,
    /// `text-calls`: tool calls are printed as text.
    TextCalls,
}

impl Quirk {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "numeric-ids" => Self::NumericIds,
            "no-ids" => Self::NoIds,
            "interleaved" => Self::Interleaved,
            "usage-on-finish" => Self::UsageOnFinish,
            "usage-null-choices" => Self::UsageNullChoices,
            "no-usage" => Self::NoUsage,
            "think" => Self::Think,
            "reasoning" => Self::Reasoning,
            "no-done" => Self::NoDone,
            "text-calls" => Self::TextCalls,
            _ => return None,
        })
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Properly, with FIN.
    #[default]
    Close,
    /// With RST. Data that the other side has not read yet may be lost.
    Reset,
}

/// A point in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// After this number of bytes, counted on the wire from the first byte of the head.
    Bytes(usize),
    /// After the head and this number of events.
    Events(usize),
}

/// A content encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `gzip`
    Gzip,
    /// `deflate`, which HTTP defines as the zlib format.
    Deflate,
    /// `br`
    Brotli,
    /// `zstd`
    Zstd,
}

impl Encoding {
    /// The value of `Content-Encoding`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The encoding of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd]
            .into_iter()
            .find(|it| it.as_str() == name)
    }

    /// Encodes a body.
    pub fn encode(self, body: &[u8]) -> Vec<u8> {
        crate::transmit::encode(vec![body.to_vec()], self).concat()
    }

    /// Decodes a body, as far as the data is available.
    pub fn decode(self, body: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        // A truncated body ends with an error; the data before it counts.
        let _ = match self {
            Self::Gzip => flate2::read::GzDecoder::new(body).read_to_end(&mut plain),
            Self::Deflate => flate2::read::ZlibDecoder::new(body).read_to_end(&mut plain),
            Self::Brotli => brotli::Decompressor::new(body, 4096).read_to_end(&mut plain),
            Self::Zstd => {
                zstd::stream::read::Decoder::new(body).and_then(|mut decoder| decoder.read_to_end(&mut plain))
            }
        };
        plain
    }
}

/// A size of HTTP chunks or of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The natural one: a chunk per event, a write per chunk.
    #[default]
    Natural,
    /// Everything in one piece.
    Whole,
    /// Pieces of this number of bytes.
    Bytes(usize),
}

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delimiter {
    /// Chunked for streams, by length for everything else.
    #[default]
    Natural,
    /// By `Content-Length`.
    Length,
    /// By the end of the connection.
    UntilClose,
    /// As an HTTP/1.0 response, by the end of the connection.
    Http10,
}

/// How one answer is delivered. The default is a correct answer, with one chunk and one write per event, without delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// A fault.
    pub fault: Option<Fault>,
    /// How the connection ends after a cut.
    pub ending: Ending,
    /// Value of `retry-after`, in seconds, for error responses.
    pub retry_after: Option<u32>,
    /// Content encoding.
    pub encoding: Option<Encoding>,
    /// Size of HTTP chunks.
    pub frame: Size,
    /// Size of writes to the socket.
    pub write: Size,
    /// The delay before the head.
    pub head_delay: Duration,
    /// The delay before every event but the first.
    pub event_delay: Duration,
    /// How the end of the body is marked.
    pub delimiter: Delimiter,
    /// Whether to send `Connection: close` and close the connection.
    pub connection_close: bool,
    /// Trailers.
    pub trailers: Vec<(String, String)>,
    /// Status of an interim response.
    pub interim: Option<u16>,
    /// SSE lines end with CRLF.
    pub crlf: bool,
    /// Comment lines and pings between the events.
    pub comments: bool,
    /// How a judge's answer is wrong.
    pub wrong: Option<Wrong>,
    /// Which requests for structured output are accepted.
    pub structured: Structured,
    /// Peculiarities of an answer in the format of OpenAI's API.
    pub quirks: Vec<Quirk>,
    /// Limits the behaviour to this number of requests. Only used in a rule, a header or a marker.
    pub times: Option<u32>,
    /// Limits the behaviour to this step of a prompt, from 1. Only used in a rule, a header or a marker.
    pub step: Option<usize>,
}

/// A word that is not a behaviour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no behaviour; see the table in the documentation of grov_sim::behaviour")]
pub struct UnknownBehaviour {
    /// The word.
    pub word: String,
}

impl Behaviour {
    /// A behaviour with only this fault.
    pub fn fault(fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::default()
        }
    }

    fn apply(&mut self, name: &str, value: Option<&str>) -> Option<()> {
        let number = || value.and_then(|value| value.parse::<usize>().ok());
        let millis = || Some(Duration::from_millis(value?.parse().ok()?));
        match (name, value) {
            ("status", _) => self.fault = Some(Fault::Status(error_status(value)?)),
            ("reset", None) => self.fault = Some(Fault::NoAnswer(Ending::Reset)),
            ("hangup", None) => self.fault = Some(Fault::NoAnswer(Ending::Close)),
            ("cut", _) => self.fault = Some(Fault::Cut(Point::Bytes(number()?))),
            ("cut-events", _) => self.fault = Some(Fault::Cut(Point::Events(number()?))),
            ("cut-reset", None) => self.ending = Ending::Reset,
            ("stall", _) => self.fault = Some(Fault::Stall(Point::Bytes(number()?))),
            ("stall-events", _) => self.fault = Some(Fault::Stall(Point::Events(number()?))),
            ("malformed", _) => self.fault = Some(Fault::MalformedLine(number()?)),
            ("error-event", _) => self.fault = Some(Fault::ErrorEvent(number()?)),
            ("html", None) => self.fault = Some(Fault::Html),
            ("empty", None) => self.fault = Some(Fault::Empty),
            ("json", None) => self.fault = Some(Fault::JsonToStream),
            ("retry-after", _) => self.retry_after = Some(value?.parse().ok()?),
            ("encoding", _) => self.encoding = Some(Encoding::from_name(value?)?),
            ("frame", _) => self.frame = size(value?, "event")?,
            ("write", _) => self.write = size(value?, "frame")?,
            ("head-delay", _) => self.head_delay = millis()?,
            ("event-delay", _) => self.event_delay = millis()?,
            ("length", None) => self.delimiter = Delimiter::Length,
            ("until-close", None) => self.delimiter = Delimiter::UntilClose,
            ("http10", None) => self.delimiter = Delimiter::Http10,
            ("connection-close", None) => self.connection_close = true,
            ("trailer", _) => {
                let (name, value) = value?.split_once(':')?;
                self.trailers.push((name.to_owned(), value.to_owned()));
            }
            ("interim", _) => {
                self.interim = Some(value?.parse().ok().filter(|status| (100..200).contains(status))?);
            }
            ("crlf", None) => self.crlf = true,
            ("comments", None) => self.comments = true,
            ("answer", _) => self.wrong = Some(Wrong::from_name(value?)?),
            ("quirk", _) => self.quirks.push(Quirk::from_name(value?)?),
            ("structured", Some("objects")) => self.structured = Structured::ObjectsOnly,
            ("structured", Some("none")) => self.structured = Structured::Refused,
            ("times", _) => self.times = Some(value?.parse().ok()?),
            ("step", _) => self.step = Some(number().filter(|step| *step > 0)?),
            _ => return None,
        }
        Some(())
    }
}

fn error_status(value: Option<&str>) -> Option<u16> {
    value?.parse().ok().filter(|status| (400..600).contains(status))
}

fn size(value: &str, natural: &str) -> Option<Size> {
    match value {
        "whole" => Some(Size::Whole),
        value if value == natural => Some(Size::Natural),
        value => value.parse().ok().filter(|bytes| *bytes > 0).map(Size::Bytes),
    }
}

impl FromStr for Behaviour {
    type Err = UnknownBehaviour;

    fn from_str(text: &str) -> Result<Self, UnknownBehaviour> {
        let mut behaviour = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            behaviour.apply(name, value).ok_or_else(|| UnknownBehaviour {
                word: word.to_owned(),
            })?;
        }
        Ok(behaviour)
    }
}

/// The requests that a rule matches. Requests are counted over the life of the simulation, `POST /v1/messages` only.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// Every one.
    Always,
    /// The n-th, from 1.
    Nth(u64),
    /// Every n-th.
    EveryNth(u64),
    /// With this probability, determined by the request's number and `seed`, so that a run can be repeated.
    Probability {
        /// From 0 to 1.
        chance: f64,
        /// Any number.
        seed: u64,
    },
    /// Requests to this path, counted or not.
    Path(String),
    /// Questions to the judge, by either endpoint.
    Judge,
    /// Questions to the judge for this purpose.
    JudgeFor(Purpose),
}

/// A behaviour for the requests that match a condition. The first matching rule applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The condition.
    pub when: When,
    /// The behaviour; its `times` and `step` are part of the condition.
    pub behaviour: Behaviour,
}

impl Rule {
    /// A rule.
    pub fn new(when: When, behaviour: Behaviour) -> Self {
        Self { when, behaviour }
    }

    /// Whether the rule matches the request with that number (0 if it is not counted) and path. `judged` is set for a
    /// question to the judge, with its purpose if it is known.
    pub(crate) fn fits(&self, number: u64, path: &str, judged: Option<Option<Purpose>>) -> bool {
        match &self.when {
            When::Always => number > 0,
            When::Nth(wanted) => number == *wanted,
            When::EveryNth(step) => number > 0 && number.is_multiple_of(*step),
            When::Probability { chance, seed } => {
                let draw = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), *seed);
                number > 0 && (draw as f64) < chance * (u64::MAX as f64)
            }
            When::Path(wanted) => path == wanted,
            When::Judge => judged.is_some(),
            When::JudgeFor(wanted) => judged == Some(Some(*wanted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_words_is_parsed() {
        let read: Behaviour =
            "cut=120, cut-reset,encoding=br,frame=1,write=whole,event-delay=5,trailer=x-a:b,times=2,step=3"
                .parse()
                .unwrap();
        assert_eq!(read.fault, Some(Fault::Cut(Point::Bytes(120))));
        assert_eq!(read.ending, Ending::Reset);
        assert_eq!(read.encoding, Some(Encoding::Brotli));
        assert_eq!((read.frame, read.write), (Size::Bytes(1), Size::Whole));
        assert_eq!(read.event_delay, Duration::from_millis(5));
        assert_eq!(read.trailers, [("x-a".to_owned(), "b".to_owned())]);
        assert_eq!((read.times, read.step), (Some(2), Some(3)));
        assert_eq!("".parse::<Behaviour>().unwrap(), Behaviour::default());
    }

    #[test]
    fn unknown_words_are_named_in_the_error() {
        for word in [
            "dance",
            "cut",
            "cut=x",
            "status=200",
            "reset=1",
            "frame=0",
            "step=0",
            "interim=200",
            "encoding=lzma",
            "answer=right",
            "structured=all",
        ] {
            let error = format!("crlf,{word}").parse::<Behaviour>().unwrap_err();
            assert_eq!(error.word, word);
        }
    }

    #[test]
    fn random_rules_are_repeatable_and_near_their_probability() {
        let rule = Rule::new(When::Probability { chance: 0.3, seed: 7 }, Behaviour::default());
        let hits: Vec<u64> = (1..=1000)
            .filter(|number| rule.fits(*number, "/", None))
            .collect();
        assert!((250..350).contains(&hits.len()), "{}", hits.len());
        assert_eq!(
            hits,
            (1..=1000)
                .filter(|number| rule.fits(*number, "/", None))
                .collect::<Vec<_>>()
        );
        let other = Rule::new(When::Probability { chance: 0.3, seed: 8 }, Behaviour::default());
        assert_ne!(
            hits,
            (1..=1000)
                .filter(|number| other.fits(*number, "/", None))
                .collect::<Vec<_>>()
        );
    }
}
