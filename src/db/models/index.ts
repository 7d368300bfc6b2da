// The models. A table has a model where people change its attributes one by one; all other tables are written by SQL alone.
// Of a table with a model, SQL writes only what people do not change: counters, times of the program, and the end of its
// rows.

import { bindModels } from '../connect/sequelize.js'
import { defineModels } from './define.js'

export { BroadcastMessage } from './broadcast-message.js'
export { Hook } from './hook.js'
export { Namespace } from './namespace.js'
export { Project } from './project.js'
export { User } from './user.js'

bindModels(defineModels)
