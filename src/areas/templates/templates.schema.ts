import { Type } from 'typebox'

export const TemplateParams = Type.Object({ key: Type.String({ minLength: 1, maxLength: 100 }) })

export const LicenseListQuery = Type.Object({
  popular: Type.Optional(Type.Boolean({ description: 'only popular licenses' }))
})

export const LicenseQuery = Type.Object({
  project: Type.Optional(Type.String({ maxLength: 255, description: 'name of the copyrighted project' })),
  fullname: Type.Optional(
    Type.String({ maxLength: 255, description: 'copyright holder; default: the name of the user who asks' })
  )
})
