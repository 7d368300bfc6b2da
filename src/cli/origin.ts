// Who runs a command, for the audit: the account of the system, as commands ask for no other.
import { hostname, userInfo } from 'node:os'
import type { Origin } from '../access/actor.js'

export const commandOrigin = (): Origin => ({
  user: null,
  asker: null,
  name: accountName(),
  actingAs: null,
  via: 'command',
  address: hostname().slice(0, 64)
})

function accountName(): string {
  try {
    return userInfo().username
  } catch {
    // An id without an account, as containers have.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
