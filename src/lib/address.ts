// Which network addresses an outgoing request of a user's making may reach. Names are not looked at here: whoever
// connects resolves them first and asks about the result.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A block of addresses; a single address is one of full length. */
export interface Range {
  readonly address: Address
  readonly bits: number
}

const globalUnicast = block('2000::/3')
const nat64 = block('64:ff9b::/96')
/** Public by its number, and yet the address where a cloud answers the machines that it hosts. */
const cloudHost = block('168.63.129.16')

/**
 * Reads single addresses and CIDR ranges, IPv4 and IPv6, such as `10.0.0.0/8`, `127.0.0.1` or `fd00::/8`. Bits behind
 * the prefix are ignored. An IPv4-mapped range means the IPv4 range inside. Throws an Error that names the first text
 * that is neither.
 */
export function parseRanges(texts: readonly string[]): Range[] {
  return texts.map(block)
}

/**
 * Whether a request to this address must be refused: everything that is not public unicast, and everything that is not
 * the plain spelling of an address, unless `allow` holds it. Mapped and NAT64 forms count as the IPv4 address inside.
 * Other tunnels (6to4, Teredo, IPv4-translated and -compatible) are refused whatever they hold, as nothing public has
 * needed them for years.
 */
export function isForbiddenTarget(address: string, allow: Range[]): boolean {
  if (isIP(address) === 0) return true
  const parsed = parse(address)
  const reached = reachedAddress(parsed)
  // A mapped address is never one of IPv6 on the wire, so allowing ::/0 does not allow it.
  const candidates = isMapped(parsed) ? [reached] : [parsed, reached]
  if (allow.some(range => candidates.some(candidate => holds(range, candidate)))) return false
  return !isPublic(reached)
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || holds(cloudHost, address)) return false
  // IPv6 "unicast" of the package is the rest of its table, IPv4-compatible ::7f00:1 and unassigned space included.
  return address.kind() === 'ipv4' || holds(globalUnicast, address)
}

/** The address that answers in the end: the IPv4 one for mapped and NAT64 forms, else the same. */
function reachedAddress(address: Address): Address {
  if (!isV6(address)) return address
  if (!isMapped(address) && !holds(nat64, address)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

function holds(range: Range, address: Address): boolean {
  return range.address.kind() === address.kind() && address.match(range.address, range.bits)
}

function block(text: string): Range {
  const [plain = '', prefix, ...rest] = text.trim().split('/')
  const family = plain.includes('%') ? 0 : isIP(plain)
  const longest = family === 4 ? 32 : 128
  const bits = prefix === undefined ? longest : Number(prefix)
  const sound = prefix === undefined || (/^\d{1,3}$/.test(prefix) && bits <= longest)
  if (family === 0 || rest.length > 0 || !sound) {
    throw new Error(`${JSON.stringify(text)} is not an address or a range such as 10.0.0.0/8 or fd00::/8`)
  }
  const address = parse(plain)
  if (!isMapped(address) || bits < 96) return { address, bits }
  return { address: address.toIPv4Address(), bits: bits - 96 }
}

/** The package reads the IPv4-compatible ::8.8.8.8 as ::ffff:8.8.8.8, which is another address; so no dots for it. */
function parse(address: string): Address {
  if (isIP(address) === 4 || !address.includes('.')) return ipaddr.parse(address)
  const [plain = '', zone] = address.split('%')
  const hexadecimal = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  return ipaddr.parse(zone === undefined ? hexadecimal : `${hexadecimal}%${zone}`)
}

function isV6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}

function isMapped(address: Address): address is ipaddr.IPv6 {
  return isV6(address) && address.isIPv4MappedAddress()
}
