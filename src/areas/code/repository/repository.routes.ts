import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { blobSize } from '../../../git/objects/blob.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { PlainText, ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { mayBeDirect } from '../../../storage/direct-downloads.js'
import { openObject } from '../../projects/lfs/objects.js'
import { objectOfBlob } from '../../projects/lfs/pointers.js'
import { latestStatusOf } from './commit-status.queries.js'
import {
  type FoundBlob,
  findBlobOf,
  findCommitOf,
  findFileOf,
  findFolderOf,
  openFound,
  readCommitOf
} from './contents.js'
import { fileBodyLimit } from './file-limit.js'
import { findFile, readFound } from './file-reading.js'
import { deleteFile, storedPath, writeFile } from './files.js'
import {
  BlobParams,
  BlobQuery,
  FileBody,
  FileDeletion,
  FileQuery,
  FileUpdate,
  LfsQuery,
  ShaParams,
  TreeQuery
} from './repository.schema.js'
import { CommitDetail, File, TreeEntry, viewCommitDetail, viewTreeEntry, WrittenFile } from './repository.view.js'
import { listFolder } from './tree-listing.js'

const TAGS = ['Repository']
const VERSIONED = [304] as const
/** A file in LFS may be in the bucket. */
const RAW = [302, 304] as const
const content = PlainText('The bytes of the file, always sent as plain text.')

/** Sends a blob, or the object of git LFS for which it stands. Throws FoundElsewhere for a download from the bucket. */
async function sendContent(reply: FastifyReply, found: FoundBlob, { lfs = false }): Promise<FastifyReply> {
  const { project, method } = reply.request
  const size = lfs ? await blobSize(found.repository, found.id) : null
  const large = size === null ? null : await objectOfBlob(project, { ...found, size })
  if (!large) return sendBlob(reply, found)
  if (reply.isKnown(large.oid)) return reply
  const { stream } = await openObject(project.id, large.oid, { direct: mayBeDirect(reply.request) })
  const isHead = method === 'HEAD'
  if (isHead) stream.destroy()
  return withHeaders(reply, { size: large.size, name: found.name }).send(isHead ? Readable.from([]) : stream)
}

/** Sends plain text as a download with a policy that blocks scripts: users' files must not run as pages of this site. */
async function sendBlob(reply: FastifyReply, found: FoundBlob): Promise<FastifyReply> {
  if (reply.isKnown(found.id)) return reply
  // Fastify would read a large file to its end before it responds to a HEAD request.
  const { size, stream } = await openFound(found, { content: reply.request.method !== 'HEAD' })
  return withHeaders(reply, { size, name: found.name }).send(stream)
}

const withHeaders = (reply: FastifyReply, { size, name }: { readonly size: number; readonly name: string }) =>
  reply
    .type('text/plain; charset=utf-8')
    .header('content-length', size)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-disposition', contentDisposition('attachment', name))

function sendJson(reply: FastifyReply, { stream, size }: { readonly stream: Readable; readonly size: number }) {
  const isHead = reply.request.method === 'HEAD'
  if (isHead) stream.destroy()
  const content = isHead ? Readable.from([]) : stream
  return reply.type('application/json; charset=utf-8').header('content-length', size).send(content)
}

const written = (body: FileDeletion) => ({
  file_name: storedPath(body.file_path),
  file_path: storedPath(body.file_path),
  branch_name: body.branch_name
})

export const repositoryRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'repository.read' as const }
  const write = { can: 'repository.write' as const }
  const bodyLimit = fileBodyLimit()

  app.get(
    '/projects/:id/repository/tree',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the files and folders of a folder',
        description:
          'At most 100,000 entries and 16 MiB; the header `X-Gitstead-Truncated: true` says that there are more.',
        params: ProjectParams,
        querystring: TreeQuery,
        errors: VERSIONED,
        response: { 200: Type.Array(TreeEntry) }
      }
    },
    async ({ project, query }, reply) => {
      const found = await findFolderOf(project, query)
      const recursive = query.recursive ?? false
      if (reply.isKnown(recursive ? `${found.id}-recursive` : found.id)) return reply
      const listing = await listFolder(found, recursive)
      if ('entries' in listing) return listing.entries.map(viewTreeEntry)
      if (listing.cut) reply.header('x-gitstead-truncated', 'true')
      return sendJson(reply, listing)
    }
  )

  // The same route at two addresses: the requirement has the first, and clients of the reference service use the second.
  for (const path of ['blobs/:sha', 'commits/:sha/blob']) {
    app.get(
      `/projects/:id/repository/${path}`,
      {
        config: read,
        schema: {
          tags: TAGS,
          summary: path === 'blobs/:sha' ? 'Get the content of a file' : 'Get the content of a file of a commit',
          params: ShaParams,
          querystring: BlobQuery,
          errors: RAW,
          response: { 200: content }
        }
      },
      async ({ project, params, query }, reply) =>
        sendContent(reply, await findFileOf(project, params.sha, query.filepath), query)
    )
  }

  app.get(
    '/projects/:id/repository/raw_blobs/:sha',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Get the content of a blob',
        params: BlobParams,
        querystring: LfsQuery,
        errors: RAW,
        response: { 200: content }
      }
    },
    async ({ project, params, query }, reply) => sendContent(reply, await findBlobOf(project, params.sha), query)
  )

  app.get(
    '/projects/:id/repository/commits/:sha',
    {
      config: { can: 'commit.read' },
      schema: {
        tags: TAGS,
        summary: 'Get a commit',
        params: ShaParams,
        errors: VERSIONED,
        response: { 200: CommitDetail }
      }
    },
    async ({ project, params }, reply) => {
      const id = await findCommitOf(project, params.sha)
      const status = await latestStatusOf(project.id, id)
      if (reply.isKnown(`${id}-${status}`)) return reply
      const { commit, stats } = await readCommitOf(project, id)
      return viewCommitDetail(commit, stats, status)
    }
  )

  app.get(
    '/projects/:id/repository/files',
    {
      config: { can: 'file.read' },
      schema: {
        tags: TAGS,
        summary: 'Get a file with its content',
        params: ProjectParams,
        querystring: FileQuery,
        errors: [304, 413],
        response: { 200: File }
      }
    },
    async ({ project, query }, reply) => {
      const found = await findFile(project, query.file_path, query.ref)
      if (reply.isKnown(`${found.commitId}-${found.entry.id}`)) return reply
      const file = await readFound(found)
      return 'stream' in file ? sendJson(reply, file) : file
    }
  )

  app.post(
    '/projects/:id/repository/files',
    {
      config: write,
      bodyLimit,
      schema: {
        tags: TAGS,
        summary: 'Create a file by a commit',
        params: ProjectParams,
        body: FileBody,
        response: { 201: WrittenFile }
      }
    },
    async ({ project, body, origin }, reply) => {
      await writeFile(project, { ...body, action: 'create' }, origin)
      return reply.code(201).send(written(body))
    }
  )

  app.put(
    '/projects/:id/repository/files',
    {
      config: write,
      bodyLimit,
      schema: {
        tags: TAGS,
        summary: 'Change a file by a commit',
        params: ProjectParams,
        body: FileUpdate,
        response: { 200: WrittenFile }
      }
    },
    async ({ project, body, origin }) => {
      await writeFile(project, { ...body, action: 'update' }, origin)
      return written(body)
    }
  )

  app.delete(
    '/projects/:id/repository/files',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete a file by a commit',
        params: ProjectParams,
        querystring: FileDeletion,
        response: { 200: WrittenFile }
      }
    },
    async ({ project, query, origin }) => {
      await deleteFile(project, query, origin)
      return written(query)
    }
  )
}
