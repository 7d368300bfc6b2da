import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DurationBody, TimeStats, viewTimeStats } from '../participation/time-tracking.view.js'
import { requireMergeRequest } from './merge-requests.queries.js'
import { MergeRequestParams, PATHS } from './merge-requests.schema.js'
import { MergeRequest, viewMergeRequest } from './merge-requests.view.js'
import { estimate, spendTime, subscribe } from './participation.js'
import { readMergeRequest } from './readings.js'

const TAGS = ['Merge requests']

export const mergeRequestParticipationRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'merge_request.write' as const }
  for (const { one, deprecated, named } of PATHS) {
    const shared = { tags: TAGS, deprecated, params: MergeRequestParams, errors: [304] as const }

    app.post(
      `${one}/subscription`,
      {
        config,
        schema: {
          ...shared,
          ...named('subscribeToOldMergeRequest'),
          summary: 'Subscribe to a merge request',
          response: { 201: MergeRequest }
        }
      },
      async ({ project, params, actor }, reply) => {
        const found = await subscribe(project, params.merge_request_id, true, actor)
        return reply.code(201).send(viewMergeRequest(await readMergeRequest(found, actor)))
      }
    )

    app.delete(
      `${one}/subscription`,
      {
        config,
        schema: {
          ...shared,
          ...named('unsubscribeFromOldMergeRequest'),
          summary: 'End the subscription to a merge request',
          response: { 200: MergeRequest }
        }
      },
      async ({ project, params, actor }) => {
        const found = await subscribe(project, params.merge_request_id, false, actor)
        return viewMergeRequest(await readMergeRequest(found, actor))
      }
    )
  }

  const { one } = PATHS[0]
  const time = { tags: TAGS, params: MergeRequestParams, response: { 200: TimeStats } }

  app.get(
    `${one}/time_stats`,
    {
      config: { can: 'merge_request.read' },
      schema: { ...time, summary: 'Get the time statistics of a merge request' }
    },
    async ({ project, params }) => viewTimeStats(await requireMergeRequest(project.id, params.merge_request_id))
  )

  app.post(
    `${one}/time_estimate`,
    { config, schema: { ...time, summary: 'Set the time estimate of a merge request', body: DurationBody } },
    async ({ project, params, body, actor }) =>
      viewTimeStats(await estimate(project, params.merge_request_id, body.duration, actor))
  )

  app.post(
    `${one}/reset_time_estimate`,
    { config, schema: { ...time, summary: 'Remove the time estimate of a merge request' } },
    async ({ project, params, actor }) => viewTimeStats(await estimate(project, params.merge_request_id, null, actor))
  )

  app.post(
    `${one}/add_spent_time`,
    {
      config,
      schema: {
        ...time,
        summary: 'Log time spent on a merge request',
        description: 'A leading `-` subtracts the time.',
        body: DurationBody,
        response: { 201: TimeStats }
      }
    },
    async ({ project, params, body, actor }, reply) =>
      reply.code(201).send(viewTimeStats(await spendTime(project, params.merge_request_id, body.duration, actor)))
  )

  app.post(
    `${one}/reset_spent_time`,
    { config, schema: { ...time, summary: 'Remove all time spent on a merge request' } },
    async ({ project, params, actor }) => viewTimeStats(await spendTime(project, params.merge_request_id, null, actor))
  )
}
