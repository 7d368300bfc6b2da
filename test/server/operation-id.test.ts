import { operationIdOf } from '../../src/server/openapi/operation-id.js'
import t from '../helpers/tap.js'

/** Routes as house.md writes them; an L marks a list. */
const NAMES = {
  'GET /projects/:id/builds L': 'listProjectBuilds',
  'GET /projects/:id/builds/:build_id': 'getProjectBuild',
  'GET /projects/:id/builds/:build_id/trace': 'getProjectBuildTrace',
  'POST /projects/:id/builds/:build_id/retry': 'retryProjectBuild',
  'POST /projects/:id/builds/:build_id/artifacts/keep': 'keepProjectBuildArtifacts',
  'POST /projects/:id/labels': 'createProjectLabel',
  'DELETE /projects/:id/labels': 'deleteProjectLabel',
  'GET /projects/:id/repository/branches L': 'listProjectBranches',
  'PUT /projects/:id/repository/branches/:branch/protect': 'protectProjectBranch',
  'GET /projects/:id/repository/commits/:sha/statuses L': 'listProjectCommitStatuses',
  'POST /projects/:id/statuses/:sha': 'createProjectStatus',
  'GET /projects/owned L': 'listOwnedProjects',
  'POST /projects/:id/star': 'starProject',
  'DELETE /projects/:id/star': 'unstarProject',
  'DELETE /projects/:id/deploy_keys/:key_id/disable': 'disableProjectDeployKey',
  'GET /user': 'getCurrentUser',
  'GET /user/keys L': 'listCurrentUserKeys',
  'GET /users/:id/keys L': 'listUserKeys',
  'PUT /application/settings': 'updateApplicationSettings',
  'GET /bgjobs/queue_metrics': 'getBackgroundQueueMetrics',
  'GET /templates/licenses/:key': 'getLicenseTemplate',
  'GET /groups/:id/access_requests L': 'listGroupAccessRequests'
}

t.test('operations have natural names', async t => {
  for (const [route, name] of Object.entries(NAMES)) {
    const [method = '', path = '', list] = route.split(' ')
    t.equal(operationIdOf({ method, path, list: list === 'L' }), name, route)
  }
})
