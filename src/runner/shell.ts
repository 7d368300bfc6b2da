// Runs one shell script of a build to its end, and ends everything that the script started.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { chown, unlink, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants as system } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Folders } from './folders.js'
import { confinedMembers, type Members, markedMembers } from './members.js'
import { endMarked, endProcess, type FirstProcess, firstEnded, firstProcess } from './processes.js'

/** A program that runs the script at `folders.step`. `confined` is true when the program is bubblewrap. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Record<string, string>
  readonly confined: boolean
}

export interface ShellRun {
  readonly folders: Folders
  readonly command: Command
  readonly script: string
  /** Gets stdout and stderr in the order in which they were written. Reading continues after the promise resolves. */
  readonly output: (chunk: Buffer) => Promise<void>
  /** Ends the script at once. A build has nothing to clean up, because its folder is removed anyway. */
  readonly signal: AbortSignal
  /** Gets the other end of the script's descriptor LINK. */
  readonly link?: ((socket: Duplex) => void) | undefined
  /** True: the output of the script on LINK is read to its end, or the socket destroyed, even after the script has ended. */
  readonly drained?: boolean | undefined
  /**
   * Called when the script's processes can be found, before any of them runs in a sandbox. The script begins when the
   * promise settles. Returns the function that is called after the end of the script.
   */
  readonly watch?: ((members: Members) => Promise<() => Promise<void>>) | undefined
}

// The descriptors of bubblewrap, in addition to the three that every process has.
const STATUS = 3
const FILTER = 4
const GATE = 5
/** The descriptor through which a script and the runner communicate, when the script has one. */
export const LINK = 6

interface Following {
  readonly first: Promise<FirstProcess | undefined>
  readonly exit: Promise<number | undefined>
}

interface Reading {
  busy: boolean
  ended: Promise<void>
}

const MARK = 'GITSTEAD_BUILD_MARK'

/**
 * Runs a bash script in the build's folders. Returns the exit code (128 + n after a signal), or undefined when the
 * script never began or when `signal` ended it. No process of the build runs any more when the promise settles. Throws
 * the error of the spawn when the program is missing.
 */
export async function runShell(run: ShellRun): Promise<number | undefined> {
  const { folders, command, signal } = run
  if (signal.aborted) return undefined
  await writeStep(folders, run.script)
  const marker = `${MARK}=${randomBytes(16).toString('hex')}`
  const { reader, child } = start(run, marker)
  const following = follow(child, command.confined)
  const watched = watchOver(run, child, following.first, marker)
  watched.catch(() => undefined)
  const first = command.confined || child.pid === undefined ? undefined : firstProcess(child.pid)
  const end = () => void endNow(child, following)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const reading = readAll(reader, run.output)
  reading.ended.catch(() => undefined)
  try {
    const exitCode = await following.exit
    return signal.aborted ? undefined : exitCode
  } finally {
    signal.removeEventListener('abort', end)
    await (command.confined ? endConfined(following) : endLoose(child, first, marker))
    if (!command.confined) await giveUp(reader, reading)
    await reading.ended
    await (await watched)?.()
  }
}

/** Starts the watch of the script's processes, and then lets the waiting sandbox begin. */
async function watchOver({ command, watch }: ShellRun, child: ChildProcess, first: Following['first'], marker: string) {
  const gate = streamAt(child, GATE)
  gate?.on('error', () => undefined)
  try {
    const found = await first
    if (!watch || child.pid === undefined) return undefined
    if (command.confined) return found && (await watch(confinedMembers(found.pid)))
    return await watch(markedMembers(marker))
  } finally {
    gate?.end()
    gate?.resume()
  }
}

/** Passes the script in a file: an argument would show its secrets to everyone on the machine. */
async function writeStep({ step, user }: Folders, script: string): Promise<void> {
  await unlink(step).catch(() => undefined)
  await writeFile(step, script, { mode: 0o600, flag: 'wx' })
  if (user) await chown(step, user.uid, user.gid)
}

/**
 * Starts the program. The output goes through a named pipe that the user of builds owns. Node's own pipes are sockets,
 * which a script cannot open again as /dev/stdout, and an anonymous pipe made by root would refuse the script.
 */
function start(run: ShellRun, marker: string): { reader: Socket; child: ChildProcess } {
  const { folders, command, link } = run
  const inlet = openSync(folders.output, constants.O_RDONLY | constants.O_NONBLOCK)
  const outlet = openSync(folders.output, constants.O_WRONLY)
  const filter = command.confined ? openSync(folders.filter, constants.O_RDONLY) : undefined
  try {
    const [name = MARK, value = ''] = marker.split('=')
    const stdio: StdioOptions = ['ignore', outlet, outlet]
    if (filter !== undefined) Object.assign(stdio, { [STATUS]: 'pipe', [FILTER]: filter, [GATE]: 'pipe' })
    // A gap in the list is the null device.
    if (link) Object.assign(stdio, { [LINK]: 'pipe' })
    const child = spawn(command.program, command.args, {
      cwd: command.confined ? '/' : folders.project,
      env: command.confined ? command.environment : { ...command.environment, [name]: value },
      // The program gets its own session, so that a Ctrl-C at the worker's terminal reaches only the worker.
      detached: true,
      stdio: Array.from(stdio as ('ignore' | 'pipe' | number)[], place => place ?? 'ignore'),
      ...folders.user
    })
    // Nobody may read these any more, and the child does not count as closed until they are read.
    child.once('exit', () => {
      for (const place of run.drained ? [GATE] : [GATE, LINK]) streamAt(child, place)?.destroy()
    })
    const other = streamAt(child, LINK)
    if (other) link?.(other)
    return { reader: new Socket({ fd: inlet, readable: true, writable: false }), child }
  } catch (error) {
    closeSync(inlet)
    throw error
  } finally {
    closeSync(outlet)
    if (filter !== undefined) closeSync(filter)
  }
}

/** Returns this end of a descriptor of the child. The types of Node.js declare only five of them. */
const streamAt = (child: ChildProcess, place: number) =>
  (child.stdio as readonly unknown[])[place] as Duplex | null | undefined

/** Follows the first process inside and the exit code. bubblewrap reports both as lines of JSON on a descriptor. */
function follow(child: ChildProcess, confined: boolean): Following {
  let text = ''
  let tellFirst: (first: FirstProcess | undefined) => void = () => undefined
  const first = new Promise<FirstProcess | undefined>(resolve => {
    tellFirst = resolve
  })
  const status = child.stdio[STATUS] as Readable | null | undefined
  status?.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < 4096) text += chunk
    const pid = /"child-pid": (\d+)/.exec(text)?.[1]
    if (pid) tellFirst(firstProcess(Number(pid)))
  })
  const exit = new Promise<number | undefined>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      const exitCode = /"exit-code": (\d+)/.exec(text)?.[1]
      if (confined) return resolve(exitCode === undefined ? undefined : Number(exitCode))
      resolve(code ?? 128 + (signal ? system.signals[signal] : 0))
    })
  })
  if (!confined) tellFirst(undefined)
  exit.catch(() => undefined).finally(() => tellFirst(undefined))
  return { first, exit }
}

/**
 * Ends a running script. In a sandbox it ends the first process inside, and then bubblewrap ends by itself. If it ended bubblewrap
 * first, a zombie would be left to the init of the machine. And if it ended bubblewrap after the fork but before bubblewrap
 * reports the child, the child would wait forever.
 */
async function endNow(child: ChildProcess, { first }: Following): Promise<void> {
  const confined = await Promise.race([first, delay(5000, undefined, { ref: false })])
  if (confined) endProcess(confined.pid)
  else if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) endProcess(-child.pid)
}

async function endConfined({ first }: Following): Promise<void> {
  const inside = await first
  if (inside) await firstEnded(inside)
}

async function endLoose(child: ChildProcess, first: FirstProcess | undefined, marker: string) {
  if (child.pid === undefined) return
  endProcess(-child.pid)
  await endMarked(marker, first?.startedAt)
}

function readAll(reader: Socket, output: (chunk: Buffer) => Promise<void>): Reading {
  const reading: Reading = { busy: false, ended: Promise.resolve() }
  const read = async () => {
    for await (const chunk of reader) {
      reading.busy = true
      await output(chunk)
      reading.busy = false
    }
  }
  reading.ended = read().catch(error => {
    // giveUp destroyed the reader, because some process still held the pipe.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
  return reading
}

/**
 * Closes the pipe. Every process that held the pipe is gone now, except one that hides without a sandbox; this code does not
 * wait for that one.
 */
async function giveUp(reader: Socket, reading: Reading): Promise<void> {
  let open = true
  const closed = reading.ended.catch(() => undefined).then(() => (open = false))
  for (let quiet = 0; open && quiet < 20; quiet++) {
    await Promise.race([closed, delay(100)])
    if (reading.busy) quiet = 0
  }
  reader.destroy()
}
