// Writes the list of refs as `git upload-pack --advertise-refs`, `git receive-pack --advertise-refs` and the command
// ls-refs of protocol version 2 do. A git process takes 5 ms of processor time just to start.

import type { ListedRef, RefList } from '../refs/list.js'
import { FLUSH } from './pkt-line.js'

const ZERO = '0'.repeat(40)
/** The bytes of one piece of an answer: the server does other work between two pieces. */
const PIECE = 64 * 1024

/** Joins lines into pieces of a stream. */
function* pieces(lines: Iterable<string>): Generator<Buffer> {
  let text = ''
  for (const line of lines) {
    text += frame(line)
    if (text.length < PIECE) continue
    yield Buffer.from(text, 'latin1')
    text = ''
  }
  yield Buffer.concat([Buffer.from(text, 'latin1'), FLUSH])
}

const frame = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line

function* lines(first: string[], refs: Iterable<readonly [id: string, name: string]>, capabilities: string) {
  yield* first
  let offered = `\0${capabilities}`
  for (const [id, name] of refs) {
    yield `${id} ${name}${offered}\n`
    offered = ''
  }
}

function* withPeeled(refs: Iterable<ListedRef>): Generator<readonly [string, string]> {
  for (const { id, name, peeled } of refs) {
    yield [id, name]
    if (peeled !== null) yield [peeled, `${name}^{}`]
  }
}

/** Returns the advertisement of upload-pack in version 0 or 1. `capabilities` are those of git, without the name of HEAD. */
export function fetchAdvertisement({ refs, head }: RefList, version: 0 | 1, capabilities: string): Iterable<Buffer> {
  const all = head.ref ? [head.ref, ...refs] : refs
  const symref = head.ref && head.target !== null ? ` symref=HEAD:${head.target}` : ''
  // Git writes the name of HEAD at this place.
  const offered = capabilities.replace(/(?= filter\b)|(?= object-format=)/, symref)
  return pieces(lines(version === 1 ? ['version 1\n'] : [], withPeeled(all), offered))
}

/** Returns the advertisement of receive-pack. */
export function pushAdvertisement({ refs }: RefList, capabilities: string): Iterable<Buffer> {
  const all = refs.length === 0 ? [[ZERO, 'capabilities^{}'] as const] : refs.map(({ id, name }) => [id, name] as const)
  return pieces(lines([], all, capabilities))
}

/** Returns the capabilities in an advertisement of version 0 or 1, without the name of HEAD; null when it has none. */
export function capabilitiesIn(advertisement: Buffer): string | null {
  const found = /^[^\0]*\0([^\n]*)\n/.exec(advertisement.toString('latin1'))?.[1]
  return found?.replace(/ symref=\S+/g, '') ?? null
}

export interface LsRefs {
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  readonly prefixes: readonly string[]
}

const DELIMITER = '0001'
/** Every ref is compared with every prefix. A client usually sends about ten; git itself answers requests with more. */
const MOST_PREFIXES = 64

/** Parses the request for the command ls-refs. Returns null for any other request, and for a request that git must check. */
export function parseLsRefs(body: Buffer): LsRefs | null {
  const text = body.toString('latin1')
  const lines: string[] = []
  let delimiter = -1
  for (let at = 0; ; ) {
    const size = text.slice(at, at + 4)
    if (size === '0000') {
      if (at + 4 !== text.length) return null
      break
    }
    if (size === DELIMITER && delimiter === -1) {
      delimiter = lines.length
      at += 4
      continue
    }
    const length = /^[0-9a-f]{4}$/.test(size) ? Number.parseInt(size, 16) : 0
    if (length < 5 || at + length > text.length) return null
    lines.push(text.slice(at + 4, at + length).replace(/\n$/, ''))
    at += length
  }
  const capabilities = delimiter === -1 ? lines : lines.slice(0, delimiter)
  if (capabilities[0] !== 'command=ls-refs') return null
  if (!capabilities.slice(1).every(line => /^agent=[\x21-\x7e]*$|^object-format=sha1$/.test(line))) return null
  const asked = delimiter === -1 ? [] : lines.slice(delimiter)
  if (!asked.every(line => /^(?:peel|symrefs|unborn|ref-prefix .+)$/.test(line))) return null
  const prefixes = asked.filter(line => line.startsWith('ref-prefix ')).map(line => line.slice('ref-prefix '.length))
  if (prefixes.length > MOST_PREFIXES) return null
  return {
    peel: asked.includes('peel'),
    symrefs: asked.includes('symrefs'),
    unborn: asked.includes('unborn'),
    prefixes
  }
}

/** Returns the answer to ls-refs. */
export function lsRefsAnswer(list: RefList, asked: LsRefs): Iterable<Buffer> {
  return pieces(lsRefsLines(list, asked))
}

function* lsRefsLines({ refs, head }: RefList, { peel, symrefs, unborn, prefixes }: LsRefs): Generator<string> {
  const isAsked = (name: string) => prefixes.length === 0 || prefixes.some(prefix => name.startsWith(prefix))
  const peeledOf = ({ peeled }: ListedRef) => (peel && peeled !== null ? ` peeled:${peeled}` : '')
  if (isAsked('HEAD')) {
    const target = symrefs && head.target !== null ? ` symref-target:${head.target}` : ''
    if (head.ref) yield `${head.ref.id} HEAD${target}${peeledOf(head.ref)}\n`
    else if (unborn && target !== '') yield `unborn HEAD${target}\n`
  }
  for (const ref of refs) if (isAsked(ref.name)) yield `${ref.id} ${ref.name}${peeledOf(ref)}\n`
}
