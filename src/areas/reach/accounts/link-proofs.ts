// What makes a link of a mail work once: a digest of what its use changes. It says nothing about that, and is no secret.
import { createHash } from 'node:crypto'

export const proofOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)

/** The answer to a link that has ended, was used, or was never ours. */
export const SPENT = 'This link does not work any more. Ask for a new one'
