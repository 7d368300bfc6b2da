// The starter: a small process that starts git for a large one. When a process starts another one, the kernel copies
// its page tables. With the 250 MB of a busy server, that takes 7 ms of processor time, and blocks the server for 45 ms
// under load. This process has little to copy, and nobody waits in the meantime.
//
// 1. The large process connects to the socket of this process three times, for stdin, stdout and stderr, and sends the
//    program to start.
// 2. This process takes the connections in the order in which they arrived, and passes them to the program unchanged:
//    it never reads or writes the streams of the program.
// 3. It reports the id of the process, and later its exit.
//
// It ends with the process that it works for. The programs then find their connections closed.
import { spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { FromStarter, StartMessage } from './messages.js'

/** The number of streams of a program. */
const STREAMS = 3

const [path = ''] = process.argv.slice(2)
const connected: Socket[] = []
const asked: StartMessage[] = []

// A signal to the whole group, such as Ctrl-C, must not end this process before the process that it works for.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit(0))
// The large process may have been killed before this one listened.
if (!process.connected) process.exit(0)
process.on('message', (message: StartMessage) => {
  asked.push(message)
  startNext()
})

const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, socket => {
  socket.on('error', () => socket.destroy())
  connected.push(socket)
  startNext()
})
server.on('error', () => process.exit(1))
server.listen(path, () => {
  chmodSync(path, 0o600)
  report({ listening: true })
})

function startNext(): void {
  while (asked.length > 0 && connected.length >= STREAMS) {
    const message = asked.shift()
    const streams = connected.splice(0, STREAMS)
    if (message) start(message, streams)
  }
}

function start({ id, program, args, cwd, env }: StartMessage, streams: readonly Socket[]): void {
  try {
    // A separate process group, so that its children can be ended with it.
    const child = spawn(program, [...args], { cwd, env: { ...env }, detached: true, stdio: [...streams] })
    child.once('error', error => report({ id, error: error.message }))
    child.once('exit', (code, signal) => report({ id, code, signal }))
    if (child.pid !== undefined) report({ id, pid: child.pid })
  } catch (error) {
    report({ id, error: String(error) })
  } finally {
    // The program has its own copies of the streams.
    for (const stream of streams) stream.destroy()
  }
}

function report(message: FromStarter): void {
  process.send?.(message, () => undefined)
}
