import { config } from '../../../../config.js'
import type { Task } from '../../../../queue/task.js'

export const ldapSync: Task = {
  name: 'ldap_sync',
  schedule: '41 * * * *',
  about: 'brings the accounts of people from directories up to date, and blocks those who have left',
  run: async context => {
    if (Object.keys(config().identity.ldap).length === 0) return undefined
    // Loaded here: the client for directories takes 50 ms, and every command that knows the tasks would load it.
    const { synchronize } = await import('./sync.js')
    return synchronize(context)
  }
}
