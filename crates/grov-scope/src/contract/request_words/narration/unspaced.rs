//! The same in languages without spaces between words, where a word is a clause: what of it addresses the agent.

/// Marks at which such a clause ends.
const ENDS: &[char] = &['，', '。', '！', '？', '；', '、', ',', '!', '?', ';', '…'];

/// Parts of clauses about what the user does, what others do, and what was done.
#[rustfmt::skip]
const TOLD: &[&str] = &[
    "我自己", "自己来", "我来", "我会", "我稍后", "我晚点", "我等下", "我之后", "我明天", "我手动", "用户可以", "用户能", "管理员可以", "管理员能", "客户可以", "客户能", "每次", "昨天", "上周", "上个月", "上次", "刚才", "不小心", "误删",
    "自分で", "自分が", "私が", "僕が", "俺が", "こちらで", "ユーザーが", "管理者が", "昨日", "先週", "さっき", "間違えて", "誤って", "うっかり", "たびに",
];

/// Ends of a circumstance, within a clause.
#[rustfmt::skip]
const CIRCUMSTANCES: &[&str] = &[
    "的时候", "时返回", "时报", "时出", "时会", "时崩", "时失败", "时候", "之后就", "后就", "以后就", "すると", "したら", "した後", "する時", "するとき", "したとき", "した時", "する際", "した際", "しようとすると", "るたび",
];

/// Words before a circumstance that ends with the clause.
const OPENERS: &[&str] = &["当", "每当", "如果", "要是", "一旦"];

/// Words for making something, and for what is made.
const BUILD: &[&str] = &[
    "加",
    "添加",
    "新增",
    "增加",
    "实现",
    "写",
    "做",
    "开发",
    "支持",
    "追加",
    "実装",
    "作",
    "書",
    "つけて",
    "付けて",
];
#[rustfmt::skip]
const FEATURES: &[&str] = &[
    "接口", "按钮", "功能", "页面", "端点", "方法", "函数", "弹窗", "对话框", "选项", "命令", "测试", "脚本", "入口", "确认", "エンドポイント", "ボタン", "機能", "ページ", "画面", "メソッド", "関数", "コマンド", "テスト", "ダイアログ", "確認", "api", "endpoint",
];

/// Beginnings of a clause after the name of who wants something: "terraform 想删除数据库".
const WANTING: &[&str] = &["想", "会", "将", "试图", "打算", "が", "は"];

/// The parts of a word without spaces that may order something. `has_subject`: a name stands before it in the clause. `next` is the
/// word after it.
pub(in super::super) fn addressed<'w>(word: &'w str, has_subject: bool, next: &str) -> Vec<&'w str> {
    let mut kept = Vec::new();
    for (number, clause) in word.split(ENDS).enumerate() {
        if TOLD.iter().any(|part| clause.contains(part)) {
            continue;
        }
        let is_wanted_by_other = number == 0
            && has_subject
            && (WANTING.iter().any(|part| clause.starts_with(part)) && !clause.contains("して"));
        if is_wanted_by_other {
            continue;
        }
        let end = |part: &&str| clause.find(*part).map(|at| at + part.len());
        let circumstance = CIRCUMSTANCES.iter().filter_map(end).max();
        let rest = &clause[circumstance.unwrap_or_default()..];
        if OPENERS.iter().any(|opener| rest.starts_with(opener)) {
            continue;
        }
        kept.extend(without_feature(rest, next));
    }
    kept
}

/// A clause without what a feature in it is for: 加一个删除用户的接口 orders something to be added.
fn without_feature<'w>(clause: &'w str, next: &str) -> Vec<&'w str> {
    let find = |list: &[&str]| {
        list.iter()
            .filter_map(|part| clause.find(part).map(|at| (at, part.len())))
            .min()
    };
    let follows = clause.ends_with('的') && FEATURES.iter().any(|part| next.contains(part));
    let feature = FEATURES
        .iter()
        .filter_map(|part| clause.rfind(part).map(|at| at + part.len()))
        .max();
    let feature = feature.or(follows.then_some(clause.len()));
    match (find(BUILD), feature) {
        (Some((at, length)), Some(end)) if at < end => vec![&clause[..at + length], &clause[end..]],
        // ユーザーを削除するボタンを追加
        (Some(_), Some(end)) => vec![&clause[end..]],
        _ => vec![clause],
    }
}
