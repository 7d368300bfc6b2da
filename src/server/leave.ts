// Ends the connections of a server that stops, without a failed request.
import type { Server as HttpServer, ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Milliseconds that a client has to use its open connection once more, and to learn that it ends. */
const GRACE_MS = 1000
/** The same without a successor: for a request that is on its way. A client that sends a later one finds no server anyway. */
const SHORT_GRACE_MS = 100

/**
 * Returns a function that begins to leave: new connections go to the successor of the listening socket, if there is one, and every answer
 * ends its connection.
 */
export function prepareToLeave(server: HttpServer, hasSuccessor: boolean): () => Promise<void> {
  const open = new Set<ServerResponse>()
  let leaving = false
  let connections = 0
  let whenGone: (() => void) | undefined
  server.on('connection', socket => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
      if (connections === 0) whenGone?.()
    })
  })
  // Before the application, which may write the head of the answer at once.
  server.prependListener('request', (_request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    if (leaving) response.setHeader('connection', 'close')
  })
  return async () => {
    leaving = true
    for (const response of open) if (!response.headersSent) response.setHeader('connection', 'close')
    // A connection that the kernel has made but this process has not yet accepted would be reset.
    await turn()
    await turn()
    // The method of HTTP would also end idle connections, on which a request may just arrive.
    Server.prototype.close.call(server)
    if (connections === 0) return
    const timer = new AbortController()
    const gone = new Promise<void>(resolve => {
      whenGone = resolve
    })
    await Promise.race([
      gone,
      sleep(hasSuccessor ? GRACE_MS : SHORT_GRACE_MS, undefined, { signal: timer.signal }).catch(() => undefined)
    ])
    timer.abort()
  }
}
