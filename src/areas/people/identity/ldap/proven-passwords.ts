// A git client sends the password with every request, and a fetch has several. For a minute, the appliance remembers what the
// directory has said: a directory answers a few hundred binds per second, and many lock an account after a few wrong ones.
import { createHmac, randomBytes } from 'node:crypto'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { lruOf } from '../../../../lib/lru.js'

/** Milliseconds for which an old password still works for git after a new one was set in the directory. */
const REMEMBERED_MS = 60_000
const MOST = 10_000

/** Only this process knows the key, so the memory has nothing with which a password could be guessed elsewhere. */
const key = randomBytes(32)

/** The identity that a password has proven, or false for a wrong one. */
export type Answer = { readonly directory: string; readonly externUid: string } | false

const remembered = lruOf<string, Answer>(MOST, { ttl: REMEMBERED_MS })
forgetWithPool(() => remembered.clear())

const nameOf = (login: string, password: string) =>
  createHmac('sha256', key)
    .update(JSON.stringify([login, password]))
    .digest('base64')

export const recall = (login: string, password: string): Answer | undefined => remembered.get(nameOf(login, password))

export function remember(login: string, password: string, answer: Answer): void {
  remembered.set(nameOf(login, password), answer)
}
