// The starter: a small process that starts git for a large one. The kernel copies the page tables of a process that starts
// another one; with the 250 MB of a busy server that takes 7 ms of processor, and under load stops it for 45 ms. This process
// has little to copy, and nobody waits while it does.
//
// 1. The large process connects three times to this one's socket, for stdin, stdout and stderr, and sends what to start.
// 2. This process takes the connections in the order in which they came, and gives them to the program as they are: it never
//    reads or writes what the program says.
// 3. It tells the id of the process, and later its end.
//
// It ends with the process that it works for. The programs then find their connections closed.
import { spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { FromStarter, StartMessage } from './messages.js'

/** The streams of a program. */
const STREAMS = 3

const [path = ''] = process.argv.slice(2)
const connected: Socket[] = []
const asked: StartMessage[] = []

// A signal to the whole group, such as that of Ctrl-C, must not end this one before the process that it works for.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit(0))
// It may have been killed before anybody listened here.
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
    // A group of its own, so that its children can be ended with it.
    const child = spawn(program, [...args], { cwd, env: { ...env }, detached: true, stdio: [...streams] })
    child.once('error', error => report({ id, error: error.message }))
    child.once('exit', (code, signal) => report({ id, code, signal }))
    if (child.pid !== undefined) report({ id, pid: child.pid })
  } catch (error) {
    report({ id, error: String(error) })
  } finally {
    // The program has its own copies.
    for (const stream of streams) stream.destroy()
  }
}

function report(message: FromStarter): void {
  process.send?.(message, () => undefined)
}
