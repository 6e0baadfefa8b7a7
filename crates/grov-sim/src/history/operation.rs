//! What can happen in a client's life, one thing at a time.

/// One event. `who` selects its conversation: 0 is the one that was active last, other
/// numbers count round all that there are. What does not fit a conversation's state is brought about first where that is
/// natural (a model that calls tools was asked something), and otherwise nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Another session begins.
    Begin {
        /// Which model.
        model: u8,
    },
    /// The user types a prompt. While a turn runs it is queued and goes out with the next results.
    Say {
        /// Whose.
        who: u8,
        /// A hook adds context to it.
        hook: bool,
        /// The request is refused, so nothing of it is cached.
        refused: bool,
    },
    /// The model calls tools and the client sends their results.
    Call {
        /// Whose.
        who: u8,
        /// How many at once, 1 to 12.
        calls: u8,
        /// The model thinks first.
        thinking: bool,
        /// The model writes text first.
        says: bool,
        /// The results come in another order than the calls.
        swapped: bool,
        /// A hook adds context to the results, which changes its form at the next prompt.
        hook: bool,
        /// The request with the results is refused.
        refused: bool,
    },
    /// The model ends the turn.
    Answer {
        /// Whose.
        who: u8,
        /// The model thinks first.
        thinking: bool,
    },
    /// The user breaks the turn off.
    Interrupt {
        /// Whose.
        who: u8,
        /// When.
        when: Moment,
    },
    /// The turn ends with an error, the prompt unanswered.
    GiveUp {
        /// Whose.
        who: u8,
    },
    /// The newest request is sent again.
    Repeat {
        /// Whose.
        who: u8,
        /// Asking for one message instead of a stream.
        whole: bool,
    },
    /// The client asks what the user might type next.
    Suggest {
        /// Whose.
        who: u8,
    },
    /// The client asks for a title, or searches the web.
    Aside {
        /// Whose.
        who: u8,
        /// A search.
        search: bool,
    },
    /// The client speaks in the user's name.
    GoOn {
        /// Whose.
        who: u8,
        /// Why.
        why: Why,
    },
    /// The client has a reminder for the model, which is sent with the next message.
    Remind {
        /// Whose.
        who: u8,
    },
    /// Old tool results are replaced by a note.
    ClearResults {
        /// Whose.
        who: u8,
    },
    /// Midnight: the date in every first message changes.
    NextDay,
    /// Nothing happens for so long.
    Wait {
        /// How long.
        minutes: u8,
    },
    /// The user picks another model.
    ChangeModel {
        /// Whose.
        who: u8,
        /// Which.
        model: u8,
    },
    /// The conversation is compacted and continues from the summary.
    Compact {
        /// Whose.
        who: u8,
    },
    /// `/clear`: the client continues with a new session.
    Clear {
        /// Whose.
        who: u8,
    },
    /// A new process continues the session with a prompt.
    Resume {
        /// Whose.
        who: u8,
        /// It writes tool inputs and the order of results differently, and leaves thinking out.
        rewritten: bool,
    },
    /// A new session starts with the history of this one and a prompt.
    Fork {
        /// Whose history.
        who: u8,
        /// How many prompts before its end.
        back: u8,
        /// With which model; 0 is the same.
        model: u8,
        /// The same prompt is typed again.
        same_words: bool,
    },
    /// The user goes back to an earlier prompt.
    Rewind {
        /// Whose.
        who: u8,
        /// How many prompts.
        back: u8,
        /// And sends the same again.
        same_words: bool,
    },
    /// The model starts a subagent, which lives on beside the conversation.
    Delegate {
        /// Whose.
        who: u8,
        /// It begins with the whole history.
        inherits: bool,
    },
    /// Another session goes through the same beginning, word for word.
    Twin {
        /// Of which.
        who: u8,
        /// How many requests of it.
        length: u8,
    },
    /// The proxy is restarted.
    Restart,
}

/// When a turn is broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the model wrote anything.
    Before,
    /// While the model was writing; its text so far is kept.
    Speaking,
    /// When a tool was to run; the call is answered by a refusal.
    Tool,
}

/// Why the client speaks in the user's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A background task ended.
    Notification,
    /// A hook does not let the model stop.
    Hook,
    /// The answer was cut off for its length.
    Length,
}

/// Tool calls at once: mostly few, and many times so many that a turn is about as wide as the cache looks back.
const CALLS: [u8; 16] = [1, 1, 2, 1, 3, 2, 4, 6, 8, 9, 9, 8, 10, 9, 7, 12];

impl Operation {
    /// Every four bytes are an operation: the kind, whose, and details. Small bytes are the plain ones, so that a test
    /// that shrinks bytes shrinks histories.
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

    /// So many operations, always the same for the same number. `decode` says how common each kind is.
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
