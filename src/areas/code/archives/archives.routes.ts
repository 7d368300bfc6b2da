import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { slotOwner } from '../../../access/actor.js'
import { archiveKey, archiveObject, keptSize, openArchive } from '../../../git/repository/archive-cache.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { ProjectParams } from '../../../lib/schema.js'
import { mayBeDirect, sendFromBucket } from '../../../storage/direct-downloads.js'
import { placeOf } from '../../../storage/places.js'
import { CONTENT_TYPES, type FoundArchive, findArchive } from './archives.js'
import { Archive, ArchiveQuery, NamedArchiveParams, NamedArchiveQuery } from './archives.schema.js'

const TAGS = ['Repository']

async function sendArchive(reply: FastifyReply, found: FoundArchive): Promise<FastifyReply> {
  if (reply.isKnown(archiveKey(found))) return reply
  if (mayBeDirect(reply.request) && placeOf('archives') === 's3') {
    const disposition = contentDisposition('attachment', found.fileName)
    await sendFromBucket(
      archiveObject(found),
      { type: CONTENT_TYPES[found.format], disposition },
      { neverChanges: true }
    )
  }
  const isHead = reply.request.method === 'HEAD'
  const { stream, size } = isHead
    ? { stream: Readable.from([]), size: await keptSize(found) }
    : await openArchive(found)
  if (size !== null) reply.header('content-length', size)
  return reply
    .type(CONTENT_TYPES[found.format])
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-disposition', contentDisposition('attachment', found.fileName))
    .send(stream)
}

export const archiveRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'repository.read' as const }

  app.get(
    '/projects/:id/repository/archive',
    {
      config: read,
      schema: {
        tags: TAGS,
        operationId: 'downloadProjectArchive',
        summary: 'Download the files of a commit',
        params: ProjectParams,
        querystring: ArchiveQuery,
        errors: [302, 304],
        response: { 200: Archive }
      }
    },
    async (request, reply) =>
      sendArchive(reply, await findArchive(request.project, request.query, slotOwner(request.actor)))
  )

  app.get(
    '/projects/:id/repository/archive.:format',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Download the files of a commit in the format of a file extension',
        operationId: 'downloadProjectArchiveOfFormat',
        params: NamedArchiveParams,
        querystring: NamedArchiveQuery,
        errors: [302, 304],
        response: { 200: Archive }
      }
    },
    async (request, reply) => {
      const wanted = { sha: request.query.sha, format: request.params.format }
      return sendArchive(reply, await findArchive(request.project, wanted, slotOwner(request.actor)))
    }
  )
}
