// The record "Commit status".
import { described, Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { viewJoinedUser } from '../../users/joined-user.js'
import { UserBasic } from '../../users/users.view.js'
import { BuildStatus } from '../pipelines.view.js'
import type { CommitStatusRow } from './commit-statuses.queries.js'

export const CommitStatus = Type.Object(
  {
    id: IdOf('the status; of a build the id of the build'),
    sha: Text('the id of the commit'),
    ref: Text('the branch or tag'),
    status: described(BuildStatus, 'its state'),
    name: Text('the name; of a build the name of the build'),
    target_url: Nullable(Text('where to read more')),
    description: Nullable(Text('a few words about it')),
    created_at: Moment('when it was made'),
    started_at: Nullable(Moment('when it began to run')),
    finished_at: Nullable(Moment('when it ended')),
    allow_failure: Flag('whether the pipeline goes on when it fails'),
    author: Nullable(described(UserBasic, 'who posted it or started the build; null when that user is gone'))
  },
  { title: 'CommitStatus', description: 'What a service or a build says about a commit.' }
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
