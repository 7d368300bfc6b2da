import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { type LongListing, listingHeaders, listRecords } from './ref-listing.js'
import { createRelease, updateRelease } from './tags/releases.js'
import { createTag, deleteTag, findTag, listTags, readTags } from './tags/tags.js'
import { NewTag, ReleaseBody, RemovedTag, TagParams } from './tags/tags.schema.js'
import { Release, Tag, viewRelease, viewTag } from './tags/tags.view.js'

const TAGS = ['Tags']

const sendLong = (reply: FastifyReply, listing: LongListing) =>
  reply.headers(listingHeaders(listing)).send(listing.stream)

export const tagRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'repository.read' as const }
  const write = { can: 'tag.write' as const }

  app.get(
    '/projects/:id/repository/tags',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the tags',
        description:
          'All tags, by name in descending order, in at most 32 MiB; the header `X-Gitstead-Truncated: true` says that there are more.',
        params: ProjectParams,
        errors: [304],
        response: { 200: Type.Array(Tag) }
      }
    },
    async ({ project }, reply) => {
      const { tags, version } = await listTags(project)
      if (reply.isKnown(version)) return reply
      const listing = await listRecords(tags, async some => (await readTags(project, some)).map(viewTag))
      return 'records' in listing ? listing.records : sendLong(reply, listing)
    }
  )

  app.get(
    '/projects/:id/repository/tags/:tag_name',
    { config: read, schema: { tags: TAGS, summary: 'Get a tag', params: TagParams, response: { 200: Tag } } },
    async ({ project, params }) => viewTag(await findTag(project, params.tag_name))
  )

  app.post(
    '/projects/:id/repository/tags',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Create a tag',
        params: ProjectParams,
        body: NewTag,
        errors: [405],
        response: { 201: Tag }
      }
    },
    async ({ project, body, origin }, reply) => reply.code(201).send(viewTag(await createTag(project, body, origin)))
  )

  app.delete(
    '/projects/:id/repository/tags/:tag_name',
    {
      config: write,
      schema: { tags: TAGS, summary: 'Delete a tag', params: TagParams, response: { 200: RemovedTag } }
    },
    async ({ project, params, origin }) => {
      await deleteTag(project, params.tag_name, origin)
      return { tag_name: params.tag_name }
    }
  )

  app.post(
    '/projects/:id/repository/tags/:tag_name/release',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Write the release notes of a tag',
        params: TagParams,
        body: ReleaseBody,
        errors: [409],
        response: { 201: Release }
      }
    },
    async ({ project, params, body }, reply) =>
      reply.code(201).send(viewRelease(await createRelease(project, params.tag_name, body.description)))
  )

  app.put(
    '/projects/:id/repository/tags/:tag_name/release',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Change the release notes of a tag',
        params: TagParams,
        body: ReleaseBody,
        response: { 200: Release }
      }
    },
    async ({ project, params, body }) => viewRelease(await updateRelease(project, params.tag_name, body.description))
  )
}
