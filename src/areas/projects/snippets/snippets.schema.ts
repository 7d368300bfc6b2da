import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const level = (description: string) =>
  Type.Enum([0, 10, 20], {
    title: 'SnippetVisibilityLevel',
    description: `private (0), internal (10) or public (20)${description}`
  })

const title = Text('the title, at most 255 characters')
const fileName = Text('the file name: letters, digits and _ - @ + . with at most 255 characters')
const content = Text('the text, at most 1,000,000 characters')

export const SnippetParams = Type.Object({ ...projectParam, snippet_id: IdOf('the snippet') })
export const SnippetListQuery = Type.Object(Paging)
export const SnippetBody = Type.Object(
  { title, file_name: fileName, code: content, visibility_level: level('') },
  { title: 'ProjectSnippetBody', description: 'A new snippet of a project.' }
)
export type SnippetBody = Static<typeof SnippetBody>
export const SnippetChange = Type.Object(
  {
    title: Type.Optional(title),
    file_name: Type.Optional(fileName),
    code: Type.Optional(content),
    visibility_level: Type.Optional(level(''))
  },
  { title: 'ProjectSnippetChange', description: 'The new attributes of a snippet: at least one.' }
)
export type SnippetChange = Static<typeof SnippetChange>

export const PersonalSnippetParams = Type.Object({ id: IdOf('the snippet') })
export const PersonalSnippetBody = Type.Object(
  { title, file_name: fileName, content, visibility_level: Type.Optional(level('; default 10')) },
  { title: 'SnippetBody', description: 'A new snippet of a user.' }
)
export type PersonalSnippetBody = Static<typeof PersonalSnippetBody>
export const PersonalSnippetChange = Type.Object(
  {
    title: Type.Optional(title),
    file_name: Type.Optional(fileName),
    content: Type.Optional(content),
    visibility_level: Type.Optional(level(''))
  },
  { title: 'SnippetChange', description: 'The new attributes of a snippet: at least one.' }
)
export type PersonalSnippetChange = Static<typeof PersonalSnippetChange>
