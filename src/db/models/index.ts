// The models. A table has a model where people change its attributes one by one; only SQL writes all other tables. In a table
// with a model, SQL writes only columns that people do not change, such as counters and times of the program, and deletes rows.

import { bindModels } from '../connect/sequelize.js'
import { defineModels } from './define.js'

export { BroadcastMessage } from './broadcast-message.js'
export { Hook } from './hook.js'
export { Namespace } from './namespace.js'
export { Project } from './project.js'
export { User } from './user.js'

bindModels(defineModels)
