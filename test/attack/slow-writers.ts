import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pktLine } from '../../src/git/transport/pkt-line.js'
import { BLOB, packOf } from '../helpers/packs.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

const WRITERS = 30
/** The beginning of a pack of one large object. `begin` has sent its first four bytes. */
const HEAD_OF_PACK = packOf([{ type: BLOB, content: randomBytes(10_000_000) }]).subarray(4, 2_000_000)

export const attack: Attack = {
  name: 'slow-writers',
  about: 'thirty pushes send a byte at a time, half of them after 2 MB at once, while others push',
  limit: { memory: 192, seconds: 20, statuses: [200] },
  run: async stand => {
    const target = await stand.project()
    const other = await stand.project()
    const sockets: Socket[] = []
    let over = false
    try {
      for (let at = 0; at < WRITERS; at++) {
        const socket = await begin(stand.url, target.path, stand.token)
        // Enough bytes that git begins to read the pack.
        if (at % 2 === 0) socket.write(HEAD_OF_PACK)
        sockets.push(socket)
      }
      void (async () => {
        while (!over) {
          for (const socket of sockets) socket.write('x')
          await sleep(5)
        }
      })()
      const folder = stand.folder()
      await git(folder, ['init', '--quiet', '--initial-branch=master'])
      await git(folder, ['commit', '--quiet', '--allow-empty', '-m', 'one'])
      for (const { remote } of [other, target]) await git(folder, ['push', '--quiet', remote, 'master'])
      return [(await stand.ask('GET', `/projects/${other.id}/repository/commits/master`)).status]
    } finally {
      over = true
      for (const socket of sockets) socket.destroy()
    }
  }
}

async function begin(url: string, path: string, token: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  const auth = `PRIVATE-TOKEN: ${token}\r\n`
  socket.write(
    `POST /${path}.git/git-receive-pack HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 50000000\r\n${auth}\r\n`
  )
  socket.write(pktLine(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/x\0report-status side-band-64k\n`))
  socket.write('0000PACK')
  return socket
}
