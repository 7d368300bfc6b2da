// Decides which network addresses an outgoing request may reach when a user chose the target. This file does not
// resolve host names: the code that connects resolves them first and checks the resulting address.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A block of addresses. A single address is a block with the longest prefix. */
export interface Range {
  readonly address: Address
  readonly bits: number
}

const GLOBAL_UNICAST = block('2000::/3')
const NAT64 = block('64:ff9b::/96')
/** This address looks public, but at a cloud provider it answers the machines that the provider hosts. */
const CLOUD_HOST = block('168.63.129.16')

/**
 * Parses single addresses and CIDR ranges, IPv4 and IPv6, such as `10.0.0.0/8`, `127.0.0.1` or `fd00::/8`. It ignores
 * the bits after the prefix. An IPv4-mapped range means the IPv4 range inside it. Throws an Error that names the first
 * text that is neither an address nor a range.
 */
export function parseRanges(texts: readonly string[]): Range[] {
  return texts.map(block)
}

/**
 * Returns true when a request to this address must be refused. It refuses every address that is not public unicast, and
 * every text that is not a plain address, unless `allow` contains the address. Mapped and NAT64 forms count as the IPv4
 * address inside them. Other tunnels (6to4, Teredo, IPv4-translated and -compatible) are refused whatever address they
 * contain, because nothing public has needed them for years.
 */
export function isForbiddenTarget(address: string, allow: readonly Range[]): boolean {
  if (isIP(address) === 0) return true
  const parsed = parse(address)
  const reached = reachedAddress(parsed)
  // A mapped address never goes over the wire as IPv6, so allowing ::/0 does not allow it.
  const candidates = isMapped(parsed) ? [reached] : [parsed, reached]
  if (allow.some(range => candidates.some(candidate => holds(range, candidate)))) return false
  return !isPublic(reached)
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || holds(CLOUD_HOST, address)) return false
  // The package classifies every IPv6 address that is not in its table as "unicast", including ::7f00:1
  // (IPv4-compatible) and unassigned blocks.
  return address.kind() === 'ipv4' || holds(GLOBAL_UNICAST, address)
}

/** Returns the address that finally answers: the IPv4 address inside mapped and NAT64 forms, otherwise the address itself. */
function reachedAddress(address: Address): Address {
  if (!isV6(address)) return address
  if (!isMapped(address) && !holds(NAT64, address)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

/** Returns true when one of the ranges contains the address. A text that is not an address is in no range. */
export function isWithin(ranges: readonly Range[], address: string): boolean {
  if (isIP(address) === 0) return false
  const reached = plain(parse(address))
  return ranges.some(range => holds(range, reached))
}

/** Returns the usual spelling of an address, or null when the text is not an address. Mapped addresses become IPv4. */
export const addressOf = (text: string): string | null => (isIP(text) === 0 ? null : plain(parse(text)).toString())

/**
 * Returns the network that usually belongs to one client: an IPv4 address, or the first 64 bits of an IPv6 address.
 * Returns other texts unchanged.
 */
export function networkOf(text: string): string {
  if (isIP(text) === 0) return text
  const address = plain(parse(text))
  return isV6(address)
    ? `${address.parts
        .slice(0, 4)
        .map(part => part.toString(16))
        .join(':')}::/64`
    : address.toString()
}

/**
 * Returns a network that one customer of a provider may have whole: the first 24 bits of an IPv4 address, the first 48 bits of an
 * IPv6 address. Returns other texts unchanged.
 */
export function wideNetworkOf(text: string): string {
  if (isIP(text) === 0) return text
  const address = plain(parse(text))
  return isV6(address) ? address.parts.slice(0, 3).join(':') : address.octets.slice(0, 3).join('.')
}

const plain = (address: Address): Address => (isMapped(address) ? address.toIPv4Address() : address)

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

/**
 * Parses one address. The package reads the IPv4-compatible ::8.8.8.8 as ::ffff:8.8.8.8, which is a different address,
 * so this function never passes dots in an IPv6 address.
 */
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
