//! Phrases of Japanese.

use super::{Noun, Phrases, Verb};

/// The tables.
#[rustfmt::skip]
pub(super) const PHRASES: Phrases = Phrases {
    nouns: &[
        ("api", Noun::Signature), ("ci", Noun::Ci), ("db", Noun::Database), ("gem", Noun::Dependency),
        ("readme", Noun::Readme), ("すべて", Noun::Anything), ("それ以外", Noun::Anything), ("インタフェース", Noun::Signature),
        ("インターフェース", Noun::Signature), ("インデント", Noun::Style), ("エンドポイント", Noun::Signature), ("カラム", Noun::Database),
        ("コメント", Noun::Comment), ("コンフィグ", Noun::Config), ("コード", Noun::Code), ("コードスタイル", Noun::Style),
        ("シグネチャ", Noun::Signature), ("スキーマ", Noun::Schema), ("スタイル", Noun::Style), ("スナップショット", Noun::Snapshot),
        ("ソース", Noun::Code), ("テスト", Noun::Test), ("テストコード", Noun::Test), ("テーブル", Noun::Database),
        ("ディレクトリ", Noun::Folder), ("データ", Noun::Database), ("データベース", Noun::Database), ("ドキュメント", Noun::Docs),
        ("パイプライン", Noun::Ci), ("パッケージ", Noun::Dependency), ("ファイル", Noun::File), ("フォルダ", Noun::Folder),
        ("フォーマット", Noun::Style), ("プラグイン", Noun::Dependency), ("マイグレーション", Noun::Migration),
        ("メソッド", Noun::Signature), ("モジュール", Noun::Dependency), ("ユニットテスト", Noun::Test), ("ライブラリ", Noun::Dependency),
        ("ロジック", Noun::Code), ("一切", Noun::Anything), ("他の", Noun::Anything), ("他は", Noun::Anything),
        ("何も", Noun::Anything), ("依存", Noun::Dependency), ("依存関係", Noun::Dependency), ("全部", Noun::Anything),
        ("実装", Noun::Code), ("引数", Noun::Signature), ("戻り値", Noun::Signature), ("文書", Noun::Docs),
        ("書式", Noun::Style), ("本番", Noun::Deployment), ("本番環境", Noun::Deployment), ("環境変数", Noun::Config),
        ("設定", Noun::Config), ("配下", Noun::Folder), ("関数", Noun::Signature),
    ],
    verbs: &[
        ("push", Verb::Push), ("いじっ", Verb::Change), ("いじら", Verb::Change), ("いじる", Verb::Change),
        ("さわら", Verb::Change), ("アップグレード", Verb::Upgrade), ("アップデート", Verb::Upgrade), ("インストール", Verb::Install),
        ("コミット", Verb::Commit), ("デプロイ", Verb::Deploy), ("バージョンアップ", Verb::Upgrade), ("プッシュ", Verb::Push),
        ("マージ", Verb::Merge), ("リネーム", Verb::Rename), ("リファクタ", Verb::Refactor), ("リベース", Verb::Merge),
        ("リリース", Verb::Deploy), ("作っ", Verb::Create), ("作ら", Verb::Create), ("作る", Verb::Create),
        ("作成", Verb::Create), ("使う", Verb::Use), ("使っ", Verb::Use), ("使わ", Verb::Use), ("使用", Verb::Use),
        ("修正", Verb::Change), ("入れず", Verb::Add), ("入れない", Verb::Add), ("公開", Verb::Deploy), ("再構成", Verb::Refactor),
        ("再起動", Verb::Run), ("利用", Verb::Use), ("削除", Verb::Delete), ("動かさ", Verb::Move), ("動かし", Verb::Move),
        ("取り除", Verb::Delete), ("名前を変え", Verb::Rename), ("増やさ", Verb::Add), ("増やし", Verb::Add), ("変え", Verb::Change),
        ("変更", Verb::Change), ("実行", Verb::Run), ("導入", Verb::Add), ("手をつけ", Verb::Change), ("手を加え", Verb::Change),
        ("改名", Verb::Rename), ("改変", Verb::Change), ("整形", Verb::Format), ("新規", Verb::Create), ("更新", Verb::Upgrade),
        ("書か", Verb::Create), ("書き換え", Verb::Change), ("書く", Verb::Create), ("消さ", Verb::Delete),
        ("消し", Verb::Delete), ("消す", Verb::Delete), ("生成", Verb::Create), ("移動", Verb::Move), ("編集", Verb::Change),
        ("触っ", Verb::Change), ("触ら", Verb::Change), ("触る", Verb::Change), ("触れ", Verb::Change), ("走らせ", Verb::Run),
        ("起動", Verb::Run), ("足さ", Verb::Add), ("足し", Verb::Add), ("足す", Verb::Add), ("追加", Verb::Add),
        ("適用", Verb::Run),
    ],
    function_words: &[],
    is_unspaced: true,
};
