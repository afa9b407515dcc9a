// One import for users: `import Lifeline`.
@_exported public import LifelineCore
@_exported public import LifelineJSON
@_exported public import LifelineRuntime
@_exported public import LifelineSockets
