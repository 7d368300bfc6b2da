// Creates commits and tags without a work tree. This file only writes objects. To move a branch, call updateRef with
// the parent as the old value.
import { config } from '../../config.js'
import { TooLarge } from '../../errors.js'
import { type LooseObject, makeObject, writeObjects } from '../objects/loose-writer.js'
import { DamagedRepository, keepWritten, readCommit } from '../objects/objects.js'
import { isStoredNow } from '../objects/odb/stored.js'
import { checkNewPath, checkPath } from '../objects/path.js'
import { isObjectId, type ObjectType, readObject } from '../objects/reader.js'
import { GitFailure, runGit } from '../process/run.js'
import { isRefName, RefWithoutObject } from '../refs/refs.js'
import { checkContent, checkLink, isObeyed } from './dangerous-files.js'
import { build, type Folder, find, openFolder, place, type Slot } from './tree-edit.js'

interface Person {
  readonly name: string
  readonly email: string
  readonly date: Date
}

export interface FileChange {
  readonly action: 'create' | 'update' | 'delete' | 'move'
  readonly path: string
  /** The old path of a moved file. */
  readonly from?: string
  /** A moved file keeps its content by default. */
  readonly content?: Buffer
  /** The default is 100644, and for an update the current mode of the file. */
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
  constructor(
    readonly path: string,
    readonly action: FileChange['action']
  ) {
    super(`${path} exists`)
  }
}

/** The file to update, delete or move does not exist. */
export class PathMissing extends Error {
  override name = 'PathMissing'
  constructor(
    readonly path: string,
    readonly action: FileChange['action']
  ) {
    super(`${path} does not exist`)
  }
}

/** A component above the path is a file. */
export class PathBlocked extends Error {
  override name = 'PathBlocked'
  constructor(readonly path: string) {
    super(`${path} has a parent that is a file`)
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
 * Prepares a commit that applies the changes, in order, to the tree of its parent, or to an empty tree when the parent
 * is null. Throws PathExists, PathMissing, PathBlocked, NothingChanged, InvalidPath, RefusedContent, TooLarge.
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
  return finished(repository, { treeId, objects, content: commitContent(treeId, commit) })
}

interface Finished {
  readonly treeId: string
  /** The new objects below the commit. */
  readonly objects: readonly LooseObject[]
  readonly content: Buffer
}

function finished(repository: string, { treeId, objects, content }: Finished): PreparedCommit {
  const commit = makeObject('commit', content)
  const all = [...objects, commit]
  const write = async () => {
    await writeObjects(repository, all)
    await keepWritten(repository, all)
  }
  return { id: commit.id, treeId, write }
}

export interface CopiedCommit {
  readonly parent: string
  readonly treeId: string
  readonly committer: Person
}

/**
 * Prepares a commit with the author, the encoding and the message of another commit, whose stored bytes are `source`.
 * Its tree must already exist.
 */
export function prepareCopy(repository: string, source: Buffer, { parent, treeId, committer }: CopiedCommit) {
  const end = source.indexOf('\n\n')
  const head = source.toString('latin1', 0, end === -1 ? source.length : end).split('\n')
  const kept = (key: string) => head.filter(line => line.startsWith(`${key} `)).map(line => Buffer.from(line, 'latin1'))
  const lines = [
    Buffer.from(`tree ${treeId}`),
    Buffer.from(`parent ${parent}`),
    ...kept('author').slice(0, 1),
    Buffer.from(`committer ${signature(committer)}`),
    ...kept('encoding').slice(0, 1)
  ]
  const message = end === -1 ? Buffer.alloc(0) : source.subarray(end + 2)
  const content = Buffer.concat([...lines.flatMap(line => [line, Buffer.from('\n')]), Buffer.from('\n'), message])
  return finished(repository, { treeId, objects: [], content })
}

const EMPTY_TREE = makeObject('tree', Buffer.alloc(0)).id

async function apply(repository: string, root: Folder, change: FileChange, objects: LooseObject[]): Promise<void> {
  const { action, path } = change
  if (action === 'move') return await move(repository, root, change, objects)
  const components = checkPath(path)
  if (action === 'create') checkNewPath(path)
  const found = await find(repository, root, components)
  if (found === 'blocked') throw action === 'create' ? new PathBlocked(path) : new PathMissing(path, action)
  if (action === 'create') {
    if (found) throw new PathExists(path, action)
    return await place(repository, root, components, { id: addBlob(change, objects), mode: change.mode ?? '100644' })
  }
  if (!isFile(found)) throw new PathMissing(path, action)
  if (action === 'delete') return await place(repository, root, components, null)
  // Not specified: an update without a mode keeps the file's mode, so a script stays executable.
  const mode = change.mode ?? (found.mode === '100755' || found.mode === '120000' ? found.mode : '100644')
  await place(repository, root, components, { id: addBlob({ ...change, mode }, objects), mode })
}

/** A folder or a submodule is not a file. */
const isFile = (found: Slot | null): found is Slot => !!found?.mode.startsWith('1') && found.mode !== '160000'

async function move(repository: string, root: Folder, change: FileChange, objects: LooseObject[]): Promise<void> {
  const { action, path, from = '' } = change
  const [components, before] = [checkPath(path), checkPath(from)]
  checkNewPath(path)
  const found = await find(repository, root, before)
  if (found === 'blocked' || !isFile(found)) throw new PathMissing(from, action)
  const { id, mode } = found
  const taken = await find(repository, root, components)
  if (taken && taken !== 'blocked') throw new PathExists(path, action)
  // Removes the file first, because its own name may become a folder on the new path.
  await place(repository, root, before, null)
  if ((await find(repository, root, components)) === 'blocked') throw new PathBlocked(path)
  if (change.content !== undefined) {
    const blob = addBlob({ ...change, mode: mode as FileChange['mode'] }, objects)
    return await place(repository, root, components, { id: blob, mode })
  }
  if (mode === '120000') checkLink(path)
  if (isObeyed(path)) {
    const content = objects.find(object => object.id === id)?.content ?? (await readObject(repository, id))?.content
    if (!content) throw new DamagedRepository(repository, `the blob ${id} is missing`)
    checkContent(path, content)
  }
  await place(repository, root, components, { id, mode })
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

/** Cleans names and addresses as git does: the result contains nothing that git could mistake for the next field. */
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

/** Prepares an annotated tag. The caller writes it and creates `refs/tags/<name>` with updateRef. */
export function prepareTag(repository: string, tag: NewTag): Pick<PreparedCommit, 'id' | 'write'> {
  if (!isRefName(`refs/tags/${tag.name}`) || !isObjectId(tag.target)) throw new TypeError('not a tag')
  const head = `object ${tag.target}\ntype ${tag.targetType}\ntag ${tag.name}\ntagger ${signature(tag.tagger)}`
  const object = makeObject('tag', Buffer.from(`${head}\n\n${withoutNul(tag.message)}`))
  const write = async () => {
    // Git only looks at the tag when it sets the ref. The target may come from a cache, and may have been pruned since.
    if (!(await isStoredNow(repository, tag.target))) await requireObject(repository, tag.target)
    await writeObjects(repository, [object])
  }
  return { id: object.id, write }
}

/** Throws RefWithoutObject when git does not find an object. */
async function requireObject(repository: string, id: string): Promise<void> {
  try {
    await runGit(['cat-file', '-e', id], { repository })
  } catch (error) {
    if (error instanceof GitFailure && error.code === 1) throw new RefWithoutObject(`${id} does not exist`)
    throw error
  }
}

export interface MergedCommit {
  /** The head of the target branch, then the head of the merged branch. */
  readonly parents: readonly string[]
  readonly treeId: string
  readonly message: string
  readonly author: Person
  readonly committer: Person
}

/** Prepares the commit of a merge. Its tree must already exist. */
export function prepareMerge(repository: string, { parents, treeId, message, author, committer }: MergedCommit) {
  const lines = [`tree ${treeId}`, ...parents.map(id => `parent ${id}`)]
  lines.push(`author ${signature(author)}`, `committer ${signature(committer)}`)
  const content = Buffer.from(`${lines.join('\n')}\n\n${withoutNul(message)}`)
  return finished(repository, { treeId, objects: [], content })
}

/** Prepares a commit that git only needs as one side of a merge: the same tree and parent always produce the same commit. */
export function prepareBase(
  repository: string,
  { parent, treeId }: { readonly parent: string | null; readonly treeId: string }
): PreparedCommit {
  const nobody = { name: 'nobody', email: '', date: new Date(0) }
  const commit = { parent, changes: [], message: '', author: nobody, committer: nobody }
  return finished(repository, { treeId, objects: [], content: commitContent(treeId, commit) })
}
