// Keeps hooks away from private networks. The addresses are checked in the lookup of the connection itself, so a name
// cannot resolve to one address for the check and to another for the request.
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { isForbiddenTarget, parseRanges, type Range } from '../lib/address.js'

/** The address of a hook's receiver is one that hooks may not reach. */
export class RefusedTarget extends Error {
  override name = 'RefusedTarget'

  constructor(readonly address: string) {
    super(`the address ${address} is in a refused range; list it in hooks.allow`)
  }
}

const parsed = new WeakMap<readonly string[], Range[]>()

/** The ranges of `hooks.allow`. Throws Misconfigured when one of them is none. */
export function allowedRanges(): Range[] {
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

/** Throws RefusedTarget for a host that is a refused address itself, as such hosts are connected to without a lookup. */
export function checkLiteral(host: string, allow: Range[]): void {
  if (isIP(host) !== 0 && isForbiddenTarget(host, allow)) throw new RefusedTarget(host)
}

/**
 * A `lookup` for a connection that gives only permitted addresses of a name, and RefusedTarget when it has no other.
 * `signal` ends the wait for a free place, not a question already asked.
 */
export function checkedLookup(allow: Range[], signal: AbortSignal): LookupFunction {
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

// getaddrinfo blocks one of the four threads that also serve the file system, for as long as a name server likes, and
// cannot be called off. So names whose servers are slow by intent or by fault get two threads at the most.
const places = 2
const waiting: (() => void)[] = []
let busy = 0

type Options = Parameters<LookupFunction>[1] & { all: true }

async function resolveName(hostname: string, options: Options, signal: AbortSignal): Promise<LookupAddress[]> {
  if (busy >= places) await new Promise<void>(resolve => waiting.push(resolve))
  else busy++
  try {
    signal.throwIfAborted()
    return await new Promise((resolve, reject) => {
      lookup(hostname, options, (error, found) => (error ? reject(error) : resolve(found)))
    })
  } finally {
    // The place goes from hand to hand, so `busy` changes only when nobody waits.
    const next = waiting.shift()
    if (next) next()
    else busy--
  }
}
