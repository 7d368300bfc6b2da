// Versions of texts that people edit: a change of a text that somebody else has changed in the meantime must not overwrite it.
import { createHash } from 'node:crypto'
import { Stale } from '../errors.js'

/** Returns the version of texts. Equal texts have the same version. */
export const versionOf = (...texts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22)

/** Throws Stale unless the texts have the version that the caller has read; undefined stands for any version. */
export function requireVersion(version: string | undefined, ...texts: readonly (string | null)[]): void {
  if (version !== undefined && version !== versionOf(...texts)) throw new Stale()
}
