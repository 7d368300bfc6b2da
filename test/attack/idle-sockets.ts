import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

const SOCKETS = 60

export const attack: Attack = {
  name: 'idle-sockets',
  about: 'sixty anonymous fetches of six projects and a few pushes begin and send nothing more, while others clone',
  limit: { memory: 192, seconds: 20, statuses: [200] },
  run: async stand => {
    const projects = await Promise.all(Array.from({ length: 6 }, () => stand.project({ visibility_level: 20 })))
    const statuses: number[] = []
    const sockets: Socket[] = []
    try {
      for (let at = 0; at < SOCKETS; at++) {
        const { path } = projects[at % projects.length] as { path: string }
        sockets.push(await begin(stand.url, `/${path}.git/git-upload-pack`))
        if (at % 6 === 0) {
          sockets.push(await begin(stand.url, `/${path}.git/git-receive-pack`, `PRIVATE-TOKEN: ${stand.token}\r\n`))
        }
      }
      for (const { path } of projects) {
        const answer = await fetch(`${stand.url}/${path}.git/info/refs?service=git-upload-pack`)
        statuses.push(answer.status)
        await git(stand.folder(), ['clone', '--quiet', `${stand.url}/${path}.git`])
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    return statuses
  }
}

async function begin(url: string, path: string, headers = ''): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n${headers}\r\n0011command=`)
  return socket
}
