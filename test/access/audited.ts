// The audit events of each operation that writes: the matrix compares them with the rows of every request that
// succeeds, and routes.test.ts with the routes. A new route needs a line here.

/** The actions, at least one of which a request records; or the reason why it records none. */
export type Audited = readonly string[] | { readonly none: string }

const COMMITTED = { none: 'the change of a branch or tag is recorded as a ref change, with its author' }
const SMALL = { none: 'it changes no membership, visibility, setting, token or user' }
const RUNS = { none: 'a runner executes a build, whose record names the runner' }
const READS = { none: 'it writes nothing' }
const HEARS = { none: 'the notifications of a user concern nobody else' }
const TODOS = { none: 'to-dos concern only their user' }
const PLANS = { none: 'the records and the activity show who planned what' }

const api: { readonly [route: string]: Audited } = {
  'POST /session': READS,
  'POST /users': ['user.create'],
  'PUT /users/:id': ['user.update', 'user.password'],
  'DELETE /users/:id': ['user.delete'],
  'PUT /users/:id/block': ['user.block'],
  'PUT /users/:id/unblock': ['user.unblock'],
  'POST /user/emails': ['email.create'],
  'DELETE /user/emails/:email_id': ['email.delete'],
  'POST /users/:id/emails': ['email.create'],
  'DELETE /users/:id/emails/:email_id': ['email.delete'],
  'POST /user/keys': ['key.create'],
  'DELETE /user/keys/:key_id': ['key.delete'],
  'POST /users/:id/keys': ['key.create'],
  'DELETE /users/:id/keys/:key_id': ['key.delete'],
  'POST /personal_access_tokens': ['token.create'],
  'DELETE /personal_access_tokens/:id': ['token.revoke'],
  'POST /users/:id/personal_access_tokens': ['token.create'],
  'POST /applications': ['application.create'],
  'DELETE /applications/:id': ['application.delete'],
  'POST /groups': ['group.create', 'member.add'],
  'PUT /groups/:id': ['group.update'],
  'DELETE /groups/:id': ['group.delete', 'project.delete'],
  'POST /projects': ['project.create'],
  'POST /projects/user/:user_id': ['project.create'],
  'PUT /projects/:id': ['project.update'],
  'DELETE /projects/:id': ['project.delete'],
  'POST /projects/:id/archive': ['project.archive'],
  'POST /projects/:id/unarchive': ['project.unarchive'],
  'POST /projects/:id/star': SMALL,
  'DELETE /projects/:id/star': SMALL,
  'POST /projects/:id/uploads': SMALL,
  'DELETE /todos': TODOS,
  'DELETE /todos/:id': TODOS,
  'POST /projects/:id/issues/:issue_id/todo': TODOS,
  'POST /projects/:id/merge_requests/:merge_request_id/todo': TODOS,
  'PUT /notification_settings': HEARS,
  'PUT /projects/:id/notification_settings': HEARS,
  'PUT /groups/:id/notification_settings': HEARS,
  'POST /projects/:id/labels': PLANS,
  'PUT /projects/:id/labels': PLANS,
  'DELETE /projects/:id/labels': PLANS,
  'POST /projects/:id/labels/:label_id/subscription': PLANS,
  'DELETE /projects/:id/labels/:label_id/subscription': PLANS,
  'POST /projects/:id/milestones': PLANS,
  'PUT /projects/:id/milestones/:milestone_id': PLANS,
  'POST /projects/:id/boards/:board_id/lists': PLANS,
  'PUT /projects/:id/boards/:board_id/lists/:list_id': PLANS,
  'DELETE /projects/:id/boards/:board_id/lists/:list_id': PLANS,
  'POST /projects/:id/issues': PLANS,
  'PUT /projects/:id/issues/:issue_id': PLANS,
  'DELETE /projects/:id/issues/:issue_id': PLANS,
  'POST /projects/:id/issues/:issue_id/move': PLANS,
  'POST /projects/:id/issues/:issue_id/subscription': PLANS,
  'DELETE /projects/:id/issues/:issue_id/subscription': PLANS,
  'POST /projects/:id/issues/:issue_id/time_estimate': PLANS,
  'POST /projects/:id/issues/:issue_id/reset_time_estimate': PLANS,
  'POST /projects/:id/issues/:issue_id/add_spent_time': PLANS,
  'POST /projects/:id/issues/:issue_id/reset_spent_time': PLANS,
  'POST /projects/:id/share': ['project.share'],
  'DELETE /projects/:id/share/:group_id': ['project.unshare'],
  'POST /groups/:id/projects/:project_id': ['project.transfer'],
  'POST /projects/fork/:id': ['project.create'],
  'POST /projects/:id/fork/:forked_from_id': ['project.relate_fork'],
  'DELETE /projects/:id/fork': ['project.unrelate_fork'],
  'POST /projects/:id/repository/files': COMMITTED,
  'PUT /projects/:id/repository/files': COMMITTED,
  'DELETE /projects/:id/repository/files': COMMITTED,
  'POST /projects/:id/merge_requests': SMALL,
  'PUT /projects/:id/merge_requests/:merge_request_id': SMALL,
  'PUT /projects/:id/merge_request/:merge_request_id': SMALL,
  'DELETE /projects/:id/merge_requests/:merge_request_id': ['merge_request.delete'],
  'PUT /projects/:id/merge_requests/:merge_request_id/merge': COMMITTED,
  'PUT /projects/:id/merge_request/:merge_request_id/merge': COMMITTED,
  'POST /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds': SMALL,
  'POST /projects/:id/merge_request/:merge_request_id/cancel_merge_when_build_succeeds': SMALL,
  'PUT /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds': SMALL,
  'PUT /projects/:id/merge_request/:merge_request_id/cancel_merge_when_build_succeeds': SMALL,
  'POST /projects/:id/merge_requests/:merge_request_id/subscription': SMALL,
  'POST /projects/:id/merge_request/:merge_request_id/subscription': SMALL,
  'DELETE /projects/:id/merge_requests/:merge_request_id/subscription': SMALL,
  'DELETE /projects/:id/merge_request/:merge_request_id/subscription': SMALL,
  'POST /projects/:id/merge_requests/:merge_request_id/time_estimate': SMALL,
  'POST /projects/:id/merge_requests/:merge_request_id/reset_time_estimate': SMALL,
  'POST /projects/:id/merge_requests/:merge_request_id/add_spent_time': SMALL,
  'POST /projects/:id/merge_requests/:merge_request_id/reset_spent_time': SMALL,
  'POST /projects/:id/hooks': ['hook.create'],
  'PUT /projects/:id/hooks/:hook_id': ['hook.update'],
  'DELETE /projects/:id/hooks/:hook_id': ['hook.delete'],
  'PUT /projects/:id/services/:slug': ['service.update'],
  'DELETE /projects/:id/services/:slug': ['service.delete'],
  'POST /hooks': ['hook.create'],
  'DELETE /hooks/:id': ['hook.delete'],
  'POST /hooks/:id/deliveries/:delivery_id/redeliver': ['hook.redeliver'],
  'PUT /application/settings': ['settings.update'],
  'DELETE /bgjobs/jobs/:id': ['job.discard'],
  'POST /bgjobs/jobs/:id/retry': ['job.retry'],
  'POST /bgjobs/queues/:queue/pause': ['queue.pause'],
  'POST /bgjobs/queues/:queue/resume': ['queue.resume'],
  'POST /bgjobs/builds/:id/cancel': ['build.cancel'],
  'POST /bgjobs/builds/:id/retry': ['build.retry'],
  'POST /projects/:id/repository/branches': COMMITTED,
  'DELETE /projects/:id/repository/branches/:branch': COMMITTED,
  'DELETE /projects/:id/repository/merged_branches': COMMITTED,
  'PUT /projects/:id/repository/branches/:branch/protect': ['branch.protect'],
  'PUT /projects/:id/repository/branches/:branch/unprotect': ['branch.unprotect'],
  'POST /projects/:id/repository/tags': COMMITTED,
  'DELETE /projects/:id/repository/tags/:tag_name': COMMITTED,
  'POST /projects/:id/repository/tags/:tag_name/release': SMALL,
  'PUT /projects/:id/repository/tags/:tag_name/release': SMALL,
  'POST /projects/:id/repository/commits': COMMITTED,
  'POST /projects/:id/repository/commits/:sha/cherry_pick': COMMITTED,
  'POST /projects/:id/repository/commits/:sha/comments': SMALL,
  'POST /projects/:id/statuses/:sha': SMALL,
  'POST /projects/:id/pipeline': SMALL,
  'POST /projects/:id/pipelines/:pipeline_id/retry': ['pipeline.retry'],
  'POST /projects/:id/pipelines/:pipeline_id/cancel': ['pipeline.cancel'],
  'POST /ci/lint': READS,
  'POST /projects/:id/builds/:build_id/cancel': ['build.cancel'],
  'POST /projects/:id/builds/:build_id/retry': ['build.retry'],
  'POST /projects/:id/builds/:build_id/erase': ['build.erase'],
  'POST /projects/:id/builds/:build_id/artifacts/keep': SMALL,
  'POST /projects/:id/builds/:build_id/play': SMALL,
  'POST /projects/:id/variables': ['variable.create'],
  'PUT /projects/:id/variables/:key': ['variable.update'],
  'DELETE /projects/:id/variables/:key': ['variable.delete'],
  'POST /projects/:id/triggers': ['trigger.create'],
  'DELETE /projects/:id/triggers/:token': ['trigger.delete'],
  'POST /projects/:id/trigger/builds': SMALL,
  'POST /projects/:id/ref/:ref/trigger/builds': SMALL,
  ...notesAndAwards('issues/:issue_id'),
  ...notesAndAwards('merge_requests/:merge_request_id'),
  ...notesAndAwards('snippets/:snippet_id'),
  'POST /projects/:id/merge_requests/:merge_request_id/comments': SMALL,
  'POST /projects/:id/merge_request/:merge_request_id/comments': SMALL,
  'POST /projects/:id/snippets': SMALL,
  'PUT /projects/:id/snippets/:snippet_id': SMALL,
  'DELETE /projects/:id/snippets/:snippet_id': SMALL,
  'POST /snippets': SMALL,
  'PUT /snippets/:id': SMALL,
  'DELETE /snippets/:id': SMALL,
  'POST /projects/:id/environments': ['environment.create'],
  'PUT /projects/:id/environments/:environment_id': ['environment.update'],
  'DELETE /projects/:id/environments/:environment_id': ['environment.delete'],
  'POST /projects/:id/environments/:environment_id/stop': ['environment.stop'],
  'POST /runners/registration_token/reset': ['runner.reset_registration_token'],
  'PUT /runners/:id': ['runner.update'],
  'DELETE /runners/:id': ['runner.remove'],
  'POST /projects/:id/runners': ['runner.enable'],
  'DELETE /projects/:id/runners/:runner_id': ['runner.disable'],
  'POST /broadcast_messages': ['broadcast.create'],
  'PUT /broadcast_messages/:id': ['broadcast.update'],
  'DELETE /broadcast_messages/:id': ['broadcast.delete'],
  ...deployKeys('deploy_keys'),
  ...deployKeys('keys'),
  ...ofSources('projects'),
  ...ofSources('groups')
}

function notesAndAwards(of: string): { readonly [route: string]: Audited } {
  const notes = `/projects/:id/${of}/notes`
  const awards = [`/projects/:id/${of}/award_emoji`, `${notes}/:note_id/award_emoji`]
  return Object.fromEntries(
    [
      `POST ${notes}`,
      `PUT ${notes}/:note_id`,
      `DELETE ${notes}/:note_id`,
      ...awards.flatMap(path => [`POST ${path}`, `DELETE ${path}/:award_id`])
    ].map(route => [route, SMALL])
  )
}

/** The API has two names for these routes. */
function deployKeys(name: string): { readonly [route: string]: Audited } {
  return {
    [`POST /projects/:id/${name}`]: ['deploy_key.create', 'deploy_key.enable'],
    [`POST /projects/:id/${name}/:key_id/enable`]: ['deploy_key.enable'],
    [`DELETE /projects/:id/${name}/:key_id/disable`]: ['deploy_key.disable', 'deploy_key.delete'],
    [`DELETE /projects/:id/${name}/:key_id`]: ['deploy_key.disable', 'deploy_key.delete']
  }
}

function ofSources(of: 'projects' | 'groups'): { readonly [route: string]: Audited } {
  return {
    [`POST /${of}/:id/members`]: ['member.add'],
    [`PUT /${of}/:id/members/:user_id`]: ['member.update'],
    [`DELETE /${of}/:id/members/:user_id`]: ['member.remove'],
    [`POST /${of}/:id/access_requests`]: ['access_request.create'],
    [`PUT /${of}/:id/access_requests/:user_id/approve`]: ['member.add'],
    [`DELETE /${of}/:id/access_requests/:user_id`]: ['access_request.delete']
  }
}

/** Routes outside of the API. test/areas/people/credentials and test/server call these with a session or a client. */
const others: { readonly [route: string]: Audited } = {
  'POST /users/sign_in': ['session.create'],
  'POST /users/sign_out': ['session.delete'],
  'POST /users/sign_up': { none: 'the user is created when the address is confirmed' },
  'POST /users/sign_up/confirm': ['user.create'],
  'POST /users/confirmation': ['email.confirm'],
  'POST /users/confirmation/new': { none: 'it only sends a mail' },
  'POST /users/password/new': { none: 'it only sends a mail' },
  'POST /users/password/edit': ['user.password'],
  'POST /-/unsubscribe': HEARS,
  'POST /oauth/authorize': ['oauth.authorize'],
  'DELETE /oauth/authorize': READS,
  'POST /oauth/token': ['oauth.token'],
  'POST /oauth/revoke': ['oauth.revoke'],
  'POST /:namespace/:project/git-upload-pack': READS,
  'POST /:namespace/:project/git-receive-pack': COMMITTED,
  // These do nothing without the token of a runner; test/areas/ci/runners has the tokens.
  'POST /api/v4/runners': ['runner.register'],
  'POST /api/v4/runners/verify': READS,
  'POST /api/v4/runners/reset_authentication_token': ['runner.reset_token'],
  'DELETE /api/v4/runners': ['runner.remove'],
  'DELETE /api/v4/runners/managers': READS,
  'POST /api/v4/jobs/request': RUNS,
  'PUT /api/v4/jobs/:id': RUNS,
  'PATCH /api/v4/jobs/:id/trace': RUNS,
  'POST /api/v4/jobs/:id/artifacts': RUNS,
  'POST /ci/api/v1/runners/register': ['runner.register'],
  'DELETE /ci/api/v1/runners/delete': ['runner.remove'],
  'POST /ci/api/v1/builds/register': RUNS,
  'PUT /ci/api/v1/builds/:id': RUNS,
  'PATCH /ci/api/v1/builds/:id/trace.txt': RUNS,
  'POST /ci/api/v1/builds/:id/artifacts': RUNS,
  'DELETE /ci/api/v1/builds/:id/artifacts': RUNS,
  'POST /ci/api/v1/projects/:id/refs/:ref/trigger': SMALL,
  'POST /:namespace/:project/info/lfs/objects/batch': READS,
  'POST /:namespace/:project/info/lfs/locks': READS,
  'POST /:namespace/:project/info/lfs/locks/verify': READS
}

/** By `METHOD /path`, as the route is registered. */
export const AUDITED: { readonly [route: string]: Audited } = {
  ...Object.fromEntries(Object.entries(api).map(([route, found]) => [route.replace(' /', ' /api/v3/'), found])),
  ...others
}

/** Whether requests of a route write something. */
export const isWrite = (route: string): boolean => /^(POST|PUT|PATCH|DELETE) /.test(route)
