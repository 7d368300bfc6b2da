import { IdOf, Paging, projectParam, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

const level = (description: string) =>
  Type.Enum([0, 10, 20], {
    title: 'SnippetVisibilityLevel',
    description: `private (0), internal (10) or public (20)${description}`
  })

const title = Text('its title, of at most 255 characters')
const fileName = Text('the name of its file: letters, digits and _ - @ + . of at most 255 characters')
const content = Text('its text, of at most 1,000,000 characters')

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
  { title: 'ProjectSnippetChange', description: 'What changes of a snippet: at least one of these.' }
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
  { title: 'SnippetChange', description: 'What changes of a snippet: at least one of these.' }
)
export type PersonalSnippetChange = Static<typeof PersonalSnippetChange>
