import { Flag, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

export const TemplateParams = Type.Object({
  key: Text('the key or name from the list', { minLength: 1, maxLength: 100 })
})

export const LicenseListQuery = Type.Object({
  popular: Type.Optional(Flag('true: only popular licenses'))
})

export const LicenseQuery = Type.Object({
  project: Type.Optional(Text('the name of the project, which the text contains', { maxLength: 255 })),
  fullname: Type.Optional(Text('the copyright holder; default your name', { maxLength: 255 }))
})
