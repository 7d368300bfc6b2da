import { Type } from 'typebox'

const text = Type.Optional(Type.String({ maxLength: 255 }))

export const SessionBody = Type.Object({
  login: text,
  email: text,
  password: Type.String({ minLength: 1, maxLength: 1024 })
})
