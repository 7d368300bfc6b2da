// Limits what anonymous visitors may request on pages: sign-ups and mails. All server processes count together, in the database.
import { noteWrong, readAttempts } from './login-throttle.queries.js'

export interface TryLimit {
  /** What is counted, such as `sign-ups from an address`. */
  readonly what: string
  readonly most: number
  /** A window begins with its first request; later ones do not extend it. */
  readonly seconds: number
}

/** Counts a request for a key. Returns the seconds until the next one is allowed; 0 when this one is allowed. */
export async function countTry({ what, most, seconds }: TryLimit, key: string): Promise<number> {
  const name = `${what}: ${key}`
  // Counting comes first: of many concurrent requests, only the allowed number sees a count within the limit.
  await noteWrong([{ key: name, until: new Date(Date.now() + seconds * 1000) }])
  const [known] = await readAttempts([name])
  if (!known || known.wrong <= most) return 0
  return Math.max(1, Math.ceil((known.until.getTime() - Date.now()) / 1000))
}
