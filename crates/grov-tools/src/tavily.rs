//! The formats of Tavily.

use crate::model::status::no_json;
use crate::{Answer, HttpCall, ToolError};
use grov_domain::MicroUsd;
use grov_redact::Secret;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read;

/// The address of the API.
pub const BASE_URL: &str = "https://api.tavily.com";

/// The price of a credit.
const CREDIT: u64 = 8000;

/// Arguments of `search`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SearchInput {
    /// What to search for.
    pub query: String,
    /// Search depth.
    pub depth: Option<String>,
    /// Number of results.
    pub max_results: Option<u8>,
    /// Whether an answer is wanted: a boolean or a word.
    pub include_answer: Option<Value>,
    /// Whether the content of pages is wanted.
    pub include_raw: bool,
    /// Category.
    pub topic: Option<String>,
    /// Age of the pages.
    pub time_range: Option<String>,
    /// Only these domains.
    pub include_domains: Vec<String>,
    /// Not these domains.
    pub exclude_domains: Vec<String>,
}

/// Arguments of `extract`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ExtractInput {
    /// Addresses.
    pub urls: Vec<String>,
    /// Extraction depth.
    pub depth: Option<String>,
    /// Output format.
    pub format: Option<String>,
    /// Whether the addresses of images are wanted.
    pub include_images: bool,
    /// Tavily's timeout in seconds.
    pub timeout: Option<f64>,
}

/// The request of `search`.
pub fn search(input: &SearchInput, key: &Secret) -> HttpCall {
    let mut body = json!({
        "query": input.query,
        "search_depth": input.depth.as_deref().unwrap_or("basic"),
        "max_results": input.max_results.unwrap_or(5),
        "topic": input.topic.as_deref().unwrap_or("general"),
        "include_answer": input.include_answer.clone().unwrap_or(json!(false)),
        "include_raw_content": input.include_raw,
        "include_usage": true,
    });
    if let Some(range) = &input.time_range {
        body["time_range"] = json!(range);
    }
    for (name, domains) in [
        ("include_domains", &input.include_domains),
        ("exclude_domains", &input.exclude_domains),
    ] {
        if !domains.is_empty() {
            body[name] = json!(domains);
        }
    }
    HttpCall::bearer("/search", key, body)
}

/// The request of `extract`.
///
/// # Errors
///
/// If there is no address, or a text is none.
pub fn extract(input: &ExtractInput, key: &Secret) -> Result<HttpCall, ToolError> {
    if input.urls.is_empty() {
        return Err(ToolError::usage("`tavily extract` needs at least one URL"));
    }
    let mut urls: Vec<&str> = Vec::new();
    for url in &input.urls {
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err(ToolError::usage(format!(
                "{url:?} is no URL: it must start with https:// or http://"
            )));
        }
        if !urls.contains(&url.as_str()) {
            urls.push(url);
        }
    }
    if urls.len() > 20 {
        return Err(
            ToolError::usage(format!("{} URLs are given; at most 20 are allowed", urls.len()))
                .hint("split them into several calls"),
        );
    }
    let mut body = json!({
        "urls": urls,
        "extract_depth": input.depth.as_deref().unwrap_or("basic"),
        "format": input.format.as_deref().unwrap_or("markdown"),
        "include_images": input.include_images,
        "include_usage": true,
    });
    if let Some(timeout) = input.timeout {
        body["timeout"] = json!(timeout);
    }
    Ok(HttpCall::bearer("/extract", key, body))
}

/// Addresses in piped input: those of a search result, else every word that is one.
pub fn urls_in(text: &str) -> Vec<String> {
    fn collect(value: &Value, urls: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(url) = fields.get("url").and_then(Value::as_str) {
                    urls.push(url.to_owned());
                }
                fields.values().for_each(|field| collect(field, urls));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, urls)),
            _ => {}
        }
    }
    let mut urls = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => collect(&value, &mut urls),
        Err(_) => {
            let words = text.split(|c: char| c.is_whitespace() || c == ',');
            urls.extend(words.filter(|word| word.starts_with("http")).map(str::to_owned));
        }
    }
    urls.retain(|url| url.starts_with("http://") || url.starts_with("https://"));
    urls
}

#[derive(Deserialize)]
struct Usage {
    credits: f64,
}

fn cost(usage: Option<Usage>, credits: u64) -> Option<MicroUsd> {
    // Credits are a small number that is not negative.
    let reported = usage.map(|usage| (usage.credits.max(0.0) * CREDIT as f64) as u64);
    Some(MicroUsd(reported.unwrap_or(credits * CREDIT)))
}

/// Reads the response of `search`.
///
/// # Errors
///
/// If it is no search response.
pub fn read_search(input: &SearchInput, body: &[u8]) -> Result<Answer, ToolError> {
    #[derive(Deserialize)]
    struct Response {
        query: Option<String>,
        #[serde(default)]
        answer: Option<String>,
        results: Vec<Found>,
        #[serde(default)]
        response_time: Value,
        #[serde(default)]
        usage: Option<Usage>,
    }
    #[derive(Deserialize)]
    struct Found {
        #[serde(default)]
        title: Option<String>,
        url: String,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        score: Option<f64>,
        #[serde(default)]
        raw_content: Option<String>,
    }
    let response: Response = serde_json::from_slice(body).map_err(|error| no_json("Tavily", &error))?;
    let count = response.results.len();
    let results: Vec<Value> = response
        .results
        .into_iter()
        .map(|found| {
            json!({
                "title": found.title.unwrap_or_default(),
                "url": found.url,
                "content": found.content.unwrap_or_default(),
                "score": found.score.unwrap_or_default(),
                "raw_content": found.raw_content,
            })
        })
        .collect();
    let credits = if input.depth.as_deref() == Some("advanced") {
        2
    } else {
        1
    };
    let mut answer = Answer {
        data: json!({
            "query": response.query.unwrap_or_else(|| input.query.clone()),
            "answer": response.answer.filter(|answer| !answer.is_empty()),
            "results": results,
        }),
        cost: cost(response.usage, credits),
        ..Answer::default()
    };
    answer
        .metadata
        .insert("response_time".to_owned(), response.response_time);
    answer.metadata.insert("result_count".to_owned(), count.into());
    Ok(answer)
}

/// Reads the response of `extract`. It may have 40 megabytes, so it is read as it arrives.
///
/// # Errors
///
/// If it is no extract response.
pub fn read_extract(input: &ExtractInput, body: impl Read) -> Result<Answer, ToolError> {
    #[derive(Deserialize)]
    struct Response {
        results: Vec<Page>,
        #[serde(default)]
        failed_results: Vec<Failed>,
        #[serde(default)]
        response_time: Value,
        #[serde(default)]
        usage: Option<Usage>,
    }
    #[derive(Deserialize)]
    struct Page {
        url: String,
        #[serde(default)]
        raw_content: Option<String>,
        #[serde(default)]
        images: Option<Vec<String>>,
    }
    #[derive(Deserialize)]
    struct Failed {
        url: String,
        #[serde(default)]
        error: Option<String>,
    }
    let response: Response = serde_json::from_reader(body).map_err(|error| no_json("Tavily", &error))?;
    let (count, failed_count) = (response.results.len(), response.failed_results.len());
    let results = response.results.into_iter().map(|page| {
        let images = page.images.unwrap_or_default();
        let mut result = serde_json::Map::new();
        result.insert("url".to_owned(), page.url.into());
        result.insert(
            "raw_content".to_owned(),
            page.raw_content.unwrap_or_default().into(),
        );
        result.insert("images".to_owned(), images.into());
        Value::Object(result)
    });
    let results: Vec<Value> = results.collect();
    let failed: Vec<Value> = response
        .failed_results
        .into_iter()
        .map(|failed| json!({"url": failed.url, "error": failed.error.unwrap_or_else(|| "no reason given".to_owned())}))
        .collect();
    let per_five = if input.depth.as_deref() == Some("advanced") {
        2
    } else {
        1
    };
    let mut data = serde_json::Map::new();
    data.insert("results".to_owned(), results.into());
    data.insert("failed_results".to_owned(), failed.into());
    let mut answer = Answer {
        data: Value::Object(data),
        cost: cost(response.usage, count.div_ceil(5) as u64 * per_five),
        ..Answer::default()
    };
    answer
        .metadata
        .insert("response_time".to_owned(), response.response_time);
    answer.metadata.insert("success_count".to_owned(), count.into());
    answer
        .metadata
        .insert("failed_count".to_owned(), failed_count.into());
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Registry, schema};

    fn output(name: &str) -> Value {
        Registry::built_in().find("tavily", name).unwrap().output.clone()
    }

    #[test]
    fn answers_fit_their_schemas() {
        let body = br#"{"query":"q","answer":"a","images":[],"results":[{"title":"F","url":"https://a","content":"c","score":0.91,"raw_content":null},{"url":"https://b"}],"response_time":1.2}"#;
        let answer = read_search(&SearchInput::default(), body).unwrap();
        assert_eq!(schema::mismatch(&output("search"), &answer.data), None);
        assert_eq!(
            (answer.cost, &answer.metadata["result_count"]),
            (Some(MicroUsd(8000)), &json!(2))
        );

        let body = br#"{"results":[{"url":"https://a","raw_content":"x","images":["i"]}],"failed_results":[{"url":"https://b","error":"404"}],"response_time":2.5,"usage":{"credits":2}}"#;
        let answer = read_extract(&ExtractInput::default(), &body[..]).unwrap();
        assert_eq!(schema::mismatch(&output("extract"), &answer.data), None);
        assert_eq!(
            answer.data["failed_results"],
            json!([{"url": "https://b", "error": "404"}])
        );
        assert_eq!(
            (answer.cost, &answer.metadata["failed_count"]),
            (Some(MicroUsd(16000)), &json!(1))
        );
    }

    #[test]
    fn half_json_and_wrong_types_are_bad_answers() {
        for body in [
            "{\"results\":[{",
            "[]",
            "{\"results\":\"x\"}",
            "{\"results\":[{\"url\":5}]}",
            "",
        ] {
            for read in [
                read_search(&SearchInput::default(), body.as_bytes()),
                read_extract(&ExtractInput::default(), body.as_bytes()),
            ] {
                assert_eq!(read.unwrap_err().kind, ErrorKind::BadAnswer, "{body}");
            }
        }
    }

    #[test]
    fn urls_come_from_a_search_or_from_words() {
        let piped = r#"{"status":"success","data":{"results":[{"url":"https://a","content":"see https://no"},{"url":"https://b"}]}}"#;
        assert_eq!(urls_in(piped), ["https://a", "https://b"]);
        assert_eq!(urls_in("https://a,\nhttps://b x"), ["https://a", "https://b"]);
    }

    #[test]
    fn what_is_no_url_is_bad_usage() {
        let key = Secret::new("k");
        let of = |urls: &[&str]| ExtractInput {
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
            ..ExtractInput::default()
        };
        for urls in [&["file:///etc/passwd"][..], &["example.com"], &[]] {
            assert_eq!(extract(&of(urls), &key).unwrap_err().kind, ErrorKind::Usage);
        }
        assert_eq!(
            extract(&of(&["https://a", "https://a"]), &key).unwrap().body["urls"],
            json!(["https://a"])
        );
    }
}
