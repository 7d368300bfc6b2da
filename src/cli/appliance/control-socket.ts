// The socket on which `gitstead up` receives orders from `gitstead stop` and `gitstead restart`. It is in the home's private
// folder, so only the home's owner and root can give orders. The appliance sends its process id, reads one order, and
// answers when the order is done.
import { rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { config } from '../../config.js'
import { Misconfigured, Unavailable } from '../../errors.js'
import { socketPath } from '../../home.js'
import { listenUnix } from '../../lib/listen-unix.js'
import { processEnded, startOf } from '../../lib/process-status.js'

export type Order = 'stop' | 'restart'
/** The functions that carry out the orders. */
export type Orders = { readonly [Name in Order]: () => Promise<void> }

/** Milliseconds after which a command stops waiting. A stop takes at most 40 s, then processes are killed. */
const LONGEST_WAIT = 90_000
/** Maximum milliseconds from the answer to the end of the process. */
const LONGEST_END = 20_000
/** Longer than any order and any answer. */
const LONGEST_TEXT = 4096

const address = () => socketPath('up.sock')

/**
 * Receives orders until the returned function is called. It answers when an order is done or has failed. Throws
 * Misconfigured when another appliance already receives the orders of this home.
 */
export async function takeOrders(orders: Orders): Promise<() => void> {
  await refuseSecond()
  const clients = new Set<Socket>()
  const server = createServer(client => {
    clients.add(client)
    client.on('error', () => client.destroy())
    client.on('close', () => clients.delete(client))
    client.setTimeout(LONGEST_WAIT, () => client.destroy())
    client.write(`${process.pid}\n`)
    void firstLine(client)
      .then(async text => {
        if (!Object.hasOwn(orders, text)) return client.end('no such order')
        client.write(await outcome(orders[text as Order]()))
        // After a stop, the end of this process closes the connection: when the client continues, no process is left.
        if (text !== 'stop') client.end()
      })
      .catch(() => client.destroy())
  })
  await listenUnix(server, address(), socketPath(`up-${process.pid}.sock`))
  return () => {
    rmSync(address(), { force: true })
    server.close()
    // Open connections must not keep the process alive.
    for (const client of clients) client.unref()
  }
}

/** Throws Misconfigured when another appliance receives the orders of this home: two would undo each other's work. */
export async function refuseSecond(): Promise<void> {
  const owner = await greeting()
  if (owner === undefined) return
  throw new Misconfigured(
    `another gitstead up (process ${owner}) runs on ${config().home}: stop it, or use another --home`
  )
}

const DONE = 'done'
const outcome = (work: Promise<void>) =>
  work.then(
    () => DONE,
    error => (error instanceof Error ? error.message : String(error))
  )

/**
 * Gives an order to the home's appliance and waits until it is done. Returns false when no appliance runs. Throws
 * Unavailable with the reason when the order fails.
 */
export async function give(order: Order): Promise<boolean> {
  const client = await connect()
  if (!client) return false
  client.setTimeout(LONGEST_WAIT, () => client.destroy(new Error('no answer')))
  client.write(`${order}\n`)
  const { text, owner } = await toEnd(client)
  if (text !== DONE) throw new Unavailable(text || `the appliance did not answer within ${LONGEST_WAIT / 1000} s`)
  // The connection closes a moment before the process is gone.
  if (order === 'stop' && owner) await processEnded(owner.pid, owner.startedAt, LONGEST_END)
  return true
}

/** Returns the id of the process that receives the orders of this home; undefined when there is none. */
async function greeting(): Promise<string | undefined> {
  const client = await connect()
  client?.setTimeout(LONGEST_WAIT, () => client.destroy())
  const text = client && (await firstLine(client).catch(() => 'unknown'))
  client?.destroy()
  return text
}

/** Returns undefined when nothing listens. */
function connect(): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const client = createConnection(address())
    client.once('connect', () => resolve(client))
    client.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(refusal(error))
    )
  })
}

const refusal = ({ code }: NodeJS.ErrnoException) =>
  new Misconfigured(`${address()}: ${code}: run this command as the owner of the home`)

function firstLine(client: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    client.setEncoding('utf8').on('data', more => {
      text += more
      if (text.length > LONGEST_TEXT) reject(new Error('too long'))
      const end = text.indexOf('\n')
      if (end !== -1) resolve(text.slice(0, end))
    })
    client.once('close', () => reject(new Error('closed')))
  })
}

interface Answer {
  readonly text: string
  /** The process that sent it, if it was known in time. */
  readonly owner: { readonly pid: number; readonly startedAt: number } | undefined
}

async function toEnd(client: Socket): Promise<Answer> {
  let said = ''
  let owner: Answer['owner']
  try {
    for await (const more of client.setEncoding('utf8')) {
      if (said.length < LONGEST_TEXT) said += more
      owner ??= ownerIn(said)
    }
  } catch {
    // The text before the connection broke is the answer.
  }
  return { text: said.split('\n')[1] ?? '', owner }
}

function ownerIn(said: string): Answer['owner'] {
  const pid = Number(/^(\d+)\n/.exec(said)?.[1])
  const startedAt = startOf(pid)
  return startedAt === null ? undefined : { pid, startedAt }
}
