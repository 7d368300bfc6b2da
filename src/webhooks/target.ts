// Keeps hooks away from private networks. The check is part of the lookup for the connection itself, so a name cannot
// resolve to one address for the check and to another for the request.
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { isForbiddenTarget, parseRanges, type Range } from '../lib/address.js'
import { Limiter } from '../lib/limiter.js'

/** Hooks may not reach the address of the receiver. */
export class RefusedTarget extends Error {
  override name = 'RefusedTarget'

  constructor(readonly address: string) {
    super(`hooks may not reach the address ${address}: list it in hooks.allow to allow it`)
  }
}

const parsed = new WeakMap<readonly string[], readonly Range[]>()

/** The ranges of `hooks.allow`. Throws Misconfigured when one of the texts is not a range. */
export function allowedRanges(): readonly Range[] {
  const texts = config().hooks.allow
  const known = parsed.get(texts)
  if (known) return known
  try {
    const ranges = parseRanges(texts)
    parsed.set(texts, ranges)
    return ranges
  } catch (error) {
    throw new Misconfigured(`configuration: hooks.allow: ${error instanceof Error ? error.message : error}`)
  }
}

/** Throws RefusedTarget when the host is itself a refused address: connections to an address need no lookup. */
export function checkLiteral(host: string, allow: readonly Range[]): void {
  if (isIP(host) !== 0 && isForbiddenTarget(host, allow)) throw new RefusedTarget(host)
}

/**
 * A `lookup` function for a connection. It returns only the permitted addresses of a name, and fails with RefusedTarget
 * when the name has no such address. `signal` ends the wait for a free place, but not a lookup that has begun.
 */
export function checkedLookup(allow: readonly Range[], signal: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, signal).then(
      found => {
        const permitted = found.filter(({ address }) => !isForbiddenTarget(address, allow))
        const first = permitted[0]
        if (!first) return callback(new RefusedTarget(found[0]?.address ?? hostname), [])
        if (options.all) return callback(null, permitted)
        return callback(null, first.address, first.family)
      },
      error => callback(error, [])
    )
  }
}

// getaddrinfo blocks one of the four threads that also serve the file system, for as long as the name server takes, and
// cannot be canceled. So lookups use at most two threads: slow name servers, hostile or broken, cannot block the rest.
const lookups = new Limiter({ capacity: 2 })

type Options = Parameters<LookupFunction>[1] & { readonly all: true }

const resolveName = (hostname: string, options: Options, signal: AbortSignal): Promise<LookupAddress[]> =>
  lookups.run(
    { signal },
    () =>
      new Promise((resolve, reject) => {
        lookup(hostname, options, (error, found) => (error ? reject(error) : resolve(found)))
      })
  )
