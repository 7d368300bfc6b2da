// Makes commits and tags without a work tree. This file only writes objects. To move a branch, call updateRef with the
// parent as the old value.
import { config } from '../config.js'
import { TooLarge } from '../errors.js'
import { checkContent, checkLink } from './dangerous-files.js'
import { type LooseObject, makeObject, writeObjects } from './loose.js'
import { DamagedRepository, keepWritten, readCommit } from './objects.js'
import { checkNewPath, checkPath } from './path.js'
import { isObjectId, type ObjectType } from './reader.js'
import { isRefName } from './refs.js'
import { build, type Folder, find, openFolder, place } from './tree-edit.js'

export interface Person {
  readonly name: string
  readonly email: string
  readonly date: Date
}

export interface FileChange {
  readonly action: 'create' | 'update' | 'delete'
  readonly path: string
  readonly content?: Buffer
  /** The default is 100644, and for an update the mode that the file has. */
  readonly mode?: '100644' | '100755' | '120000'
}

export interface NewCommit {
  readonly parent: string | null
  readonly changes: readonly FileChange[]
  readonly message: string
  readonly author: Person
  readonly committer: Person
}

/** A file or folder that should be created already exists. */
export class PathExists extends Error {
  override name = 'PathExists'
  constructor(readonly path: string) {
    super(`${path} exists`)
  }
}

/** The file to update or delete does not exist. */
export class PathMissing extends Error {
  override name = 'PathMissing'
  constructor(readonly path: string) {
    super(`${path} does not exist`)
  }
}

/** A component above the path is a file. */
export class PathBlocked extends Error {
  override name = 'PathBlocked'
  constructor(readonly path: string) {
    super(`${path} would lie below a file`)
  }
}

/** The commit would have the same tree as its parent. */
export class NothingChanged extends Error {
  override name = 'NothingChanged'
}

/** A commit that exists in memory only. */
export interface PreparedCommit {
  readonly id: string
  readonly treeId: string
  /** Writes its objects. They are durable when the promise resolves. */
  write(): Promise<void>
}

/**
 * Prepares a commit that applies the changes, in their order, to the tree of its parent (null: to an empty tree). Throws
 * PathExists, PathMissing, PathBlocked, NothingChanged, InvalidPath, RefusedContent, TooLarge.
 */
export async function prepareCommit(repository: string, commit: NewCommit): Promise<PreparedCommit> {
  const parent = commit.parent === null ? null : await readCommit(repository, commit.parent)
  if (commit.parent !== null && !parent) {
    throw new DamagedRepository(repository, `the commit ${commit.parent} is missing`)
  }
  const root = await openFolder(repository, parent?.treeId ?? null)
  const objects: LooseObject[] = []
  for (const change of commit.changes) await apply(repository, root, change, objects)
  const unchanged = parent?.treeId ?? EMPTY_TREE
  const treeId = build(root, unchanged, objects)
  if (treeId === unchanged) throw new NothingChanged('The commit would change nothing')
  const object = makeObject('commit', commitContent(treeId, commit))
  const all = [...objects, object]
  const write = async () => {
    await writeObjects(repository, all)
    await keepWritten(repository, all)
  }
  return { id: object.id, treeId, write }
}

const EMPTY_TREE = makeObject('tree', Buffer.alloc(0)).id

async function apply(repository: string, root: Folder, change: FileChange, objects: LooseObject[]): Promise<void> {
  const components = checkPath(change.path)
  if (change.action === 'create') checkNewPath(change.path)
  const found = await find(repository, root, components)
  if (found === 'blocked')
    throw change.action === 'create' ? new PathBlocked(change.path) : new PathMissing(change.path)
  if (change.action === 'create') {
    if (found) throw new PathExists(change.path)
    return await place(repository, root, components, { id: addBlob(change, objects), mode: change.mode ?? '100644' })
  }
  // A folder or a submodule is not a file.
  if (!found?.mode.startsWith('1') || found.mode === '160000') throw new PathMissing(change.path)
  if (change.action === 'delete') return await place(repository, root, components, null)
  // Not specified: an update without a mode keeps the file's, so a script stays executable.
  const mode = change.mode ?? (found.mode === '100755' || found.mode === '120000' ? found.mode : '100644')
  await place(repository, root, components, { id: addBlob({ ...change, mode }, objects), mode })
}

function addBlob({ path, content = Buffer.alloc(0), mode }: FileChange, objects: LooseObject[]): string {
  if (content.length > config().git.max_file_size) throw new TooLarge()
  if (mode === '120000') checkLink(path)
  checkContent(path, content)
  const blob = makeObject('blob', content)
  objects.push(blob)
  return blob.id
}

function commitContent(treeId: string, { parent, author, committer, message }: NewCommit): Buffer {
  const lines = [`tree ${treeId}`, ...(parent === null ? [] : [`parent ${parent}`])]
  lines.push(`author ${signature(author)}`, `committer ${signature(committer)}`)
  return Buffer.from(`${lines.join('\n')}\n\n${withoutNul(message)}`)
}

// Git would end the text at a NUL.
const withoutNul = (text: string) => text.replaceAll('\0', '')

/** Cleans names and addresses as git does: the result contains nothing that git could take for the next field. */
const clean = (text: string) =>
  text.replace(/^[\x00-\x20.,:;<>"\\']+|[\x00-\x20.,:;<>"\\']+$/g, '').replace(/[\x00\n\r<>]/g, '')

function signature({ name, email, date }: Person): string {
  const seconds = Math.min(Math.max(Math.floor(date.getTime() / 1000) || 0, 0), 2 ** 40)
  const address = clean(email)
  return `${clean(name) || address || 'unknown'} <${address}> ${seconds} +0000`
}

export interface NewTag {
  readonly name: string
  readonly target: string
  readonly targetType: ObjectType
  readonly message: string
  readonly tagger: Person
}

/** Writes an annotated tag and returns its id. The caller then creates `refs/tags/<name>` with updateRef. */
export async function writeTag(repository: string, tag: NewTag): Promise<string> {
  if (!isRefName(`refs/tags/${tag.name}`) || !isObjectId(tag.target)) throw new TypeError('not a tag')
  const head = `object ${tag.target}\ntype ${tag.targetType}\ntag ${tag.name}\ntagger ${signature(tag.tagger)}`
  const object = makeObject('tag', Buffer.from(`${head}\n\n${withoutNul(tag.message)}`))
  await writeObjects(repository, [object])
  return object.id
}
