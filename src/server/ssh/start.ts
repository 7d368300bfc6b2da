// Git over SSH: listens, bounds the connections, and ends them when the server stops.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { ensureHostKeys } from '../../areas/projects/ssh/host-keys.js'
import { config, notedSshPort, servesSshAt, USUAL_SSH_PORT } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { addressOf, networkOf, wideNetworkOf } from '../../lib/address.js'
import { patiently, sshListenProblem } from '../../listening.js'
import { log } from '../../log.js'
import { type Connected, serveConnection } from './connection.js'
import { sshCounts } from './counts.js'

/** Milliseconds that a client that has just connected has to begin its command when the server stops and another takes its place. */
const FRESH_MS = 3000
/** Milliseconds of stop_timeout for everything else that the server ends after its commands. */
const LAST_MS = 2000

/**
 * The algorithms that the server offers. It offers nothing with SHA-1, no compression, because a small packet can expand to
 * a huge one, and no key exchange that keeps the server busy for long for an unknown client.
 */
const ALGORITHMS = {
  // The order of the client decides. The first one here is a curve that clients never put first: dropbear sends the first
  // message of its first method at once, and ssh2 1.17 always drops that message. So dropbear must see that its guess is wrong.
  kex: [
    'ecdh-sha2-nistp521',
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'diffie-hellman-group14-sha256'
  ],
  cipher: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'chacha20-poly1305@openssh.com',
    'aes128-ctr',
    'aes192-ctr',
    'aes256-ctr'
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none']
} as const

export interface SshServer {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Starts git over SSH. Returns null when it is switched off, and when its host keys cannot be used: the log names the file, and
 * everything else works. Throws Misconfigured when nothing can listen there. With the number of an inherited socket, it listens there.
 */
export async function startSsh(inherited?: number): Promise<SshServer | null> {
  const { ssh, host: httpHost } = config()
  if (!ssh.enabled) return null
  const host = ssh.host ?? httpHost
  const hostKeys = usableHostKeys()
  if (hostKeys === null) return null
  const doors = new Doors(hostKeys)
  const port = inherited === undefined ? await listen(doors, host, ssh.port) : await listenAt(doors, inherited)
  servesSshAt(port)
  log().info({ host, port }, 'git over SSH ready')
  return {
    port,
    stop: async () => {
      servesSshAt(undefined)
      await doors.stop(inherited === undefined ? 0 : FRESH_MS)
    }
  }
}

function usableHostKeys(): string[] | null {
  try {
    return ensureHostKeys()
  } catch (error) {
    if (!(error instanceof Misconfigured)) throw error
    log().error({ error: error.message }, 'git over SSH does not start: repair its host key, and restart')
    return null
  }
}

async function listen(doors: Doors, host: string, wanted: number | null): Promise<number> {
  // A server that starts again after a crash keeps its port.
  const known = wanted || notedSshPort(config().home)
  const first = known ?? wanted ?? USUAL_SSH_PORT
  const listenOnce = () => doors.listen({ host, port: first })
  // Nobody has configured the usual port, so nobody relies on it.
  let error = await (known === undefined ? listenOnce() : patiently(listenOnce))
  if (error?.code === 'EADDRINUSE' && !wanted) {
    log().warn({ host, port: first }, 'the usual port of git over SSH is in use, so another one is taken: set ssh.port')
    error = await doors.listen({ host, port: 0 })
  }
  if (error) throw new Misconfigured(sshListenProblem(error, host, first))
  return doors.port
}

async function listenAt(doors: Doors, fd: number): Promise<number> {
  const error = await doors.listen({ fd })
  if (error) throw new Misconfigured(`git over SSH: cannot listen at the inherited socket: ${error.message}`)
  return doors.port
}

/** A connection that has not logged in yet. */
interface Stranger {
  readonly network: string
  readonly wide: string
  readonly leave: () => void
}

/** The connections of this server. */
class Doors {
  readonly #ssh: ssh2.Server
  readonly #server = createServer({ pauseOnConnect: false, noDelay: true, keepAlive: true }, socket =>
    this.#meet(socket)
  )
  readonly #perAddress = new Map<string, number>()
  readonly #open = new Map<Socket, Connected | null>()
  /** In the order of their arrival. */
  readonly #strangers = new Set<Stranger>()
  /** Once the server stops: the milliseconds for clients that have not begun a command yet. */
  #patience: number | undefined

  constructor(hostKeys: string[]) {
    this.#ssh = new ssh2.Server({ hostKeys, ident: 'Gitstead', algorithms: ALGORITHMS as never })
    this.#ssh.on('connection', client => this.#welcome(client))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  listen(where: { host: string; port: number } | { fd: number }): Promise<NodeJS.ErrnoException | null> {
    return new Promise(resolve => {
      this.#server.once('error', resolve)
      this.#server.listen(where, () => {
        this.#server.off('error', resolve)
        this.#server.on('error', error => log().error({ error }, 'the SSH server has a fault'))
        resolve(null)
      })
    })
  }

  #meet(socket: Socket): void {
    socket.on('error', () => undefined)
    const address = addressOf(socket.remoteAddress ?? '') ?? ''
    const network = networkOf(address)
    const problem = this.#problem(network)
    if (problem !== undefined) {
      sshCounts.refused++
      // Clients show lines before the name of the protocol only in verbose mode.
      socket.end(`gitstead: ${problem}\r\n`)
      setTimeout(() => socket.destroy(), 1000).unref()
      return
    }
    this.#perAddress.set(network, (this.#perAddress.get(network) ?? 0) + 1)
    this.#open.set(socket, null)
    sshCounts.connections++
    const cut = () => {
      sshCounts.refused++
      socket.destroy()
      gone()
    }
    const stranger = { network, wide: wideNetworkOf(address), leave: cut }
    this.#strangers.add(stranger)
    const limit = setTimeout(cut, config().ssh.login_timeout * 1000)
    const known = () => {
      this.#strangers.delete(stranger)
      clearTimeout(limit)
    }
    const gone = () => {
      known()
      if (!this.#open.delete(socket)) return
      sshCounts.connections--
      const left = (this.#perAddress.get(network) ?? 1) - 1
      if (left > 0) this.#perAddress.set(network, left)
      else this.#perAddress.delete(network)
    }
    socket.once('close', gone)
    this.#meetings.set(socket, { address, known })
    this.#ssh.injectSocket(socket)
  }

  readonly #meetings = new WeakMap<Socket, { readonly address: string; readonly known: () => void }>()

  #problem(network: string): string | undefined {
    const { max_connections: most, connections_per_address: each } = config().ssh
    if (this.#patience !== undefined) return 'the server stops'
    if ((this.#perAddress.get(network) ?? 0) >= each)
      return `more than ${each} connections from your address (ssh.connections_per_address)`
    // A stranger makes room, so that nobody can lock the others out with connections that do not log in.
    if (this.#strangers.size >= Math.ceil(most / 2)) this.#closeStranger()
    while (this.#open.size >= most && this.#strangers.size > 0) this.#closeStranger()
    if (this.#open.size >= most) return `more than ${most} connections (ssh.max_connections)`
    return undefined
  }

  /** Closes the oldest stranger of the address that has most of them, in the wide network that has most. */
  #closeStranger(): void {
    const inWide = mostBy([...this.#strangers], ({ wide }) => wide)
    const [oldest] = mostBy(inWide, ({ network }) => network)
    oldest?.leave()
  }

  #welcome(client: ssh2.Connection): void {
    const { _sock: socket } = client as unknown as { _sock: Socket }
    const meeting = this.#meetings.get(socket)
    if (!meeting || !this.#open.has(socket)) return void client.end()
    const { address, known: loggedIn } = meeting
    const connected = serveConnection({ client, socket, address, loggedIn })
    this.#open.set(socket, connected)
    if (this.#patience !== undefined) connected.close(this.#patience)
  }

  /** Waits until running commands end, up to a limit. Clients that have not begun one have `patience` milliseconds for it. */
  async stop(patience: number): Promise<void> {
    this.#patience = patience
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    for (const [socket, connected] of this.#open) {
      if (connected) connected.close(patience)
      else setTimeout(() => this.#open.get(socket) === null && socket.destroy(), patience).unref()
    }
    const limit = setTimeout(
      () => {
        for (const socket of this.#open.keys()) socket.destroy()
      },
      Math.max(0, config().stop_timeout * 1000 - LAST_MS)
    )
    await closed
    clearTimeout(limit)
  }
}

/** Returns the members of the largest group, in their order. */
function mostBy<T>(members: readonly T[], keyOf: (member: T) => string): readonly T[] {
  const groups = [...Map.groupBy(members, keyOf).values()]
  return groups.reduce((most, group) => (group.length > most.length ? group : most), [])
}
