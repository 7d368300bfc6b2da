import { Flag, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { lastCommitId } from './writing/commits.schema.js'

const path = (description: string) => Text(description, { minLength: 1, maxLength: 4096 })
const ref = (description: string) => Text(description, { minLength: 1, maxLength: 255 })
const person = (description: string) => Type.Optional(Text(description, { maxLength: 255 }))

export const ShaParams = Type.Object({ ...projectParam, sha: ref('the id of a commit, a branch or a tag') })
export const BlobParams = Type.Object({ ...projectParam, sha: ref('the id of the blob') })

export const TreeQuery = Type.Object({
  path: Type.Optional(Text('the folder; default the root folder', { maxLength: 4096 })),
  ref_name: Type.Optional(
    Text('a branch, a tag or the id of a commit; default the default branch', { maxLength: 255 })
  ),
  recursive: Type.Optional(Flag('true: include the contents of subfolders; default false'))
})

export const LfsQuery = Type.Object({
  lfs: Type.Optional(Flag('true: the content in git LFS of a file that is a pointer to it; default false'))
})
export const BlobQuery = Type.Object({ filepath: path('the path of the file'), ...LfsQuery.properties })
export const FileQuery = Type.Object({
  file_path: path('the path of the file'),
  ref: ref('a branch, a tag or the id of a commit')
})

const writing = {
  file_path: path('the path of the file'),
  branch_name: ref('the branch that gets the commit'),
  author_email: person('the email address of the author; default your own'),
  author_name: person('the name of the author; default your own'),
  commit_message: Text('the message of the commit', { minLength: 1, maxLength: 1_000_000 })
}

export const FileDeletion = Type.Object({ ...writing, last_commit_id: lastCommitId })

const creation = {
  ...writing,
  encoding: Type.Optional(
    Type.Enum(['text', 'base64'], { title: 'FileEncoding', description: 'the encoding of `content`; default text' })
  ),
  content: Text('the whole content of the file')
}

export const FileBody = Type.Object(creation, {
  title: 'FileBody',
  description: 'A file, and the commit that writes it.'
})
export const FileUpdate = Type.Object(
  { ...creation, last_commit_id: lastCommitId },
  { title: 'FileUpdate', description: 'The new content of a file, and the commit that writes it.' }
)

export type FileUpdate = Static<typeof FileUpdate>
export type FileDeletion = Static<typeof FileDeletion>
