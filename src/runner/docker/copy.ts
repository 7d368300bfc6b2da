// Takes the project folder into a container and back. tar runs in the sandbox, as the user of builds and under the limits
// of the build: what comes out of a container may be anything.

import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { quietScript } from '../script.js'
import { LINK } from '../shell.js'
import { type Run, runInside, StageFailure } from '../stages.js'
import { PROJECT } from './containers.js'
import { ask, EngineRefused, send } from './engine.js'
import { firstFileOf, type Owner } from './tar.js'

type Outside = Pick<Run, 'folders' | 'trace' | 'halt' | 'disk'>

/** Copies the files of the project into the container. They get its user as their owner. */
export async function copyIn(run: Outside, id: string, { uid, gid }: Owner): Promise<void> {
  const pack = `tar --create --format=pax --numeric-owner --owner=build:${uid} --group=build:${gid} . >&${LINK}`
  const { signal } = run.halt
  const code = await runTar(run, [pack], socket => {
    socket.end()
    return ask({ method: 'PUT', path: `/containers/${id}/archive`, query: { path: PROJECT }, tar: socket, signal })
  })
  if (code !== 0) throw failure(`tar ended with exit code ${code}`)
}

/** Replaces the files of the project outside by those of the container. */
export async function copyOut(run: Outside, id: string): Promise<void> {
  const { signal } = run.halt
  const unpack = ['find . -mindepth 1 -delete', `tar --extract --strip-components=1 <&${LINK}`]
  const code = await runTar(run, unpack, async socket => {
    socket.resume()
    const answer = await send({ method: 'GET', path: `/containers/${id}/archive`, query: { path: PROJECT }, signal })
    await pipeline(answer, socket, { signal })
  })
  if (code !== 0) run.trace.line('WARNING: not all files of the container could be read')
}

/** Returns the user of the container. Throws StageFailure when the image does not know the user that it names. */
export async function userOf(id: string, user: string, signal: AbortSignal): Promise<Owner> {
  const [name = '', group] = user.split(':')
  if (name === '') return { uid: 0, gid: 0 }
  const account = (await accountsOf(id, signal)).find(fields => fields[0] === name || fields[2] === name)
  const uid = Number(account?.[2] ?? name)
  const gid = Number(group && /^\d+$/.test(group) ? group : (account?.[3] ?? 0))
  if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid, gid }
  throw new StageFailure('script_failure', `the image has no user ${JSON.stringify(name)}`)
}

/** The first accounts of a container. The file of an image with more has not been seen. */
const LONGEST_ACCOUNTS = 1_048_576

async function accountsOf(id: string, signal: AbortSignal): Promise<string[][]> {
  const query = { path: '/etc/passwd' }
  try {
    const answer = await send({ method: 'GET', path: `/containers/${id}/archive`, query, signal })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > LONGEST_ACCOUNTS) break
    }
    return (firstFileOf(Buffer.concat(chunks)) ?? '').split('\n').map(line => line.split(':'))
  } catch (error) {
    if (error instanceof EngineRefused && error.status === 404) return []
    throw error
  }
}

/** Runs commands in the sandbox, with the other end of their descriptor. The failure of `serve` says more than theirs. */
async function runTar(run: Outside, commands: readonly string[], serve: (socket: Duplex) => Promise<unknown>) {
  let served: Promise<unknown> | undefined
  const code = await runInside(run, quietScript(commands, LINK), run.halt.signal, socket => {
    socket.on('error', () => undefined)
    served = serve(socket)
    served.catch(() => socket.destroy())
  })
  await served
  run.halt.signal.throwIfAborted()
  return code
}

const failure = (why: string) => new StageFailure('runner_system_failure', `the project could not be copied: ${why}`)
