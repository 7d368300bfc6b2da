// Creates and removes bare repositories.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { config } from '../../config.js'
import { forgetGraph } from '../history/commit-graph.js'
import { forget } from '../objects/cache.js'
import { syncPath } from '../objects/loose-writer.js'
import { readNow } from '../objects/stat.js'
import { IGNORED_FAULTS } from '../process/environment.js'
import { runGit, withSimpleGit } from '../process/run.js'
import { HIDDEN_REFS } from '../refs/hidden.js'
import { forgetRefs } from '../refs/list.js'
import { isRefName } from '../refs/refs.js'
import { dropArchives } from './archive-cache.js'
import { closeGitProcesses } from './processes.js'

/** What `git init --bare --template=` writes, and the settings of the appliance. */
const settings = (maxPushSize: number) => `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[core]
\tfsync = committed,reference
\tlogAllRefUpdates = false
\tcommitGraph = true
[gc]
\tauto = 0
[receive]
\tfsckObjects = true
\tmaxInputSize = ${maxPushSize}
\tautogc = false
\tdenyDeleteCurrent = ignore
\tdenyNonFastForwards = false
[receive "fsck"]
${IGNORED_FAULTS.map(name => `\t${name} = ignore\n`).join('')}[transfer]
${HIDDEN_REFS.map(prefix => `\thideRefs = ${prefix}\n`).join('')}[uploadpack]
\tallowFilter = true
[repack]
\twriteBitmaps = true
`

const FOLDERS = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']

const isThere = async (path: string) => (await stat(path).catch(() => null)) !== null

/**
 * Creates an empty bare repository whose HEAD is master. It builds the repository in a temporary folder and renames it,
 * so that nobody finds a half-finished repository. It does not change a repository that already exists.
 */
export async function createRepository(path: string): Promise<void> {
  if (await isThere(join(path, 'HEAD'))) return
  await (await prepareRepository(path)).place(path)
}

/** An empty repository that is not at its final path yet. */
export interface PreparedRepository {
  /** The temporary path. */
  readonly path: string
  /** Moves it to its final path. Does not change a repository that is already there. */
  place(path: string): Promise<void>
  /** Deletes it. */
  drop(): Promise<void>
}

/** Creates an empty repository next to `path`, with HEAD on `branch`. Everything that needs disk space happens here. */
export async function prepareRepository(path: string, branch = 'master'): Promise<PreparedRepository> {
  const temporary = `${path}.new-${randomBytes(6).toString('hex')}`
  const drop = () => rm(temporary, { recursive: true, force: true })
  try {
    await mkdir(temporary, { recursive: true })
    if (!isRefName(`refs/heads/${branch}`)) throw new TypeError(`not a branch name: ${branch}`)
    const write = (name: string, text: string) => writeFile(join(temporary, name), text, { flush: true })
    // Without a git process, this takes a tenth of the processor time.
    await Promise.all([
      ...FOLDERS.map(name => mkdir(join(temporary, name), { recursive: true })),
      write('HEAD', `ref: refs/heads/${branch}\n`),
      write('config', settings(config().git.max_push_size))
    ])
    await syncPath(temporary)
  } catch (error) {
    await drop()
    throw error
  }
  return { path: temporary, drop, place: to => place(temporary, to) }
}

async function place(temporary: string, path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await rename(temporary, path)
    await syncPath(dirname(path))
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    if (!(await isThere(join(path, 'HEAD')))) throw error // otherwise another process has just created it
  }
}

/**
 * Removes a repository and all its entries in the caches. It does no harm when the repository does not exist, or when a first try
 * was killed halfway. Git processes of other programs that read the repository end on their own after they have been idle.
 */
export async function removeRepository(path: string): Promise<void> {
  const doomed = `${basename(path)}.removed-`
  await rename(path, join(dirname(path), `${doomed}${randomBytes(6).toString('hex')}`)).catch(ignoreMissing)
  await closeGitProcesses(path)
  await dropArchives(path)
  forget(path)
  forgetGraph(path)
  forgetRefs(path)
  const names = await readdir(dirname(path)).catch(ignoreMissing)
  for (const name of names ?? []) {
    if (name.startsWith(doomed)) await rm(join(dirname(path), name), { recursive: true, force: true })
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/**
 * Writes a HEAD that is missing or damaged, for example empty after a power cut. Git does not recognize a folder
 * without a valid HEAD as a repository, so git cannot do this.
 */
export function mendHead(path: string, branch: string): void {
  const head = join(path, 'HEAD')
  if (existsSync(head) && /^ref: refs\/heads\/\S/.test(readFileSync(head, 'utf8'))) return
  writeFileSync(`${head}.restoring`, `ref: refs/heads/${branch}\n`, { flush: true })
  renameSync(`${head}.restoring`, head)
}

/** Changes the branch that a clone checks out, such as `master`. The branch does not have to exist yet. */
export async function setHead(path: string, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`
  if (!isRefName(ref)) throw new TypeError(`not a branch name: ${branch}`)
  // This runs at each change of the default branch, often when HEAD is already right. A process each time would cost
  // more than the commit itself.
  if (readNow(join(path, 'HEAD'), 'utf8') === `ref: ${ref}\n`) return
  await withSimpleGit(path, git => git.raw('symbolic-ref', 'HEAD', ref))
}

/** Returns how many objects a repository has, and their size in bytes. An object in two packs counts twice. */
export async function measureObjects(path: string): Promise<{ objects: number; bytes: number }> {
  const output = (await runGit(['count-objects', '-v'], { repository: path, timeout: 60 })).toString()
  const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  return { objects: figure('count') + figure('in-pack'), bytes: (figure('size') + figure('size-pack')) * 1024 }
}
