import { projectParam, Text } from '../../../../lib/schema.js'
import { type Static, Type } from '../../../../lib/type.js'

/** The maximum length of release notes, in characters: a list of tags shows the notes of all. */
export const LONGEST_NOTES = 100_000
const notes = { maxLength: LONGEST_NOTES }

export const TagParams = Type.Object({
  ...projectParam,
  tag_name: Text('the name of the tag', { minLength: 1, maxLength: 1024 })
})

export const NewTag = Type.Object(
  {
    tag_name: Text('the name of the new tag', { maxLength: 1024 }),
    ref: Text('the target: the id of a commit, a tag or a branch', { maxLength: 1024 }),
    message: Type.Optional(Text('a message, which makes it an annotated tag', { maxLength: 1_000_000 })),
    release_description: Type.Optional(Text('release notes, in Markdown', notes))
  },
  { title: 'NewTag', description: 'A new tag and its target.' }
)

export const ReleaseBody = Type.Object(
  { description: Text('the release notes, in Markdown', { minLength: 1, ...notes }) },
  { title: 'ReleaseNotes', description: 'Release notes.' }
)

export const RemovedTag = Type.Object(
  { tag_name: Text('the name of the tag') },
  { title: 'RemovedTag', description: 'The name of a tag that was deleted.' }
)

export type NewTag = Static<typeof NewTag>
export type ReleaseBody = Static<typeof ReleaseBody>
