import { Integer, projectParam, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

const ref = (description: string) => Text(description, { minLength: 1, maxLength: 255 })

export const CommitParams = Type.Object({ ...projectParam, sha: ref('the id of a commit, a branch or a tag') })

export const CommitListQuery = Type.Object({
  ref_name: Type.Optional(
    Text('a branch, a tag or the id of a commit; default the default branch', { maxLength: 255 })
  ),
  since: Type.Optional(Text('only commits at or after this time, in ISO 8601', { maxLength: 100 })),
  until: Type.Optional(Text('only commits at or before this time, in ISO 8601', { maxLength: 100 })),
  path: Type.Optional(Text('only commits that changed this file or folder', { maxLength: 4096 })),
  page: Type.Optional(Integer('the page, from 0; default 0')),
  per_page: Type.Optional(Integer('the number of commits in a page; default 20, at most 100'))
})

export const CompareQuery = Type.Object({
  from: ref('the id of a commit, a branch or a tag'),
  to: ref('the id of a commit, a branch or a tag')
})
