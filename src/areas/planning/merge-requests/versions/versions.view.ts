// "MR diff version".
import { IdOf, Moment, Nullable, Text } from '../../../../lib/schema.js'
import { Type } from '../../../../lib/type.js'
import { DiffEntry, viewDiffEntry } from '../../../code/history/history.view.js'
import { CommitItem, viewCommitItem } from '../../../code/repository/repository.view.js'
import type { Changes } from './changes.js'
import type { VersionRow } from './versions.queries.js'

const record = {
  id: IdOf('the version'),
  head_commit_sha: Text('the newest commit of the source branch'),
  base_commit_sha: Nullable(Text('the newest common commit of both branches; null if there is none')),
  start_commit_sha: Nullable(Text('the newest commit of the target branch at that time')),
  created_at: Moment('when the version was created'),
  merge_request_id: IdOf('the merge request'),
  state: Text('`collected`, `empty` without any commits, or `overflow` when it changes more than is shown'),
  real_size: Text('the number of changed files, followed by `+` if there are more')
}

export const Version = Type.Object(record, {
  title: 'MergeRequestVersion',
  description: 'The commits of a merge request after one push.'
})

export const VersionDetail = Type.Object(
  {
    ...record,
    commits: Type.Array(CommitItem, { description: 'its commits, newest first' }),
    diffs: Type.Array(DiffEntry, { description: 'the files that they change' })
  },
  { title: 'MergeRequestVersionDetail', description: 'A version with its commits and changes.' }
)

export const viewVersion = (row: VersionRow) => ({
  id: row.id,
  head_commit_sha: row.head_sha,
  base_commit_sha: row.base_sha,
  start_commit_sha: row.start_sha,
  created_at: row.created_at,
  merge_request_id: row.merge_request_id,
  state: row.state,
  real_size: row.real_size
})

export const viewVersionDetail = (row: VersionRow, { commits, patches }: Changes) => ({
  ...viewVersion(row),
  commits: commits.map(viewCommitItem),
  diffs: patches.map(viewDiffEntry)
})
