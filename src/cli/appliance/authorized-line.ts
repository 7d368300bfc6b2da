// The line of authorized_keys that makes an OpenSSH server run `gitstead ssh serve`, and nothing else, for a key.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { config, root } from '../../config.js'
import { BadParameters, Misconfigured } from '../../errors.js'
import { framesOf } from '../../lib/frames.js'
import { askServer, MOST_FRAME } from './ssh-gateway.js'

interface Named {
  readonly fingerprint?: string
  readonly type?: string
  readonly key?: string
}

/** Returns the fingerprint of a key without its prefix. Throws BadParameters. */
export function fingerprintFrom({ fingerprint, key }: Named): string {
  if (fingerprint !== undefined) {
    const [, hash] = /^(?:SHA256:)?([A-Za-z0-9+/]{43})=?$/.exec(fingerprint) ?? []
    if (hash === undefined)
      throw new BadParameters(
        'fingerprint must be SHA256: and 43 characters',
        'fingerprint must be SHA256: and 43 characters'
      )
    return hash
  }
  if (key === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(key))
    throw new BadParameters('key is missing', 'name the key with --fingerprint, or with its type and its base64 text')
  return createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '')
}

/** Asks the running server. Returns null for a key without access. Throws Unavailable. */
export async function authorizedLine(fingerprint: string): Promise<string | null> {
  const socket = await askServer({ want: 'key', fingerprint })
  const answer = await buffer(socket)
  socket.end()
  for await (const { content } of framesOf([answer] as never, MOST_FRAME)) {
    const [type, base64] = content.toString().split(' ')
    return type && base64 ? `restrict,command="${commandFor(fingerprint)}" ${type} ${base64}` : null
  }
  return null
}

function commandFor(fingerprint: string): string {
  const words = [realpathSync(`${root}/bin/gitstead`), 'ssh', 'serve', '--home', config().home]
  // authorized_keys puts the command in double quotes, and a shell then interprets it.
  for (const word of words) {
    if (/["'\\\n\r]/.test(word)) throw new Misconfigured(`${word} cannot be in authorized_keys: choose another path`)
  }
  return [...words.map(quoted), '--fingerprint', `SHA256:${fingerprint}`].join(' ')
}

const quoted = (word: string) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)
