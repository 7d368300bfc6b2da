// The models and what ties them together.
import type { Sequelize } from 'sequelize'
import { AccessToken, defineAccessToken } from './access-token.js'
import { BroadcastMessage, defineBroadcastMessage } from './broadcast-message.js'
import { defineEmail, Email } from './email.js'
import { defineHook, Hook } from './hook.js'
import { defineMember, Member } from './member.js'
import { defineNamespace, Namespace } from './namespace.js'
import { defineProject, Project } from './project.js'
import { defineSshKey, SshKey } from './ssh-key.js'
import { defineIdentity, defineUser, Identity, User } from './user.js'

export { AccessToken, BroadcastMessage, Email, Hook, Identity, Member, Namespace, Project, SshKey, User }

/** Binds every model to this connection. */
export function defineModels(sequelize: Sequelize): void {
  defineUser(sequelize)
  defineIdentity(sequelize)
  defineAccessToken(sequelize)
  defineNamespace(sequelize)
  defineProject(sequelize)
  defineMember(sequelize)
  defineHook(sequelize)
  defineSshKey(sequelize)
  defineEmail(sequelize)
  defineBroadcastMessage(sequelize)
  Identity.belongsTo(User, { foreignKey: 'userId' })
  SshKey.belongsTo(User, { foreignKey: 'userId' })
  AccessToken.belongsTo(User, { foreignKey: 'userId' })
  Namespace.belongsTo(User, { as: 'owner', foreignKey: 'ownerId' })
  Project.belongsTo(Namespace, { as: 'namespace', foreignKey: 'namespaceId' })
  Project.belongsTo(User, { as: 'creator', foreignKey: 'creatorId' })
  Member.belongsTo(User, { foreignKey: 'userId' })
}
