// Parses commits, trees and tags as git stores them. The cache keeps the parsed objects.
import { remember } from './cache.js'
import { type ObjectType, readObject } from './reader.js'

export interface TreeEntry {
  /** Six digits, such as 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (tree). */
  readonly mode: string
  /** U+FFFD stands for bytes that are not UTF-8. */
  readonly name: string
  readonly type: 'tree' | 'blob' | 'commit'
  readonly id: string
}

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
  /** The stored text, with its final newline if it has one. */
  readonly message: string
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
}

/**
 * Returns the entries of a raw tree, in git's order. The `encoding` latin1 keeps every byte of a name. Throws when the
 * tree is incomplete.
 */
export function parseTree(content: Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at)
    const end = content.indexOf(0, space)
    if (space === -1 || end === -1 || end + 21 > content.length) throw new Error('a tree is incomplete')
    const mode = content.toString('latin1', at, space).padStart(6, '0')
    const name = content.toString(encoding, space + 1, end)
    entries.push({ mode, name, type: typeOf(mode), id: content.toString('hex', end + 1, end + 21) })
    at = end + 21
  }
  return entries
}

function typeOf(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

interface Fields {
  readonly all: readonly (readonly [string, string])[]
  readonly first: (key: string) => string
  readonly message: string
}

function parseFields(content: Buffer): Fields {
  const end = content.indexOf('\n\n')
  const head = content.subarray(0, end === -1 ? content.length : end)
  const raw = end === -1 ? Buffer.alloc(0) : content.subarray(end + 2)
  const encoding = /^encoding (.+)$/m.exec(head.toString('latin1'))?.[1]
  const all: [string, string][] = []
  for (const line of decode(head, encoding).split('\n')) {
    if (line.startsWith(' ')) continue // another line of a signature
    const space = line.indexOf(' ')
    if (space > 0) all.push([line.slice(0, space), line.slice(space + 1)])
  }
  const first = (key: string) => all.find(([name]) => name === key)?.[1] ?? ''
  return { all, first, message: decode(raw, encoding) }
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  if (encoding === undefined) return bytes.toString()
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    return bytes.toString() // an unknown encoding
  }
}

function parsePerson(line: string): { name: string; email: string; date: Date } {
  const found = /^(.*?) ?<([^>]*)>(?: (-?\d+))?/.exec(line)
  const date = new Date(Number(found?.[3] ?? 0) * 1000)
  return { name: found?.[1] ?? line, email: found?.[2] ?? '', date: Number.isNaN(date.getTime()) ? new Date(0) : date }
}

/** Parses a raw commit. */
export function parseCommit(id: string, content: Buffer): Commit {
  const { all, first, message } = parseFields(content)
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
    message
  }
}

/** Parses a raw annotated tag. Some old tags have no tagger: their tagger fields are empty and their date is 1970. */
export function parseTag(id: string, content: Buffer): Tag {
  const { first, message } = parseFields(content)
  const tagger = parsePerson(first('tagger'))
  return {
    id,
    name: first('tag'),
    targetId: first('object'),
    targetType: first('type') as ObjectType,
    taggerName: tagger.name,
    taggerEmail: tagger.email,
    taggedDate: tagger.date,
    message
  }
}

/** Reads and parses an object through the cache. Returns null when no object has this id and type. */
function readParsed<T>(repository: string, id: string, type: ObjectType, parse: (content: Buffer) => T) {
  return remember(repository, `${type} ${id}`, async () => {
    const object = await readObject(repository, id)
    if (object?.type !== type) return null
    // Strings and objects take about four times the raw bytes.
    return { value: parse(object.content), size: object.content.length * 4 }
  })
}

/** Returns the commit with a full id, or null. */
export function readCommit(repository: string, id: string): Promise<Commit | null> {
  return readParsed(repository, id, 'commit', content => parseCommit(id, content))
}

/** Returns the entries of the tree with a full id, or null. Callers share them and must not change them. */
export function readTree(repository: string, id: string): Promise<readonly TreeEntry[] | null> {
  return readParsed(repository, id, 'tree', content => parseTree(content))
}

/** Returns the annotated tag with a full id, or null. */
export function readTag(repository: string, id: string): Promise<Tag | null> {
  return readParsed(repository, id, 'tag', content => parseTag(id, content))
}
