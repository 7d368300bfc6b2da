import { Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { TemplateFile } from './files.js'

export const TemplateName = Type.Object(
  { name: Text('the name, which requests use') },
  { title: 'TemplateName', description: 'A template in a list.' }
)
export type TemplateName = Static<typeof TemplateName>

export const Template = Type.Object(
  { name: Text('the name'), content: Text('the whole text') },
  { title: 'Template', description: 'A text for a new file.' }
)
export type Template = Static<typeof Template>

export const viewTemplateName = ({ name }: TemplateFile): TemplateName => ({ name })

export const viewTemplate = ({ name, content }: TemplateFile): Template => ({ name, content })
