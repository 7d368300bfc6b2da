// One connection to a directory. It belongs to one sign-in, or one run of the synchronization, so none is ever idle.
import type { Socket } from 'node:net'
import {
  Client,
  type Entry,
  InvalidCredentialsError,
  NoSuchObjectError,
  ResultCodeError,
  type SearchOptions
} from 'ldapts'
import { Limiter } from '../lib/limiter.js'
import type { Directory } from './directory.js'
import { DirectoryFailure, type Step } from './failure.js'
import { openSocket } from './socket.js'

/** Bytes of the answer to one search, or of one page. Only the needed attributes are read, so the usual page has 100 KB. */
const LARGEST_ANSWER = 16_777_216
/** Sign-ins that may wait for a connection. More of them are refused. */
const MOST_WAITING = 100

export type Search = Pick<SearchOptions, 'scope' | 'filter' | 'attributes' | 'sizeLimit'> & {
  /** The attribute whose values are bytes. */
  readonly bytes?: string
  /** The base may be missing: then nothing is found. */
  readonly optional?: boolean
}

export interface Connection {
  /** Returns the entries that a search finds. References to other servers are only counted, never followed. */
  search(base: string, search: Search): Promise<Entry[]>
  /** Does the same in pages. */
  pages(base: string, search: Search): AsyncGenerator<Entry[]>
  /** How many references to other servers the searches have found. */
  readonly references: number
}

/** Connections are few, because each one costs the directory a process or a thread. */
const limiters = new Map<string, Limiter>()

function limiterOf({ name, connections, timeout }: Directory): Limiter {
  const known = limiters.get(name)
  if (known) return known
  const busy = () =>
    new DirectoryFailure(name, 'connect', 'too many sign-ins wait for a connection', 'raise connections', false)
  const made = new Limiter({
    capacity: connections,
    queue: { capacity: MOST_WAITING, full: busy },
    patience: { milliseconds: timeout * 1000, over: busy }
  })
  limiters.set(name, made)
  return made
}

/**
 * Runs `work` with a new connection that is bound as the service account, or anonymous without one. Throws DirectoryFailure when
 * the directory is away, its certificate is wrong, or it refuses the account or a search.
 */
export const withDirectory = <T>(directory: Directory, work: (connection: Connection) => Promise<T>): Promise<T> =>
  limiterOf(directory).run({}, () =>
    onFirstUrl(directory, async (client, reading) => {
      const { bind_dn: dn, bind_password: password } = directory
      if (dn !== null) {
        const remedy = 'correct bind_dn and bind_password'
        await client.bind(dn, password ?? '').catch(error => raise(directory, 'bind', error, remedy))
      }
      return work(connectionOf(directory, client, reading))
    })
  )

/** Codes of a bind that say no to this person: a wrong password, an account without one, one that is locked or gone. */
const REFUSED = new Set([19, 32, 34, 48, 49, 50, 53])

/**
 * Returns whether a password is that of an entry, on a connection of its own. Throws DirectoryFailure when the directory does not
 * decide it. An empty password never is: a directory accepts it for any entry, as an anonymous bind.
 */
export async function isPasswordOfEntry(directory: Directory, dn: string, password: string): Promise<boolean> {
  // Without `=` it would be the name of a SASL mechanism, or empty, which is anonymous too.
  if (password === '' || !dn.includes('=')) return false
  return limiterOf(directory).run({}, () =>
    onFirstUrl(directory, async client => {
      try {
        await client.bind(dn, password)
        return true
      } catch (error) {
        if (error instanceof InvalidCredentialsError) return false
        if (error instanceof ResultCodeError && REFUSED.has(error.code)) return false
        return raise(directory, 'sign-in', error, 'see the log of the directory')
      }
    })
  )
}

interface Reading {
  /** Begins to count the bytes of the next answer. */
  begin(): void
}

/** Tries the URLs in order: the next one only when no connection was possible, because another answer would be the same there. */
async function onFirstUrl<T>(directory: Directory, work: (client: Client, reading: Reading) => Promise<T>): Promise<T> {
  let failure: unknown
  for (const url of directory.urls) {
    let socket: Socket
    try {
      socket = await openSocket(directory, url)
    } catch (error) {
      failure ??= error
      continue
    }
    return useSocket(directory, socket, work)
  }
  throw failure
}

async function useSocket<T>(
  directory: Directory,
  socket: Socket,
  work: (client: Client, reading: Reading) => Promise<T>
): Promise<T> {
  let [used, received] = [false, 0]
  socket.on('data', chunk => {
    received += chunk.length
    if (received > LARGEST_ANSWER) socket.destroy(new Error(`the answer has more than ${LARGEST_ANSWER} bytes`))
  })
  const client = new Client({
    // Only this name of the protocol makes ldapts take a socket as it is.
    url: 'ldap://directory',
    timeout: directory.timeout * 1000,
    createConnection: () => {
      // A lost connection is not replaced, because the new one would be neither encrypted nor bound.
      if (used) throw new Error('the connection was closed')
      used = true
      return socket
    }
  })
  try {
    return await work(client, {
      begin: () => {
        received = 0
      }
    })
  } finally {
    socket.destroy()
  }
}

const NOTHING = { searchEntries: [], searchReferences: [] }

function connectionOf(directory: Directory, client: Client, reading: Reading): Connection {
  let references = 0
  const fail = (error: unknown) =>
    raise(directory, 'search', error, 'correct base and filter, or the rights of bind_dn')
  const optionsOf = ({ bytes, optional: _, ...search }: Search): SearchOptions => ({
    ...search,
    derefAliases: 'never',
    timeLimit: directory.timeout,
    ...(bytes && { explicitBufferAttributes: [bytes] })
  })
  return {
    get references() {
      return references
    },
    async search(base, search) {
      reading.begin()
      const found = await client.search(base, optionsOf(search)).catch(error => {
        if (search.optional && error instanceof NoSuchObjectError) return NOTHING
        return fail(error)
      })
      references += found.searchReferences.length
      return found.searchEntries
    },
    async *pages(base, search) {
      const paged = { pageSize: directory.page_size }
      reading.begin()
      try {
        for await (const page of client.searchPaginated(base, { ...optionsOf(search), paged })) {
          references += page.searchReferences.length
          yield page.searchEntries
          reading.begin()
        }
      } catch (error) {
        fail(error)
      }
    }
  }
}

function raise({ name }: Directory, step: Step, error: unknown, remedy: string): never {
  if (error instanceof ResultCodeError) {
    const { code } = error
    const [words = 'the directory refuses it', better = remedy] = RESULTS.get(code) ?? []
    const said = error.message.replace(/\s*Code: 0x[0-9a-f]+$/, '')
    const text = `${words} (result ${code})${said === '' ? '' : `: ${said.slice(0, 200)}`}`
    throw new DirectoryFailure(name, step, text, better, step === 'bind' || UNAVAILABLE.has(code))
  }
  if (!(error instanceof Error) || error instanceof DirectoryFailure) throw error
  const [text = ''] = error.message.split('\n').slice(-1)
  throw new DirectoryFailure(name, step, text, 'check that the directory runs, or raise timeout', true)
}

/** busy and unavailable */
const UNAVAILABLE = new Set([51, 52])

const TLS = 'use TLS: set starttls to true, or an ldaps:// address'

/** What the codes of RFC 4511 mean that directories often answer with, and for some of them a remedy. */
const RESULTS: ReadonlyMap<number, readonly [words: string, remedy?: string]> = new Map([
  [1, ['the directory wants a bind first', 'set bind_dn and bind_password']],
  [3, ['the search takes too long', 'raise timeout, or add an index for the attributes in the directory']],
  [4, ['bind_dn may not read so many entries', 'raise its size limit in the directory, or make page_size smaller']],
  [8, ['the directory requires TLS', TLS]],
  [10, ['the entries are on another server', 'name that server in urls: references are never followed']],
  [13, ['the directory requires TLS', TLS]],
  [32, ['there is no such entry', 'correct base, or let bind_dn see it']],
  [34, ['this is no DN', 'correct bind_dn and base']],
  [49, ['the directory refuses the name or the password']],
  [50, ['bind_dn may not do this', 'let bind_dn read the entries in the directory']],
  [51, ['the directory is busy']],
  [52, ['the directory is unavailable']]
])
