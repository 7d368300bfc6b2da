// One connection of an SSH client: its login, then commands. No shell, no terminal, no forwarding, no files.
import type { Socket } from 'node:net'
import type { Connection, ServerChannel, Session } from 'ssh2'
import { config } from '../../config.js'
import { log } from '../../log.js'
import { authentication } from './authentication.js'
import { sshCounts } from './counts.js'
import type { Exchange } from './exchange.js'
import { runCommand } from './session.js'

/** Commands that one connection runs at once; OpenSSH has the same limit. */
const MOST_SESSIONS = 10
/** The smallest packet size that a client may request: smaller ones would make a clone mostly packet headers. */
const LEAST_PACKET = 1024
/** Bytes that wait for a client before the server stops sending it more. */
const MOST_WAITING = 256 * 1024
/** Bytes of answers to a client that sends requests and never reads, after which it is cut off. */
const MOST_UNREAD = 16 * 1024 * 1024
/** Milliseconds that a client has to read why it is cut off. */
const LAST_WORDS = 1000
const USER = 'git'

export interface Connected {
  /** Ends the connection as soon as no command runs. Without any command so far, the client has `patience` milliseconds for one. */
  readonly close: (patience: number) => void
  readonly destroy: () => void
}

interface Client {
  readonly client: Connection
  readonly socket: Socket
  readonly address: string
  /** Called when the client has logged in. */
  readonly loggedIn: () => void
}

/** Serves a connection whose client has shown that it speaks SSH. */
export function serveConnection({ client, socket, address, loggedIn }: Client): Connected {
  let fingerprint: string | undefined
  let username = ''
  let sessions = 0
  let used = false
  let closing = false
  let refusing = false
  let idle: NodeJS.Timeout | undefined
  const { idle_timeout: patience } = config().ssh

  // Otherwise a client that neither reads nor hangs up would stay.
  const end = () => {
    client.end()
    setTimeout(() => socket.destroy(), LAST_WORDS).unref()
  }
  const cut = (reason: string) => {
    sshCounts.refused++
    log().info({ address, reason }, 'an SSH client was cut off')
    end()
  }
  const rest = () => {
    clearTimeout(idle)
    if (sessions > 0) return
    if (closing && (used || refusing)) end()
    else idle = setTimeout(end, patience * 1000).unref()
  }

  const decide = authentication({
    address,
    cut,
    admit: found => {
      fingerprint = found
    }
  })
  client.on('authentication', context => {
    username = context.username
    void decide(context)
  })
  client.on('ready', () => {
    loggedIn()
    rest()
  })
  client.on('session', (accept, reject) => {
    if ((closing && used) || refusing || sessions >= MOST_SESSIONS || fingerprint === undefined) return void reject()
    const session = accept()
    if (packetSizeOf(session) < LEAST_PACKET) return cut('it requests packets that are too small')
    sessions++
    used = true
    rest()
    const key = fingerprint
    takeCommand(session, {
      socket,
      run: (text, exchange) => {
        if (username === USER) return runCommand(key, text, { ...exchange, address, cut })
        exchange.say(`gitstead: log in as ${USER}, not as ${JSON.stringify(username.slice(0, 64))}`)
        return Promise.resolve(128)
      },
      ended: () => {
        sessions--
        rest()
      }
    })
  })
  // Wrong packets end the connection; there is nobody to notify.
  client.on('error', error => {
    log().debug({ error, address }, 'an SSH client sent invalid data')
    end()
  })
  client.on('close', () => clearTimeout(idle))
  socket.on('data', () => {
    if (socket.writableLength > MOST_UNREAD) socket.destroy()
  })
  return {
    close: patience => {
      closing = true
      const refuse = () => {
        refusing = true
        rest()
      }
      if (used || patience === 0) refuse()
      else setTimeout(refuse, patience).unref()
    },
    destroy: () => socket.destroy()
  }
}

/** The library enforces no minimum, and would write packets without content forever. */
function packetSizeOf(session: Session): number {
  const { _chanInfo: channel } = session as unknown as { _chanInfo?: { outgoing?: { packetSize?: number } } }
  return channel?.outgoing?.packetSize ?? 0
}

interface SessionWork {
  readonly socket: Socket
  readonly run: (command: string, exchange: Omit<Exchange, 'address' | 'cut'>) => Promise<number>
  readonly ended: () => void
}

/** Waits for the one command of a session. The library refuses everything else that a client may request of a session. */
function takeCommand(session: Session, { socket, run, ended }: SessionWork): void {
  let protocol: string | undefined
  let begun = false
  let over = false
  const end = () => {
    if (over) return
    over = true
    ended()
  }
  session.on('env', (accept, reject, { key, val }) => {
    if (key !== 'GIT_PROTOCOL') return void reject?.()
    protocol = val.slice(0, 256)
    accept?.()
  })
  const begin = (accept: () => ServerChannel, reject: () => void, command: string) => {
    if (begun) return void reject?.()
    begun = true
    const channel = accept()
    serveChannel(channel, socket, exchange => run(command, { ...exchange, protocol }))
      .catch(error => {
        log().error({ error }, 'a command over SSH failed')
        socket.destroy()
      })
      .finally(end)
  }
  session.on('exec', (accept, reject, { command }) => begin(accept, reject, command))
  session.on('shell', (accept, reject) => begin(accept, reject, ''))
  // The session was closed before its command.
  session.on('close', () => {
    if (!begun) end()
  })
}

async function serveChannel(
  channel: ServerChannel,
  socket: Socket,
  work: (exchange: Pick<Exchange, 'input' | 'write' | 'say' | 'signal'>) => Promise<number>
): Promise<void> {
  const leaving = new AbortController()
  const leave = () => leaving.abort(new Error('the client has left'))
  channel.on('error', leave)
  channel.once('close', leave)
  socket.once('close', leave)
  const code = await work({
    input: inputOf(channel, leaving.signal),
    write: chunk => writeTo(channel, socket, chunk, leaving.signal),
    say: line => void channel.stderr.write(`${line}\n`),
    signal: leaving.signal
  })
  socket.off('close', leave)
  if (leaving.signal.aborted) return
  channel.exit(code)
  channel.end()
}

/** The end of the connection is not the end of the input: half a push must not look like a whole one. */
async function* inputOf(channel: ServerChannel, signal: AbortSignal): AsyncGenerator<Buffer> {
  const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  left.catch(() => {})
  const chunks = channel.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  for (;;) {
    signal.throwIfAborted()
    const { done, value } = await Promise.race([chunks.next(), left])
    if (done) return
    yield value as Buffer
  }
}

/** Resolves when the window of the client and the socket have room for more. */
async function writeTo(channel: ServerChannel, socket: Socket, chunk: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    const done = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    channel.write(chunk, () => {
      if (socket.writableLength <= MOST_WAITING) return done()
      socket.once('drain', done)
    })
  })
}
