// Connects to the nodes of a cluster in turn, so that the connections of one pool write to all of them.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Node } from './galera.js'

interface Turns {
  readonly port: number
  /** Ends all connections, and leads later ones to one node, as when the others have died. */
  leadTo(node: Node): void
  stop(): Promise<void>
}

export async function inTurns(nodes: readonly Node[]): Promise<Turns> {
  const open = new Set<Socket>()
  let times = 0
  let led = nodes
  const server = createServer(client => {
    const node = connect(3306, led[times++ % led.length]?.address)
    client.pipe(node).pipe(client)
    for (const socket of [client, node]) {
      open.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket)
          client.destroy()
          node.destroy()
        })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: node => {
      led = [node]
      for (const socket of open) socket.destroy()
    },
    stop: async () => {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    }
  }
}
