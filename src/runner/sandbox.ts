// Builds the command line around a build's shell. The figures and flags were measured with bubblewrap 0.8.0, which adds 5 ms to
// a step. The limits here apply to each process; the number of processes is limited for each user. The use of the whole build
// is watched (watch.ts, disk.ts).
import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { type Folders, makeWorkFolder, prepareFolders, removeFolder } from './folders.js'
import { seccompFilter } from './seccomp.js'
import { type Command, runShell } from './shell.js'

/** The paths where a script finds its folders. */
export interface Places {
  readonly builds: string
  readonly project: string
  readonly home: string
}

const SCRATCH_SIZE = 268435456
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const confined = () => config().runner.sandbox === 'bubblewrap'

/** Returns the paths of the build's folders as its script sees them. */
export function placesInside(folders: Folders): Places {
  if (!confined()) return { builds: folders.work, project: folders.project, home: folders.home }
  return { builds: '/build', project: '/build/project', home: '/home/build' }
}

/** Returns the environment of a script before it exports anything. */
export function baseEnvironment(home: string): Record<string, string> {
  return { PATH: SEARCH_PATH, HOME: home, USER: 'build', LOGNAME: 'build', SHELL: '/bin/bash', LANG: 'C.UTF-8' }
}

/** Returns the program that runs the shell script at `folders.step`: a sandbox, or the shell itself when no sandbox is configured. */
export function shellCommand(folders: Folders): Command {
  const environment = baseEnvironment(placesInside(folders).home)
  if (!confined()) {
    const [program = 'prlimit', ...args] = limited(folders.step, { processes: folders.user !== undefined })
    return { program, args, environment, confined: false }
  }
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])
  const flags = [...ISOLATION, ...variables, ...systemFiles(), ...etcFiles(folders.etc), ...ownFiles(folders)]
  const last = ['--remount-ro', '/', '--chdir', '/build/project', '--', ...FIRST_INSIDE]
  const args = [...flags, ...last, ...limited('/build/step')]
  return { program: 'bwrap', args, environment: { PATH: process.env.PATH ?? SEARCH_PATH }, confined: true }
}

/**
 * The first process of the namespace; when it ends, the kernel ends all others. If bubblewrap's own process were the first,
 * bubblewrap would end before it and leave a zombie of each step to the init of the machine, which a container may lack. This
 * bash waits as a parent, because a first process ignores signals that it sends to itself, and the script must not. It prints
 * nothing itself.
 */
const FIRST_INSIDE = ['bash', '--noprofile', '--norc', '-c', 'exec 2>/dev/null; "$@" 2>&1; exit $?', 'build']

const ISOLATION = [
  // The descriptors are those of shell.ts.
  ...['--json-status-fd', '3', ...(seccompFilter() ? ['--seccomp', '4'] : []), '--block-fd', '5'],
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
  ...['--cap-drop', 'ALL', '--uid', '1000', '--gid', '1000', '--hostname', 'build'],
  '--clearenv'
]

/** /dev and / are in memory and have no size limit, so both become read-only after they are set up. */
function systemFiles(): string[] {
  const links = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(path => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (!entry) return []
    return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
  const scratch = ['--size', String(SCRATCH_SIZE), '--perms', '1777', '--tmpfs']
  const devices = ['--dev', '/dev', ...scratch, '/dev/shm', '--remount-ro', '/dev']
  return ['--ro-bind', '/usr', '/usr', ...links, '--proc', '/proc', ...devices, ...scratch, '/tmp']
}

function etcFiles(etc: string): string[] {
  const own = ['passwd', 'group', 'hosts'].flatMap(name => ['--ro-bind', join(etc, name), `/etc/${name}`])
  const shared = (paths: string[]) => paths.flatMap(path => ['--ro-bind-try', path, path])
  const system = shared(['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'])
  if (!config().runner.network) return [...own, ...system]
  // The hosts file of the machine comes last and overrides that of the build.
  const names = ['/etc/resolv.conf', '/etc/nsswitch.conf', '/etc/ssl', '/etc/ca-certificates', '/etc/hosts']
  return [...own, ...system, ...shared(names), '--share-net']
}

function ownFiles(folders: Folders): string[] {
  const binds = ['--bind', folders.project, '/build/project', '--bind', folders.home, '/home/build']
  return [...binds, '--ro-bind', folders.step, '/build/step']
}

/**
 * Returns the command of the shell with its limits. Inside the sandbox the kernel counts only the processes of this build
 * (kernel 5.14 and later count by user namespace). Outside it counts the processes of the user. When that is also the user of
 * this process, the limit would count the appliance itself, so it is omitted. CPU time has no limit, because the clock ends
 * every build. Address space has no limit (--as): Node.js, Go and the JVM reserve far more than they use, and do not start with
 * a limit of 300 MB. So each process may fill as much memory as the whole build (--data).
 */
function limited(step: string, { processes } = { processes: true }): string[] {
  const { memory_limit, process_limit, file_limit } = config().runner
  const limits = [`--data=${memory_limit}`, `--fsize=${file_limit}`, '--core=0']
  if (processes) limits.push(`--nproc=${process_limit}`)
  return ['prlimit', ...limits, '--', 'bash', '--noprofile', '--norc', step]
}

/** Runs an empty script in a sandbox. Throws Misconfigured, with the remedy in one line, when this machine does not allow it. */
export async function checkSandbox(): Promise<void> {
  const said: Buffer[] = []
  const keep = async (chunk: Buffer) => void (said.length < 16 && said.push(chunk))
  let exitCode: number | undefined
  const { signal } = new AbortController()
  // Where builds are: a worker that is killed now leaves the folder to the next one. A machine may have no home yet.
  const work = await makeWorkFolder(existsSync(join(config().home, 'tmp')) ? undefined : tmpdir())
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
  throw sandboxRefused(Buffer.concat(said).toString('utf8').trim().split('\n')[0] || 'it ended without a message')
}

/** Returns the error, in one line, for a machine that cannot confine builds. */
export function sandboxRefused(why: string): Misconfigured {
  if (!confined())
    return new Misconfigured(`runner: this machine cannot run scripts (${why}): install bash and util-linux`)
  return new Misconfigured(
    `runner: this machine cannot confine builds (${why}): install bubblewrap, allow unprivileged user namespaces, ` +
      'or set runner.sandbox: none'
  )
}
