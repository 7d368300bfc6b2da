// The record of a mirror. It contains neither passwords nor private keys.
// Not specified: API v3 has no mirrors; the paths and names follow GitLab where it has them.
import { Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { Type } from '../../../lib/type.js'
import { shownPatterns } from './branch-patterns.js'
import { PROBLEMS, type ProblemCode } from './mirror-problem.js'
import type { RefResult } from './mirror-runs.js'
import { STATES, stateOf } from './mirror-state.js'
import type { MirrorRow } from './mirrors.queries.js'

const MirrorRef = Type.Object(
  {
    ref: Text('the full name of the branch or tag'),
    status: OneOf(
      ['diverged', 'refused'],
      'MirrorRefStatus',
      '`diverged`: both sides have commits of their own. `refused`: a rule or the server does not allow it'
    ),
    reason: Text('why it did not move')
  },
  { title: 'MirrorRef', description: 'A branch or tag that a run left as it was.' }
)

const properties = {
  id: IdOf('the mirror'),
  project_id: IdOf('the project'),
  direction: OneOf(
    ['pull', 'push'],
    'MirrorDirection',
    'whether the project follows the remote, or the remote the project'
  ),
  url: Text('the remote, without a password'),
  has_password: Flag('whether a user or password for HTTP is stored'),
  ssh_public_key: Nullable(Text('the public key to add to the SSH server; null for HTTP')),
  ssh_host_key: Nullable(Text('the confirmed fingerprint of the host key; null before somebody confirmed it')),
  ssh_host_key_seen: Nullable(Text('the fingerprint that the server showed last')),
  branch_patterns: Type.Array(Text('a pattern'), { description: 'the branches that it handles; none means all' }),
  overwrite_diverged: Flag('whether commits that only the target has are overwritten'),
  delete_removed: Flag('whether branches and tags that the project lacks are deleted at the remote; only for push'),
  interval: Integer('minutes between two runs of the schedule; 0 for none'),
  enabled: Flag('whether it runs'),
  run_as: Nullable(Text('the username in whose name it runs; null when the account was deleted')),
  state: OneOf(STATES, 'MirrorState', 'what it does, or how its last run ended'),
  last_problem: Nullable(OneOf(PROBLEMS, 'MirrorProblem', 'the name of the reason for which the last run ended')),
  last_error: Nullable(Text('the reason for people')),
  refs: Type.Array(MirrorRef, { description: 'the branches and tags that the last run left, at most 100' }),
  moved_refs: Integer('how many branches and tags the last run moved'),
  failures: Integer('how often it has failed since the last success'),
  last_started_at: Nullable(Moment('when the last run began')),
  last_finished_at: Nullable(Moment('when the last run ended')),
  last_succeeded_at: Nullable(Moment('when a run last moved everything')),
  next_attempt_at: Nullable(Moment('when it runs next; null while nothing is planned')),
  created_at: Moment('when it was created'),
  updated_at: Moment('when it was last changed')
}

export const Mirror = Type.Object(properties, {
  title: 'Mirror',
  description: 'A remote that a project follows or passes its branches on to.'
})
export const PullMirror = Type.Object(
  {
    ...properties,
    hook_url: Text('the URL that a hook of the remote calls with the token'),
    hook_token: Nullable(Text('the token of the hook; only in the response that made it'))
  },
  { title: 'PullMirror', description: 'The remote that a project follows.' }
)

export const viewMirror = (row: MirrorRow) => ({
  id: row.id,
  project_id: row.project_id,
  direction: row.direction,
  url: row.url,
  has_password: row.secret_encrypted !== null && row.public_key === null,
  ssh_public_key: row.public_key,
  ssh_host_key: row.host_key,
  ssh_host_key_seen: row.seen_host_key,
  branch_patterns: shownPatterns(row.branch_patterns),
  overwrite_diverged: row.overwrite_diverged === 1,
  delete_removed: row.delete_removed === 1,
  interval: row.interval_minutes ?? 0,
  enabled: row.enabled === 1,
  run_as: row.username,
  state: stateOf(row),
  last_problem: row.problem as ProblemCode | null,
  last_error: row.error,
  refs: parseStored<RefResult[]>(row.ref_results ?? '[]', []),
  moved_refs: row.moved_refs,
  failures: row.failures,
  last_started_at: row.started_at,
  last_finished_at: row.finished_at,
  last_succeeded_at: row.succeeded_at,
  next_attempt_at: row.enabled === 1 && row.is_running === 0 ? row.due_at : null,
  created_at: row.created_at,
  updated_at: row.updated_at
})
