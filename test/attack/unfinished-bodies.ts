import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from './support/attack.js'

export const attack: Attack = {
  name: 'unfinished-bodies',
  about: 'one address opens as many requests without their bodies as it can, while another address reads',
  limit: { memory: 192, seconds: 20, statuses: [200] },
  run: async ({ url, short, token, patience }) => {
    const { port } = new URL(url)
    const sockets = Array.from({ length: short ? 300 : 1000 }, () => unfinished(Number(port), token))
    await Promise.all(sockets.map(socket => once(socket, 'connect')))
    await sleep(500)
    const statuses: number[] = []
    for (let asked = 0; asked < 20; asked++) {
      const { status } = await fetch(`${url}/api/v3/projects/visible`, {
        headers: { 'x-forwarded-for': '192.0.2.7' },
        signal: AbortSignal.timeout(patience(1000))
      })
      statuses.push(status)
    }
    const own = await fetch(`${url}/api/v3/projects/visible`)
    for (const socket of sockets) socket.destroy()
    if (own.status !== 429) throw new Error(`the attacker's own address gets ${own.status}, not 429`)
    return statuses
  }
}

function unfinished(port: number, token: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined).resume()
  socket.write(
    `POST /api/v3/projects HTTP/1.1\r\nHost: x\r\nPrivate-Token: ${token}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{`
  )
  return socket
}
