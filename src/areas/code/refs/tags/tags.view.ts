// The records "Tag and release".
import type { Commit } from '../../../../git/objects/objects.js'
import { described, Nullable, Text } from '../../../../lib/schema.js'
import { Type } from '../../../../lib/type.js'
import { RefCommit, viewRefCommit } from '../ref-commit.view.js'

export interface ReleaseRow {
  readonly tag: string
  readonly description: string
}

export interface TagRow {
  readonly name: string
  /** The message of an annotated tag, with its final newline. */
  readonly message: string | null
  readonly commit: Commit | null
  readonly release: ReleaseRow | undefined
}

export const Release = Type.Object(
  { tag_name: Text('the name of the tag'), description: Text('the release notes, in Markdown') },
  { title: 'Release', description: 'The release notes of a tag.' }
)

export const Tag = Type.Object(
  {
    name: Text('the name, without `refs/tags/`'),
    message: Nullable(Text('the message of an annotated tag; null for other tags')),
    commit: Nullable(described(RefCommit, 'the commit that it points to; null for a tag of a file or a folder')),
    release: Nullable(described(Release, 'its release notes; null without notes'))
  },
  { title: 'Tag', description: 'A tag of the repository.' }
)

export const viewRelease = ({ tag, description }: ReleaseRow) => ({ tag_name: tag, description })

export const viewTag = ({ name, message, commit, release }: TagRow) => ({
  name,
  // Not specified: the newline that git adds to the message. Clients show the message in one line.
  message: message === null ? null : message.replace(/\n$/, ''),
  commit: commit && viewRefCommit(commit),
  release: release ? viewRelease(release) : null
})
