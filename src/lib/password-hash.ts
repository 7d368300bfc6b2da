import { hash, verify } from '@node-rs/argon2'

// argon2id with 19 MiB and 2 passes: 18 ms of one core, in the thread pool.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Somebody who asks for a user that does not exist must wait as long as for a wrong password.
let decoy: Promise<string> | undefined

export const hashPassword = (password: string): Promise<string> => hash(password, COST)

/** Whether the password fits; takes the same time where there is no user (`stored` undefined). */
export async function passwordFits(stored: string | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword('no password of anybody')
  const fits = await verify(stored ?? (await decoy), password).catch(() => false)
  return stored !== undefined && fits
}
