//! The events in a client's life.

/// One event. `who` selects its conversation: 0 is the one that was active last, other numbers count through all of
/// them cyclically. If an event does not fit a conversation's state, the missing state is created first where that is
/// natural (a prompt before tool calls); otherwise nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Another session begins.
    Begin {
        /// The model's index.
        model: u8,
    },
    /// The user types a prompt. While a turn runs it is queued and goes out with the next results.
    Say {
        /// The conversation.
        who: u8,
        /// Whether a hook adds context to it.
        hook: bool,
        /// Whether the request is refused, so that none of it is cached.
        refused: bool,
    },
    /// The model calls tools and the client sends their results.
    Call {
        /// The conversation.
        who: u8,
        /// The number of parallel calls, 1 to 12.
        calls: u8,
        /// Whether the model thinks first.
        thinking: bool,
        /// Whether the model writes text first.
        says: bool,
        /// Whether the results are in a different order than the calls.
        swapped: bool,
        /// Whether a hook adds context to the results, which changes its form at the next prompt.
        hook: bool,
        /// Whether the request with the results is refused.
        refused: bool,
    },
    /// The model ends the turn.
    Answer {
        /// The conversation.
        who: u8,
        /// Whether the model thinks first.
        thinking: bool,
    },
    /// The user interrupts the turn.
    Interrupt {
        /// The conversation.
        who: u8,
        /// The moment.
        when: Moment,
    },
    /// The turn ends with an error, and the prompt stays unanswered.
    GiveUp {
        /// The conversation.
        who: u8,
    },
    /// The newest request is sent again.
    Repeat {
        /// The conversation.
        who: u8,
        /// Whether it asks for one message instead of a stream.
        whole: bool,
    },
    /// The client asks for a suggestion of the next prompt.
    Suggest {
        /// The conversation.
        who: u8,
    },
    /// The client asks for a title, or searches the web.
    Aside {
        /// The conversation.
        who: u8,
        /// Whether it is a search.
        search: bool,
    },
    /// The client writes a message in the user's name.
    GoOn {
        /// The conversation.
        who: u8,
        /// The reason.
        why: Why,
    },
    /// The client has a reminder for the model, which is sent with the next message.
    Remind {
        /// The conversation.
        who: u8,
    },
    /// Old tool results are replaced by a note.
    ClearResults {
        /// The conversation.
        who: u8,
    },
    /// Midnight: the date in every first message changes.
    NextDay,
    /// Time passes.
    Wait {
        /// The duration.
        minutes: u8,
    },
    /// The user picks another model.
    ChangeModel {
        /// The conversation.
        who: u8,
        /// The model's index.
        model: u8,
    },
    /// The conversation is compacted and continues from the summary.
    Compact {
        /// The conversation.
        who: u8,
    },
    /// `/clear`: the client continues with a new session.
    Clear {
        /// The conversation.
        who: u8,
    },
    /// A new process continues the session with a prompt.
    Resume {
        /// The conversation.
        who: u8,
        /// Whether it serialises tool inputs and the order of results differently, and omits thinking.
        rewritten: bool,
    },
    /// A new session starts with the history of this one and a prompt.
    Fork {
        /// The conversation whose history is used.
        who: u8,
        /// The number of prompts before its end.
        back: u8,
        /// The model's index; 0 is the same model.
        model: u8,
        /// Whether the same prompt is typed again.
        same_words: bool,
    },
    /// The user goes back to an earlier prompt.
    Rewind {
        /// The conversation.
        who: u8,
        /// The number of prompts to go back.
        back: u8,
        /// Whether the same prompt is sent again.
        same_words: bool,
    },
    /// The model starts a subagent, which continues in parallel to the conversation.
    Delegate {
        /// The conversation.
        who: u8,
        /// Whether it begins with the whole history.
        inherits: bool,
    },
    /// Another session repeats the beginning of this one, word for word.
    Twin {
        /// The conversation.
        who: u8,
        /// The number of requests to repeat.
        length: u8,
    },
    /// The proxy is restarted.
    Restart,
}

/// When a turn is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the model wrote anything.
    Before,
    /// While the model was writing; its text so far is kept.
    Speaking,
    /// When a tool was about to run; the call is answered by a refusal.
    Tool,
}

/// Why the client writes in the user's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A background task ended.
    Notification,
    /// A hook does not let the model stop.
    Hook,
    /// The answer was truncated at the token limit.
    Length,
}

/// Numbers of parallel tool calls: mostly few, but often enough that a turn has about as many blocks as the cache looks
/// back.
const CALLS: [u8; 16] = [1, 1, 2, 1, 3, 2, 4, 6, 8, 9, 9, 8, 10, 9, 7, 12];

impl Operation {
    /// Decodes one operation from every four bytes: the kind, the conversation, and details. Small bytes decode to
    /// plain operations, so that a test that shrinks bytes shrinks histories.
    pub fn decode([kind, who, detail, bits]: [u8; 4]) -> Self {
        let who = who.saturating_sub(150);
        let bit = |number: u8| bits >> number & 1 == 1;
        let rarely = bits >= 240;
        match kind {
            0..48 => Self::Say {
                who,
                hook: bit(0),
                refused: rarely,
            },
            48..104 => Self::Call {
                who,
                calls: CALLS[usize::from(detail % 16)],
                thinking: bit(0),
                says: bit(1),
                swapped: bit(2),
                hook: bits & 0b11000 == 0b11000,
                refused: rarely,
            },
            104..150 => Self::Answer {
                who,
                thinking: bit(0),
            },
            150..156 => Self::Repeat { who, whole: bit(0) },
            156..164 => Self::Suggest { who },
            164..172 => Self::Interrupt {
                who,
                when: [Moment::Before, Moment::Speaking, Moment::Tool][usize::from(detail % 3)],
            },
            172..176 => Self::GiveUp { who },
            176..180 => Self::Aside { who, search: bit(0) },
            180..186 => Self::GoOn {
                who,
                why: [Why::Notification, Why::Hook, Why::Length][usize::from(detail % 3)],
            },
            186..191 => Self::Remind { who },
            191..194 => Self::ClearResults { who },
            194..196 => Self::NextDay,
            196..199 => Self::Wait {
                minutes: 1 + detail % 8,
            },
            199..203 => Self::ChangeModel { who, model: detail },
            203..208 => Self::Compact { who },
            208..211 => Self::Clear { who },
            211..216 => Self::Resume {
                who,
                rewritten: bit(0),
            },
            216..223 => Self::Fork {
                who,
                back: detail % 4,
                model: if rarely { detail } else { 0 },
                same_words: bit(0),
            },
            223..230 => Self::Rewind {
                who,
                back: detail % 4,
                same_words: bit(0),
            },
            230..236 => Self::Delegate {
                who,
                inherits: bit(0),
            },
            236..240 => Self::Begin { model: detail },
            240..246 => Self::Twin {
                who,
                length: 1 + detail % 6,
            },
            246.. => Self::Restart,
        }
    }

    /// `count` operations, always the same for the same seed. `decode` determines how common each kind is.
    pub fn random(seed: u64, count: usize) -> Vec<Self> {
        let mut state = seed;
        std::iter::repeat_with(|| {
            // SplitMix64 (Steele, Lea, Flood 2014).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^= mixed >> 31;
            let [kind, who, detail, bits, ..] = mixed.to_le_bytes();
            Self::decode([kind, who, detail, bits])
        })
        .take(count)
        .collect()
    }
}
