// The models. A table has a model where people change its attributes one by one; all other tables are written by SQL alone.
// Of a table with a model, SQL writes only what people do not change: counters, times of the program, and the end of its
// rows.

// Whoever uses a model gets it bound to the database.
import '../sequelize.js'

export { BroadcastMessage } from './broadcast-message.js'
export { Hook } from './hook.js'
export { Namespace } from './namespace.js'
export { Project } from './project.js'
export { User } from './user.js'
