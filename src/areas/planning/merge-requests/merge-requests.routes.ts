import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { createMergeRequest, deleteMergeRequest } from './merge-requests.js'
import { listMergeRequests, requireMergeRequest } from './merge-requests.queries.js'
import {
  MergeRequestBody,
  MergeRequestChange,
  MergeRequestListQuery,
  MergeRequestParams,
  PATHS
} from './merge-requests.schema.js'
import { MergeRequest, viewMergeRequest } from './merge-requests.view.js'
import { readMergeRequest, readMergeRequests } from './readings.js'
import { updateMergeRequest } from './update.js'

const TAGS = ['Merge requests']

export const mergeRequestRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/merge_requests',
    {
      config: { can: 'merge_request.read', kept: true },
      schema: {
        tags: TAGS,
        summary: 'List the merge requests into a project',
        params: ProjectParams,
        querystring: MergeRequestListQuery,
        response: { 200: Type.Array(MergeRequest) }
      }
    },
    async ({ project, query, actor }, reply) => {
      const page = await listMergeRequests(project.id, query, actor)
      return reply.page({ ...page, items: await readMergeRequests(page.items, actor) }, viewMergeRequest)
    }
  )

  app.post(
    '/projects/:id/merge_requests',
    {
      config: { can: 'merge_request.create' },
      schema: {
        tags: TAGS,
        summary: 'Create a merge request',
        description:
          'The project in the path is the source. Ignores labels, milestone and assignee unless you are a developer of the target.',
        params: ProjectParams,
        body: MergeRequestBody,
        errors: [409, 413, 422],
        response: { 201: MergeRequest }
      }
    },
    async ({ project, body, actor, origin }, reply) => {
      const made = await createMergeRequest(project, body, actor, origin)
      return reply.code(201).send(viewMergeRequest(await readMergeRequest(made, actor)))
    }
  )

  for (const { one, deprecated, named } of PATHS) {
    const shared = { tags: TAGS, deprecated, params: MergeRequestParams, response: { 200: MergeRequest } }

    app.get(
      one,
      {
        config: { can: 'merge_request.read' },
        schema: { ...shared, ...named('getOldMergeRequest'), summary: 'Get a merge request' }
      },
      async ({ project, params, actor }) =>
        viewMergeRequest(await readMergeRequest(await requireMergeRequest(project.id, params.merge_request_id), actor))
    )

    app.put(
      one,
      {
        config: { can: 'merge_request.write' },
        schema: {
          ...shared,
          ...named('updateOldMergeRequest'),
          summary: 'Change, close or reopen a merge request',
          body: MergeRequestChange,
          errors: [409, 413, 422]
        }
      },
      async ({ project, params, body, actor, origin }) =>
        viewMergeRequest(
          await readMergeRequest(await updateMergeRequest(project, params.merge_request_id, body, actor, origin), actor)
        )
    )
  }

  app.delete(
    PATHS[0].one,
    {
      config: { can: 'merge_request.delete' },
      schema: {
        tags: TAGS,
        summary: 'Delete a merge request',
        params: MergeRequestParams,
        response: { 200: MergeRequest }
      }
    },
    async ({ project, params, actor, origin }) => {
      const reading = await readMergeRequest(await requireMergeRequest(project.id, params.merge_request_id), actor)
      await deleteMergeRequest(project, params.merge_request_id, origin)
      return viewMergeRequest(reading)
    }
  )
}
