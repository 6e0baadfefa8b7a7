//! What a word can mean.

/// Declares the concepts by the names that they have in the tables.
macro_rules! concepts {
    ($($(#[$text:meta])* $name:ident = $key:literal),* $(,)?) => {
        /// What a word means for the signals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Concept { $($(#[$text])* $name),* }

        impl Concept {
            /// The concept with this name in a table.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name { $($key => Some(Self::$name),)* _ => None }
            }
        }
    };
}

concepts! {
    /// An expression without a meaning here, though its words have one: "ssh agent".
    Nothing = "none",
    Not = "not",
    /// A negation that stands after its verb.
    NotAfter = "notafter",
    Without = "without", Nobody = "nobody", All = "all", This = "this", Whether = "whether", Must = "must",
    /// Who pays or uses.
    Client = "client",
    /// Who is responsible: the team, reviewers, auditors.
    Insider = "insider",
    Agent = "agent", Session = "session",
    /// Where work is written down.
    Paper = "paper",
    Tell = "tell", Know = "know",
    /// To see or notice.
    See = "see",
    /// Before a place where nothing is to be written.
    OutOf = "outof", Ask = "ask", Said = "said", Need = "need",
    /// What a check is made of: certificates, signatures.
    Proof = "proof",
     Secretly = "secretly", Quiet = "quiet", Hide = "hide",
    Claim = "claim", Fake = "fake", Figures = "figures", Success = "success", Regardless = "regardless", IfAsked = "ifasked",
    Send = "send", Put = "put", Fetch = "fetch", Run = "run", Remove = "remove", Delete = "delete", Set = "set",
    Grant = "grant", Accept = "accept",
    /// A secret beyond doubt.
    Secret = "secret",
    /// What may be one: a key, a token.
    Key = "key",
    /// Data of people, or of the organization.
    Private = "private",
    /// A control of security.
    Control = "control",
    /// A control of quality.
    Check = "check",
    Verify = "verify", Source = "source", Code = "code", Whatever = "whatever", Admin = "admin",
    /// A person or an account that is not of the organization.
    Outside = "outside",
    PublicPlace = "publicplace", Prod = "prod", Forever = "forever", Data = "data", Backup = "backup",
    Trigger = "trigger", Magic = "magic", Backdoor = "backdoor",
    /// A stranger as source of advice.
    Voice = "voice",
    Rules = "rules", Override = "override", Confirm = "confirm", Unasked = "unasked", NoLimit = "nolimit",
    Replicate = "replicate",
    /// What makes a removed control harmless: only in tests, replaced.
    Excuse = "excuse",
    /// An attack, or a measure against one.
    Defend = "defend",
    /// Forbids what follows.
    Avert = "avert",
    /// Narrates.
    Narrated = "narr",
    /// A control is a nuisance.
    Nerve = "nerve",
    Fixed = "fixed", Anyone = "anyone", Access = "access", Free = "free",
    /// Something is brought in without a look: pushed to the main branch by force, merged at once.
    Rash = "rash",
    /// Before what a thing is done with.
    With = "with",
    /// What was said before.
    Former = "former",
    /// Joins acts: "and then".
    Then = "then",
    /// A foreign address.
    Url = "url",
    /// An address without a name, a dubious one, or one without TLS.
    Dubious = "dubious",
    Mail = "mail",
    /// An address of the organization or of a well-known service.
    Known = "known",
    /// An address that holds a substitution.
    Filled = "filled",
}

/// The concepts of a word: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning(u128);

impl Meaning {
    /// Several concepts.
    pub(super) const fn of(concepts: &[Concept]) -> Self {
        let mut bits = 0;
        let mut place = 0;
        while place < concepts.len() {
            bits |= 1 << concepts[place] as u32;
            place += 1;
        }
        Self(bits)
    }

    /// Adds all of another.
    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether it has one of these.
    pub(super) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}
