use super::*;

fn errors(tools: Value) -> Vec<(String, String)> {
    let errors = Tools::parse(&tools).unwrap_err();
    errors
        .into_iter()
        .map(|error| (error.path, error.message))
        .collect()
}

#[test]
fn both_shapes_give_the_same_tool() {
    let tools = Tools::parse(&json!([
        {
            "name": "jira.create_ticket", "description": "Create a Jira ticket", "requires_approval": true, "risk": "medium",
            "parameters": {
                "summary": {"type": "string", "required": true, "description": "One line"},
                "priority": {"type": "string", "enum": ["low", "high"]},
            },
        },
        {
            "name": "other", "description": "Create a Jira ticket", "requires_approval": true, "risk": "medium",
            "input_schema": {
                "type": "object",
                "properties": {
                    "summary": {"type": "string", "description": "One line"},
                    "priority": {"type": "string", "enum": ["low", "high"]},
                },
                "required": ["summary"],
                "additionalProperties": false,
            },
        },
    ]))
    .unwrap();
    let [seed, schema] = &tools.0[..] else {
        panic!("two tools")
    };
    assert_eq!(seed.input_schema, schema.input_schema);
    assert_eq!((seed.risk, seed.requires_approval), (Risk::Medium, true));
}

#[test]
fn what_is_left_out_is_harmless() {
    for nothing in [json!(null), json!([])] {
        assert_eq!(Tools::parse(&nothing).unwrap(), Tools::default());
    }
    let tools = Tools::parse(&json!([{"name": "status"}])).unwrap();
    assert_eq!(tools.0[0].input_schema, no_arguments());
    assert_eq!(
        (tools.0[0].risk, tools.0[0].requires_approval),
        (Risk::Low, false)
    );
    let tools = Tools::parse(
        &json!([{"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]),
    );
    assert_eq!(
        tools.unwrap().0[0].input_schema["properties"]["x"]["type"],
        "integer"
    );
}

#[test]
fn each_mistake_is_named_with_its_place() {
    for (tool, path) in [
        (json!("text"), "/tools/0"),
        (json!({}), "/tools/0/name"),
        (json!({"name": ""}), "/tools/0/name"),
        (json!({"name": "a b"}), "/tools/0/name"),
        (json!({"name": "ä"}), "/tools/0/name"),
        (json!({"name": "x".repeat(65)}), "/tools/0/name"),
        (json!({"name": "memory.propose_add"}), "/tools/0/name"),
        (json!({"name": "memory.other"}), "/tools/0/name"),
        (json!({"name": "a", "description": 1}), "/tools/0/description"),
        (
            json!({"name": "a", "description": "x".repeat(9000)}),
            "/tools/0/description",
        ),
        (json!({"name": "a", "risk": "extreme"}), "/tools/0/risk"),
        (json!({"name": "a", "risk": 1}), "/tools/0/risk"),
        (
            json!({"name": "a", "requires_approval": "yes"}),
            "/tools/0/requires_approval",
        ),
        (json!({"name": "a", "parameters": []}), "/tools/0/parameters"),
        (
            json!({"name": "a", "parameters": {"x": "string"}}),
            "/tools/0/parameters/x",
        ),
        (
            json!({"name": "a", "parameters": {"x": {}}}),
            "/tools/0/parameters/x/type",
        ),
        (
            json!({"name": "a", "parameters": {"a/b": {"type": "text"}}}),
            "/tools/0/parameters/a~1b/type",
        ),
        (
            json!({"name": "a", "parameters": {"x": {"type": "string", "required": "yes"}}}),
            "/tools/0/parameters/x/required",
        ),
        (
            json!({"name": "a", "parameters": {"x": {"type": "string", "pattern": "("}}}),
            "/tools/0/parameters",
        ),
        (
            json!({"name": "a", "parameters": {}, "input_schema": {}}),
            "/tools/0",
        ),
        (
            json!({"name": "a", "input_schema": {"type": "string"}}),
            "/tools/0/input_schema/type",
        ),
        (
            json!({"name": "a", "input_schema": {"properties": 7}}),
            "/tools/0/input_schema",
        ),
        (
            json!({"name": "a", "input_schema": {"$ref": "http://127.0.0.1:1/x"}}),
            "/tools/0/input_schema",
        ),
    ] {
        let found = errors(json!([tool]));
        assert!(found.iter().any(|(at, _)| at == path), "{tool}: {found:?}");
    }
    assert_eq!(errors(json!({}))[0].0, "/tools");
    assert_eq!(
        errors(json!([{"name": "a"}, {"name": "a"}]))[0].0,
        "/tools/1/name"
    );
    let many: Vec<Value> = (0..129)
        .map(|number| json!({"name": format!("t{number}")}))
        .collect();
    assert_eq!(errors(json!(many)).len(), 1);
    assert!(Tools::parse(&json!(many[..128])).is_ok());
    let large: Vec<Value> = (0..20)
        .map(|number| json!({"name": format!("t{number}"), "description": "x".repeat(8000)}))
        .collect();
    assert_eq!(errors(json!(large))[0].0, "/tools");
}

#[test]
fn a_request_has_a_bounded_number_of_patterns() {
    let tool = |name: usize| {
        let property = |number: usize| (format!("p{number}"), json!({"type": "string", "pattern": "^a$"}));
        let parameters: Map<String, Value> = (0..64).map(property).collect();
        json!({"name": format!("t{name}"), "parameters": parameters})
    };
    assert!(Tools::parse(&json!((0..4).map(tool).collect::<Vec<_>>())).is_ok());
    assert_eq!(errors(json!((0..5).map(tool).collect::<Vec<_>>()))[0].0, "/tools");
}
