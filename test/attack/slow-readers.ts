import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

const READERS = 24
const SIZE = 20_000_000

export const attack: Attack = {
  name: 'slow-readers',
  about: '24 anonymous clients ask for 20 MB each, in 24 different ways, and read none of it, while others clone',
  limit: { memory: 256, seconds: 60, statuses: [200] },
  run: async stand => {
    const folder = stand.folder()
    const { path, remote } = await stand.project({ visibility_level: 20 })
    await git(folder, ['init', '--quiet', '--initial-branch=master'])
    writeFileSync(join(folder, 'big'), randomBytes(SIZE))
    await git(folder, ['add', '.'])
    await git(folder, ['commit', '--quiet', '-m', 'big'])
    await git(folder, ['push', '--quiet', remote, 'master'])
    const id = await git(folder, ['rev-parse', 'HEAD'])
    const sockets: Socket[] = []
    try {
      const count = stand.short ? READERS / 4 : READERS
      for (let at = 0; at < count; at++) sockets.push(await ask(stand.url, `/${path}.git/git-upload-pack`, id, at))
      await git(stand.folder(), ['clone', '--quiet', `${stand.url}/${path}.git`])
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    return [(await fetch(`${stand.url}/${path}.git/info/refs?service=git-upload-pack`)).status]
  }
}

/** The agent differs, so that no two clients share an answer. */
async function ask(url: string, path: string, id: string, at: number): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const body = Buffer.concat([
    pktLine(`want ${id} side-band-64k ofs-delta agent=reader/${at}\n`),
    FLUSH,
    pktLine('done\n')
  ])
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body)
  return socket
}
