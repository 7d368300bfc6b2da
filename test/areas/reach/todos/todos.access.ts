import { answering, SIGNED_IN } from '../../../access/actors.js'
import { COMMENT_COMMIT, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import { makeIssue } from '../../planning/discussion/make-discussion.js'
import { insertRow } from '../../planning/merge-requests/make-merge-requests.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/todos': { expected: SIGNED_IN },
    'DELETE /api/v3/todos': { expected: SIGNED_IN },
    // No user has this one.
    'DELETE /api/v3/todos/:id': {
      expected: answering(404, SIGNED_IN),
      specimen: () => ({ params: { id: 4294967295 } })
    }
  },
  project: {
    'POST /api/v3/projects/:id/issues/:issue_id/todo': {
      expected: SEE_PROJECT(201),
      specimen: async ({ project, world }) => ({ params: { issue_id: await makeIssue(project, world.admin) } })
    },
    'POST /api/v3/projects/:id/merge_requests/:merge_request_id/todo': {
      expected: COMMENT_COMMIT,
      specimen: async ({ project, world }) => ({
        params: { merge_request_id: (await insertRow(project, world.admin)).id }
      })
    }
  }
}
