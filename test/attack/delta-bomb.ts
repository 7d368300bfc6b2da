import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { BLOB, idOf, packOf, repeatingDelta } from '../helpers/packs.js'
import type { Attack } from './support/attack.js'

const ZERO = '0'.repeat(40)

export const attack: Attack = {
  name: 'delta-bomb',
  about: 'a pack of 16 KB with a delta of 3 GB is pushed, and one that announces 4 * 10^9 objects',
  limit: { memory: 256, seconds: 10, statuses: [200] },
  run: async ({ url, token, project }) => {
    const { path } = await project()
    const base = Buffer.alloc(16 * 1024 * 1024 - 1)
    const bomb = repeatingDelta({ id: idOf('blob', base), size: base.length }, base.length, 190)
    const packs: [Buffer, RegExp][] = [
      [packOf([{ type: BLOB, content: base }, bomb]), /ng refs\/heads\/x .*git\.memory_limit/],
      [packOf([], 4_000_000_000), /ng refs\/heads\/x .*git\.max_push_objects/]
    ]
    const statuses: number[] = []
    for (const [pack, expected] of packs) {
      const line = pktLine(`${ZERO} ${'a'.repeat(40)} refs/heads/x\0 report-status\n`)
      const response = await fetch(`${url}/${path}.git/git-receive-pack`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`root:${token}`).toString('base64')}`,
          'content-type': 'application/x-git-receive-pack-request'
        },
        body: new Uint8Array(Buffer.concat([line, FLUSH, pack]))
      })
      const text = await response.text()
      if (!expected.test(text)) throw new Error(`the push was answered with ${response.status} ${text.slice(0, 500)}`)
      statuses.push(response.status)
    }
    return statuses
  }
}
