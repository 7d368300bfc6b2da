// Finds the address of a client. A proxy in front of the server sends it in X-Forwarded-For. Clients could send anything
// there, so the server trusts only the proxies of the configuration.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PASSED_ON, passedOnFor } from '../cluster/peers.js'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { addressOf, isWithin, networkOf, parseRanges } from '../lib/address.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client. Use it instead of `ip`, which may be any text. */
    readonly address: string
  }
}

/**
 * Returns the function with which Fastify checks each address on the way of a request. Throws Misconfigured when one of
 * `trusted_proxies` is not a range.
 */
export function trustedProxy(): (address: string) => boolean {
  try {
    const ranges = parseRanges(config().trusted_proxies)
    return address => isWithin(ranges, address)
  } catch (error) {
    throw new Misconfigured(`configuration: trusted_proxies: ${error instanceof Error ? error.message : error}`)
  }
}

/** Adds `address` to requests. A text that is not an address counts as the address of the proxy that sent it. */
export function knowAddresses(app: FastifyInstance): void {
  app.decorateRequest('address', {
    getter() {
      const passedOn = passedOnFor(this.raw)
      if (passedOn !== undefined) return passedOn
      const socket = this.socket.remoteAddress ?? ''
      return addressOf(this.ip ?? '') ?? addressOf(socket) ?? socket
    }
  })
}

/** Returns the client that a request counts for: its address, or the first half of an IPv6 address, which belongs to one client. */
export function clientOf(request: FastifyRequest): string {
  // Without a header of a proxy, this is the address of the connection: `address` would look up the trusted ranges needlessly.
  const isDirect = request.headers['x-forwarded-for'] === undefined && request.headers[PASSED_ON] === undefined
  const address = (isDirect ? request.raw.socket.remoteAddress : request.address) ?? ''
  return address.includes(':') ? networkOf(address) : address
}
