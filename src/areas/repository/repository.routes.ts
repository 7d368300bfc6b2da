import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { config } from '../../config.js'
import { PlainText, ProjectParams } from '../../lib/schema.js'
import { latestStatusOf } from './commit-status.queries.js'
import { type Blob, openBlobOf, openFileOf, readCommitOf, readTreeOf } from './contents.js'
import { deleteFile, readFile, writeFile } from './files.js'
import { BlobParams, BlobQuery, FileBody, FileDeletion, FileQuery, ShaParams, TreeQuery } from './repository.schema.js'
import { CommitDetail, File, TreeEntry, viewCommitDetail, viewTreeEntry, WrittenFile } from './repository.view.js'

const TAGS = ['Repository']
const content = PlainText('The bytes of the file, which are sent as plain text whatever they are.')

/** Sends plain text with a policy that blocks scripts: the files of users must not run as pages of this site. */
function sendBlob(reply: FastifyReply, { stream, size, name }: Blob): FastifyReply {
  return reply
    .type('text/plain; charset=utf-8')
    .header('content-length', size)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-disposition', `inline; filename*=UTF-8''${encodeURIComponent(name)}`)
    .send(stream)
}

const written = (body: FileDeletion) => ({
  file_name: body.file_path,
  file_path: body.file_path,
  branch_name: body.branch_name
})

export const repositoryRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'repository.read' as const }
  const write = { can: 'repository.write' as const }
  const bodyLimit = Math.min(Math.ceil(config().git.max_file_size * 1.4) + 65_536, 2 ** 29)

  app.get(
    '/projects/:id/repository/tree',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the files and folders of a folder',
        params: ProjectParams,
        querystring: TreeQuery,
        response: { 200: Type.Array(TreeEntry) }
      }
    },
    async ({ project, query }) => (await readTreeOf(project, query)).map(viewTreeEntry)
  )

  app.get(
    '/projects/:id/repository/blobs/:sha',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Get the content of a file',
        params: ShaParams,
        querystring: BlobQuery,
        response: { 200: content }
      }
    },
    async ({ project, params, query }, reply) => sendBlob(reply, await openFileOf(project, params.sha, query.filepath))
  )

  app.get(
    '/projects/:id/repository/raw_blobs/:sha',
    {
      config: read,
      schema: { tags: TAGS, summary: 'Get the content of a blob', params: BlobParams, response: { 200: content } }
    },
    async ({ project, params }, reply) => sendBlob(reply, await openBlobOf(project, params.sha))
  )

  app.get(
    '/projects/:id/repository/commits/:sha',
    {
      config: { can: 'commit.read' },
      schema: { tags: TAGS, summary: 'Get a commit', params: ShaParams, response: { 200: CommitDetail } }
    },
    async ({ project, params }) => {
      const { commit, stats } = await readCommitOf(project, params.sha)
      return viewCommitDetail(commit, stats, await latestStatusOf(project.id, commit.id))
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
        response: { 200: File }
      }
    },
    async ({ project, query }) => readFile(project, query.file_path, query.ref)
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
        body: FileBody,
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
