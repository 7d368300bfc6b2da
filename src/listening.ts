// Finds out whether a server can listen at an address, before anything else starts, or whether it inherits listening sockets.
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from './config.js'
import { Misconfigured } from './errors.js'

/** Whether a server with this host listens at every address of the machine. No URL can name such a host. */
export const isEveryAddress = (host: string): boolean => ['0.0.0.0', '::', '[::]', ''].includes(host)

/** A server that was just killed may hold its port for another moment. */
const TRIES = 5

/** Throws Misconfigured when no server could listen at the configured address. */
export async function requireFreeAddress(): Promise<void> {
  const { host, port } = config()
  const error = await patiently(() => tryToListen(host, port))
  if (error) throw new Misconfigured(listenProblem(error, host, port))
  await requireFreeSshAddress()
}

/** Without a configured port, the SSH server finds a free one. */
async function requireFreeSshAddress(): Promise<void> {
  const { ssh, host: httpHost } = config()
  if (!ssh.enabled || ssh.port === null) return
  const [host, port] = [ssh.host ?? httpHost, ssh.port]
  const error = await patiently(() => tryToListen(host, port))
  if (error) throw new Misconfigured(sshListenProblem(error, host, port))
}

/** One line for the sysadmin, with the remedy. */
export const sshListenProblem = (error: NodeJS.ErrnoException, host: string, port: number): string =>
  `git over SSH: ${listenProblem(error, host, port)}`
    .replace('--port', 'ssh.port (GITSTEAD_SSH_PORT)')
    .replace('--host', 'ssh.host (GITSTEAD_SSH_HOST)')

/** Calls `attempt` again while the port is in use, five times in all. Returns its last error. */
export async function patiently(
  attempt: () => Promise<NodeJS.ErrnoException | null>
): Promise<NodeJS.ErrnoException | null> {
  for (let tried = 1; ; tried++) {
    const error = await attempt()
    if (error?.code !== 'EADDRINUSE' || tried === TRIES) return error
    await sleep(tried * 100)
  }
}

/** Listens for a moment. Returns why that is impossible, or null. */
export function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

/** One line for the sysadmin, with the remedy. */
export function listenProblem({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is already in use: stop the program that uses it, or set --port`
  if (code === 'EACCES')
    return `port ${port} of ${host} needs more rights: set --port to a number above 1023, or lower net.ipv4.ip_unprivileged_port_start`
  if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine: set --host`
  return `cannot listen on ${host}:${port}: ${message}`
}

/** The first passed file descriptor. */
const FIRST = 3

export interface InheritedSockets {
  /** The file descriptors; undefined when the server has to open the socket. */
  readonly http?: number | undefined
  readonly ssh?: number | undefined
}

/** Instead of a process id: the sockets are for the child that gets this environment. Its id is not known before it starts. */
const FOR_CHILD = 'child'

/**
 * Returns the listening sockets that a service manager passed to this process (LISTEN_FDS of systemd): the first is for HTTP, and the
 * second for git over SSH. They stay open while the server restarts, so new connections wait instead of failing. It removes them from
 * the environment, because children of this process do not get them, except by `passedOn`.
 */
export function inheritedSockets(environment: NodeJS.ProcessEnv = process.env): InheritedSockets {
  const { LISTEN_FDS: count, LISTEN_PID: pid } = environment
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete environment[name]
  // They may be for the parent of this process.
  const passed = pid === String(process.pid) || pid === FOR_CHILD ? Number(count) : 0
  return { http: passed >= 1 ? FIRST : undefined, ssh: passed >= 2 ? FIRST + 1 : undefined }
}

/** What a child needs to inherit these sockets: entries for its `stdio`, after the first three, and its environment. */
export function passedOn({ http, ssh }: InheritedSockets): { stdio: number[]; environment: NodeJS.ProcessEnv } {
  const stdio = [http, ssh].flatMap(socket => socket ?? [])
  return { stdio, environment: stdio.length > 0 ? { LISTEN_FDS: String(stdio.length), LISTEN_PID: FOR_CHILD } : {} }
}
