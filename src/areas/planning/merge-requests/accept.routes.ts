import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { acceptMergeRequest, cancelWait } from './accept/accept.js'
import { AcceptBody, MergeRequestParams, PATHS } from './merge-requests.schema.js'
import { MergeRequest, viewMergeRequest } from './merge-requests.view.js'
import { readMergeRequest } from './readings.js'

export const acceptRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'merge_request.accept' as const }
  for (const { one, deprecated, named } of PATHS) {
    const shared = {
      tags: ['Merge requests'],
      deprecated,
      params: MergeRequestParams,
      response: { 200: MergeRequest }
    }

    app.put(
      `${one}/merge`,
      {
        config,
        schema: {
          ...shared,
          ...named('mergeOldMergeRequest'),
          summary: 'Accept a merge request',
          description:
            'Merges it, or lets it wait for its pipeline. 401: you may not merge into the branch; 405: it cannot be merged; 406: it is closed or merged; 409: the newest commit of the source branch is not `sha`.',
          body: AcceptBody,
          errors: [405, 406, 409]
        }
      },
      async ({ project, params, body, actor, origin }) =>
        viewMergeRequest(
          await readMergeRequest(await acceptMergeRequest(project, params.merge_request_id, body, actor, origin), actor)
        )
    )

    const cancel = {
      ...shared,
      summary: 'Cancel the merge that waits for a build',
      description: 'The merge request stays open. 406: it does not wait for a build.',
      errors: [406 as const]
    }

    app.post(
      `${one}/cancel_merge_when_build_succeeds`,
      {
        config,
        schema: {
          ...cancel,
          operationId: 'cancelMergeWhenBuildSucceeds',
          ...named('cancelOldMergeWhenBuildSucceeds'),
          response: { 201: MergeRequest }
        }
      },
      async ({ project, params, actor }, reply) =>
        reply
          .code(201)
          .send(
            viewMergeRequest(await readMergeRequest(await cancelWait(project, params.merge_request_id, actor), actor))
          )
    )

    // Not specified: PUT. Clients of the time send either.
    app.put(
      `${one}/cancel_merge_when_build_succeeds`,
      {
        config,
        schema: {
          ...cancel,
          operationId: 'putCancelMergeWhenBuildSucceeds',
          ...named('putCancelOldMergeWhenBuildSucceeds')
        }
      },
      async ({ project, params, actor }) =>
        viewMergeRequest(await readMergeRequest(await cancelWait(project, params.merge_request_id, actor), actor))
    )
  }
}
