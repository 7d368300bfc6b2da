// The folders of one build. The build owns only `project` and `home`. The runner owns the others, so that a script can change
// neither itself nor the results that the runner derives from it.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { config } from '../config.js'
import { Failure, Misconfigured } from '../errors.js'
import { LOCK_ENDING, lockFolder, takeOver, unlockFolder } from './folder-locks.js'
import { seccompFilter } from './seccomp.js'
import { type BuildUser, buildUser } from './user.js'

export interface Folders {
  readonly work: string
  readonly project: string
  readonly home: string
  readonly etc: string
  readonly step: string
  readonly output: string
  /** The system calls that a sandbox refuses, in the format of bubblewrap. */
  readonly filter: string
  readonly user: BuildUser | undefined
}

const PREFIX = 'gitstead-work-'
/** A lock is lost to another process only while that process looks for leftovers. */
const TRIES = 5
/** Characters of the errors of a program that reach the log. */
const MOST_SAID = 500

/** The folders of a build disappeared while it ran, so its outcome means nothing: the build must run again. */
export class FolderLost extends Failure {
  constructor() {
    super('the folder of the build has disappeared; the build starts again')
  }
}

const ACCOUNTS = {
  passwd: 'root:x:0:0:root:/:/bin/false\nbuild:x:1000:1000:build:/home/build:/bin/bash\n',
  group: 'root:x:0:\nbuild:x:1000:\n',
  hosts: '127.0.0.1 localhost build\n::1 localhost\n'
}

/**
 * Makes an empty folder for one build; executeBuild removes it. Only its owner can enter the home of the appliance. So
 * when builds run as another user than this process, the folder is outside of the home, where other appliances have theirs.
 * `place` is another parent.
 */
export async function makeWorkFolder(place?: string): Promise<string> {
  const parent = place ?? (await parentFolder())
  for (let count = 0; count < TRIES; count++) {
    const work = join(parent, PREFIX + randomBytes(8).toString('hex'))
    if (!(await lockFolder(work))) continue
    await mkdir(work, { mode: 0o700 })
    return work
  }
  throw new Error(`no file can be locked in ${parent}`)
}

/** Removes the work folders of processes that were killed during a build. Returns how many. */
export async function removeStaleFolders(): Promise<number> {
  const parent = await parentFolder()
  const names = (await readdir(parent)).filter(name => isWorkFolder(name) && name.endsWith(LOCK_ENDING))
  let count = 0
  for (const name of names) {
    const work = join(parent, name.slice(0, -LOCK_ENDING.length))
    if (!(await takeOver(work))) continue
    await removeFolder(work)
    count++
  }
  return count
}

/** Returns whether this is the name of a work folder or of its lock. */
export const isWorkFolder = (name: string) => name.startsWith(PREFIX)

/** Returns whether folders are gone that no build can remove from its sandbox. */
export const isLost = ({ etc, output }: Folders) => !existsSync(etc) || !existsSync(output)

const parentFolder = async () => ((await buildUser()) ? '/var/tmp' : join(config().home, 'tmp'))

/** Fills an existing empty folder with the folders of one build. Throws Misconfigured when the user of builds cannot reach it. */
export async function prepareFolders(work: string): Promise<Folders> {
  const user = await buildUser()
  const inner = (name: string) => join(work, name)
  if (user) await checkReachable(work)
  await chmod(work, user ? 0o711 : 0o700)
  for (const name of ['project', 'home']) await mkdir(inner(name), { mode: 0o700 })
  await mkdir(inner('etc'), { mode: 0o755 })
  for (const [name, text] of Object.entries(ACCOUNTS)) await writeFile(inner(`etc/${name}`), text, { mode: 0o644 })
  await run('mkfifo', ['-m', '600', '--', inner('output')])
  await writeFile(inner('filter'), seccompFilter() ?? '', { mode: 0o600 })
  const names = { project: inner('project'), home: inner('home'), output: inner('output') }
  if (user) for (const path of Object.values(names)) await chown(path, user.uid, user.gid)
  return { work, ...names, etc: inner('etc'), step: inner('step'), filter: inner('filter'), user }
}

async function checkReachable(work: string): Promise<void> {
  for (let folder = dirname(work); folder !== '/'; folder = dirname(folder)) {
    if ((await stat(folder)).mode & 0o001) continue
    throw new Misconfigured(
      `runner: the user ${config().runner.user} cannot enter ${folder}: run chmod o+x on it, or keep builds elsewhere`
    )
  }
}

/**
 * Removes everything that a build left, and the lock of the folder. It uses rm, because rm never follows a link that somebody creates in the
 * meantime; Node's own removal does not promise that.
 */
export async function removeFolder(work: string): Promise<void> {
  if (!(await succeeds('rm', ['-rf', '--', work]))) {
    // A build may have removed its own permissions on its folders. That does not stop root, so as root this line is not reached.
    await succeeds('chmod', ['-R', 'u+rwX', '--', work])
    await run('rm', ['-rf', '--', work])
  }
  await unlockFolder(work)
}

/** Runs a program. Throws with the beginning of what it says when it fails. */
async function run(program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, MOST_SAID)
  })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args.at(-1)} ended with ${signal ?? code}: ${said.trim()}`)
}

const succeeds = (program: string, args: string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false
  )
