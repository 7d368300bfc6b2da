// Makes a project of each bare repository in a folder. Each becomes the archive of a project, which the import of archives checks like a push
// and makes visible at the end. A second run skips projects that exist already.
import { randomUUID } from 'node:crypto'
import { realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { DiskFull, Failure, Invalid, NoSuch, Unavailable } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { portableRefs, writePack } from '../../../git/repository/packs.js'
import { prepareRepository } from '../../../git/repository/repository.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { visibilityName } from '../../../lib/levels.js'
import { pathProblem } from '../../../lib/path.js'
import { version } from '../../../version.js'
import { objectsNamed } from '../../projects/imports/lfs/pointers.js'
import { placeOfNewProject } from '../../projects/projects/new-project-target.js'
import { FORMAT, KINDS, type Kind, LFS, MANIFEST, type Manifest, MOST_REFS, PACK, RECORDS, REFS } from './format.js'
import { importProject } from './import.js'
import { OTHER_SETTINGS } from './other-settings.js'
import { checkRecord } from './records.js'
import {
  BadRepository,
  copyRepositoryFiles,
  lfsFileIn,
  readFileIn,
  repositoriesIn,
  shownBelow
} from './repository-folders.js'
import { type Entry, linesOf, writeArchive } from './write-archive.js'

export interface FolderOptions {
  readonly namespace: string
  /** The creator of projects in a group. */
  readonly creator?: string
  readonly visibility: 0 | 10 | 20
  /** Look at all repositories and create nothing. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
  /** Called for each repository that is not imported, with its path below the folder. */
  readonly refuse: (repository: string, error: string) => void
  readonly done: (outcome: 'imported' | 'existing', project: string) => void
}

/** Imports all repositories, one after another. Throws NoSuch for the folder or the namespace. */
export async function importFolder(folder: string, options: FolderOptions, origin: Origin): Promise<void> {
  const { namespace, creator, dryRun, signal, refuse, done } = options
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await stat(root)).isDirectory()) throw new NoSuch('folder', folder)
  const { namespaceId } = await placeOfNewProject(`${namespace}/any`, creator)
  await requireVisible(namespaceId, options)
  const seen = new Map<string, string>()
  for await (const path of repositoriesIn(root, signal)) {
    const shown = shownBelow(root, path)
    const name = basename(path, '.git')
    const before = seen.get(name.toLowerCase())
    seen.set(name.toLowerCase(), shown)
    try {
      const problem = pathProblem(name, 'project')
      if (problem !== null) throw new BadRepository(`its name ${problem}`)
      if (before !== undefined) throw new BadRepository(`${before} has the same name`)
      if (await exists(namespace, name)) done('existing', `${namespace}/${name}`)
      else {
        if (!dryRun) await importOne(path, { ...options, shown, name }, origin)
        done('imported', `${namespace}/${name}`)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isDiskFull(error) || !isRefusal(error)) throw error
      refuse(shown, error.message.replace(/\p{Cc}+/gu, ' ').slice(0, 500))
    }
  }
}

/** The import of an archive would lower the visibility without a word. */
async function requireVisible(id: number, { namespace, visibility }: FolderOptions): Promise<void> {
  const group = await row<{ level: number }>(
    "select visibility_level as level from namespaces where id = ? and kind = 'group' and visibility_level < ?",
    [id, visibility]
  )
  if (group)
    throw new Invalid(
      'visibility',
      `is more than that of the group ${namespace}, which is ${visibilityName(group.level)}: choose that one, or change the group first`
    )
}

const isRefusal = (error: unknown): error is Error =>
  error instanceof GitFailure ||
  (error instanceof Failure && !(error instanceof Unavailable) && !(error instanceof DiskFull))

async function exists(namespace: string, path: string): Promise<boolean> {
  const found = await row(
    `select 1 from projects p join namespaces n on n.id = p.namespace_id
     where n.path_key = lower(?) and p.path_key = lower(?)`,
    [namespace, path]
  )
  return found !== undefined
}

interface One extends FolderOptions {
  readonly name: string
  readonly shown: string
}

async function importOne(path: string, options: One, origin: Origin): Promise<void> {
  const { namespace, creator, name, signal } = options
  const { max_size: maxBytes } = config().imports
  const place = join(config().home, 'tmp', `folder-${randomUUID()}`)
  const file = `${place}.zip`
  const copy = await prepareRepository(`${place}.git`)
  try {
    const branch = await copyRepositoryFiles(path, copy.path, { maxBytes, maxRefs: MOST_REFS, signal })
    const lfs = await lfsFilesOf(copy.path, path, signal)
    await writeArchive(file, entriesOf(copy.path, { branch, lfs }, options), signal)
    await importProject(file, { namespace, path: name, ...(creator === undefined ? {} : { creator }), signal }, origin)
  } finally {
    await copy.drop()
    await rm(file, { force: true })
  }
}

/** The objects of LFS that the history names, and that are in the folder: paths by hash, in order. */
async function lfsFilesOf(copy: string, from: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const tips = portableRefs(copy).map(({ id }) => id)
  for (const key of await objectsNamed(copy, { tips }, signal)) {
    const path = await lfsFileIn(from, key)
    if (path !== null) files.set(key.oid, path)
  }
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)))
}

interface Content {
  readonly branch: string | null
  readonly lfs: ReadonlyMap<string, string>
}

async function* entriesOf(repository: string, { branch, lfs }: Content, options: One): AsyncGenerator<Entry> {
  const { shown, signal } = options
  const refs = portableRefs(repository)
  const now = new Date().toISOString()
  const counts = Object.fromEntries(KINDS.map(kind => [kind, kind === 'project' ? 1 : 0])) as { [K in Kind]: number }
  const manifest: Manifest = {
    format: FORMAT,
    gitstead: version,
    exported_at: now,
    project: shown.slice(-500),
    counts,
    refs: refs.length,
    uploads: 0,
    traces: 0,
    artifacts: 0,
    lfs: lfs.size
  }
  const text = (name: string, lines: readonly object[]): Entry => ({
    name,
    compress: true,
    open: () => linesOf(lines.map(line => JSON.stringify(line)))
  })
  yield text(MANIFEST, [manifest])
  yield text(RECORDS, [checkRecord(projectRecord(branch, now, options), 'the project')])
  yield text(REFS, refs)
  const limits = { timeout: config().imports.timeout, signal }
  if (refs.length > 0) yield { name: PACK, compress: false, open: () => writePack(repository, refs, limits) }
  for (const [oid, path] of lfs) yield { name: `${LFS}${oid}`, compress: false, open: () => readFileIn(path) }
}

const projectRecord = (branch: string | null, now: string, { name, visibility }: One) => ({
  kind: 'project',
  name,
  path: name,
  description: null,
  visibility_level: visibility,
  archived: false,
  default_branch: branch?.slice(0, 255) ?? null,
  issues_enabled: true,
  merge_requests_enabled: true,
  builds_enabled: true,
  wiki_enabled: true,
  snippets_enabled: false,
  container_registry_enabled: true,
  ...OTHER_SETTINGS,
  tag_list: [],
  avatar: null,
  created_at: now,
  last_activity_at: now,
  counters: { issue: 0, milestone: 0, merge_request: 0 }
})
