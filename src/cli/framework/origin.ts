// Who runs a command, for the audit: the account of the operating system, because commands ask for no other name.
import { hostname, userInfo } from 'node:os'
import type { Origin } from '../../access/actor.js'

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
    // In a container a user id may have no account.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
