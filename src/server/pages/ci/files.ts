// Files that users made: nothing in them runs in our origin.
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { contentDisposition } from '../../../lib/disposition.js'

interface SentFile {
  readonly size: number
  readonly stream: Readable
  /** Only a type that browsers do not run. */
  readonly type: string
  /** The name of a file that browsers save instead of showing it. */
  readonly name?: string
}

export function sendFile(reply: FastifyReply, { size, stream, type, name }: SentFile): FastifyReply {
  if (name !== undefined) reply.header('content-disposition', contentDisposition('attachment', name))
  return reply
    .type(type)
    .headers({
      'content-length': size,
      'cache-control': 'private, no-cache',
      'content-security-policy': "default-src 'none'; sandbox"
    })
    .send(stream)
}
