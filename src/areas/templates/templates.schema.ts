import { Flag, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'

export const TemplateParams = Type.Object({
  key: Text('the key or name that the list gives', { minLength: 1, maxLength: 100 })
})

export const LicenseListQuery = Type.Object({
  popular: Type.Optional(Flag('true: only popular licenses'))
})

export const LicenseQuery = Type.Object({
  project: Type.Optional(Text('the name of the project, which is put into the text', { maxLength: 255 })),
  fullname: Type.Optional(
    Text('the holder of the copyright; default the name of the user who asks', { maxLength: 255 })
  )
})
