//! The model APIs whose exchanges can be read.

/// A model API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Api {
    /// Anthropic's Messages API.
    #[default]
    Messages,
    /// OpenAI's Responses API.
    Responses,
    /// OpenAI's Chat Completions API, which many other servers offer too.
    Chat,
    /// Gemini's `generateContent` and `streamGenerateContent`.
    Gemini,
}

impl Api {
    /// Returns the API of a path to which a model call is posted, with any prefix. `None` for other paths, and for those of the
    /// Messages API, whose paths below `/v1/messages` are not all model calls.
    ///
    /// ```
    /// use grov_wire::Api;
    ///
    /// assert_eq!(Api::of_foreign_path("/v1/responses"), Some(Api::Responses));
    /// assert_eq!(Api::of_foreign_path("/v1/models"), None);
    /// ```
    pub fn of_foreign_path(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let (before, last) = path.rsplit_once('/')?;
        match last {
            "responses" => Some(Self::Responses),
            "completions" if before.ends_with("/chat") => Some(Self::Chat),
            _ => {
                let (_, method) = last.split_once(':')?;
                let is_model = before.ends_with("/models") || before.ends_with("/tunedModels");
                (is_model && matches!(method, "generateContent" | "streamGenerateContent"))
                    .then_some(Self::Gemini)
            }
        }
    }

    /// Returns the model that the path names. Only Gemini's paths do.
    pub fn model_in_path(self, path: &str) -> Option<&str> {
        let (_, last) = path.rsplit_once('/').filter(|_| self == Self::Gemini)?;
        let (model, _) = last.split_once(':')?;
        (!model.is_empty()).then_some(model)
    }

    /// Returns the name for logs and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_calls_are_recognised_by_their_path() {
        for (path, api) in [
            ("/v1/responses", Some(Api::Responses)),
            ("/backend-api/codex/responses", Some(Api::Responses)),
            ("/v1/responses/", Some(Api::Responses)),
            ("/v1/responses/resp_1", None),
            ("/v1/responses/compact", None),
            ("/v1/chat/completions", Some(Api::Chat)),
            ("/api/v1/chat/completions", Some(Api::Chat)),
            ("/v1/completions", None),
            ("/v1beta/models/g-1:generateContent", Some(Api::Gemini)),
            ("/v1beta/models/g-1:streamGenerateContent", Some(Api::Gemini)),
            ("/v1beta/models/g-1:countTokens", None),
            ("/v1beta/models/g-1", None),
            ("/v1/messages", None),
            ("", None),
        ] {
            assert_eq!(Api::of_foreign_path(path), api, "{path}");
        }
    }

    #[test]
    fn only_geminis_path_names_the_model() {
        let path = "/v1beta/models/g-1:generateContent";
        assert_eq!(Api::Gemini.model_in_path(path), Some("g-1"));
        assert_eq!(Api::Chat.model_in_path(path), None);
        assert_eq!(Api::Gemini.model_in_path("/v1beta/models/:x"), None);
    }
}
