// Reads a person from an entry. Values of a directory may be missing, several, binary or far too long.
import type { Entry } from 'ldapts'
import type { Directory } from './directory.js'
import { sameDn } from './dn.js'

export interface DirectoryPerson {
  readonly dn: string
  /** The id that stays when the person gets another name; the DN if the entry has none. */
  readonly uid: string
  readonly username: string
  readonly name: string
  /** Null when the entry has no address. */
  readonly email: string | null
  /** The directory has switched the account off. */
  readonly disabled: boolean
  /** The groups that the entry itself names; null when it does not name them, or not all of them. */
  readonly memberOf: readonly string[] | null
  /** Null when the configuration names no attribute with SSH keys. */
  readonly sshKeys: readonly string[] | null
}

/** What an entry may say about the state of an account, in Active Directory, OpenLDAP, 389 and with shadow passwords. */
const STATES = [
  'userAccountControl',
  'accountExpires',
  'pwdAccountLockedTime',
  'nsAccountLock',
  'shadowExpire'
] as const

/** The longest value that an account can have. */
const LONGEST = 255
/** The id of a person in the database. */
const LONGEST_ID = 255

/** Returns the attributes to read. */
export function attributesOf({ attributes }: Directory): string[] {
  const { id, username, name, email, member_of, ssh_keys } = attributes
  const more = [member_of, ssh_keys].filter(name => name !== null)
  return [...new Set([id, username, name, email, ...more, ...STATES])]
}

/** Returns the person of an entry, or a text that says why it is the entry of no person. */
export function personOf(entry: Entry, { attributes }: Directory): DirectoryPerson | string {
  const username = first(entry, attributes.username)
  if (username === null) return `it has no ${attributes.username}`
  const uid = idOf(entry, attributes.id)
  if (uid.length > LONGEST_ID) return `its ${attributes.id} has more than ${LONGEST_ID} characters`
  return {
    dn: entry.dn,
    uid,
    username,
    name: first(entry, attributes.name) ?? username,
    email: first(entry, attributes.email),
    disabled: isDisabled(entry),
    memberOf: attributes.member_of === null ? null : groupsIn(entry, attributes.member_of),
    sshKeys: attributes.ssh_keys === null ? null : keysIn(entry, attributes.ssh_keys)
  }
}

type Value = Buffer | string

/** So many keys of a person are read. */
const MOST_KEYS = 100

const keysIn = (entry: Entry, attribute: string): string[] =>
  valuesOf(entry, attribute)
    .slice(0, MOST_KEYS)
    .map(value => (typeof value === 'string' ? value : value.toString('latin1')))

/** Returns the values of an attribute, in any case. */
export function valuesOf(entry: Entry, attribute: string): Value[] {
  const wanted = attribute.toLowerCase()
  const key = Object.keys(entry).find(name => name.toLowerCase() === wanted)
  const found = key === undefined ? [] : entry[key]
  return Array.isArray(found) ? [...found] : found === undefined ? [] : [found]
}

/** Returns the first value on one line, cut to the length that an account can have; null when there is none. */
function first(entry: Entry, attribute: string): string | null {
  const value = valuesOf(entry, attribute).find(found => typeof found === 'string')
  if (typeof value !== 'string') return null
  const text = [
    ...value
      .slice(0, 4 * LONGEST)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
  ]
    .slice(0, LONGEST)
    .join('')
  return text === '' ? null : text
}

/** The attribute of Active Directory has 16 bytes, of which the first groups are in reverse order. */
const GUID = 'objectguid'

function idOf(entry: Entry, attribute: string): string {
  const [value] = valuesOf(entry, attribute)
  if (value === undefined || value.length === 0) return sameDn(entry.dn)
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value)
  if (attribute.toLowerCase() === GUID && bytes.length === 16) return guidOf(bytes)
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text).equals(bytes) && !/\p{Cc}/u.test(text)
  return isText ? text : bytes.toString('hex')
}

function guidOf(bytes: Buffer): string {
  const hex = (start: number, end: number) => bytes.subarray(start, end).toString('hex')
  const turned = (start: number, end: number) => Buffer.from(bytes.subarray(start, end)).reverse().toString('hex')
  return [turned(0, 4), turned(4, 6), turned(6, 8), hex(8, 10), hex(10, 16)].join('-')
}

/** Returns the values of the attribute that this id may stand for. */
export function idValues(uid: string, attribute: string): Buffer[] {
  const hex = uid.replaceAll('-', '')
  if (attribute.toLowerCase() === GUID && /^[0-9a-f]{32}$/.test(hex)) {
    const bytes = Buffer.from(hex, 'hex')
    bytes.subarray(0, 4).reverse()
    bytes.subarray(4, 6).reverse()
    bytes.subarray(6, 8).reverse()
    return [bytes]
  }
  return [Buffer.from(uid), ...(/^([0-9a-f]{2})+$/.test(uid) ? [Buffer.from(uid, 'hex')] : [])]
}

/** Active Directory puts only 1,500 values into an attribute and says so in its name: memberOf;range=0-1499. */
function groupsIn(entry: Entry, attribute: string): string[] | null {
  const prefix = `${attribute.toLowerCase()};range=`
  if (Object.keys(entry).some(name => name.toLowerCase().startsWith(prefix))) return null
  return valuesOf(entry, attribute).filter(value => typeof value === 'string')
}

const ACCOUNT_DISABLED = 2
/** 100 nanoseconds since 1601 at the beginning of 1970. */
const UNIX_EPOCH = 116_444_736_000_000_000n
/** OpenLDAP has this time for an account that is locked until an administrator unlocks it. */
const LOCKED_FOR_GOOD = '000001010000Z'

function isDisabled(entry: Entry): boolean {
  const text = (name: (typeof STATES)[number]) => first(entry, name) ?? ''
  if (Number(text('userAccountControl')) & ACCOUNT_DISABLED) return true
  if (text('pwdAccountLockedTime') === LOCKED_FOR_GOOD || text('nsAccountLock').toLowerCase() === 'true') return true
  const expires = text('accountExpires')
  if (/^[1-9]\d{0,17}$/.test(expires) && millisecondsOf(BigInt(expires)) < Date.now()) return true
  const days = text('shadowExpire')
  return /^\d{1,6}$/.test(days) && Number(days) * 86_400_000 <= Date.now()
}

const millisecondsOf = (ticks: bigint) => Number((ticks - UNIX_EPOCH) / 10_000n)
