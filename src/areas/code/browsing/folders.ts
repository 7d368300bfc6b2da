// Reads a folder with the last commit of each entry, for people.
import { NotFound } from '../../../errors.js'
import { lastCommitsIn } from '../../../git/history/folder-commits.js'
import { readBlob } from '../../../git/objects/blob.js'
import type { Commit } from '../../../git/objects/objects.js'
import { readCommit } from '../../../git/objects/objects.js'
import { findEntry, type PathEntry, walkTree } from '../../../git/objects/tree.js'
import { decodeText } from './file-texts.js'
import type { RefPath } from './ref-paths.js'

interface FolderEntry {
  readonly name: string
  readonly path: string
  readonly kind: 'folder' | 'file' | 'link' | 'submodule'
  /** The id of the object; for a submodule the id of its commit. */
  readonly id: string
  /** Null when it is not asked for, and for an entry that has not changed for a very long time. */
  readonly last: Commit | null
}

interface Readme {
  readonly name: string
  readonly path: string
  readonly text: string
}

export interface Folder {
  readonly entries: readonly FolderEntry[]
  readonly total: number
  readonly page: number
  readonly perPage: number
  /** True when the folder has more entries than are counted. */
  readonly isCut: boolean
  readonly readme: Readme | null
}

/** Entries that are read and sorted, and characters of their names. */
const MOST_ENTRIES = 10_000
const MOST_OF_NAMES = 4 * 1024 * 1024
const PER_PAGE = 500
/** Bytes of a file that is shown below the folder. */
const LONGEST_README = 262_144

export interface FolderQuestion {
  readonly page?: number
  /** Whether the last commits are asked for: not everybody who may read files may read commits. */
  readonly commits: boolean
}

/** Reads one page of a folder: folders before files, both by name. Throws NotFound when the path is not a folder. */
export async function readFolder(found: RefPath, { page = 1, commits }: FolderQuestion): Promise<Folder> {
  const { repository, commitId, path } = found
  const folder = await findEntry(repository, commitId, path)
  if (folder?.type !== 'tree') throw new NotFound('Tree')
  const all: PathEntry[] = []
  let isCut = false
  let room = MOST_OF_NAMES
  await walkTree(repository, { id: folder.id, folder: path, recursive: false }, entry => {
    room -= entry.name.length
    isCut = all.length === MOST_ENTRIES || room < 0
    if (!isCut) all.push(entry)
    return !isCut
  })
  const sorted = [...all.filter(({ type }) => type === 'tree'), ...all.filter(({ type }) => type !== 'tree')]
  const shown = sorted.slice((page - 1) * PER_PAGE, page * PER_PAGE)
  const last = commits ? await lastCommits(found, shown) : new Map<string, Commit>()
  const entries = shown.map(({ name, path, mode, type, id }) => ({
    ...{ name, path, id, kind: kindOf(mode, type), last: last.get(name) ?? null }
  }))
  return {
    entries,
    total: all.length,
    page,
    perPage: PER_PAGE,
    isCut,
    readme: page > 1 ? null : await readReadme(repository, all)
  }
}

async function lastCommits({ repository, commitId, path }: RefPath, entries: readonly PathEntry[]) {
  const names = entries.map(({ name }) => name)
  const ids = await lastCommitsIn(repository, commitId, { folder: path, names })
  const read = await Promise.all([...ids].map(async ([name, id]) => [name, await readCommit(repository, id)] as const))
  return new Map(read.filter((one): one is [string, Commit] => one[1] !== null))
}

function kindOf(mode: string, type: PathEntry['type']): FolderEntry['kind'] {
  if (type === 'tree') return 'folder'
  if (type === 'commit') return 'submodule'
  return mode === '120000' ? 'link' : 'file'
}

/** In the order in which they are chosen. */
const READMES = [/^readme\.(?:md|markdown)$/i, /^readme$/i, /^readme\.(?:txt|text|rst|adoc|asciidoc|org)$/i]

async function readReadme(repository: string, entries: readonly PathEntry[]): Promise<Readme | null> {
  const files = entries.filter(({ type, mode }) => type === 'blob' && mode !== '120000')
  const chosen = READMES.map(pattern => files.find(({ name }) => pattern.test(name))).find(file => file !== undefined)
  if (!chosen) return null
  // A file that is too large to be shown here has its own page.
  const content = await readBlob(repository, chosen.id, LONGEST_README).catch(() => null)
  const text = content && decodeText(content)
  return text === null || text === '' ? null : { name: chosen.name, path: chosen.path, text }
}
