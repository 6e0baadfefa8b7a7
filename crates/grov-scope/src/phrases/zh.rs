//! Phrases of Chinese.

use super::{Noun, Phrases, Verb};

/// The tables.
#[rustfmt::skip]
pub(super) const PHRASES: Phrases = Phrases {
    nouns: &[
        ("api", Noun::Signature), ("ci", Noun::Ci), ("readme", Noun::Readme), ("schema", Noun::Schema),
        ("业务逻辑", Noun::Code), ("什么都", Noun::Anything), ("代码", Noun::Code), ("代码风格", Noun::Style),
        ("任何", Noun::Anything), ("依赖", Noun::Dependency), ("全部", Noun::Anything), ("其他", Noun::Anything),
        ("其它", Noun::Anything), ("函数", Noun::Signature), ("函数名", Noun::Signature), ("别的", Noun::Anything),
        ("包", Noun::Dependency), ("单元测试", Noun::Test), ("单测", Noun::Test), ("参数", Noun::Signature),
        ("字段", Noun::Database), ("实现", Noun::Code), ("导出", Noun::Signature), ("库", Noun::Dependency),
        ("快照", Noun::Snapshot), ("所有", Noun::Anything), ("排版", Noun::Style), ("接口", Noun::Signature),
        ("插件", Noun::Dependency), ("数据", Noun::Database), ("数据库", Noun::Database), ("数据结构", Noun::Schema),
        ("文件", Noun::File), ("文件夹", Noun::Folder), ("文档", Noun::Docs), ("方法", Noun::Signature), ("样式", Noun::Style),
        ("格式", Noun::Style), ("注释", Noun::Comment), ("流水线", Noun::Ci), ("测试", Noun::Test), ("测试用例", Noun::Test),
        ("源代码", Noun::Code), ("源码", Noun::Code), ("环境变量", Noun::Config), ("生产", Noun::Deployment),
        ("生产环境", Noun::Deployment), ("用例", Noun::Test), ("目录", Noun::Folder), ("第三方", Noun::Dependency),
        ("第三方包", Noun::Dependency), ("第三方库", Noun::Dependency), ("第三方组件", Noun::Dependency), ("签名", Noun::Signature),
        ("线上", Noun::Deployment), ("组件库", Noun::Dependency), ("缩进", Noun::Style), ("自述", Noun::Readme),
        ("表", Noun::Database), ("表结构", Noun::Schema), ("设置", Noun::Config), ("迁移", Noun::Migration),
        ("迁移文件", Noun::Migration), ("迁移脚本", Noun::Migration), ("返回值", Noun::Signature), ("配置", Noun::Config),
    ],
    verbs: &[
        ("commit", Verb::Commit), ("push", Verb::Push), ("上线", Verb::Deploy), ("使用", Verb::Use), ("修改", Verb::Change),
        ("写", Verb::Create), ("创建", Verb::Create), ("删", Verb::Delete), ("删掉", Verb::Delete), ("删除", Verb::Delete),
        ("加", Verb::Add), ("加上", Verb::Add), ("加入", Verb::Add), ("动", Verb::Change), ("升级", Verb::Upgrade),
        ("去掉", Verb::Delete), ("发布", Verb::Deploy), ("变更", Verb::Change), ("合并", Verb::Merge), ("启动", Verb::Run),
        ("增加", Verb::Add), ("安装", Verb::Install), ("建", Verb::Create), ("引入", Verb::Add), ("执行", Verb::Run),
        ("挪", Verb::Move), ("推", Verb::Push), ("推到", Verb::Push), ("推送", Verb::Push), ("提交", Verb::Commit),
        ("改", Verb::Change), ("改动", Verb::Change), ("改变", Verb::Change), ("改名", Verb::Rename), ("新增", Verb::Add),
        ("新建", Verb::Create), ("更改", Verb::Change), ("更新", Verb::Upgrade), ("格式化", Verb::Format), ("添加", Verb::Add),
        ("清空", Verb::Delete), ("生成", Verb::Create), ("用", Verb::Use), ("碰", Verb::Change), ("移动", Verb::Move),
        ("移除", Verb::Delete), ("编辑", Verb::Change), ("装", Verb::Install), ("覆盖", Verb::Change), ("调整", Verb::Change),
        ("跑", Verb::Run), ("运行", Verb::Run), ("部署", Verb::Deploy), ("重写", Verb::Change), ("重启", Verb::Run),
        ("重命名", Verb::Rename), ("重构", Verb::Refactor),
    ],
    function_words: &[],
    is_unspaced: true,
};
