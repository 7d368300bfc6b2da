import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

const MEBIBYTE = 1_048_576
// Deflate looks back 32 KiB, so it finds no repetition.
const BLOCK = randomBytes(MEBIBYTE)

export const attack: Attack = {
  name: 'large-blob',
  about: 'a file of 1 GB is pushed, read raw in three ways at once, requested as a record, and cloned twice at once',
  // The disk of the machine writes six gigabytes.
  limit: { memory: 256, seconds: 300, statuses: [200, 413] },
  run: async stand => {
    // More than git.max_file_size in both forms.
    const mebibytes = stand.short ? 110 : 1024
    const { id, remote } = await stand.project()
    const folder = stand.folder()
    await git(folder, ['init', '--quiet', '--initial-branch=master'])
    await pipeline(Readable.from(blocks(mebibytes)), createWriteStream(join(folder, 'big')))
    // The attacker's own machine does not compress incompressible data.
    await git(folder, ['config', 'core.compression', '0'])
    await git(folder, ['add', '.'])
    await git(folder, ['commit', '--quiet', '-m', 'big'])
    await git(folder, ['push', '--quiet', remote, 'master'])
    const blob = await git(folder, ['rev-parse', 'HEAD:big'])
    const statuses = await Promise.all(
      [`raw_blobs/${blob}`, 'blobs/master?filepath=big', 'commits/master/blob?filepath=big'].map(async path => {
        const url = `${stand.url}/api/v3/projects/${id}/repository/${path}`
        const answer = await fetch(url, { headers: { 'private-token': stand.token } })
        let length = 0
        for await (const chunk of answer.body ?? []) length += chunk.byteLength
        if (length !== mebibytes * MEBIBYTE) throw new Error(`${path} is an answer of ${length} bytes`)
        return answer.status
      })
    )
    const { status } = await stand.ask('GET', `/projects/${id}/repository/files?file_path=big&ref=master`)
    if (status !== 413) throw new Error(`the record of a file beyond git.max_file_size was answered with ${status}`)
    const clones = [stand.folder(), stand.folder()]
    await Promise.all(clones.map(clone => git(clone, ['clone', '--quiet', '--bare', remote])))
    return [...statuses, status]
  }
}

function* blocks(count: number): Generator<Buffer> {
  for (let at = 0; at < count; at++) yield BLOCK
}
