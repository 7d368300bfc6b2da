// Answers the questions of other machines about a repository of this one (cluster/repository-elsewhere.ts).
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  MOST_COMMITS,
  MOST_FRAME,
  type NamedCommit,
  type Question,
  type StoredElsewhere
} from '../../../cluster/repository-elsewhere.js'
import { storageNames } from '../../../cluster/storages.js'
import { NotHere } from '../../../errors.js'
import { commitPaths } from '../../../git/objects/commit-paths.js'
import { readCommitText } from '../../../git/objects/commit-text.js'
import { isObjectId, objectInfo } from '../../../git/objects/reader.js'
import { GitFailure } from '../../../git/process/run.js'
import { formatPackedRefs, readRefFiles, unreadableRefs } from '../../../git/refs/files.js'
import { isRefName, refValue, resolveCommit } from '../../../git/refs/refs.js'
import { isObjectFile } from '../../../git/repository/object-files.js'
import { listObjectFiles } from '../../../git/repository/original.js'
import { MOST_HAVES, writePack } from '../../../git/repository/packs.js'
import { frame, framesOf } from '../../../lib/frames.js'
import { log } from '../../../log.js'
import { isMissing } from '../../../storage/files.js'
import { commitIn } from '../../projects/projects/elsewhere/named-commits.js'
import { repositoryPath } from '../../projects/projects/repositories.js'

/** Bytes of a piece of an answer. */
const PIECE = 256 * 1024
/** Lines of a list that are sent together. */
const LINES = 1000
/** Seconds. */
const PACK_TIMEOUT = 3600

type Write = (chunk: Buffer) => Promise<void>

/**
 * Answers one question after another until the input ends. Throws NotHere as soon as this machine no longer owns the storage, and
 * TypeError for a question that no machine asks.
 */
export async function answerQuestions(
  project: StoredElsewhere,
  { input, write, signal }: { input: AsyncIterable<Buffer>; write: Write; signal: AbortSignal }
): Promise<void> {
  const send = async (content: Buffer | string) => {
    const whole = Buffer.from(content as string)
    for (let at = 0; at < whole.length; at += PIECE) await write(frame('d', whole.subarray(at, at + PIECE)))
  }
  for await (const { content } of framesOf(input, MOST_FRAME)) {
    const repository = repositoryPath(project)
    const question = JSON.parse(content.toString()) as Question
    const outcome = await answer(repository, question, { send, signal }).catch(error => {
      if (error instanceof TypeError || error instanceof NotHere || signal.aborted) throw error
      if (isMissing(error)) return 'gone'
      log().warn({ project: project.id, want: question.want, error }, 'a question of another machine has no answer')
      return String((error as Error).message).slice(0, 500)
    })
    // An answer that was read while the storage moved away does not count.
    repositoryPath(project)
    await write(frame('x', outcome))
  }
}

interface Answering {
  send(content: Buffer | string): Promise<void>
  readonly signal: AbortSignal
}

/** Sends the answer. Returns nothing, or that the thing does not exist. */
async function answer(repository: string, question: Question, { send, signal }: Answering): Promise<'' | 'gone'> {
  const { want } = question
  if (want === 'existence') await send(existsSync(repository) ? '1' : '')
  else if (want === 'objects') await sendObjects(repository, send)
  else if (want === 'file') await sendFile(repository, question.path, send)
  else if (want === 'refs') await send(Buffer.from(formatPackedRefs(readRefFiles(repository)), 'latin1'))
  else if (want === 'unreadable ref') await send(unreadableRefs(repository, 'refs')[0] ?? '')
  else if (want === 'ref') await send((await refOf(repository, question.name)) ?? '')
  else if (want === 'object') await send((await objectInfo(repository, idOf(question.id))) === null ? '' : '1')
  else if (want === 'pack') return sendPack(repository, question, { send, signal })
  else if (want === 'commits') await sendCommits(question.of, send)
  else if (want === 'commit') await send((await resolveCommit(repository, question.name))?.id ?? '')
  else if (want === 'paths')
    await send((await commitPaths(repository, idOf(question.commit), question.most)).join('\0'))
  else if (want === 'text') return sendText(repository, question, send)
  else throw new TypeError('an unknown question')
  return ''
}

function idOf(id: string): string {
  if (!isObjectId(id)) throw new TypeError('not an object id')
  return id
}

async function refOf(repository: string, name: string): Promise<string | null> {
  if (!isRefName(name)) throw new TypeError('not the name of a ref')
  return existsSync(repository) ? refValue(repository, name) : null
}

async function sendObjects(repository: string, send: Answering['send']): Promise<void> {
  let lines: string[] = []
  for (const file of listObjectFiles(repository)) {
    lines.push(`${JSON.stringify(file)}\n`)
    if (lines.length < LINES) continue
    await send(lines.join(''))
    lines = []
  }
  await send(lines.join(''))
}

async function sendFile(repository: string, path: string, send: Answering['send']): Promise<void> {
  if (path !== 'HEAD' && path !== 'config' && !isObjectFile(path)) throw new TypeError('not a file of a repository')
  for await (const piece of createReadStream(join(repository, path), { highWaterMark: PIECE })) await send(piece)
}

async function sendPack(
  repository: string,
  { id, has }: { readonly id: string; readonly has: readonly string[] },
  { send, signal }: Answering
): Promise<'' | 'gone'> {
  if (has.length > MOST_HAVES) throw new TypeError('too many commits')
  if ((await objectInfo(repository, idOf(id))) === null) return 'gone'
  const known: string[] = []
  for (const each of has) if ((await objectInfo(repository, idOf(each))) !== null) known.push(each)
  const pack = await writePack(repository, [{ id }], { timeout: PACK_TIMEOUT, signal, without: known })
  for await (const piece of pack) await send(piece as Buffer)
  return ''
}

const NAME = /^[0-9a-f]{4,40}$/

async function sendCommits(of: readonly NamedCommit[], send: Answering['send']): Promise<void> {
  if (of.length > MOST_COMMITS) throw new TypeError('too many commits')
  const known = storageNames()
  for (const { project, name } of of) {
    if (!NAME.test(name) || !Number.isSafeInteger(project.id) || !known.includes(project.storage))
      throw new TypeError('not a commit of a repository')
    const commit = await commitIn(repositoryPath(project), name).catch(error => {
      // A damaged repository must not hide the commits of others.
      if (error instanceof GitFailure) return null
      throw error
    })
    await send(`${JSON.stringify(commit)}\n`)
  }
}

async function sendText(
  repository: string,
  { commit, path }: { readonly commit: string; readonly path: string },
  send: Answering['send']
): Promise<'' | 'gone'> {
  const text = await readCommitText(repository, idOf(commit), path)
  if (text === null) return 'gone'
  await send(text)
  return ''
}
