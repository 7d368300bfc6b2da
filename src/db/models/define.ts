// Defines all models and their associations. Only `sequelize.ts` calls this.
import type { Sequelize } from 'sequelize'
import { defineBroadcastMessage } from './broadcast-message.js'
import { defineHook } from './hook.js'
import { defineNamespace, Namespace } from './namespace.js'
import { defineProject, Project } from './project.js'
import { defineUser, User } from './user.js'

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
