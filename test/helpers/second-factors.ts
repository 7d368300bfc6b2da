// Users with second factors, made by the rules of the product, and what they enter.
import { generateSync } from 'otplib'
import { originOf } from '../../src/access/actor.js'
import { addApp, newApp } from '../../src/areas/people/factors/authenticator-app.js'
import { execute } from '../../src/db/connect/sql.js'
import { actorOf, type TestUser } from './factory.js'

/** An authenticator app. */
export interface GivenApp {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

/** The code that an app shows; `steps` of 30 seconds later. */
export const codeOf = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 })

/** Sets up an authenticator app for a user, from which no code was used yet. */
export async function giveApp(user: TestUser): Promise<GivenApp> {
  const { secret } = await newApp(user, 'localhost')
  const recoveryCodes = await addApp(user, { secret, code: codeOf(secret) }, originOf(actorOf(user), '127.0.0.1'))
  await forgetCodes(user)
  return { secret, recoveryCodes }
}

/** Lets the current code of an app be used again, in place of waiting for the next one. */
export const forgetCodes = (user: TestUser) =>
  execute('update authenticator_apps set last_step = 0 where user_id = ?', [user.id])
