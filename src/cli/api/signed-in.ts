// The token of `gitstead api`.
import type { Origin } from '../../access/actor.js'
import { createToken, revokeToken } from '../../areas/people/credentials/tokens.js'
import { requireUser } from '../../areas/people/users/users.queries.js'
import { BadParameters, Conflict } from '../../errors.js'
import { requireSendable } from '../appliance/remote-address.js'
import { tokenOfEnvironment } from '../dashboard/environment.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'
import { readFirstLine } from '../input/password.js'

const DAY = 86_400_000

export interface TokenFlags {
  readonly 'token-file'?: string
  readonly 'token-stdin'?: boolean
}

/** Returns the token from the flags or the environment. Throws BadParameters when there is none. */
export async function givenToken({ 'token-file': file, 'token-stdin': stdin }: TokenFlags): Promise<string> {
  const token = file !== undefined || stdin ? await readFirstLine('token', file) : tokenOfEnvironment()
  const text =
    token === undefined
      ? 'a token is required: use --token-file, --token-stdin or GITSTEAD_TOKEN, or --as USER on the machine of the appliance'
      : 'the token is empty'
  const found = token?.trim() ?? ''
  if (found === '') throw new BadParameters(text, text)
  requireSendable(found)
  return found
}

/**
 * Creates a token for a user, runs `work` with it, and revokes it afterwards. The audit names the operating system account that
 * runs the command. If this process is killed, the token expires within two days. Throws NoSuch, and Conflict for a blocked user.
 */
export async function withTokenOf<T>(name: string, work: (token: string) => Promise<T>): Promise<T> {
  return withDatabase(async () => {
    const user = await requireUser(name)
    if (user.state !== 'active') throw new Conflict(`user ${user.username} is blocked`)
    const origin: Origin = commandOrigin()
    const end = new Date(Date.now() + 2 * DAY).toISOString().slice(0, 10)
    const named = { name: `gitstead api, run by ${origin.name}`, expires_at: end }
    const { row, token } = await createToken(user, named, origin)
    try {
      return await work(token)
    } finally {
      await revokeToken(row.id, origin)
    }
  })
}
