// A link in a mail works once, because it contains a digest of what its use changes. The digest reveals nothing and is no secret.
import { createHash } from 'node:crypto'

export const proofOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)

/** The response to a link that has expired, was used, or was never valid. */
export const SPENT = 'This link does not work any more. Ask for a new one'
