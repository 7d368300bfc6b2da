import { Integer, Nullable, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const priority = Type.Optional(
  Nullable(Integer('the place among the labels of the project: lower numbers come first; null for none'))
)
const color = Text('`#` with three or six hex digits')
const description = Type.Optional(Text('the purpose of the label, at most 255 characters'))

export const LabelParams = Type.Object({
  ...projectParam,
  label_id: Text('the id of the label, or its title', { minLength: 1, maxLength: 1024 })
})
export const LabelBody = Type.Object(
  { name: Text('the title: at most 255 characters and no comma'), color, description, priority },
  { title: 'LabelBody', description: 'A new label.' }
)
export type LabelBody = Static<typeof LabelBody>
export const LabelChange = Type.Object(
  {
    name: Text('the title of the label'),
    new_name: Type.Optional(Text('the new title')),
    color: Type.Optional(color),
    description,
    priority
  },
  { title: 'LabelChange', description: 'A change of a label: at least one attribute besides the name.' }
)
export type LabelChange = Static<typeof LabelChange>
export const LabelName = Type.Object({ name: Text('the title of the label') })
