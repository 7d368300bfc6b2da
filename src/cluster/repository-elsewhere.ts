// Asks the server of another machine about a repository that it owns, over one connection that both sides keep open. The owner answers
// the questions in their order, and only while it owns the storage.
import type { Socket } from 'node:net'
import { Unavailable } from '../errors.js'
import { type Frame, frame, framesOf } from '../lib/frames.js'
import { askPeer } from './peers.js'
import { PeerSilent } from './silence.js'
import { addressOfOwner } from './storages.js'

/** Where a server takes these questions, and the protocol to which the connection changes. */
export const REPOSITORIES = { path: '/-/machines/repositories/', protocol: 'gitstead-repository' } as const

/** The most bytes of one frame, of a question as well as of an answer. */
export const MOST_FRAME = 512 * 1024

export interface StoredElsewhere {
  readonly id: number
  readonly storage: string
}

/** A commit by its id, or the beginning of it. */
export interface NamedCommit {
  readonly project: StoredElsewhere
  readonly name: string
}

/** The most commits of one question. */
export const MOST_COMMITS = 200

export type Question =
  /** Whether the repository exists: an answer of one byte, or none. */
  | { readonly want: 'existence' }
  /** The files of objects, one JSON text a line. */
  | { readonly want: 'objects' }
  /** The bytes of a file of objects, of HEAD or of the settings. */
  | { readonly want: 'file'; readonly path: string }
  /** All refs, as in `packed-refs`. */
  | { readonly want: 'refs' }
  /** The first ref that cannot be read. */
  | { readonly want: 'unreadable ref' }
  /** The value of a ref. */
  | { readonly want: 'ref'; readonly name: string }
  /** Whether an object exists. */
  | { readonly want: 'object'; readonly id: string }
  /** A pack with a commit and what it needs, without what this machine has. */
  | { readonly want: 'pack'; readonly id: string; readonly has: readonly string[] }
  /** Commits of several repositories of the machine, one JSON text a line: null for one that does not exist. */
  | { readonly want: 'commits'; readonly of: readonly NamedCommit[] }
  /** The id of the commit that a name from a user means. */
  | { readonly want: 'commit'; readonly name: string }
  /** The paths of the files of a commit, with NUL between them: one more than `most` when there are more. */
  | { readonly want: 'paths'; readonly commit: string; readonly most: number }
  /** The text of a file of a commit, unless it is too long for a CI file. */
  | { readonly want: 'text'; readonly commit: string; readonly path: string }

/** Milliseconds without a byte of an answer. */
const SILENCE_MS = 60_000
/** The most bytes of an answer that is read as a whole, such as the refs of a repository. */
const MOST_WHOLE = 256 * 1024 * 1024

/** The URL names the repository, so that the signature of the request includes it. */
const urlFor = ({ id, storage }: StoredElsewhere): string => `${REPOSITORIES.path}${id}/${storage}`

/** Returns the repository that a URL names; undefined for another URL. */
export function askedRepository(url: string): StoredElsewhere | undefined {
  const [, id, storage] = /^\/-\/machines\/repositories\/(\d{1,10})\/([a-z0-9][a-z0-9_-]{0,63})$/.exec(url) ?? []
  return id && storage ? { id: Number(id), storage } : undefined
}

/** The machine that owns a repository does not answer. Its storage may have another owner soon. */
export class OwnerAway extends Unavailable {}

/** A connection to the owner of a repository. Questions must not overlap. */
export class RepositoryElsewhere {
  private readonly frames: AsyncGenerator<Frame>

  private constructor(
    private readonly socket: Socket,
    readonly project: StoredElsewhere
  ) {
    socket.on('error', () => socket.destroy())
    this.frames = framesOf(socket.iterator({ destroyOnReturn: false }), MOST_FRAME)
  }

  /** Connects to the owner. Throws OwnerAway. */
  static async open(project: StoredElsewhere, signal?: AbortSignal): Promise<RepositoryElsewhere> {
    const address = await addressOfOwner(project.storage).catch(error => {
      throw error instanceof Unavailable ? new OwnerAway(error.message) : error
    })
    if (address === null) throw new OwnerAway(`the storage ${project.storage} has just come to this machine`, 1)
    return new RepositoryElsewhere(await connect(address, urlFor(project), signal), project)
  }

  /**
   * Asks, and passes the answer on piece by piece. Returns false when the thing does not exist. Throws OwnerAway when the connection
   * breaks, and Unavailable when the owner cannot answer. After a failure, the connection is closed.
   */
  async read(question: Question, hear: (piece: Buffer) => Promise<void> | void): Promise<boolean> {
    const { socket } = this
    const silent = () => socket.destroy()
    socket.setTimeout(SILENCE_MS, silent)
    try {
      socket.write(frame('q', JSON.stringify(question)))
      for (;;) {
        const { done, value } = await this.frames.next()
        if (done) throw this.broken()
        if (value.kind === 'd') await hear(value.content)
        else if (value.kind === 'x') return value.content.length === 0 ? true : this.end(value.content.toString())
      }
    } catch (error) {
      socket.destroy()
      throw isOfConnection(error) ? this.broken() : error
    } finally {
      socket.setTimeout(0)
      socket.off('timeout', silent)
    }
  }

  /** Returns the whole answer; undefined when the thing does not exist. */
  async whole(question: Question): Promise<Buffer | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    const found = await this.read(question, piece => {
      bytes += piece.length
      if (bytes > MOST_WHOLE) throw new RangeError('an answer is too long')
      // A piece is part of a larger buffer.
      pieces.push(Buffer.from(piece))
    })
    return found ? Buffer.concat(pieces) : undefined
  }

  /** Returns the whole answer as a text; an empty one when the thing does not exist. */
  async text(question: Question): Promise<string> {
    return (await this.whole(question))?.toString() ?? ''
  }

  close(): void {
    this.socket.destroy()
  }

  private end(outcome: string): false {
    if (outcome === 'gone') return false
    throw new Unavailable(`the machine of the storage ${this.project.storage} cannot read the repository: ${outcome}`)
  }

  private broken(): OwnerAway {
    return new OwnerAway(`the machine of the storage ${this.project.storage} does not answer any more`)
  }
}

/** Connects, works, and closes the connection. */
export async function withElsewhere<T>(
  project: StoredElsewhere,
  work: (repository: RepositoryElsewhere) => Promise<T>,
  signal?: AbortSignal
): Promise<T> {
  const repository = await RepositoryElsewhere.open(project, signal)
  try {
    return await work(repository)
  } finally {
    repository.close()
  }
}

const isOfConnection = (error: unknown): boolean =>
  error instanceof PeerSilent ||
  ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'].includes(
    (error as NodeJS.ErrnoException).code ?? ''
  )

async function connect(address: string, url: string, signal?: AbortSignal): Promise<Socket> {
  const headers = { connection: 'Upgrade', upgrade: REPOSITORIES.protocol }
  const request = askPeer(address, { method: 'GET', url, headers, ...(signal && { signal }) })
  request.setTimeout(SILENCE_MS, () => request.destroy())
  request.end()
  const socket = await new Promise<Socket>((resolve, reject) => {
    request.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    request.once('response', ({ statusCode }) => {
      request.destroy()
      reject(new OwnerAway(`the machine at ${address} answered ${statusCode}`))
    })
    request.once('error', () => reject(new OwnerAway(`the machine at ${address} does not answer`)))
  })
  const leave = () => socket.destroy()
  signal?.addEventListener('abort', leave, { once: true })
  socket.once('close', () => signal?.removeEventListener('abort', leave))
  return socket
}
