//! The provider file, prepared for requests.

use crate::provider::Provider;
use crate::routes::RouteSettings;
use crate::source::Reading;
use grov_proxy_core::{Upstream, UpstreamHandle, Upstreams};
use grov_route::translate::{Api, Transform, TranslationSettings, Translator};
use grov_route::{Problem, ProviderApi, ProviderFile, Target};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The provider file, prepared for requests. Never changes; a changed file makes a new table.
#[derive(Default)]
pub(crate) struct Table {
    /// The path of the provider file, if there is one.
    pub(crate) path: Option<PathBuf>,
    /// The last good file.
    pub(crate) file: Option<ProviderFile>,
    /// What is wrong with the newest file. If not empty, `file` is an older one or `None`.
    pub(crate) problems: Vec<Problem>,
    targets: HashMap<String, Arc<PreparedTarget>>,
}

/// A target of the provider file with its upstream and translation.
pub(crate) struct PreparedTarget {
    pub(crate) target: Arc<Target>,
    pub(crate) provider: Arc<Provider>,
    pub(crate) upstream: UpstreamHandle,
    /// `None` if the provider speaks the Messages API.
    pub(crate) translator: Option<Translator>,
    /// The endpoint and connect limit of the upstream.
    address: (String, Duration),
}

impl Table {
    /// Prepares a reading. Upstreams and the state of providers are taken over from `previous` where they are the same, and so is
    /// the last good file if the new one has problems.
    pub(crate) fn new(
        reading: Reading,
        previous: &Arc<Self>,
        upstreams: &Upstreams,
        settings: &RouteSettings,
    ) -> Self {
        let Reading { path, result } = reading;
        let file = match result {
            Ok(file) => file,
            Err(problems) => {
                return Self {
                    path,
                    file: previous.file.clone(),
                    problems,
                    targets: previous.targets.clone(),
                };
            }
        };
        let mut targets = HashMap::new();
        let mut problems = Vec::new();
        for target in file.iter().flat_map(ProviderFile::targets) {
            let known = targets.values().chain(previous.targets.values());
            match PreparedTarget::new(target, known, upstreams, settings) {
                Ok(prepared) => {
                    targets.insert(target.label.clone(), Arc::new(prepared));
                }
                Err(message) => problems.push(Problem {
                    line: target.line,
                    message,
                    hint: None,
                }),
            }
        }
        Self {
            path,
            file,
            problems,
            targets,
        }
    }

    /// The target of a label.
    pub(crate) fn target(&self, label: &str) -> Option<&Arc<PreparedTarget>> {
        self.targets.get(label)
    }

    /// The target of a label and its fallbacks, in the order in which they are tried.
    pub(crate) fn chain(&self, label: &str) -> Vec<Arc<PreparedTarget>> {
        let chain = self.file.iter().flat_map(|file| file.chain(label));
        chain
            .filter_map(|target| self.target(&target.label).cloned())
            .collect()
    }
}

impl PreparedTarget {
    fn new<'t>(
        target: &Arc<Target>,
        known: impl Iterator<Item = &'t Arc<Self>> + Clone,
        upstreams: &Upstreams,
        settings: &RouteSettings,
    ) -> Result<Self, String> {
        let connect = target.timeouts.connect.unwrap_or(settings.connect);
        let address = (target.endpoint.clone(), connect);
        let provider = known
            .clone()
            .map(|known| &known.provider)
            .find(|known| known.is(&target.provider, &target.endpoint, &target.keys));
        let provider = provider.cloned().unwrap_or_else(|| {
            let Target {
                provider,
                endpoint,
                keys,
                ..
            } = &**target;
            Arc::new(Provider::new(provider, endpoint, keys))
        });
        let upstream = known
            .clone()
            .find(|known| known.address == address)
            .map(|known| known.upstream.clone());
        let upstream = match upstream {
            Some(upstream) => upstream,
            None => {
                let parsed = Upstream::parse(&target.endpoint).map_err(|error| error.to_string())?;
                upstreams.add(parsed, connect)
            }
        };
        Ok(Self {
            target: Arc::clone(target),
            provider,
            upstream,
            translator: translator(target)?,
            address,
        })
    }
}

fn translator(target: &Target) -> Result<Option<Translator>, String> {
    let api = match target.api {
        ProviderApi::Anthropic => return Ok(None),
        ProviderApi::Chat => Api::Chat,
        ProviderApi::Responses => Api::Responses,
    };
    let transforms: Result<Vec<Transform>, _> = target
        .transforms
        .iter()
        .map(|name| Transform::parse(name))
        .collect();
    Ok(Some(Translator::new(TranslationSettings {
        label: target.label.clone(),
        model: target.model.clone(),
        api,
        max_tokens: target.max_tokens,
        transforms: transforms.map_err(|error| error.to_string())?,
        params: target.params.clone(),
    })))
}
