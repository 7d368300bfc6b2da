// Clones and pushes with git's protocol, but without git processes, which would take the processors of the appliance.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Answer, Client } from './client.js'

const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
const FLUSH = '0000'
const DELIMITER = '0001'

interface Repository {
  readonly path: string
  /** The header with credentials, including a line end. */
  readonly authorization: string
}

const get = ({ path, authorization }: Repository, service: string, version = '') =>
  `GET /${path}.git/info/refs?service=${service} HTTP/1.1\r\nhost: localhost\r\n${authorization}${version}\r\n`

function post({ path, authorization }: Repository, service: string, body: Buffer, version = ''): Buffer {
  const head = `POST /${path}.git/${service} HTTP/1.1\r\nhost: localhost\r\n${authorization}${version}content-type: application/x-${service}-request\r\ncontent-length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

const V2 = 'git-protocol: version=2\r\n'
const AGENT = packet('agent=git/bench\n') + packet('object-format=sha1')

function require200({ status, head, body }: Answer, what: string): Answer {
  if (status === 200) return { status, head, body }
  throw new Failed(status, `${what}: ${body.toString('latin1', 0, 200)}`)
}

/** An answer that the operation cannot use. */
export class Failed extends Error {
  constructor(
    readonly status: number,
    message: string
  ) {
    super(message)
  }
}

/** Requests all refs, as `git ls-remote` does with protocol v2. Returns the commit of master. */
export async function listRefs(client: Client, repository: Repository): Promise<string> {
  require200(await client.send(get(repository, 'git-upload-pack', V2)), 'info/refs')
  const wanted = packet('command=ls-refs\n') + AGENT + DELIMITER + packet('peel\n') + packet('symrefs\n') + FLUSH
  const answer = await client.send(post(repository, 'git-upload-pack', Buffer.from(wanted), V2))
  return tipIn(require200(answer, 'ls-refs'), / refs\/heads\/master/)
}

function tipIn({ body, status }: Answer, name: RegExp): string {
  const line = body
    .toString('latin1')
    .split('\n')
    .find(text => name.test(text))
  const tip = line && /([0-9a-f]{40}) /.exec(line)?.[1]
  if (!tip) throw new Failed(status, 'the list of refs has no master')
  return tip
}

/** Fetches everything that is reachable from master. */
export async function clone(client: Client, repository: Repository): Promise<void> {
  const tip = await listRefs(client, repository)
  const options = ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta', `want ${tip}\n`, 'done\n'].map(packet)
  const wanted = packet('command=fetch') + AGENT + DELIMITER + options.join('') + FLUSH
  const answer = require200(await client.send(post(repository, 'git-upload-pack', Buffer.from(wanted), V2)), 'fetch')
  if (!answer.body.includes('PACK')) throw new Failed(answer.status, 'fetch: no pack arrived')
}

/** Pushes one commit onto master, which adds or changes one file in the topmost folder. */
export async function push(client: Client, repository: Repository, rootTree: Buffer, number: number): Promise<void> {
  const list = require200(await client.send(get(repository, 'git-receive-pack')), 'info/refs')
  const tip = tipIn(list, / refs\/heads\/master/)
  const { commit, pack } = packOfOneCommit(tip, rootTree, number)
  const command = packet(`${tip} ${commit} refs/heads/master\0 report-status side-band-64k agent=git/bench`)
  const body = Buffer.concat([Buffer.from(command + FLUSH), pack])
  const answer = require200(await client.send(post(repository, 'git-receive-pack', body)), 'push')
  if (!answer.body.includes('ok refs/heads/master')) {
    throw new Failed(answer.status, `push: ${answer.body.toString('latin1', 0, 300)}`)
  }
}

type Kind = 'commit' | 'tree' | 'blob'
const TYPES: Record<Kind, number> = { commit: 1, tree: 2, blob: 3 }

const idOf = (kind: Kind, content: Buffer) =>
  createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest()

function packOfOneCommit(parent: string, rootTree: Buffer, number: number) {
  const blob = Buffer.from(`Push number ${number}\n`.repeat(20))
  // The name comes after all others of the tree, as git sorts them.
  const tree = Buffer.concat([rootTree, Buffer.from('100644 ~pushed\0'), idOf('blob', blob)])
  const person = `Bench <bench@example.org> ${1_700_000_000 + number} +0000`
  const commit = Buffer.from(
    `tree ${idOf('tree', tree).toString('hex')}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nPush ${number}\n`
  )
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x03', 'latin1')
  const body = Buffer.concat([head, entry('commit', commit), entry('tree', tree), entry('blob', blob)])
  const pack = Buffer.concat([body, createHash('sha1').update(body).digest()])
  return { commit: idOf('commit', commit).toString('hex'), pack }
}

function entry(kind: Kind, content: Buffer): Buffer {
  const bytes: number[] = []
  let rest = content.length >> 4
  let byte = (TYPES[kind] << 4) | (content.length & 15)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
    rest >>= 7
  }
  bytes.push(byte)
  return Buffer.concat([Buffer.from(bytes), deflateSync(content)])
}
