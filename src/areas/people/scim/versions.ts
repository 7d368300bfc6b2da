// Versions of resources (RFC 7644, 3.14). They are weak: equal versions mean equal attributes, not equal bytes.
import type { Origin } from '../../../access/actor.js'
import { Failure } from '../../../errors.js'

/** Who changes a resource. With `match`, the header If-Match, only one with this version is changed. */
export interface Change {
  readonly origin: Origin
  readonly match: string | undefined
}

/** The resource has another version than the request expects. */
export class OtherVersion extends Failure {
  constructor() {
    super('The resource has changed: read it again')
  }
}

export const tagOf = (version: string): string => `W/"${version}"`

/** Throws OtherVersion. Call it after the row is locked. */
export function requireVersion({ match }: Change, version: string): void {
  if (match === undefined || match.trim() === '*') return
  if (![...match.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === version)) throw new OtherVersion()
}
