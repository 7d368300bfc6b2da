// The record "Commit status".
import { described, Flag, IdOf, Moment, Nullable, Text } from '../../../../lib/schema.js'
import { Type } from '../../../../lib/type.js'
import { viewJoinedUser } from '../../../people/users/joined-user.js'
import { UserBasic } from '../../../people/users/users.view.js'
import { BuildStatus } from '../pipelines.view.js'
import type { CommitStatusRow } from './commit-statuses.queries.js'

export const CommitStatus = Type.Object(
  {
    id: IdOf('the status; for a build, the build'),
    sha: Text('the id of the commit'),
    ref: Text('the branch or tag'),
    status: described(BuildStatus, 'the state'),
    name: Text('the name; for a build, its name'),
    target_url: Nullable(Text('a URL with more information')),
    description: Nullable(Text('a short description')),
    created_at: Moment('when it was created'),
    started_at: Nullable(Moment('when it started')),
    finished_at: Nullable(Moment('when it ended')),
    allow_failure: Flag('whether the pipeline continues when it fails'),
    author: Nullable(
      described(UserBasic, 'the user who posted it or started the build; null when the user was deleted')
    )
  },
  { title: 'CommitStatus', description: 'The status of a commit from a service or a build.' }
)

export const viewCommitStatus = (row: CommitStatusRow) => ({
  id: row.id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  name: row.name,
  target_url: row.target_url,
  description: row.description,
  created_at: row.created_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  allow_failure: row.allow_failure === 1,
  author: viewJoinedUser(row)
})
