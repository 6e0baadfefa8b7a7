//! The section `providers`.

use super::key::Key;
use super::node::{Node, NodeValue};
use super::problem::did_you_mean;
use super::reader::{Mapping, Reader, line_of};
use crate::marker::is_label;
use crate::prices::Prices;
use crate::target::{ProviderApi, Target, Timeouts, is_loopback};
use crate::translate::{OrderError, Transform};
use grov_redact::Secret;
use serde_saphyr::Spanned;

/// Keys of a provider.
pub(super) const PROVIDER_KEYS: &[&str] = &[
    "name",
    "endpoint",
    "api",
    "api_key",
    "api_keys",
    "max_tokens",
    "transform",
    "params",
    "timeouts",
    "models",
];

/// Keys of a model.
pub(super) const MODEL_KEYS: &[&str] = &["model", "max_tokens", "transform", "params", "prices", "fallback"];

/// Keys of `timeouts`.
pub(super) const TIMEOUT_KEYS: &[&str] = &["connect", "first_byte", "idle"];

/// Keys of `prices`.
pub(super) const PRICE_KEYS: &[&str] = &["input", "output", "cache_read", "cache_write"];

/// The transform that adds `params`.
const CUSTOM_PARAMS: &str = "customparams";

/// What a model inherits from its provider.
struct Provider {
    name: String,
    endpoint: String,
    api: ProviderApi,
    keys: Vec<Secret>,
    /// The variable without which there is no key.
    unset_variable: Option<String>,
    timeouts: Timeouts,
    common: Overridable,
}

/// What a model may replace. Empty values replace nothing.
#[derive(Clone, Default)]
struct Overridable {
    max_tokens: Option<u64>,
    transforms: Vec<String>,
    params: serde_json::Map<String, serde_json::Value>,
}

impl Overridable {
    fn or(self, common: &Self) -> Self {
        let common = common.clone();
        Self {
            max_tokens: self.max_tokens.or(common.max_tokens),
            transforms: if self.transforms.is_empty() {
                common.transforms
            } else {
                self.transforms
            },
            params: if self.params.is_empty() {
                common.params
            } else {
                self.params
            },
        }
    }
}

impl Reader<'_> {
    /// The models of all providers.
    pub(super) fn providers(&mut self, list: &Node) -> Vec<Target> {
        let mut names: Vec<(String, u64)> = Vec::new();
        let mut targets: Vec<Target> = Vec::new();
        for node in self.list(list, "providers") {
            let Some(fields) = self.section(node, "a provider", PROVIDER_KEYS) else {
                continue;
            };
            let provider = self.provider(&fields);
            if let Some(name) = provider.as_ref().map(|provider| &provider.name) {
                if let Some((_, line)) = names.iter().find(|(earlier, _)| earlier == name) {
                    let message = format!("the provider `{name}` is already on line {line}");
                    self.warning(fields.line, message, "merge the two, or rename one");
                }
                names.push((name.clone(), fields.line));
            }
            let Some(models) = fields.get("models") else {
                self.warning(
                    fields.line,
                    "a provider has no models",
                    "add `models:` with a label",
                );
                continue;
            };
            let Some(models) = self.mapping(models, "models") else {
                continue;
            };
            for (label, node) in models.iter() {
                let target = self.target(label, node, provider.as_ref());
                if let Some(earlier) = targets.iter().find(|earlier| earlier.label == label.value) {
                    let message = format!("the label `{}` is already on line {}", label.value, earlier.line);
                    self.problem(line_of(label), message, "labels are unique among all providers");
                } else {
                    targets.extend(target);
                }
            }
        }
        targets
    }

    /// `None` if a required field is missing or invalid.
    fn provider(&mut self, fields: &Mapping<'_>) -> Option<Provider> {
        let name = self.required(fields, "name", "name: ollama");
        let endpoint = self.endpoint(fields);
        let api = match fields.get("api") {
            Some(node) => self.api(node),
            None => ProviderApi::default(),
        };
        let (keys, unset_variable) = self.keys(fields);
        let timeouts = fields.get("timeouts").map(|node| self.timeouts(node));
        let mut common = self.overridable(fields, api);
        let (name, endpoint) = (name?, endpoint?);
        if common.transforms.is_empty() && api != ProviderApi::Anthropic {
            common.transforms.push(default_transform(&name).to_owned());
        }
        if !keys.is_empty() && sends_keys_in_the_clear(&endpoint) {
            let message = format!("`{name}` sends its key unencrypted to another machine");
            self.warning(fields.line, message, "use https");
        }
        Some(Provider {
            name,
            endpoint,
            api,
            keys,
            unset_variable,
            timeouts: timeouts.unwrap_or_default(),
            common,
        })
    }

    /// The keys of a provider. If none is left because a variable is not set, the name of the variable.
    fn keys(&mut self, fields: &Mapping<'_>) -> (Vec<Secret>, Option<String>) {
        let mut read: Vec<Key> = Vec::new();
        if let Some(node) = fields.get("api_key") {
            read.extend(self.key(node, "api_key"));
        }
        if let Some(node) = fields.get("api_keys") {
            for node in self.list(node, "api_keys") {
                read.extend(self.key(node, "api_keys"));
            }
        }
        let (mut keys, mut unset) = (Vec::new(), None);
        for key in read {
            match key {
                Key::Set(key) => keys.push(key),
                Key::Unset(name) => unset = unset.or(Some(name)),
            }
        }
        let unset = unset.filter(|_| keys.is_empty());
        (keys, unset)
    }

    fn required(&mut self, fields: &Mapping<'_>, key: &str, example: &str) -> Option<String> {
        match fields.get(key) {
            Some(node) => self.text(node, key),
            None => {
                self.problem(
                    fields.line,
                    format!("a provider has no `{key}`"),
                    format!("add `{example}`"),
                );
                None
            }
        }
    }

    fn endpoint(&mut self, fields: &Mapping<'_>) -> Option<String> {
        let text = self.required(fields, "endpoint", "endpoint: http://localhost:11434/v1")?;
        let line = fields.get("endpoint").map_or(fields.line, line_of);
        match check_endpoint(&text) {
            Ok(endpoint) => Some(endpoint),
            Err((message, hint)) => {
                self.problem(line, message, hint);
                None
            }
        }
    }

    fn api(&mut self, node: &Node) -> ProviderApi {
        let Some(name) = self.text(node, "api") else {
            return ProviderApi::default();
        };
        ProviderApi::parse(&name).unwrap_or_else(|| {
            let hint = did_you_mean(&name, ProviderApi::NAMES);
            self.problem(line_of(node), format!("unknown API `{name}`"), hint);
            ProviderApi::default()
        })
    }

    fn timeouts(&mut self, node: &Node) -> Timeouts {
        let Some(fields) = self.section(node, "timeouts", TIMEOUT_KEYS) else {
            return Timeouts::default();
        };
        let mut seconds = |key: &str| fields.get(key).and_then(|node| self.seconds(node, key));
        Timeouts {
            connect: seconds("connect"),
            first_byte: seconds("first_byte"),
            idle: seconds("idle"),
        }
    }

    fn overridable(&mut self, fields: &Mapping<'_>, api: ProviderApi) -> Overridable {
        let max_tokens = fields.get("max_tokens");
        let params = fields.get("params");
        Overridable {
            max_tokens: max_tokens.and_then(|node| self.limit(node, "max_tokens")),
            transforms: fields
                .get("transform")
                .map_or_else(Vec::new, |node| self.transforms(node, api)),
            params: params.map_or_else(serde_json::Map::new, |node| self.params(node)),
        }
    }

    fn params(&mut self, node: &Node) -> serde_json::Map<String, serde_json::Value> {
        match (self.mapping(node, "params"), node.value.to_json()) {
            (Some(_), serde_json::Value::Object(params)) => params,
            _ => serde_json::Map::new(),
        }
    }

    fn transforms(&mut self, node: &Node, api: ProviderApi) -> Vec<String> {
        let items = self.list(node, "transform");
        if api == ProviderApi::Anthropic && !items.is_empty() {
            let message = "`transform` has no effect on a provider with `api: anthropic`";
            self.problem(line_of(node), message, "remove it: requests are not translated");
        }
        let mut names = Vec::new();
        let mut transforms = Vec::new();
        for item in items {
            let Some(name) = self.text(item, "transform") else {
                continue;
            };
            match Transform::parse(&name) {
                Ok(transform) => transforms.push(transform),
                Err(unknown) => {
                    let known = Transform::ALL.map(Transform::name);
                    let hint = match unknown.nearest {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("known are {}", known.join(", ")),
                    };
                    self.problem(line_of(item), format!("unknown transform `{name}`"), hint);
                }
            }
            names.push(name);
        }
        if let Err(error) = Transform::check_order(&transforms) {
            let hint = match error {
                OrderError::Repeated(_) => "list it once",
                OrderError::TwoSchemas(..) => "keep the one of this provider",
            };
            self.problem(line_of(node), error.to_string(), hint);
        }
        names
    }

    /// One model. `provider` is `None` if the provider has problems; those of the model are reported anyway.
    fn target(
        &mut self,
        label: &Spanned<String>,
        node: &Node,
        provider: Option<&Provider>,
    ) -> Option<Target> {
        let line = line_of(label);
        if !is_label(&label.value) {
            let message = format!("the label `{}` has white space", label.value);
            self.problem(line, message, "use letters, digits, `-` and `_`");
        }
        let api = provider.map_or_else(ProviderApi::default, |provider| provider.api);
        let (model, own, prices, fallback) = if let NodeValue::Mapping(_) = node.value {
            let fields = self.section(node, "a model", MODEL_KEYS)?;
            let model = match fields.get("model") {
                Some(node) => self.text(node, "model"),
                None => {
                    let message = format!("the label `{}` has no `model`", label.value);
                    self.problem(line, message, "add `model:` with the provider's name of it");
                    None
                }
            };
            let own = self.overridable(&fields, api);
            let prices = fields.get("prices").and_then(|node| self.prices(node));
            let fallback = fields.get("fallback").map(|node| self.texts(node, "fallback"));
            (model, own, prices, fallback.unwrap_or_default())
        } else {
            let model = self.text(node, &label.value);
            (model, Overridable::default(), None, Vec::new())
        };
        let (model, provider) = (model?, provider?);
        let settings = own.or(&provider.common);
        if !settings.params.is_empty() && !settings.transforms.iter().any(|name| name == CUSTOM_PARAMS) {
            let message = format!(
                "`params` of `{}` are not sent without the transform `{CUSTOM_PARAMS}`",
                label.value
            );
            self.warning(line, message, format!("add {CUSTOM_PARAMS} to `transform`"));
        }
        Some(Target {
            label: label.value.clone(),
            provider: provider.name.clone(),
            model,
            endpoint: provider.endpoint.clone(),
            api: provider.api,
            keys: provider.keys.clone(),
            unset_variable: provider.unset_variable.clone(),
            max_tokens: settings.max_tokens,
            transforms: settings.transforms,
            params: settings.params,
            timeouts: provider.timeouts,
            prices,
            fallback,
            line,
        })
    }

    fn prices(&mut self, node: &Node) -> Option<Prices> {
        let fields = self.section(node, "prices", PRICE_KEYS)?;
        let mut price = |key: &str| fields.get(key).and_then(|node| self.price(node, key));
        let (input, output) = (price("input"), price("output"));
        let (cache_read, cache_write) = (price("cache_read"), price("cache_write"));
        let (Some(input), Some(output)) = (input, output) else {
            if fields.get("input").is_none() || fields.get("output").is_none() {
                let message = "`prices` needs `input` and `output`";
                self.problem(fields.line, message, "in USD per million tokens");
            }
            return None;
        };
        Some(Prices {
            input,
            output,
            cache_read: cache_read.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
        })
    }
}

/// The endpoint without a slash at its end, or what is wrong with it and what to write instead.
fn check_endpoint(text: &str) -> Result<String, (String, String)> {
    let example = || "write a base URL such as http://localhost:11434/v1".to_owned();
    let url = url::Url::parse(text).map_err(|error| (format!("`endpoint` is no URL: {error}"), example()))?;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("`endpoint` has the scheme `{}`", url.scheme());
        return Err((message, "use http:// or https://".to_owned()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(("`endpoint` has no host".to_owned(), example()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let message = "`endpoint` contains a user name or password".to_owned();
        return Err((message, "write the key as `api_key: ${NAME}`".to_owned()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        let message = "`endpoint` has a query or fragment".to_owned();
        return Err((message, example()));
    }
    let endpoint = text.trim_end_matches('/');
    for path in ["/chat/completions", "/responses", "/v1/messages"] {
        if let Some(base) = endpoint.strip_suffix(path) {
            let message = format!("`endpoint` ends with `{path}`, which is added to it");
            return Err((message, format!("write {base}")));
        }
    }
    Ok(endpoint.to_owned())
}

fn sends_keys_in_the_clear(endpoint: &str) -> bool {
    url::Url::parse(endpoint).is_ok_and(|url| url.scheme() == "http" && !is_loopback(&url))
}

/// The transform of a provider without any, by its name.
fn default_transform(provider: &str) -> &'static str {
    let provider = provider.to_lowercase();
    match provider.as_str() {
        name if name.contains("openai") => "schema:openai",
        name if name.contains("gemini") => "schema:gemini",
        name if name.contains("ollama") => "schema:ollama",
        _ => "schema:generic",
    }
}
