// The folders of one build. Only `project` and `home` are the build's own; the rest belongs to the runner, so that a
// script can change neither itself nor what is made of its results.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { type BuildUser, buildUser } from './user.js'

export type Folders = {
  work: string
  project: string
  home: string
  etc: string
  step: string
  output: string
  user: BuildUser | undefined
}

const prefix = 'gitstead-build-'

const accounts = {
  passwd: 'root:x:0:0:root:/:/bin/false\nbuild:x:1000:1000:build:/home/build:/bin/bash\n',
  group: 'root:x:0:\nbuild:x:1000:\n',
  hosts: '127.0.0.1 localhost build\n::1 localhost\n'
}

/**
 * Makes an empty folder for one build, which executeBuild removes. A home is closed to everyone but its owner: where
 * builds run as another user than this process, the folder lies outside of it.
 */
export async function makeWorkFolder(): Promise<string> {
  return mkdtemp(join(await parentFolder(), `${prefix}${process.pid}-`))
}

/** Removes the work folders of processes that are gone, which were killed amid a build. Gives how many. */
export async function removeStaleFolders(): Promise<number> {
  const parent = await parentFolder()
  const stale = (await readdir(parent)).filter(name => {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    return Number.isInteger(pid) && pid > 0 && !existsSync(`/proc/${pid}`)
  })
  for (const name of stale) await removeFolder(join(parent, name))
  return stale.length
}

const parentFolder = async () => ((await buildUser()) ? '/var/tmp' : join(config().home, 'tmp'))

/** Lays out an existing empty folder for one build. Throws Misconfigured when the user of builds cannot reach it. */
export async function prepareFolders(work: string): Promise<Folders> {
  const user = await buildUser()
  const inner = (name: string) => join(work, name)
  if (user) await checkReachable(work)
  await chmod(work, user ? 0o711 : 0o700)
  for (const name of ['project', 'home']) await mkdir(inner(name), { mode: 0o700 })
  await mkdir(inner('etc'), { mode: 0o755 })
  for (const [name, text] of Object.entries(accounts)) await writeFile(inner(`etc/${name}`), text, { mode: 0o644 })
  await run('mkfifo', ['-m', '600', '--', inner('output')])
  const names = { project: inner('project'), home: inner('home'), output: inner('output') }
  if (user) for (const path of Object.values(names)) await chown(path, user.uid, user.gid)
  return { work, ...names, etc: inner('etc'), step: inner('step'), user }
}

async function checkReachable(work: string): Promise<void> {
  for (let folder = dirname(work); folder !== '/'; folder = dirname(folder)) {
    if ((await stat(folder)).mode & 0o001) continue
    throw new Misconfigured(
      `runner: ${folder} is closed to the user ${config().runner.user}: chmod o+x it, or keep builds elsewhere`
    )
  }
}

/**
 * Removes what a build left. By rm, as it never follows a link that is put in its way meanwhile, which Node's own
 * removal does not promise.
 */
export async function removeFolder(work: string): Promise<void> {
  if (await succeeds('rm', ['-rf', '--', work])) return
  // A build may have closed its own folders to itself; root is not held up by that and never gets here.
  await succeeds('chmod', ['-R', 'u+rwX', '--', work])
  await run('rm', ['-rf', '--', work])
}

async function run(program: string, args: string[]): Promise<void> {
  if (!(await succeeds(program, args))) throw new Error(`${program} failed on ${args.at(-1)}`)
}

async function succeeds(program: string, args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: 'ignore', cwd: '/' })
  const [code] = await once(child, 'exit')
  return code === 0
}
