import { gzipSync } from 'node:zlib'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { treeOfTrees } from '../helpers/trees.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

export const attack: Attack = {
  name: 'fetch-request',
  about: 'anonymous fetches repeat a line 150,000 times, and inflate to 1 GB',
  limit: { memory: 256, seconds: 20, statuses: [200, 413] },
  run: async stand => {
    const { path, remote } = await stand.project({ visibility_level: 20 })
    const folder = stand.folder()
    const commit = await treeOfTrees(folder, 2, 2)
    await git(folder, ['push', '--quiet', remote, `${commit}:refs/heads/master`])
    const want = Buffer.concat([pktLine(`want ${commit} multi_ack_detailed side-band-64k thin-pack\n`), FLUSH])
    const have = Buffer.concat(Array<Buffer>(150_000).fill(pktLine(`have ${commit}\n`)))
    const ask = async (body: Buffer, headers: Record<string, string> = {}) => {
      const response = await fetch(`${stand.url}/${path}.git/git-upload-pack`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-git-upload-pack-request', ...headers },
        body: new Uint8Array(body)
      })
      await response.arrayBuffer()
      return response.status
    }
    const gzip = { 'content-encoding': 'gzip' }
    const long = Buffer.concat([want, have, have, pktLine('done\n')])
    // Made before the first request: compression takes so long that the server would close the idle connection unnoticed.
    const [zeros, packed] = [gzipSync(Buffer.alloc(stand.short ? 2 ** 25 : 2 ** 30)), gzipSync(long)]
    const statuses = [await ask(Buffer.concat([want, have, pktLine('done\n')]))]
    const refused = [await ask(zeros, gzip), await ask(long), await ask(packed, gzip)]
    if (refused.some(status => status !== 413))
      throw new Error(`more than 10 MB were answered with ${refused.join(', ')}`)
    return [...statuses, ...refused]
  }
}
