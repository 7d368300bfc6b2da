import { type Static, Type } from 'typebox'
import type { TemplateFile } from './files.js'

export const TemplateName = Type.Object({ name: Type.String() })
export type TemplateName = Static<typeof TemplateName>

export const Template = Type.Object({ name: Type.String(), content: Type.String() })
export type Template = Static<typeof Template>

export const viewTemplateName = ({ name }: TemplateFile): TemplateName => ({ name })

export const viewTemplate = ({ name, content }: TemplateFile): Template => ({ name, content })
