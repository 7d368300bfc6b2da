// What every kind of asker gets on every route: the requirement's "Permissions" and "Authentication" as data. Written
// from those pages and not from the table of abilities, which it is there to hold to them.

export const ACTORS = [
  'nobody',
  'stranger',
  'external',
  'guest',
  'reporter',
  'developer',
  'master',
  'owner',
  'admin',
  'blocked',
  'readUser',
  'wrong'
] as const
export type ActorName = (typeof ACTORS)[number]

/** One status for each of ACTORS, in their order. */
export type Statuses = string

export const PROJECTS = [
  'private',
  'privateClosed',
  'internal',
  'public',
  'closedBuilds',
  'withoutBuilds',
  'archived'
] as const
export type ProjectName = (typeof PROJECTS)[number]

/**
 * By the project that the path names: `privateClosed` and `closedBuilds` (which is public) have public_builds off, the
 * last two are public.
 */
export type ProjectStatuses = { readonly [Name in ProjectName]: Statuses }

const row = (statuses: Statuses) => statuses

// The members of ACTORS:
//            nobody stranger external guest reporter developer master owner admin  blocked readUser wrong
const EVERYBODY = row('200 200 200 200 200 200 200 200 200  200 200 200')
const SIGNED_IN = row('401 200 200 200 200 200 200 200 200  401 401 401')
const SIGNED_IN_OR_READ_USER = row('401 200 200 200 200 200 200 200 200  401 200 401')
const ADMINISTRATOR = row('401 403 403 403 403 403 403 403 200  401 401 401')
/** The same under /users, where a token of scope read_user, here that of no administrator, gets as far as its user. */
const ADMINISTRATOR_OR_READ_USER = row('401 403 403 403 403 403 403 403 200  401 403 401')

const anybodyIfPublic = row('200 200 200 200 200 200 200 200 200  401 401 401')
const signedInIfPublic = row('401 200 200 200 200 200 200 200 200  401 401 401')

/** Read project: members, others as the visibility says; who may not see it is told that it is not there. */
const READ_PROJECT: ProjectStatuses = {
  private: row('404 404 404 200 200 200 200 200 200  401 401 401'),
  privateClosed: row('404 404 404 200 200 200 200 200 200  401 401 401'),
  internal: row('404 200 404 200 200 200 200 200 200  401 401 401'),
  public: anybodyIfPublic,
  closedBuilds: anybodyIfPublic,
  withoutBuilds: anybodyIfPublic,
  archived: anybodyIfPublic
}

/** Read repository: a guest may not where the project is private. */
const READ_REPOSITORY: ProjectStatuses = {
  ...READ_PROJECT,
  private: row('404 404 404 403 200 200 200 200 200  401 401 401'),
  privateClosed: row('404 404 404 403 200 200 200 200 200  401 401 401')
}

/** The same where nobody in particular may not even on public projects. */
const READ_COMMIT: ProjectStatuses = {
  private: row('401 404 404 403 200 200 200 200 200  401 401 401'),
  privateClosed: row('401 404 404 403 200 200 200 200 200  401 401 401'),
  internal: row('401 200 404 200 200 200 200 200 200  401 401 401'),
  public: signedInIfPublic,
  closedBuilds: signedInIfPublic,
  withoutBuilds: signedInIfPublic,
  archived: signedInIfPublic
}

/** Builds: guests and strangers read them where public_builds is on. */
const READ_BUILDS: ProjectStatuses = {
  private: row('401 404 404 200 200 200 200 200 200  401 401 401'),
  privateClosed: row('401 404 404 403 200 200 200 200 200  401 401 401'),
  internal: row('401 200 404 200 200 200 200 200 200  401 401 401'),
  public: signedInIfPublic,
  closedBuilds: row('401 403 403 403 200 200 200 200 200  401 401 401'),
  withoutBuilds: row('401 403 403 403 403 403 403 403 403  401 401 401'),
  archived: signedInIfPublic
}

/** Pipelines: whoever may see an open project reads them, guests of a private one only with public_builds. */
const READ_PIPELINES: ProjectStatuses = { ...READ_BUILDS, closedBuilds: signedInIfPublic }

const write = (status: number): ProjectStatuses => {
  const developers = row(`401 403 403 403 403 ${status} ${status} ${status} ${status}  401 401 401`)
  return {
    private: row(`401 404 404 403 403 ${status} ${status} ${status} ${status}  401 401 401`),
    privateClosed: row(`401 404 404 403 403 ${status} ${status} ${status} ${status}  401 401 401`),
    internal: row(`401 403 404 403 403 ${status} ${status} ${status} ${status}  401 401 401`),
    public: developers,
    closedBuilds: developers,
    withoutBuilds: developers,
    archived: row('401 403 403 403 403 403 403 403 403  401 401 401')
  }
}

/** git over HTTP asks for a password where the API says 404 to nobody; a token of scope read_user is none for it. */
const FETCH: ProjectStatuses = {
  private: row('401 404 404 403 200 200 200 200 200  401 401 401'),
  privateClosed: row('401 404 404 403 200 200 200 200 200  401 401 401'),
  internal: row('401 200 404 200 200 200 200 200 200  401 401 401'),
  public: anybodyIfPublic,
  closedBuilds: anybodyIfPublic,
  withoutBuilds: anybodyIfPublic,
  archived: anybodyIfPublic
}

const created = (statuses: Statuses) => statuses.replaceAll('200', '201')

/** Routes about no project. */
export const INSTANCE: { readonly [route: string]: Statuses } = {
  'GET /api/v3/user': SIGNED_IN_OR_READ_USER,
  'GET /api/v3/users': SIGNED_IN_OR_READ_USER,
  'GET /api/v3/users/:id': SIGNED_IN_OR_READ_USER,
  'POST /api/v3/users': created(ADMINISTRATOR),
  'PUT /api/v3/users/:id': ADMINISTRATOR,
  'DELETE /api/v3/users/:id': ADMINISTRATOR,
  'PUT /api/v3/users/:id/block': ADMINISTRATOR,
  'PUT /api/v3/users/:id/unblock': ADMINISTRATOR,
  'GET /api/v3/user/keys': SIGNED_IN_OR_READ_USER,
  'GET /api/v3/user/keys/:key_id': SIGNED_IN_OR_READ_USER,
  'POST /api/v3/user/keys': created(SIGNED_IN),
  'DELETE /api/v3/user/keys/:key_id': SIGNED_IN,
  'GET /api/v3/users/:id/keys': ADMINISTRATOR_OR_READ_USER,
  'POST /api/v3/users/:id/keys': created(ADMINISTRATOR),
  'DELETE /api/v3/users/:id/keys/:key_id': ADMINISTRATOR,
  'GET /api/v3/keys/:id': ADMINISTRATOR,
  'GET /api/v3/user/emails': SIGNED_IN_OR_READ_USER,
  'GET /api/v3/user/emails/:email_id': SIGNED_IN_OR_READ_USER,
  'POST /api/v3/user/emails': created(SIGNED_IN),
  'DELETE /api/v3/user/emails/:email_id': SIGNED_IN,
  'GET /api/v3/users/:id/emails': ADMINISTRATOR_OR_READ_USER,
  'POST /api/v3/users/:id/emails': created(ADMINISTRATOR),
  'DELETE /api/v3/users/:id/emails/:email_id': ADMINISTRATOR,
  'GET /api/v3/personal_access_tokens': SIGNED_IN,
  'GET /api/v3/personal_access_tokens/:id': SIGNED_IN,
  'POST /api/v3/personal_access_tokens': created(SIGNED_IN),
  'DELETE /api/v3/personal_access_tokens/:id': SIGNED_IN,
  'POST /api/v3/users/:id/personal_access_tokens': created(ADMINISTRATOR),
  'POST /api/v3/session': created(EVERYBODY),
  'GET /api/v3/projects': SIGNED_IN,
  'GET /api/v3/projects/owned': SIGNED_IN,
  'GET /api/v3/projects/visible': anybodyIfPublic,
  'GET /api/v3/projects/all': ADMINISTRATOR,
  'POST /api/v3/projects': created(SIGNED_IN),
  'GET /api/v3/hooks': ADMINISTRATOR,
  'POST /api/v3/hooks': created(ADMINISTRATOR),
  'GET /api/v3/hooks/:id': ADMINISTRATOR,
  'DELETE /api/v3/hooks/:id': ADMINISTRATOR,
  'GET /api/v3/hooks/:id/deliveries': ADMINISTRATOR,
  'GET /api/v3/hooks/:id/deliveries/:delivery_id': ADMINISTRATOR,
  'POST /api/v3/hooks/:id/deliveries/:delivery_id/redeliver': created(ADMINISTRATOR),
  'GET /api/v3/audit_events': ADMINISTRATOR,
  'GET /api/v3/bgjobs/queue_metrics': ADMINISTRATOR,
  'GET /api/v3/bgjobs/process_metrics': ADMINISTRATOR,
  'GET /api/v3/bgjobs/job_stats': ADMINISTRATOR,
  'GET /api/v3/bgjobs/compound_metrics': ADMINISTRATOR,
  'GET /api/v3/templates/licenses': anybodyIfPublic,
  'GET /api/v3/templates/licenses/:key': anybodyIfPublic,
  'GET /api/v3/templates/gitignores': anybodyIfPublic,
  'GET /api/v3/templates/gitignores/:key': anybodyIfPublic,
  'GET /api/v3/templates/dockerfiles': anybodyIfPublic,
  'GET /api/v3/templates/dockerfiles/:key': anybodyIfPublic,
  'GET /api/v3/templates/gitstead_ci_ymls': anybodyIfPublic,
  'GET /api/v3/templates/gitstead_ci_ymls/:key': anybodyIfPublic,
  'GET /api/v3/templates/gitlab_ci_ymls': anybodyIfPublic,
  'GET /api/v3/templates/gitlab_ci_ymls/:key': anybodyIfPublic,
  'GET /api/v3/licenses': anybodyIfPublic,
  'GET /api/v3/licenses/:key': anybodyIfPublic,
  'GET /api/v3/gitignores': anybodyIfPublic,
  'GET /api/v3/gitignores/:key': anybodyIfPublic,
  'GET /api/v3/dockerfiles': anybodyIfPublic,
  'GET /api/v3/dockerfiles/:key': anybodyIfPublic,
  'GET /api/v3/gitstead_ci_ymls': anybodyIfPublic,
  'GET /api/v3/gitstead_ci_ymls/:key': anybodyIfPublic,
  'GET /api/v3/gitlab_ci_ymls': anybodyIfPublic,
  'GET /api/v3/gitlab_ci_ymls/:key': anybodyIfPublic,
  'GET /api/v3/application/settings': ADMINISTRATOR,
  'PUT /api/v3/application/settings': ADMINISTRATOR,
  'GET /api/v3/bgjobs/overview': ADMINISTRATOR,
  'GET /api/v3/bgjobs/jobs': ADMINISTRATOR,
  'GET /api/v3/bgjobs/jobs/:id': ADMINISTRATOR,
  'POST /api/v3/bgjobs/jobs/:id/retry': created(ADMINISTRATOR),
  'DELETE /api/v3/bgjobs/jobs/:id': ADMINISTRATOR,
  'POST /api/v3/bgjobs/queues/:queue/pause': created(ADMINISTRATOR),
  'POST /api/v3/bgjobs/queues/:queue/resume': created(ADMINISTRATOR),
  'GET /api/v3/broadcast_messages': ADMINISTRATOR,
  'POST /api/v3/broadcast_messages': created(ADMINISTRATOR),
  'GET /api/v3/broadcast_messages/:id': ADMINISTRATOR,
  'PUT /api/v3/broadcast_messages/:id': ADMINISTRATOR,
  'DELETE /api/v3/broadcast_messages/:id': ADMINISTRATOR,
  'GET /api/v3/openapi.json': EVERYBODY,
  'GET /api/docs': EVERYBODY,
  'GET /api/docs/json': EVERYBODY,
  'GET /api/docs/yaml': EVERYBODY,
  'GET /api/docs/static/index.html': EVERYBODY.replaceAll('200', '302'),
  'GET /api/docs/static/swagger-initializer.js': EVERYBODY,
  // No such page: as with every unknown path, wrong credentials are told first.
  'GET /api/docs*': row('404 404 404 404 404 404 404 404 404  401 401 401'),
  'GET /': EVERYBODY.replaceAll('200', '302'),
  'GET /users/sign_in': EVERYBODY,
  // Without the proof of a browser that one of our own pages sends it.
  'POST /users/sign_in': EVERYBODY.replaceAll('200', '403'),
  'POST /users/sign_out': EVERYBODY.replaceAll('200', '303'),
  'GET /-/health': EVERYBODY,
  'GET /-/readiness': EVERYBODY,
  'GET /-/metrics': EVERYBODY
}

/** Routes about the project that `:id` or NAMESPACE/PROJECT names. */
export const OF_PROJECT: { readonly [route: string]: ProjectStatuses } = {
  'GET /api/v3/projects/:id': READ_PROJECT,
  'GET /api/v3/projects/:id/repository/tree': READ_REPOSITORY,
  'GET /api/v3/projects/:id/repository/blobs/:sha': READ_REPOSITORY,
  'GET /api/v3/projects/:id/repository/raw_blobs/:sha': READ_REPOSITORY,
  'GET /api/v3/projects/:id/repository/files': READ_REPOSITORY,
  'GET /api/v3/projects/:id/repository/commits/:sha': READ_COMMIT,
  // In this order: each writes what the next one changes.
  'POST /api/v3/projects/:id/repository/files': write(201),
  'PUT /api/v3/projects/:id/repository/files': write(200),
  'DELETE /api/v3/projects/:id/repository/files': write(200),
  'GET /api/v3/projects/:id/pipelines': READ_PIPELINES,
  'GET /api/v3/projects/:id/pipelines/:pipeline_id': READ_PIPELINES,
  'GET /api/v3/projects/:id/builds': READ_BUILDS,
  'GET /api/v3/projects/:id/repository/commits/:sha/builds': READ_BUILDS,
  'GET /api/v3/projects/:id/builds/:build_id': READ_BUILDS,
  'GET /api/v3/projects/:id/builds/:build_id/trace': READ_BUILDS,
  'GET /api/v3/projects/:id/builds/:build_id/artifacts': READ_BUILDS,
  'GET /api/v3/projects/:id/builds/artifacts/:ref_name/download': READ_BUILDS,
  'GET /:namespace/:project/info/refs': FETCH,
  'POST /:namespace/:project/git-upload-pack': FETCH,
  'POST /:namespace/:project/git-receive-pack': write(200)
}
