// Copies the project folder into a container and back. tar runs in the sandbox, as the user of builds and under the limits of
// the build, because a container may send anything.
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { config } from '../../config.js'
import { TooLarge } from '../../errors.js'
import { watchDisk } from '../disk.js'
import { quietScript } from '../script.js'
import { LINK } from '../shell.js'
import { type Run, runInside, StageFailure } from '../stages.js'
import { PROJECT } from './containers.js'
import { ask, EngineRefused, send } from './engine.js'
import { firstFileOf, type Owner } from './tar.js'

type Outside = Pick<Run, 'folders' | 'trace' | 'halt' | 'disk'>

/** Copies the files of the project into the container. They belong to its user there. */
export async function copyIn(run: Outside, id: string, { uid, gid }: Owner): Promise<void> {
  const pack = `tar --create --format=pax --numeric-owner --owner=build:${uid} --group=build:${gid} . >&${LINK}`
  const { signal } = run.halt
  const put = async (socket: Duplex) => {
    socket.end()
    await ask({ method: 'PUT', path: `/containers/${id}/archive`, query: { path: PROJECT }, tar: socket, signal })
  }
  const code = await runTar(run, [pack], { serve: put, signal, drained: true })
  if (code !== 0) throw failure(`tar ended with exit code ${code}`)
}

/**
 * Replaces the project files outside with those of the container. A limit may have stopped the build before, so only `signal`
 * ends this, and a separate watch limits how much the container sends.
 */
export async function copyOut(run: Outside & Pick<Run, 'port'>, id: string): Promise<void> {
  const full = new AbortController()
  const tooMuch = () => full.abort(new TooLarge('the files of the container do not fit on the disk'))
  const limit = config().runner.disk_limit
  const watch = watchDisk({ folder: run.folders.work, limit, onFull: tooMuch, onLow: tooMuch })
  const signal = AbortSignal.any([run.port.signal, full.signal])
  const unpack = ['find . -mindepth 1 -delete', `tar --extract --strip-components=1 --warning=no-timestamp <&${LINK}`]
  const get = async (socket: Duplex) => {
    socket.resume()
    const answer = await send({ method: 'GET', path: `/containers/${id}/archive`, query: { path: PROJECT }, signal })
    await pipeline(answer, socket, { signal })
  }
  try {
    const code = await runTar(run, unpack, { serve: get, signal })
    if (code !== 0) run.trace.line('WARNING: not all files of the container could be read')
  } finally {
    await watch.stop()
  }
}

/** Returns the user of the container. Throws StageFailure when the image names a user that it does not have. */
export async function userOf(id: string, user: string, signal: AbortSignal): Promise<Owner> {
  const [name = '', group] = user.split(':')
  if (name === '') return { uid: 0, gid: 0 }
  const account = (await accountsOf(id, signal)).find(fields => fields[0] === name || fields[2] === name)
  const uid = Number(account?.[2] ?? name)
  const gid = Number(group && /^\d+$/.test(group) ? group : (account?.[3] ?? 0))
  if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid, gid }
  throw new StageFailure('script_failure', `the image has no user ${JSON.stringify(name)}`)
}

/** The most bytes of the accounts file of a container. No image with more has been seen. */
const LONGEST_ACCOUNTS = 1_048_576

async function accountsOf(id: string, signal: AbortSignal): Promise<string[][]> {
  const query = { path: '/etc/passwd' }
  try {
    const answer = await send({ method: 'GET', path: `/containers/${id}/archive`, query, signal })
    const accounts = await firstFileOf(answer, LONGEST_ACCOUNTS)
    return accounts.split('\n').map(line => line.split(':'))
  } catch (error) {
    if (error instanceof EngineRefused && error.status === 404) return []
    throw error
  }
}

interface Exchange {
  /** Gets the other end of the commands' descriptor. Its failure is reported first, because it says more than that of the commands. */
  readonly serve: (socket: Duplex) => Promise<void>
  readonly signal: AbortSignal
  readonly drained?: boolean
}

/** Runs commands in the sandbox. Throws the reason of `signal`. */
async function runTar(run: Outside, commands: readonly string[], { serve, signal, drained }: Exchange) {
  let served: Promise<void> | undefined
  const link = (socket: Duplex) => {
    socket.on('error', () => undefined)
    served = serve(socket)
    served.catch(() => socket.destroy())
  }
  const code = await runInside(run, quietScript(commands, LINK), signal, link, drained)
  await served
  signal.throwIfAborted()
  return code
}

const failure = (why: string) => new StageFailure('runner_system_failure', `the project could not be copied: ${why}`)
