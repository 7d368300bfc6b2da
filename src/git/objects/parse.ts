// Parses commits and tags as git stores them. Texts that anybody may push have a limit here, so that lists of commits,
// builds and pipelines, payloads, and the environment of builds stay small whatever a repository contains.
import { momentOfSeconds } from '../../lib/moment.js'
import type { ObjectType } from './reader.js'

export interface Commit {
  readonly id: string
  readonly treeId: string
  readonly parentIds: readonly string[]
  readonly authorName: string
  readonly authorEmail: string
  readonly authoredDate: Date
  readonly committerName: string
  readonly committerEmail: string
  readonly committedDate: Date
  /** The stored text, with its final newline if it has one. For a long message, its beginning and a note with its full length. */
  readonly message: string
  /** True when `message` is only the beginning of the stored message. */
  readonly messageIsCut: boolean
}

export interface Tag {
  readonly id: string
  readonly name: string
  readonly targetId: string
  readonly targetType: ObjectType
  readonly taggerName: string
  readonly taggerEmail: string
  readonly taggedDate: Date
  readonly message: string
  readonly messageIsCut: boolean
}

/** The maximum number of bytes of a message that are kept. The longest message in the history of Linux has 30 KB. */
export const MESSAGE_LIMIT = 32_768
/** The maximum number of characters of a name or an address that are kept. */
export const PERSON_LIMIT = 255

interface Fields {
  readonly all: readonly (readonly [string, string])[]
  readonly first: (key: string) => string
  readonly message: string
  readonly messageIsCut: boolean
}

/** Parses the header fields and the message. `size` is the size of the whole object; `content` may be only its beginning. */
function parseFields(content: Buffer, size: number): Fields {
  const end = content.indexOf('\n\n')
  const head = content.subarray(0, end === -1 ? content.length : end)
  const encoding = /^encoding (.+)$/m.exec(head.toString('latin1'))?.[1]
  const all: [string, string][] = []
  for (const line of decode(head, encoding).split('\n')) {
    if (line.startsWith(' ')) continue // another line of a signature
    const space = line.indexOf(' ')
    if (space > 0) all.push([line.slice(0, space), line.slice(space + 1)])
  }
  const first = (key: string) => all.find(([name]) => name === key)?.[1] ?? ''
  const length = end === -1 ? 0 : size - end - 2
  const message = end === -1 ? '' : messageOf(content.subarray(end + 2), length, encoding)
  return { all, first, message, messageIsCut: length > MESSAGE_LIMIT }
}

function messageOf(bytes: Buffer, length: number, encoding: string | undefined): string {
  if (length <= MESSAGE_LIMIT) return decode(bytes, encoding)
  // A character that is cut in half would become U+FFFD.
  let end = MESSAGE_LIMIT
  if (encoding === undefined) while (end > MESSAGE_LIMIT - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${decode(bytes.subarray(0, end), encoding)}\n\n[shortened: the whole message has ${length} bytes]\n`
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  if (encoding === undefined) return bytes.toString()
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    return bytes.toString() // an unknown encoding
  }
}

/** Parses a line without a regular expression, because a line of a megabyte would keep a regular expression busy for minutes. */
function parsePerson(line: string): { name: string; email: string; date: Date } {
  const open = line.indexOf('<')
  const close = line.indexOf('>', open)
  if (open === -1 || close === -1) return { name: short(line), email: '', date: momentOfSeconds(0) }
  const [, seconds = '0'] = /^ (-?\d+)/.exec(line.slice(close + 1)) ?? []
  return {
    name: short(line.slice(0, open).replace(/ $/, '')),
    email: short(line.slice(open + 1, close)),
    date: momentOfSeconds(Number(seconds))
  }
}

/** Returns the beginning of a text, without half a surrogate pair at its end. */
const short = (text: string) =>
  text.length > PERSON_LIMIT ? text.slice(0, PERSON_LIMIT).replace(/[\ud800-\udbff]$/, '') : text

/** Parses a raw commit. `size` is the size of the whole commit, and `content` may be only its beginning. */
export function parseCommit(id: string, content: Buffer, size = content.length): Commit {
  const { all, first, message, messageIsCut } = parseFields(content, size)
  const author = parsePerson(first('author'))
  const committer = parsePerson(first('committer'))
  return {
    id,
    treeId: first('tree'),
    parentIds: all.filter(([key]) => key === 'parent').map(([, value]) => value),
    authorName: author.name,
    authorEmail: author.email,
    authoredDate: author.date,
    committerName: committer.name,
    committerEmail: committer.email,
    committedDate: committer.date,
    message,
    messageIsCut
  }
}

/** Parses a raw annotated tag. Some old tags have no tagger: their tagger fields are empty and their date is in 1970. */
export function parseTag(id: string, content: Buffer, size = content.length): Tag {
  const { first, message, messageIsCut } = parseFields(content, size)
  const tagger = parsePerson(first('tagger'))
  return {
    id,
    name: first('tag'),
    targetId: first('object'),
    targetType: first('type') as ObjectType,
    taggerName: tagger.name,
    taggerEmail: tagger.email,
    taggedDate: tagger.date,
    message,
    messageIsCut
  }
}
