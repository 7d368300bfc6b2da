// The models, and what ties them together. A table has a model where people change its attributes one by one; all other
// tables are written by SQL alone. Of a table with a model, SQL writes only what people do not change: counters, times of
// the program, and the end of its rows.
import type { Sequelize } from 'sequelize'
import { BroadcastMessage, defineBroadcastMessage } from './broadcast-message.js'
import { defineHook, Hook } from './hook.js'
import { defineNamespace, Namespace } from './namespace.js'
import { defineProject, Project } from './project.js'
import { defineUser, User } from './user.js'

export { BroadcastMessage, Hook, Namespace, Project, User }

/** Binds every model to this connection. */
export function defineModels(sequelize: Sequelize): void {
  defineUser(sequelize)
  defineNamespace(sequelize)
  defineProject(sequelize)
  defineHook(sequelize)
  defineBroadcastMessage(sequelize)
  Namespace.belongsTo(User, { as: 'owner', foreignKey: 'ownerId' })
  Project.belongsTo(Namespace, { as: 'namespace', foreignKey: 'namespaceId' })
  Project.belongsTo(User, { as: 'creator', foreignKey: 'creatorId' })
}
