// The command line around a build's shell. Figures and flags were measured with bubblewrap 0.8.0: it adds 5 ms to a step.
// The limits are per process, or per user for the number of processes: the sum of memory is not bounded without cgroups.
import { lstatSync, readlinkSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { type Folders, prepareFolders, removeFolder } from './folders.js'
import { type Command, runShell } from './shell.js'

/** Where a script finds its folders. */
export type Places = { builds: string; project: string; home: string }

const scratchSize = 268435456
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const confined = () => config().runner.sandbox === 'bubblewrap'

/** The paths of the build's folders as its script sees them. */
export function placesInside(folders: Folders): Places {
  if (!confined()) return { builds: folders.work, project: folders.project, home: folders.home }
  return { builds: '/build', project: '/build/project', home: '/home/build' }
}

/** What a script finds in its environment before it exports anything. */
export function baseEnvironment(home: string): Record<string, string> {
  return { PATH: searchPath, HOME: home, USER: 'build', LOGNAME: 'build', SHELL: '/bin/bash', LANG: 'C.UTF-8' }
}

/** The program that runs the shell script at `folders.step`: a sandbox, or the shell itself where there is none. */
export function shellCommand(folders: Folders): Command {
  const environment = baseEnvironment(placesInside(folders).home)
  if (!confined()) {
    const [program = 'prlimit', ...args] = limited(folders.step, { processes: folders.user !== undefined })
    return { program, args, environment, confined: false }
  }
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])
  const flags = [...isolation, ...variables, ...systemFiles(), ...etcFiles(folders.etc), ...ownFiles(folders)]
  const last = ['--remount-ro', '/', '--chdir', '/build/project', '--', ...firstInside]
  const args = [...flags, ...last, ...limited('/build/step')]
  return { program: 'bwrap', args, environment: { PATH: process.env.PATH ?? searchPath }, confined: true }
}

/**
 * The first process of the namespace, whose end is that of all others. With bubblewrap's own in its place, bubblewrap
 * ends before it and leaves a zombie of each step to the init of the machine, which a container may lack. It waits as a
 * parent, so that a script that signals itself is not deaf to that as a first process is, and tells nothing of its own.
 */
const firstInside = ['bash', '--noprofile', '--norc', '-c', 'exec 2>/dev/null; "$@" 2>&1; exit $?', 'build']

const isolation = [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
  ...['--cap-drop', 'ALL', '--uid', '1000', '--gid', '1000', '--hostname', 'build', '--json-status-fd', '3'],
  '--clearenv'
]

/** /dev and / are memory of their own without a size: both are closed to writing once they are laid out. */
function systemFiles(): string[] {
  const links = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(path => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (!entry) return []
    return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
  const scratch = ['--size', String(scratchSize), '--perms', '1777', '--tmpfs']
  const devices = ['--dev', '/dev', ...scratch, '/dev/shm', '--remount-ro', '/dev']
  return ['--ro-bind', '/usr', '/usr', ...links, '--proc', '/proc', ...devices, ...scratch, '/tmp']
}

function etcFiles(etc: string): string[] {
  const own = ['passwd', 'group', 'hosts'].flatMap(name => ['--ro-bind', join(etc, name), `/etc/${name}`])
  const shared = (paths: string[]) => paths.flatMap(path => ['--ro-bind-try', path, path])
  const system = shared(['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'])
  if (!config().runner.network) return [...own, ...system]
  // The machine's hosts come last, over the synthetic ones.
  const names = ['/etc/resolv.conf', '/etc/nsswitch.conf', '/etc/ssl', '/etc/ca-certificates', '/etc/hosts']
  return [...own, ...system, ...shared(names), '--share-net']
}

function ownFiles(folders: Folders): string[] {
  const binds = ['--bind', folders.project, '/build/project', '--bind', folders.home, '/home/build']
  return [...binds, '--ro-bind', folders.step, '/build/step']
}

/**
 * The shell under its limits. Inside the sandbox the count of processes is that of this build alone (kernel 5.14 and
 * later count by user namespace). Outside it is that of the user: where that is also the user of this process, such a
 * limit would count the appliance itself, and is left out. No limit of CPU time: the clock ends every build.
 */
function limited(step: string, { processes } = { processes: true }): string[] {
  const { memory_limit, process_limit, file_limit } = config().runner
  const limits = [`--data=${memory_limit}`, `--fsize=${file_limit}`, '--core=0']
  if (processes) limits.push(`--nproc=${process_limit}`)
  return ['prlimit', ...limits, '--', 'bash', '--noprofile', '--norc', step]
}

/** Runs nothing in a sandbox. Throws Misconfigured, with the remedy in one line, when this machine does not allow it. */
export async function checkSandbox(): Promise<void> {
  const said: Buffer[] = []
  const keep = async (chunk: Buffer) => void (said.length < 16 && said.push(chunk))
  let exitCode: number | undefined
  const { signal } = new AbortController()
  const work = await mkdtemp(join(process.getuid?.() === 0 ? '/var/tmp' : tmpdir(), 'gitstead-check-'))
  try {
    const folders = await prepareFolders(work)
    exitCode = await runShell({ folders, command: shellCommand(folders), script: ':\n', output: keep, signal })
  } catch (error) {
    if (error instanceof Misconfigured) throw error
    said.push(Buffer.from(error instanceof Error ? error.message : String(error)))
  } finally {
    await removeFolder(work)
  }
  if (exitCode === 0) return
  throw sandboxRefused(Buffer.concat(said).toString('utf8').trim().split('\n')[0] || 'it ended without a word')
}

/** The one line for a machine that cannot confine builds. */
export function sandboxRefused(why: string): Misconfigured {
  if (!confined()) return new Misconfigured(`runner: scripts cannot be run (${why}): install bash and util-linux`)
  return new Misconfigured(
    `runner: builds cannot be confined (${why}): install bubblewrap, allow unprivileged user namespaces, ` +
      'or set runner.sandbox: none'
  )
}
